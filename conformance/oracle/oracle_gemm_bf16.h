/* SPDX-License-Identifier: Apache-2.0
 *
 * The grouped BF16 GEMMs with MPFR, from semantics section 11: the bits in the
 * order that the project states, and the bound for any other. The parameters
 * are those of reference/moe/ref_grouped_gemm_bf16.h; bounds null: compute d,
 * else leave d alone and set what is exact and the bound of each element.
 */
#ifndef NG_CONFORMANCE_ORACLE_GEMM_BF16_H
#define NG_CONFORMANCE_ORACLE_GEMM_BF16_H

#include "conformance/subject/bounds.h"
#include "formats/layout.h"
#include "formats/options.h"

ng_status ng_oracle_grouped_gemm_bf16_fprop(const ng_matrix *d,
                                            const ng_matrix *a,
                                            const ng_matrix *b,
                                            const ng_options *options,
                                            const ng_bounds *bounds);

ng_status ng_oracle_grouped_gemm_bf16_wgrad(
    const ng_matrix *d, const ng_matrix *c, const ng_matrix *a,
    const ng_matrix *b, const ng_options *options, const ng_bounds *bounds);

#endif
