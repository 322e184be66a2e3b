/* SPDX-License-Identifier: Apache-2.0
 *
 * FP8 along rows to one FP8 block along a column (semantics.md 6), any rules,
 * events: scale alignment where the row scales are powers of two, section 4 on
 * RN32(code * scale) where they are not.
 */
#ifndef NG_CUDA_CONVERT_FP8_ROW_TO_COL_BLOCK_CUH
#define NG_CUDA_CONVERT_FP8_ROW_TO_COL_BLOCK_CUH

#include "cuda/convert/elements_of.cuh"
#include "cuda/convert/fp8_blocks.cuh"
#include "cuda/convert/fp8_code.cuh"
#include "cuda/convert/fp8_scale.cuh"
#include "cuda/convert/mxfp4_block.cuh"
#include "cuda/convert/scale_plane.cuh"

NG_HOST_DEVICE bool ng_cuda_is_pow2(const ng_scales &plane)
{
    return plane.dtype != NG_FP32 || plane.pow2;
}

/* Whether an FP32 pattern is what such a plane may hold: a power of two, or
 * NaN. */
NG_HOST_DEVICE bool ng_cuda_fits_pow2(uint32_t bits)
{
    const uint32_t magnitude = bits & 0x7FFFFFFF, fraction = bits & 0x7FFFFF;

    if (magnitude > NG_FP32_INFINITY)
        return true;
    if (bits >> 31 != 0 || magnitude == NG_FP32_INFINITY || magnitude == 0)
        return false;
    return magnitude >> 23 != 0 ? fraction == 0
                                : (fraction & (fraction - 1)) == 0;
}

/* The exponent of a power of two, plus 150, 1 .. 277; 0 of a NaN. Of what is
 * neither, of its highest bit. */
NG_HOST_DEVICE uint32_t ng_cuda_exponent_plus_150(uint32_t bits)
{
    const uint32_t magnitude = bits & 0x7FFFFFFF;

    if (magnitude > NG_FP32_INFINITY || magnitude == 0)
        return 0;
    return magnitude >> 23 != 0
               ? (magnitude >> 23) + 23
               : 32 - (uint32_t)ng_cuda_leading_zeros(magnitude);
}

/* The exponent k of S from the largest of those, 0 if there is none. S as UE8M0
 * does not go below 2^-127. */
NG_HOST_DEVICE int ng_cuda_col_exponent(uint32_t largest_plus_150,
                                        ng_dtype dtype)
{
    const int k = (int)largest_plus_150 - 150;

    if (largest_plus_150 == 0)
        return 0;
    return dtype != NG_FP32 && k < -127 ? -127 : k;
}

/* RNE_E4M3(code * scale / 2^k) and its events. */
NG_HOST_DEVICE uint32_t ng_cuda_row_to_col_code(uint32_t code, uint32_t scale,
                                                int k, const ng_rules &rules,
                                                unsigned &events)
{
    const ng_cuda_real product = ng_cuda_real_product(
        ng_cuda_real_of(ng_cuda_bits_of(ng_cuda_decode_e4m3(code))),
        ng_cuda_real_of(scale));

    return ng_cuda_round_code<ng_cuda_e4m3>(ng_cuda_real_scaled(product, -k),
                                            rules, 0, events);
}

/* RN32(code * scale) and its events. */
NG_HOST_DEVICE uint32_t ng_cuda_row_to_col_value(uint32_t code, uint32_t scale,
                                                 unsigned &events)
{
    ng_rules rn32 = {};

    rn32.rounding = NG_NEAREST_EVEN;
    rn32.overflow = NG_IEEE;
    return ng_cuda_round_code<ng_cuda_fp32>(
        ng_cuda_real_product(
            ng_cuda_real_of(ng_cuda_bits_of(ng_cuda_decode_e4m3(code))),
            ng_cuda_real_of(scale)),
        rn32, 0, events);
}

struct ng_cuda_fp8_row_to_col_job {
    ng_fp8 y, x;
    ng_cuda_options o;

