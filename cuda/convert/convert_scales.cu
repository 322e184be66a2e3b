/* SPDX-License-Identifier: Apache-2.0
 *
 * Power-of-two scales between FP32, UE8M0 and packed UE8M0: a warp a line. What
 * UE8M0 cannot hold is found first, by a kernel of its own, for nothing may be
 * written then.
 */
#include "cuda/convert/convert_scales.h"

#include "cuda/check_views.h"
#include "cuda/convert/row_block.cuh"
#include "cuda/general.cuh"

static __global__ void __launch_bounds__(NG_CUDA_GENERAL_THREADS)
    look(const __grid_constant__ ng_cuda_convert_scales_job job,
         int32_t *refusal)
{
    for (int64_t i = ng_cuda_thread() / 32; i < job.lines;
         i += ng_cuda_threads() / 32)
        if (!job.fits(i, ng_cuda_warp()) && threadIdx.x % 32 == 0)
            *refusal = NG_BAD_SCALE; /* by any number of warps */
}

static __global__ void __launch_bounds__(NG_CUDA_GENERAL_THREADS)
    convert(const __grid_constant__ ng_cuda_convert_scales_job job,
            const int32_t *refusal)
{
    ng_cuda_counts counts = {};

    if (refusal != nullptr && *refusal != 0)
        return;
    for (int64_t i = ng_cuda_thread() / 32; i < job.lines;
         i += ng_cuda_threads() / 32)
        job.run(i, 0, ng_cuda_warp(), counts);
}

extern "C" ng_status ng_cuda_convert_scales(const ng_scales *y,
                                            const ng_scales *x, int64_t lines,
                                            int64_t n,
                                            const ng_cuda_launch *launch)
{
    ng_status status;

    if (y == nullptr || x == nullptr || launch == nullptr)
        return NG_BAD_POINTER;
    if (lines < 0 || n < 0)
        return NG_BAD_SHAPE;
    if ((status = ng_cuda_check_scales(y, NG_CUDA_SCALES, lines, n, true))
            != NG_OK
        || (status = ng_cuda_check_scales(x, NG_CUDA_SCALES, lines, n, true))
               != NG_OK)
        return status;

    const bool may_refuse = x->dtype == NG_FP32 && y->dtype != NG_FP32;
    const ng_cuda_convert_scales_job job = {*y, *x, lines, n};
    const unsigned grid = ng_cuda_blocks(lines, NG_CUDA_GENERAL_THREADS / 32,
                                         NG_CUDA_GENERAL_BLOCKS);
    const cudaStream_t stream = (cudaStream_t)launch->stream;

    if (may_refuse
        && (launch->refusal == nullptr || (uintptr_t)launch->refusal % 4 != 0))
        return NG_BAD_POINTER;
    if (lines == 0 || n == 0)
        return NG_OK;
    if (may_refuse) {
        look<<<grid, NG_CUDA_GENERAL_THREADS, 0, stream>>>(job,
                                                           launch->refusal);
        NG_CUDA_TRY_LAUNCH();
    }
    convert<<<grid, NG_CUDA_GENERAL_THREADS, 0, stream>>>(
        job, may_refuse ? launch->refusal : nullptr);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
