/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_step.h"

#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_format.h"
#include "conformance/oracle/oracle_state.h"
#include "conformance/oracle/oracle_step_row.h"
#include "conformance/oracle/oracle_weight.h"
#include "formats/fp32.h"

typedef struct group {
    mpfr_t theta[NG_STATE_GROUP], g[NG_STATE_GROUP];
    mpfr_t m[NG_STATE_GROUP], v[NG_STATE_GROUP];
} group;

static void load_gradient(mpfr_ptr g, const ng_gradient *from, int64_t i)
{
    MPFR_DECL_INIT(scale, NG_ORACLE_FP32_BITS);

    if (from->dtype == NG_FP32)
        ng_oracle_value(g, NG_FORMAT_FP32, ((const uint32_t *)from->data)[i]);
    else
        ng_oracle_value(
            g, from->dtype == NG_BF16 ? NG_FORMAT_BF16 : NG_FORMAT_FP16,
            ((const uint16_t *)from->data)[i]);
    if (from->scale != NULL) {
        ng_oracle_from_fp32(scale, ng_fp32_bits(*from->scale));
        ng_oracle_mul(g, g, scale);
    }
}

static ng_status check(const ng_weights *theta, const ng_state *m,
                       const ng_state *v, const ng_gradient *g, int64_t n,
                       const ng_step_constants *c)
{
    ng_status status;

    if ((int)c->kind < 0 || c->kind >= NG_N_OPTIMIZERS)
        return NG_BAD_VALUE;
    if (theta == NULL || g == NULL || (ng_oracle_row_has_m(c) && m == NULL)
        || (ng_oracle_row_has_v(c) && v == NULL))
        return NG_BAD_POINTER;
    status = ng_oracle_check_weights(theta, n);
    if (status == NG_OK && ng_oracle_row_has_m(c))
        status = m->kind == NG_MOMENTUM ? ng_oracle_check_state(m, n)
                                        : NG_BAD_LAYOUT;
    if (status == NG_OK && ng_oracle_row_has_v(c))
        status = v->kind == NG_VARIANCE ? ng_oracle_check_state(v, n)
                                        : NG_BAD_LAYOUT;
    if (status != NG_OK)
        return status;
    if (g->dtype != NG_FP32 && g->dtype != NG_BF16 && g->dtype != NG_FP16)
        return NG_BAD_DTYPE;
    return n > 0 && g->data == NULL ? NG_BAD_POINTER : NG_OK;
}

ng_status ng_oracle_step(const ng_weights *theta, const ng_state *m,
                         const ng_state *v, const ng_gradient *g, int64_t n,
                         const ng_step_constants *c,
                         const ng_optim_options *options)
{
    const ng_rules *rules = ng_oracle_optim_rules(options);
    const ng_status status = check(theta, m, v, g, n, c);
    ng_optim_counts counts = {0};
    group x;

    if (status != NG_OK)
        return status;
    for (int i = 0; i < NG_STATE_GROUP; i++)
        mpfr_inits2(NG_ORACLE_FP32_BITS, x.theta[i], x.g[i], x.m[i], x.v[i],
                    (mpfr_ptr)NULL);
    for (int64_t first = 0; first < n; first += NG_STATE_GROUP) {
        const int size = ng_oracle_group_size(n - first);

        if (ng_oracle_row_has_m(c))
            ng_oracle_load_group(x.m, m, first, size, rules->compand);
        if (ng_oracle_row_has_v(c))
            ng_oracle_load_group(x.v, v, first, size, rules->compand);
        for (int i = 0; i < size; i++) {
            const ng_oracle_row row = {x.theta[i], x.m[i], x.v[i], x.g[i]};

            load_gradient(x.g[i], g, first + i);
            ng_oracle_load_weight(x.theta[i], theta, first + i, rules->split);
            ng_oracle_perform_row(&row, c, rules->step);
            ng_oracle_store_weight(theta, first + i, x.theta[i], rules->split,
                                   &counts);
        }
        if (ng_oracle_row_has_m(c))
            ng_oracle_store_group(m, first, (const mpfr_t *)x.m, size,
                                  rules->compand, &counts);
        if (ng_oracle_row_has_v(c))
            ng_oracle_store_group(v, first, (const mpfr_t *)x.v, size,
                                  rules->compand, &counts);
    }
    for (int i = 0; i < NG_STATE_GROUP; i++)
        mpfr_clears(x.theta[i], x.g[i], x.m[i], x.v[i], (mpfr_ptr)NULL);
    ng_oracle_count_optim(options, &counts);
    return NG_OK;
}
