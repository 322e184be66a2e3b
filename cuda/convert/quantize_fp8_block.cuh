/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers to one FP8 block of any form (semantics.md 4), any rules, events.
 */
#ifndef NG_CUDA_CONVERT_QUANTIZE_FP8_BLOCK_CUH
#define NG_CUDA_CONVERT_QUANTIZE_FP8_BLOCK_CUH

#include "cuda/convert/fp8_blocks.cuh"
#include "cuda/convert/fp8_code.cuh"
#include "cuda/convert/fp8_scale.cuh"
#include "cuda/convert/mxfp4_block.cuh"

template <class TEAM>
NG_HOST_DEVICE void
ng_cuda_quantize_fp8_block(const ng_fp8 &y, const ng_matrix &x,
                           const ng_cuda_options &o, const ng_cuda_block &block,
                           TEAM team, ng_cuda_counts &counts)
{
    const int n_cols = (int)(block.last_col - block.first_col);
    const int n = (int)(block.last_row - block.first_row) * n_cols;
    uint32_t amax = 0;

    if (n == 0)
        return;
    for (int i = team.lane(); i < n; i += TEAM::lanes) {
        const uint32_t magnitude =
            ng_cuda_load_number(x, block.first_row + i / n_cols,
                                block.first_col + i % n_cols)
            & 0x7FFFFFFF;

        amax = magnitude > amax ? magnitude : amax;
    }

    const uint32_t scale =
        ng_cuda_fp8_scale(team.max(amax), o.rules.fp8_scale == NG_FP8_POW2);

    if (team.lane() == 0)
        ng_cuda_store_scale(
            y.scales, block.line, block.scale, block.n_scales,
            y.scales.dtype == NG_FP32 ? scale : ng_cuda_fp8_scale_byte(scale));
    for (int i = team.lane(); i < n; i += TEAM::lanes) {
        const int64_t row = block.first_row + i / n_cols;
        const int64_t col = block.first_col + i % n_cols;
        unsigned bits = 0;

        *ng_cuda_fp8_byte(y, row, col) = (uint8_t)ng_cuda_fp8_code(
            ng_cuda_load_number(x, row, col), scale, o.rules,
            ng_cuda_random_of(o, row, col, x.cols), bits);
        ng_cuda_count(counts, bits);
    }
}

#endif
