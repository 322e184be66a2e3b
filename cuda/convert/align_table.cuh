/* SPDX-License-Identifier: Apache-2.0
 *
 * Scale alignment by table: for every distance of exponents, the E4M3 codes of
 * the eight E2M1 magnitudes in two words, and which of them are inexact. Made
 * on the host from ng_cuda_aligned_code, so that every rule of it holds, and
 * passed to a kernel by value.
 *
 * Then four codes are one byte selection: the low three bits of four nibbles
 * choose among eight bytes.
 */
#ifndef NG_CUDA_CONVERT_ALIGN_TABLE_CUH
#define NG_CUDA_CONVERT_ALIGN_TABLE_CUH

#include "cuda/convert/align_block.cuh"

/* Distances d = (k + H) - e >= 0 of a block's exponent e below the largest; the
 * last row serves all beyond it: 6 * 2^(8-31) is nothing in E4M3. */
enum { NG_CUDA_ALIGN_ROWS = 32 };

struct ng_cuda_align_row {
    uint32_t low, high; /* byte m: the code of magnitude m, m % 4 */
    uint32_t inexact;   /* bit m */
    uint32_t spare;     /* rows of 16 bytes: one load */
};

struct ng_cuda_align_table {
    ng_cuda_align_row row[NG_CUDA_ALIGN_ROWS];
};

inline ng_cuda_align_table ng_cuda_align_table_of(const ng_rules &rules)
{
    ng_cuda_align_table table = {};

    for (int d = 0; d < NG_CUDA_ALIGN_ROWS; d++)
        for (uint32_t m = 0; m < 8; m++) {
            ng_cuda_align_row &row = table.row[d];
            unsigned events = 0;
            const uint32_t code =
                ng_cuda_aligned_code(m, rules.headroom - d, rules, events);

            (m < 4 ? row.low : row.high) |= code << 8 * (m % 4);
            row.inexact |= (events >> NG_EVENT_INEXACT & 1) << m;
        }
    return table;
}

#ifdef __CUDACC__
#include "cuda/ptx_prmt.cuh"

/* Copy a table out of a kernel's parameters, by the first 32 threads; then a
 * barrier. */
__device__ __forceinline__ void
ng_cuda_align_table_load(ng_cuda_align_table *to,
                         const ng_cuda_align_table &from)
{
    if (threadIdx.x < NG_CUDA_ALIGN_ROWS)
        to->row[threadIdx.x] = from.row[threadIdx.x];
}

/* Which row of the table a block with that scale byte takes, the FP8 block's
 * exponent being k (ng_cuda_aligned_exponent). */
__device__ __forceinline__ int ng_cuda_align_distance(int k, int headroom,
                                                      uint32_t byte)
{
    return min(k + headroom + 127 - (int)byte, NG_CUDA_ALIGN_ROWS - 1);
}

/* Four E4M3 codes of the four nibbles in the low half of `nibbles`; signs is
 * 0x01010101, or 0 to leave them out. */
__device__ __forceinline__ uint32_t ng_cuda_align4(uint32_t low, uint32_t high,
                                                   uint32_t nibbles,
                                                   uint32_t signs)
{
    /* A selector nibble's high bit spreads the sign of the byte it selects:
     * among eight bytes 0x80 it gives 0xFF where it is set and 0x80 where not.
     */
    const uint32_t negative =
        ng_cuda_prmt(0x80808080, 0x80808080, nibbles) & signs;

    return ng_cuda_prmt(low, high, nibbles & 0x7777) | negative << 7;
}
#endif

#endif
