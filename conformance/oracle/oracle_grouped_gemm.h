/* SPDX-License-Identifier: Apache-2.0
 *
 * Grouped GEMMs over FP8 blocks, semantics section 11; views, shapes and
 * statuses as in reference/moe/. Each function either performs the operation,
 * or (bounds not null) writes nothing and fills the bounds of d: exact values,
 * and how far from them an answer in another order may lie.
 */
#ifndef NG_CONFORMANCE_ORACLE_GROUPED_GEMM_H
#define NG_CONFORMANCE_ORACLE_GROUPED_GEMM_H

#include "conformance/subject/bounds.h"
#include "formats/layout.h"
#include "formats/options.h"

ng_status ng_oracle_grouped_gemm_fprop(const ng_matrix *d, const ng_fp8 *a,
                                       const ng_fp8 *b,
                                       const ng_options *options,
                                       const ng_bounds *bounds);

ng_status ng_oracle_grouped_gemm_wgrad(const ng_matrix *d, const ng_matrix *c,
                                       const ng_fp8 *a, const ng_fp8 *b,
                                       const ng_options *options,
                                       const ng_bounds *bounds);

ng_status ng_oracle_grouped_gemm_mxfp4_fprop(const ng_matrix *d,
                                             const ng_mxfp4 *a, const ng_fp8 *b,
                                             const ng_options *options,
                                             const ng_bounds *bounds);

ng_status ng_oracle_grouped_gemm_mxfp4_wgrad(const ng_matrix *d,
                                             const ng_matrix *c,
                                             const ng_fp8 *a, const ng_mxfp4 *b,
                                             const ng_options *options,
                                             const ng_bounds *bounds);

#endif
