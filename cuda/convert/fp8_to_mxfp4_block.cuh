/* SPDX-License-Identifier: Apache-2.0
 *
 * 32 neighbours of an FP8 row under one scale to an MXFP4 block (semantics.md
 * 7), any rules, events.
 */
#ifndef NG_CUDA_CONVERT_FP8_TO_MXFP4_BLOCK_CUH
#define NG_CUDA_CONVERT_FP8_TO_MXFP4_BLOCK_CUH

#include "cuda/convert/mxfp4_block.cuh"
#include "cuda/convert/mxfp4_threshold.cuh"

/* code * scale, exactly: 4 bits times 24. */
struct ng_cuda_products {
    const uint8_t *codes;
    ng_cuda_real scale;
    ng_cuda_scale_parts parts;
    NG_HOST_DEVICE ng_cuda_real operator()(int i) const
    {
        return ng_cuda_real_product(
            ng_cuda_real_of(ng_cuda_bits_of(ng_cuda_decode_e4m3(codes[i]))),
            scale);
    }
    NG_HOST_DEVICE uint32_t nearest(int i, uint32_t byte) const
    {
        return scale.significand == 0
                   ? ((codes[i] >> 4 & 8u) ^ (scale.negative ? 8u : 0u))
                   : ng_cuda_threshold_code(
                       codes[i], scale.negative,
                       ng_cuda_ratio_of(parts, ng_cuda_ratio_exponent(
                                                   parts, (int)byte - 127)));
    }
};

/* `line` is x's line of scales that holds the row: the row itself, or its block
 * of rows in the tile form. */
template <class TEAM>
NG_HOST_DEVICE void
ng_cuda_fp8_to_mxfp4_block(const ng_mxfp4 &y, const ng_fp8 &x,
                           const ng_cuda_options &o, int64_t row, int64_t line,
                           int64_t block, TEAM team, ng_cuda_counts &counts)
{
    const int64_t first = block * NG_MXFP4_BLOCK;
    const int n = ng_cuda_mxfp4_size(x.cols, block);
    const uint32_t scale =
        ng_cuda_load_scale_fp32(x.scales, line, first / NG_FP8_BLOCK);
    const ng_cuda_products products = {ng_cuda_fp8_byte(x, row, first),
                                       ng_cuda_real_of(scale),
                                       ng_cuda_scale_parts_of(scale)};
    uint32_t largest = 0; /* under one scale, the largest code's */

    for (int i = team.lane(); i < n; i += TEAM::lanes) {
        const uint32_t magnitude = products.codes[i] & 0x7Fu;

        largest = magnitude > largest ? magnitude : largest;
    }
    largest = team.max(largest);

    const bool is_nan =
        largest == 0x7F || products.scale.kind != NG_CUDA_FINITE;
    const ng_cuda_real amax = ng_cuda_real_product(
        ng_cuda_real_of(ng_cuda_bits_of(ng_cuda_decode_e4m3(largest))),
        products.scale);

    uint32_t byte = NG_UE8M0_NAN;

    if (!is_nan) {
        byte = ng_cuda_mxfp4_scale_exact(amax, o.rules.mxfp4_scale);
        if (products.scale.significand != 0)
            byte = ng_cuda_both(byte,
                                ng_cuda_mxfp4_scale_of_code(
                                    largest, products.parts,
                                    ng_cuda_mxfp4_carry(o.rules.mxfp4_scale)));
    }
    ng_cuda_store_mxfp4_block(y, o, row, block, byte, products, team, counts);
}

#endif
