/* SPDX-License-Identifier: Apache-2.0
 *
 * The scales of four neighbouring MXFP4 blocks, one 32-bit word, on the way to
 * one FP8 block (semantics.md 5): their common scale S, and for each block the
 * eight E4M3 codes of the E2M1 magnitudes.
 *
 * Where all exponents lie within H + 5 of the largest, and H <= 6, every code
 * is a normal number or zero, and they follow from one byte F, the code of 1
 * under the block's scale: 0.5 is F - 8, 1.5 F + 4, 2 F + 8, 3 F + 12, 4 F + 16,
 * 6 F + 20. All else (NaN, rounding, overflow) is read from the table of
 * cuda/convert/align_table.cuh.
 */
#ifndef NG_CUDA_MOE_MXFP4_ALIGN_ROW_CUH
#define NG_CUDA_MOE_MXFP4_ALIGN_ROW_CUH

#include "cuda/convert/align_table.cuh"

struct ng_mxfp4_align_row {
    uint32_t fields; /* byte q: F of block q, where regular */
    int exponent;    /* S = 2^exponent */
    bool regular;
};

/* Absent blocks have scale 0x00, and codes of zero: they change nothing. */
__device__ __forceinline__ ng_mxfp4_align_row
ng_mxfp4_align_row_of(uint32_t bytes, int headroom)
{
    const uint32_t even = bytes & 0x00FF00FF, odd = bytes >> 8 & 0x00FF00FF;
    const uint32_t most_2 = __vmaxu2(even, odd), least_2 = __vminu2(even, odd);
    const int most = (int)max(most_2 & 0xFFFF, most_2 >> 16);
    const int least = (int)min(least_2 & 0xFFFF, least_2 >> 16);
    /* Bytes of the difference are 2 to 13 where regular, whatever borrows. */
    ng_mxfp4_align_row row = {
        (bytes - (uint32_t)(most - headroom - 7) * 0x01010101u) << 3,
        most - 127 - headroom,
        most != 0xFF && most - least <= headroom + 5 && headroom <= 6};

    if (most == 0xFF) {
        uint32_t largest_plus_1 = 0;

#pragma unroll
        for (int q = 0; q < 4; q++) {
            const uint32_t byte = bytes >> 8 * q & 0xFF;

            if (byte != 0xFF)
                largest_plus_1 = max(largest_plus_1, byte + 1);
        }
        row.exponent =
            ng_cuda_aligned_exponent(largest_plus_1, headroom, NG_FP32);
    }
    return row;
}

/* The codes of a block: byte m of low and high, as ng_cuda_align4 takes them. */
struct ng_mxfp4_align_codes {
    uint32_t low, high, signs;
};

/* Of block q of a regular row. */
__device__ __forceinline__ ng_mxfp4_align_codes
ng_mxfp4_align_regular(uint32_t fields, int q)
{
    const uint32_t f = (uint32_t)q * 0x1111;

    return {ng_cuda_prmt(fields, 0, (f & 0xFFF0) | 4) + 0x03FFF800,
            ng_cuda_prmt(fields, 0, f) + 0x14100C08, 0x01010101};
}

/* Of any block, by its scale byte. */
__device__ __forceinline__ ng_mxfp4_align_codes ng_mxfp4_align_any(
    uint32_t byte, int exponent, int headroom, const ng_cuda_align_table *table)
{
    if (byte == 0xFF)
        return {0x7F7F7F7F, 0x7F7F7F7F, 0};

    const ng_cuda_align_row &r =
        table->row[ng_cuda_align_distance(exponent + headroom + 127, byte)];

    return {r.low, r.high, 0x01010101};
}

#endif
