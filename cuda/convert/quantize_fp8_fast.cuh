/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast paths of ng_cuda_quantize_fp8, one file a form. Arguments have been
 * checked; each says whether it takes them, and then enqueues.
 */
#ifndef NG_CUDA_CONVERT_QUANTIZE_FP8_FAST_CUH
#define NG_CUDA_CONVERT_QUANTIZE_FP8_FAST_CUH

#include "cuda/convert/row_block.cuh"
#include "cuda/launch.h"

bool ng_cuda_quantize_fp8_row_takes(const ng_cuda_quantize_fp8_job &job);
ng_status ng_cuda_quantize_fp8_row(const ng_cuda_quantize_fp8_job &job,
                                   const ng_cuda_launch *launch);

bool ng_cuda_quantize_fp8_tile_takes(const ng_cuda_quantize_fp8_job &job);
ng_status ng_cuda_quantize_fp8_tile(const ng_cuda_quantize_fp8_job &job,
                                    const ng_cuda_launch *launch);

#endif
