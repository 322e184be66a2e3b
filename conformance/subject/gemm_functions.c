/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/gemm_functions.h"

#include <string.h>

typedef ng_status run(const ng_gemm_functions *, const ng_gemm_views *,
                      const ng_options *);

static ng_status fprop(const ng_gemm_functions *table, const ng_gemm_views *v,
                       const ng_options *options)
{
    return table->fprop(&v->d, &v->a, &v->b, options);
}

static ng_status wgrad(const ng_gemm_functions *table, const ng_gemm_views *v,
                       const ng_options *options)
{
    return table->wgrad(&v->d, v->has_c ? &v->c : NULL, &v->a, &v->b, options);
}

static ng_status mxfp4_fprop(const ng_gemm_functions *table,
                             const ng_gemm_views *v, const ng_options *options)
{
    return table->mxfp4_fprop(&v->d, &v->packed, &v->b, options);
}

static ng_status mxfp4_wgrad(const ng_gemm_functions *table,
                             const ng_gemm_views *v, const ng_options *options)
{
    return table->mxfp4_wgrad(&v->d, v->has_c ? &v->c : NULL, &v->a, &v->packed,
                              options);
}

static ng_status bf16_fprop(const ng_gemm_functions *table,
                            const ng_gemm_views *v, const ng_options *options)
{
    return table->bf16_fprop(&v->d, &v->plain_a, &v->plain_b, options);
}

static ng_status bf16_wgrad(const ng_gemm_functions *table,
                            const ng_gemm_views *v, const ng_options *options)
{
    return table->bf16_wgrad(&v->d, v->has_c ? &v->c : NULL, &v->plain_a,
                             &v->plain_b, options);
}

/* What an operation's name says: which operand is packed, if any, and in which
 * form the others lie. In BF16 neither has a form. */
static const struct row {
    const char *operation;
    run *run;
    const char *packed;
    ng_fp8_form a, b;
} rows[] = {
    {"grouped_gemm_fprop", fprop, NULL, NG_FP8_ROW, NG_FP8_TILE},
    {"grouped_gemm_wgrad", wgrad, NULL, NG_FP8_COL, NG_FP8_COL},
    {"grouped_gemm_mxfp4_fprop", mxfp4_fprop, "a", NG_FP8_ROW, NG_FP8_TILE},
    {"grouped_gemm_mxfp4_wgrad", mxfp4_wgrad, "b", NG_FP8_COL, NG_FP8_COL},
    {"grouped_gemm_bf16_fprop", bf16_fprop, NULL, NG_FP8_ROW, NG_FP8_ROW},
    {"grouped_gemm_bf16_wgrad", bf16_wgrad, NULL, NG_FP8_ROW, NG_FP8_ROW},
};

static const struct row *find(const ng_call *call)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].operation, call->operation) == 0)
            return &rows[i];
    return NULL;
}

ng_gemm_views ng_gemm_views_of(const ng_call *call)
{
    const struct row *r = find(call);
    ng_gemm_views v = {.d = ng_call_matrix(call, "d"),
                       .has_c = ng_call_input(call, "c") != NULL};

    if (v.has_c)
        v.c = ng_call_matrix(call, "c");
    if (r == NULL)
        return v;
    if (r->run == bf16_fprop || r->run == bf16_wgrad) {
        v.plain_a = ng_call_matrix(call, "a");
        v.plain_b = ng_call_matrix(call, "b");
        return v;
    }
    if (r->packed != NULL)
        v.packed = ng_call_mxfp4(call, r->packed);
    if (r->packed == NULL || *r->packed != 'a')
        v.a = ng_call_fp8(call, "a", r->a);
    if (r->packed == NULL || *r->packed != 'b')
        v.b = ng_call_fp8(call, "b", r->b);
    return v;
}

bool ng_gemm_functions_cover(const ng_gemm_functions *table,
                             const ng_call *call)
{
    const struct row *r = find(call);

    return r != NULL
           && ((r->run == fprop && table->fprop != NULL)
               || (r->run == wgrad && table->wgrad != NULL)
               || (r->run == mxfp4_fprop && table->mxfp4_fprop != NULL)
               || (r->run == mxfp4_wgrad && table->mxfp4_wgrad != NULL)
               || (r->run == bf16_fprop && table->bf16_fprop != NULL)
               || (r->run == bf16_wgrad && table->bf16_wgrad != NULL));
}

ng_status ng_gemm_functions_run(const ng_gemm_functions *table,
                                const ng_call *call)
{
    ng_groups groups;
    const ng_options options = ng_call_options(&groups, call);

    if (!ng_gemm_functions_cover(table, call))
        return NG_NOT_COVERED;

    const ng_gemm_views views = ng_gemm_views_of(call);

    return find(call)->run(table, &views, &options);
}
