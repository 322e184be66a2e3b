/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers to one MXFP4 block (semantics.md 3), any rules, events.
 */
#ifndef NG_CUDA_CONVERT_QUANTIZE_MXFP4_BLOCK_CUH
#define NG_CUDA_CONVERT_QUANTIZE_MXFP4_BLOCK_CUH

#include "cuda/convert/encode_nearest.cuh"
#include "cuda/convert/mxfp4_block.cuh"

/* The numbers of a row from column `first` on. */
struct ng_cuda_numbers {
    const ng_matrix &x;
    int64_t row, first;
    NG_HOST_DEVICE ng_cuda_real operator()(int i) const
    {
        return ng_cuda_real_of(ng_cuda_load_number(x, row, first + i));
    }
    NG_HOST_DEVICE uint32_t nearest(int i, uint32_t scale) const
    {
        return ng_cuda_nearest_e2m1(ng_cuda_mul_rn(
            ng_cuda_float_of(ng_cuda_load_number(x, row, first + i)),
            ng_cuda_power_of_two(127 - (int)scale)));
    }
};

template <class TEAM>
NG_HOST_DEVICE void
ng_cuda_quantize_mxfp4_block(const ng_mxfp4 &y, const ng_matrix &x,
                             const ng_cuda_options &o, int64_t row,
                             int64_t block, TEAM team, ng_cuda_counts &counts)
{
    const int64_t first = block * NG_MXFP4_BLOCK;
    const int n = ng_cuda_mxfp4_size(x.cols, block);
    uint32_t amax = 0;

    for (int i = team.lane(); i < n; i += TEAM::lanes) {
        const uint32_t magnitude =
            ng_cuda_load_number(x, row, first + i) & 0x7FFFFFFF;

        amax = magnitude > amax ? magnitude : amax;
    }
    const uint32_t scale = ng_cuda_mxfp4_scale(
        team.max(amax), ng_cuda_mxfp4_carry(o.rules.mxfp4_scale));

    ng_cuda_store_mxfp4_block(y, o, row, block, scale,
                              ng_cuda_numbers{x, row, first}, team, counts);
}

#endif
