/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "conformance/oracle/oracle_gemm_bf16.h"
#include "conformance/oracle/oracle_grouped_gemm.h"
#include "conformance/subject/gemm_functions.h"

static ng_status fprop(const ng_matrix *d, const ng_fp8 *a, const ng_fp8 *b,
                       const ng_options *options)
{
    return ng_oracle_grouped_gemm_fprop(d, a, b, options, NULL);
}

static ng_status wgrad(const ng_matrix *d, const ng_matrix *c, const ng_fp8 *a,
                       const ng_fp8 *b, const ng_options *options)
{
    return ng_oracle_grouped_gemm_wgrad(d, c, a, b, options, NULL);
}

static ng_status mxfp4_fprop(const ng_matrix *d, const ng_mxfp4 *a,
                             const ng_fp8 *b, const ng_options *options)
{
    return ng_oracle_grouped_gemm_mxfp4_fprop(d, a, b, options, NULL);
}

static ng_status mxfp4_wgrad(const ng_matrix *d, const ng_matrix *c,
                             const ng_fp8 *a, const ng_mxfp4 *b,
                             const ng_options *options)
{
    return ng_oracle_grouped_gemm_mxfp4_wgrad(d, c, a, b, options, NULL);
}

static ng_status bf16_fprop(const ng_matrix *d, const ng_matrix *a,
                            const ng_matrix *b, const ng_options *options)
{
    return ng_oracle_grouped_gemm_bf16_fprop(d, a, b, options, NULL);
}

static ng_status bf16_wgrad(const ng_matrix *d, const ng_matrix *c,
                            const ng_matrix *a, const ng_matrix *b,
                            const ng_options *options)
{
    return ng_oracle_grouped_gemm_bf16_wgrad(d, c, a, b, options, NULL);
}

const ng_gemm_functions ng_oracle_gemm_functions = {
    .fprop = fprop,
    .wgrad = wgrad,
    .mxfp4_fprop = mxfp4_fprop,
    .mxfp4_wgrad = mxfp4_wgrad,
    .bf16_fprop = bf16_fprop,
    .bf16_wgrad = bf16_wgrad,
};

ng_status ng_oracle_gemm_bounds(const ng_call *call, ng_bounds *bounds)
{
    const ng_gemm_views v = ng_gemm_views_of(call);
    const ng_matrix *c = v.has_c ? &v.c : NULL;
    ng_groups groups;
    const ng_options options = ng_call_options(&groups, call);

    if (strcmp(call->operation, "grouped_gemm_fprop") == 0)
        return ng_oracle_grouped_gemm_fprop(&v.d, &v.a, &v.b, &options, bounds);
    if (strcmp(call->operation, "grouped_gemm_wgrad") == 0)
        return ng_oracle_grouped_gemm_wgrad(&v.d, c, &v.a, &v.b, &options,
                                            bounds);
    if (strcmp(call->operation, "grouped_gemm_mxfp4_fprop") == 0)
        return ng_oracle_grouped_gemm_mxfp4_fprop(&v.d, &v.packed, &v.b,
                                                  &options, bounds);
    if (strcmp(call->operation, "grouped_gemm_mxfp4_wgrad") == 0)
        return ng_oracle_grouped_gemm_mxfp4_wgrad(&v.d, c, &v.a, &v.packed,
                                                  &options, bounds);
    if (strcmp(call->operation, "grouped_gemm_bf16_fprop") == 0)
        return ng_oracle_grouped_gemm_bf16_fprop(&v.d, &v.plain_a, &v.plain_b,
                                                 &options, bounds);
    if (strcmp(call->operation, "grouped_gemm_bf16_wgrad") == 0)
        return ng_oracle_grouped_gemm_bf16_wgrad(&v.d, c, &v.plain_a,
                                                 &v.plain_b, &options, bounds);
    return NG_NOT_COVERED;
}
