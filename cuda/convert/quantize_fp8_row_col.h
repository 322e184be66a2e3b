/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_CONVERT_QUANTIZE_FP8_ROW_COL_H
#define NG_CUDA_CONVERT_QUANTIZE_FP8_ROW_COL_H

#include "cuda/convert/quantize_fp8.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both ng_cuda_quantize_fp8 of the same numbers, in one pass over them: what a
 * layer's forward product and its weight gradient want.
 *   y_row   out [rows, cols], form row
 *   y_col   out [rows, cols], form col
 * Arguments as there; events are those of y_row. Fast: nearest-even, no events.
 */
ng_status ng_cuda_quantize_fp8_row_col(const ng_fp8 *y_row, const ng_fp8 *y_col,
                                       const ng_matrix *x,
                                       const ng_options *options,
                                       const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
