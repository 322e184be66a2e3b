/* SPDX-License-Identifier: Apache-2.0
 *
 * FP8 rows under general FP32 scales to FP8 columns: a quantisation of
 * RN32(code * scale), and so quantize_fp8_col.cu's.
 */
#ifndef NG_CUDA_CONVERT_REQUANTIZE_FP8_COL_CUH
#define NG_CUDA_CONVERT_REQUANTIZE_FP8_COL_CUH

#include "cuda/convert/fp8_row_to_col_block.cuh"
#include "cuda/launch.h"

bool ng_cuda_requantize_fp8_col_takes(const ng_cuda_fp8_row_to_col_job &job,
                                      const ng_cuda_launch *launch);
ng_status ng_cuda_requantize_fp8_col(const ng_cuda_fp8_row_to_col_job &job,
                                     const ng_cuda_launch *launch);

#endif