    NG_HOST_DEVICE int64_t outer() const
    {
        return ng_cuda_outer_blocks(NG_FP8_COL, x.rows, o);
    }
    NG_HOST_DEVICE int64_t inner() const
    {
        return x.cols;
    }
    /* Whether the scales of row i are what the plane declares. */
    template <class TEAM> NG_HOST_DEVICE bool fits(int64_t i, TEAM team) const
    {
        const int64_t n = (x.cols + NG_FP8_BLOCK - 1) / NG_FP8_BLOCK;
        uint32_t misfit = 0;

        for (int64_t j = team.lane(); j < n; j += TEAM::lanes)
            misfit |=
                !ng_cuda_fits_pow2(ng_cuda_load_scale_fp32(x.scales, i, j));
        return team.max(misfit) == 0;
    }
    NG_HOST_DEVICE uint32_t scale_of(int64_t row, int64_t col) const
    {
        return ng_cuda_load_scale_fp32(x.scales, row, col / NG_FP8_BLOCK);
    }
    template <class TEAM>
    NG_HOST_DEVICE void align(const ng_cuda_block &block, TEAM team,
                              ng_cuda_counts &counts) const
    {
        const int n = (int)(block.last_row - block.first_row);
        const int64_t col = block.first_col;
        uint32_t largest = 0;

        for (int i = team.lane(); i < n; i += TEAM::lanes) {
            const uint32_t e =
                ng_cuda_exponent_plus_150(scale_of(block.first_row + i, col));

            largest = e > largest ? e : largest;
        }

        const int k = ng_cuda_col_exponent(team.max(largest), y.scales.dtype);

        if (team.lane() == 0)
            ng_cuda_store_scale(y.scales, block.line, block.scale,
                                block.n_scales,
                                ng_cuda_scale_bits(y.scales.dtype, k, false));
        for (int i = team.lane(); i < n; i += TEAM::lanes) {
            const int64_t row = block.first_row + i;
            unsigned bits = 0;

            *ng_cuda_fp8_byte(y, row, col) = (uint8_t)ng_cuda_row_to_col_code(
                *ng_cuda_fp8_byte(x, row, col), scale_of(row, col), k, o.rules,
                bits);
            ng_cuda_count(counts, bits);
        }
    }
    template <class TEAM>
    NG_HOST_DEVICE void requantize(const ng_cuda_block &block, TEAM team,
                                   ng_cuda_counts &counts) const
    {
        const int n = (int)(block.last_row - block.first_row);
        const int64_t col = block.first_col;
        uint32_t amax = 0;

        for (int i = team.lane(); i < n; i += TEAM::lanes) {
            const int64_t row = block.first_row + i;
            unsigned ignored = 0;
            const uint32_t magnitude =
                ng_cuda_row_to_col_value(*ng_cuda_fp8_byte(x, row, col),
                                         scale_of(row, col), ignored)
                & 0x7FFFFFFF;

            amax = magnitude > amax ? magnitude : amax;
        }

        const uint32_t scale =
            ng_cuda_fp8_scale(team.max(amax), o.rules.fp8_scale == NG_FP8_POW2);

        if (team.lane() == 0)
            ng_cuda_store_scale(
                y.scales, block.line, block.scale, block.n_scales,
                y.scales.dtype == NG_FP32 ? scale
                                          : ng_cuda_fp8_scale_byte(scale));
        for (int i = team.lane(); i < n; i += TEAM::lanes) {
            const int64_t row = block.first_row + i;
            unsigned bits = 0;
            const uint32_t v = ng_cuda_row_to_col_value(
                *ng_cuda_fp8_byte(x, row, col), scale_of(row, col), bits);

            if (scale > NG_FP32_INFINITY)
                bits = 0; /* a NaN block counts NAN alone */
            *ng_cuda_fp8_byte(y, row, col) = (uint8_t)ng_cuda_fp8_code(
                v, scale, o.rules, ng_cuda_random_of(o, row, col, x.cols),
                bits);
            ng_cuda_count(counts, bits);
        }
    }
    template <class TEAM>
    NG_HOST_DEVICE void run(int64_t i, int64_t j, TEAM team,
                            ng_cuda_counts &counts) const
    {
        const ng_cuda_block block =
            ng_cuda_block_at(NG_FP8_COL, x.rows, x.cols, o, i, j);

        if (block.first_row >= block.last_row)
            return;
        if (ng_cuda_is_pow2(x.scales))
            align(block, team, counts);
        else
            requantize(block, team, counts);
    }
};

#endif
