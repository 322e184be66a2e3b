/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys and values of multi-head latent attention: each head has nope
 * elements of its own and shares the rotated ones.
 */
#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_rows.h"

typedef struct join {
    const ng_array *k, *v, *kv, *k_rope;
    int64_t heads, nope, rope, v_dim;
} join;

static void join_row(const void *job, int64_t t, float *scratch)
{
    const join *q = job;
    const int64_t qk = q->nope + q->rope, both = q->nope + q->v_dim;
    const float *kv = ng_ref_row(q->kv, t, scratch);
    const float *shared = ng_ref_row(q->k_rope, t, scratch + q->kv->cols);
    float *k = scratch + q->kv->cols + q->rope;
    float *v = k + q->k->cols;

    for (int64_t h = 0; h < q->heads; h++) {
        for (int64_t i = 0; i < q->nope; i++)
            k[h * qk + i] = kv[h * both + i];
        for (int64_t i = 0; i < q->rope; i++)
            k[h * qk + q->nope + i] = shared[i];
        for (int64_t i = 0; i < q->v_dim; i++)
            v[h * q->v_dim + i] = kv[h * both + q->nope + i];
    }
    ng_ref_store_row(q->k, t, k);
    ng_ref_store_row(q->v, t, v);
}

static void join_row_backward(const void *job, int64_t t, float *scratch)
{
    const join *q = job;
    const int64_t qk = q->nope + q->rope, both = q->nope + q->v_dim;
    const float *k = ng_ref_row(q->k, t, scratch);
    const float *v = ng_ref_row(q->v, t, scratch + q->k->cols);
    float *kv = scratch + q->k->cols + q->v->cols;
    float *shared = kv + q->kv->cols;

    for (int64_t i = 0; i < q->rope; i++)
        shared[i] = 0.0f;
    for (int64_t h = 0; h < q->heads; h++) {
        for (int64_t i = 0; i < q->nope; i++)
            kv[h * both + i] = k[h * qk + i];
        for (int64_t i = 0; i < q->rope; i++)
            shared[i] += k[h * qk + q->nope + i];
        for (int64_t i = 0; i < q->v_dim; i++)
            kv[h * both + q->nope + i] = v[h * q->v_dim + i];
    }
    ng_ref_store_row(q->kv, t, kv);
    ng_ref_store_row(q->k_rope, t, shared);
}

static ng_status run(ng_ref_row_job *work, const ng_array *k, const ng_array *v,
                     const ng_array *kv, const ng_array *k_rope, int64_t heads,
                     int64_t nope)
{
    join q = {k, v, kv, k_rope, heads, nope, k_rope->cols, 0};

    if (heads < 1 || nope < 0 || v->cols % heads != 0
        || k->cols != heads * (nope + k_rope->cols) || k->rows != kv->rows
        || v->rows != kv->rows || k_rope->rows != kv->rows)
        return NG_BAD_SHAPE;
    q.v_dim = v->cols / heads;
    if (kv->cols != heads * (nope + q.v_dim))
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(k) || !ng_ref_is_numbers(v) || !ng_ref_is_numbers(kv)
        || !ng_ref_is_numbers(k_rope))
        return NG_BAD_DTYPE;
    return ng_ref_each_row(work, &q, kv->rows,
                           k->cols + v->cols + kv->cols + k_rope->cols);
}

ng_status ng_ref_mla_join(void *context, const ng_array *k, const ng_array *v,
                          const ng_array *kv, const ng_array *k_rope,
                          int64_t heads, int64_t nope)
{
    (void)context;
    return run(join_row, k, v, kv, k_rope, heads, nope);
}

ng_status ng_ref_mla_join_backward(void *context, const ng_array *grad_kv,
                                   const ng_array *grad_k_rope,
                                   const ng_array *grad_k,
                                   const ng_array *grad_v, int64_t heads,
                                   int64_t nope)
{
    (void)context;
    return run(join_row_backward, grad_k, grad_v, grad_kv, grad_k_rope, heads,
               nope);
}
