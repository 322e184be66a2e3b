/* SPDX-License-Identifier: Apache-2.0
 *
 * MXFP4 to one FP8 block by scale alignment (semantics.md 5 and 6), any
 * headroom, events. All codes of the block come under one S = 2^k.
 */
#ifndef NG_CUDA_CONVERT_ALIGN_BLOCK_CUH
#define NG_CUDA_CONVERT_ALIGN_BLOCK_CUH

#include "cuda/convert/elements_of.cuh"
#include "cuda/convert/fp8_blocks.cuh"
#include "cuda/convert/round_code.cuh"
#include "cuda/convert/scale_plane.cuh"
#include "cuda/counts.cuh"
#include "cuda/team.cuh"

/* The E4M3 code of an E2M1 code times 2^shift. The rules' rounding is
 * nearest-even; a headroom above 6 can overflow. */
NG_HOST_DEVICE uint32_t ng_cuda_aligned_code(uint32_t code, int shift,
                                             const ng_rules &rules,
                                             unsigned &events)
{
    return ng_cuda_round_code<ng_cuda_e4m3>(
        ng_cuda_real_scaled(
            ng_cuda_real_of(ng_cuda_bits_of(ng_cuda_decode_e2m1(code))), shift),
        rules, 0, events);
}

/* The exponent k of S from the largest scale byte that is not NaN, plus 1 (0:
 * there is none). S as UE8M0 does not go below 2^-127. */
NG_HOST_DEVICE int ng_cuda_aligned_exponent(uint32_t largest_plus_1,
                                            int headroom, ng_dtype dtype)
{
    if (largest_plus_1 == 0)
        return 0;

    const int k = (int)largest_plus_1 - 1 - 127 - headroom;

    return dtype != NG_FP32 && k < -127 ? -127 : k;
}

template <class TEAM>
NG_HOST_DEVICE void ng_cuda_align_block(const ng_fp8 &y, const ng_mxfp4 &x,
                                        const ng_cuda_options &o,
                                        const ng_cuda_block &block, TEAM team,
                                        ng_cuda_counts &counts)
{
    const int64_t first_scale = block.first_col / NG_MXFP4_BLOCK;
    const int n_scales =
        (int)((block.last_col - 1) / NG_MXFP4_BLOCK - first_scale) + 1;
    const int n_rows = (int)(block.last_row - block.first_row);
    const int n_cols = (int)(block.last_col - block.first_col);
    uint32_t largest = 0;

    if (n_rows == 0)
        return;
    for (int i = team.lane(); i < n_rows * n_scales; i += TEAM::lanes) {
        const uint32_t byte =
            ng_cuda_load_scale(x.scales, block.first_row + i / n_scales,
                               first_scale + i % n_scales);

        if (byte != 0xFF && byte + 1 > largest)
            largest = byte + 1;
    }

    const int k = ng_cuda_aligned_exponent(team.max(largest), o.rules.headroom,
                                           y.scales.dtype);

    if (team.lane() == 0)
        ng_cuda_store_scale(y.scales, block.line, block.scale, block.n_scales,
                            ng_cuda_scale_bits(y.scales.dtype, k, false));
    for (int i = team.lane(); i < n_rows * n_cols; i += TEAM::lanes) {
        const int64_t row = block.first_row + i / n_cols;
        const int64_t col = block.first_col + i % n_cols;
        const uint32_t byte =
            ng_cuda_load_scale(x.scales, row, col / NG_MXFP4_BLOCK);
        unsigned bits = 0;
        uint32_t code = NG_E4M3_NAN;

        if (byte == 0xFF)
            bits = NG_CUDA_EVENT(NAN);
        else
            code = ng_cuda_aligned_code(
                ng_cuda_load_nibble(x.codes + row * x.ld, col),
                (int)byte - 127 - k, o.rules, bits);
        *ng_cuda_fp8_byte(y, row, col) = (uint8_t)code;
        ng_cuda_count(counts, bits);
    }
}

#endif
