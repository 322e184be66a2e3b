/* SPDX-License-Identifier: Apache-2.0
 *
 * Scale alignment by table: for every distance of exponents, the E4M3 codes of
 * the eight E2M1 magnitudes in two words, and which of them are inexact. Made
 * by a thread block from ng_cuda_aligned_code, so that every rule of it holds.
 *
 * Then four codes are one byte selection: the low three bits of four nibbles
 * choose among eight bytes. Device only.
 */
#ifndef NG_CUDA_CONVERT_ALIGN_TABLE_CUH
#define NG_CUDA_CONVERT_ALIGN_TABLE_CUH

#include "cuda/convert/align_block.cuh"
#include "cuda/ptx_prmt.cuh"

/* Distances d = (k + H) - e >= 0 of a block's exponent e below the largest; the
 * last row serves all beyond it: 6 * 2^(8-31) is nothing in E4M3. */
enum { NG_CUDA_ALIGN_ROWS = 32 };

struct ng_cuda_align_table {
    uint2 codes[NG_CUDA_ALIGN_ROWS];      /* byte m: magnitude code m */
    uint32_t inexact[NG_CUDA_ALIGN_ROWS]; /* bit m */
};

/* All of the block's threads (256 or more) call it; then a barrier. */
__device__ __forceinline__ void
ng_cuda_align_table_make(ng_cuda_align_table *table, const ng_rules &rules)
{
    const int d = (int)threadIdx.x / 8;
    const uint32_t magnitude = threadIdx.x % 8;

    if (d < NG_CUDA_ALIGN_ROWS) {
        unsigned events = 0;
        const uint32_t code =
            ng_cuda_aligned_code(magnitude, rules.headroom - d, rules, events);
        const unsigned all = __activemask();
        const unsigned inexact =
            __ballot_sync(all, (events & NG_CUDA_EVENT(INEXACT)) != 0);

        ((uint8_t *)&table->codes[d])[magnitude] = (uint8_t)code;
        if (magnitude == 0)
            table->inexact[d] = inexact >> threadIdx.x % 32 & 0xFF;
    }
}

/* Which row of the table a block with that scale byte takes, the FP8 block's
 * exponent being k (ng_cuda_aligned_exponent). */
__device__ __forceinline__ int ng_cuda_align_row(int k, int headroom,
                                                 uint32_t byte)
{
    return min(k + headroom + 127 - (int)byte, NG_CUDA_ALIGN_ROWS - 1);
}

/* Four E4M3 codes of the four nibbles in the low half of `nibbles`; signs is
 * 0x01010101, or 0 to leave them out. */
__device__ __forceinline__ uint32_t ng_cuda_align4(uint2 codes,
                                                   uint32_t nibbles,
                                                   uint32_t signs)
{
    /* A selector nibble's high bit spreads the sign of the byte it selects:
     * among eight bytes 0x80 it gives 0xFF where it is set and 0x80 where not.
     */
    const uint32_t negative =
        ng_cuda_prmt(0x80808080, 0x80808080, nibbles) & signs;

    return ng_cuda_prmt(codes.x, codes.y, nibbles & 0x7777) | negative << 7;
}

#endif
