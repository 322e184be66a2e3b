/* SPDX-License-Identifier: Apache-2.0
 *
 * One MXFP4 block, under any rules, with events: the general path of what
 * writes MXFP4. A team of threads works on it.
 */
#ifndef NG_CUDA_CONVERT_MXFP4_BLOCK_CUH
#define NG_CUDA_CONVERT_MXFP4_BLOCK_CUH

#include "cuda/convert/both.cuh"
#include "cuda/convert/elements_of.cuh"
#include "cuda/convert/mxfp4_scale.cuh"
#include "cuda/convert/philox_word.cuh"
#include "cuda/convert/round_code.cuh"
#include "cuda/convert/scale_plane.cuh"
#include "cuda/counts.cuh"
#include "cuda/options.cuh"
#include "cuda/team.cuh"

/* The random word of element (row, col) of a tensor of n_cols columns; 0 unless
 * the rounding is stochastic. */
NG_HOST_DEVICE uint32_t ng_cuda_random_of(const ng_cuda_options &o, int64_t row,
                                          int64_t col, int64_t n_cols)
{
    if (o.rules.rounding != NG_STOCHASTIC)
        return 0;
    return ng_cuda_philox_word(o.random, (uint64_t)row * (uint64_t)n_cols
                                             + (uint64_t)col);
}

/* Elements of block `block` in a row. */
NG_HOST_DEVICE int ng_cuda_mxfp4_size(int64_t n_cols, int64_t block)
{
    const int64_t left = n_cols - block * NG_MXFP4_BLOCK;

    return left < NG_MXFP4_BLOCK ? (int)left : NG_MXFP4_BLOCK;
}

/* Write scale and codes of a block; value(i) is its i-th exact value, and
 * value.nearest(i, scale) the code that a fast path would give it under
 * nearest-even, which is held against the general one. The scale 0xFF makes a
 * NaN block: codes 0, and NAN counted for each element. */
template <class VALUE, class TEAM>
NG_HOST_DEVICE void
ng_cuda_store_mxfp4_block(const ng_mxfp4 &y, const ng_cuda_options &o,
                          int64_t row, int64_t block, uint32_t scale,
                          const VALUE &value, TEAM team, ng_cuda_counts &counts)
{
    const int64_t first = block * NG_MXFP4_BLOCK;
    const int n = ng_cuda_mxfp4_size(y.cols, block);
    uint8_t *codes = y.codes + row * y.ld + first / 2;

    if (team.lane() == 0)
        ng_cuda_store_scale(y.scales, row, block,
                            (y.cols + NG_MXFP4_BLOCK - 1) / NG_MXFP4_BLOCK,
                            scale);
    for (int b = team.lane(); 2 * b < n; b += TEAM::lanes) {
        uint32_t pair = 0; /* the spare nibble of an odd row stays 0 */

        for (int i = 2 * b; i < 2 * b + 2 && i < n; i++) {
            unsigned bits = 0;
            uint32_t code = 0;

            if (scale == NG_UE8M0_NAN)
                bits = NG_CUDA_EVENT(NAN);
            else
                code = ng_cuda_round_code<ng_cuda_e2m1>(
                    ng_cuda_real_scaled(value(i), 127 - (int)scale), o.rules,
                    ng_cuda_random_of(o, row, first + i, y.cols), bits);
            if (scale != NG_UE8M0_NAN && o.rules.rounding == NG_NEAREST_EVEN)
                code = ng_cuda_both(code, value.nearest(i, scale));
            pair |= code << i % 2 * 4;
            ng_cuda_count(counts, bits);
        }
        codes[b] = (uint8_t)pair;
    }
}

#endif
