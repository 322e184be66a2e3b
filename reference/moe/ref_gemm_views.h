/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the operands of a grouped GEMM can be what they say; a sibling of
 * reference/convert/ref_views.h, with the same statuses. Call
 * ng_ref_check_options first.
 */
#ifndef NG_REFERENCE_MOE_REF_GEMM_VIEWS_H
#define NG_REFERENCE_MOE_REF_GEMM_VIEWS_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many matrices: the number of groups, 1 for a dense call. */
int64_t ng_ref_gemm_groups(const ng_options *options);

/* The group that holds row t: the first to end after it; 0 in a dense call. */
int64_t ng_ref_gemm_group(const ng_options *options, int64_t t);

/* D, FP32 or BF16, its rows ragged as the options say. */
ng_status ng_ref_check_gemm_product(const ng_matrix *d,
                                    const ng_options *options);

/* The stacked weights of all groups, [n, k] each, as a tile tensor. */
ng_status ng_ref_check_gemm_weights(const ng_fp8 *b, int64_t n, int64_t k,
                                    const ng_options *options);

/* G matrices [n, k] stacked, of a type in the set dtypes. */
ng_status ng_ref_check_gemm_stack(const ng_matrix *x, unsigned dtypes,
                                  int64_t n, int64_t k,
                                  const ng_options *options);

/* Such a stack, FP32 or BF16: a weight gradient, or what it is
 * added to. */
ng_status ng_ref_check_gemm_gradients(const ng_matrix *d, int64_t n, int64_t k,
                                      const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
