/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast paths of conversions whose blocks run along columns, which transpose
 * on the way. Arguments have been checked; each says whether it takes them, and
 * then enqueues. They take any layout and any groups; on 16-byte boundaries,
 * lines of x and of y.codes, they move 16 bytes at a time. Scale planes of y
 * that are stored transposed (ld 1) are written in whole sectors of memory, row
 * by row they cost about a tenth more.
 */
#ifndef NG_CUDA_CONVERT_COL_FAST_CUH
#define NG_CUDA_CONVERT_COL_FAST_CUH

#include "cuda/convert/row_block.cuh"
#include "cuda/launch.h"

/* Thread blocks for windows of 128 rows by tiles of `width` columns. */
inline int64_t ng_cuda_col_tiles(int64_t rows, int64_t cols, int width)
{
    return ng_ceil_div(rows, NG_FP8_BLOCK) * ng_ceil_div(cols, width);
}

bool ng_cuda_convert_mxfp4_to_fp8_col_takes(const ng_cuda_align_job &job,
                                            const ng_cuda_launch *launch);
ng_status ng_cuda_convert_mxfp4_to_fp8_col(const ng_cuda_align_job &job,
                                           const ng_cuda_launch *launch);

bool ng_cuda_quantize_fp8_col_takes(const ng_cuda_quantize_fp8_job &job);
ng_status ng_cuda_quantize_fp8_col(const ng_cuda_quantize_fp8_job &job,
                                   const ng_cuda_launch *launch);

#endif
