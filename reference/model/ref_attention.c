/* SPDX-License-Identifier: Apache-2.0
 *
 * Causal attention, a sequence and a key/value head a job. For row i of a head:
 *   s[j] = scale * q[i].k[j], j <= i;  m = max s;  e[j] = exp(s[j] - m)
 *   y[i] = (sum of e[j] v[j]) / sum e;  lse = m + log(sum e)
 * backward, with p[j] = exp(s[j] - lse), D = grad_y[i].y[i]:
 *   grad_v[j] += p[j] grad_y[i];  ds = p[j] (grad_y[i].v[j] - D) scale
 *   grad_q[i] += ds k[j];  grad_k[j] += ds q[i]
 * FP32; every sum ascends (dots over the elements of a head, the rest over j, i
 * and the heads that share a key). The dots run over many j at once on k and v
 * that are transposed first, so that vectors split no sum.
 */
#include <math.h>
#include <stdlib.h>

#include "reference/model/ref_exp.h"
#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_lanes.h"
#include "reference/model/ref_rows.h"

typedef struct attention {
    const ng_array *y, *lse, *q, *k, *v;
    const ng_array *grad_q, *grad_k, *grad_v, *grad_y;
    ng_attention_shape shape;
} attention;

/* y += a * x */
static inline void add_row(float *restrict y, float a, const float *restrict x,
                           int64_t n)
{
    NG_REF_SIMD
    for (int64_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

/* Columns of one head of all rows of a sequence: out [length][dim]. */
static void load(float *out, const ng_array *x, int64_t sequence,
                 int64_t length, int64_t head, int64_t dim, float *scratch)
{
    for (int64_t i = 0; i < length; i++) {
        const ng_array row = ng_array_rows(x, sequence * length + i, 1);
        const ng_array part = {
            .carrier = x->carrier,
            .batch = 1,
            .rows = 1,
            .cols = dim,
            .data = (char *)row.data
                    + head * ng_carrier_row_bytes(x->carrier, dim)};
        const float *in = ng_ref_row(&part, 0, scratch);

        for (int64_t c = 0; c < dim; c++)
            out[i * dim + c] = in[c];
    }
}

static void store(const ng_array *x, int64_t sequence, int64_t length,
                  int64_t head, int64_t dim, const float *in)
{
    for (int64_t i = 0; i < length; i++) {
        const ng_array row = ng_array_rows(x, sequence * length + i, 1);
        const ng_array part = {
            .carrier = x->carrier,
            .batch = 1,
            .rows = 1,
            .cols = dim,
            .data = (char *)row.data
                    + head * ng_carrier_row_bytes(x->carrier, dim)};

        ng_ref_store_row(&part, 0, in + i * dim);
    }
}

static void transpose(float *y, const float *x, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < cols; c++)
            y[c * rows + i] = x[i * cols + c];
}

/* s[j] = scale * q.k[j] for j < n, keys transposed [qk][length]. */
static inline void score(float *s, const float *q, const float *keys,
                         int64_t qk, int64_t length, int64_t n, float scale)
{
    for (int64_t j = 0; j < n; j++)
        s[j] = 0.0f;
    for (int64_t c = 0; c < qk; c++)
        add_row(s, q[c], keys + c * length, n);
    NG_REF_SIMD
    for (int64_t j = 0; j < n; j++)
        s[j] *= scale;
}

/* One row: weights e in s, their sum returned, the largest score in *m. */
static inline float weigh(float *s, float *m, int64_t n)
{
    float largest = -INFINITY, sum = 0.0f;

    for (int64_t j = 0; j < n; j++)
        largest = s[j] > largest ? s[j] : largest;
    NG_REF_SIMD
    for (int64_t j = 0; j < n; j++)
        s[j] = ng_ref_exp(s[j] - largest);
    for (int64_t j = 0; j < n; j++)
        sum += s[j];
    *m = largest;
    return sum;
}

static float *lse_of(const attention *a, int64_t sequence, int64_t i,
                     int64_t head)
{
    return (float *)a->lse->data
           + (sequence * a->shape.length + i) * a->shape.heads + head;
}

NG_REF_CLONES
static void forward_job(const void *job, int64_t index, float *scratch)
{
    const attention *a = job;
    const ng_attention_shape *s = &a->shape;
    const int64_t length = s->length, qk = s->qk, v_dim = s->v;
    const int64_t sequence = index / s->kv_heads, kv = index % s->kv_heads;
    const int64_t sharing = s->heads / s->kv_heads;
    float *q = scratch, *keys = q + length * qk, *v = keys + length * qk;
    float *y = v + length * v_dim, *scores = y + length * v_dim;
    float *row = scores + length;

    load(q, a->k, sequence, length, kv, qk, row);
    transpose(keys, q, length, qk);
    load(v, a->v, sequence, length, kv, v_dim, row);
    for (int64_t h = kv * sharing; h < (kv + 1) * sharing; h++) {
        load(q, a->q, sequence, length, h, qk, row);
        for (int64_t i = 0; i < length; i++) {
            float m;

            score(scores, q + i * qk, keys, qk, length, i + 1, s->scale);

            const float sum = weigh(scores, &m, i + 1);

            for (int64_t c = 0; c < v_dim; c++)
                y[i * v_dim + c] = 0.0f;
            for (int64_t j = 0; j <= i; j++)
                add_row(y + i * v_dim, scores[j], v + j * v_dim, v_dim);
            for (int64_t c = 0; c < v_dim; c++)
                y[i * v_dim + c] /= sum;
            *lse_of(a, sequence, i, h) = (float)((double)m + log((double)sum));
        }
        store(a->y, sequence, length, h, v_dim, y);
    }
}

NG_REF_CLONES
static void backward_job(const void *job, int64_t index, float *scratch)
{
    const attention *a = job;
    const ng_attention_shape *s = &a->shape;
    const int64_t length = s->length, qk = s->qk, v_dim = s->v;
    const int64_t sequence = index / s->kv_heads, kv = index % s->kv_heads;
    const int64_t sharing = s->heads / s->kv_heads;
    float *q = scratch, *k = q + length * qk, *keys = k + length * qk;
    float *gq = keys + length * qk, *gk = gq + length * qk;
    float *v = gk + length * qk, *values = v + length * v_dim;
    float *gv = values + length * v_dim, *gy = gv + length * v_dim;
    float *y = gy + length * v_dim, *p = y + length * v_dim;
    float *ds = p + length, *row = ds + length;

    const float scale = s->scale;

    load(k, a->k, sequence, length, kv, qk, row);
    transpose(keys, k, length, qk);
    load(v, a->v, sequence, length, kv, v_dim, row);
    transpose(values, v, length, v_dim);
    for (int64_t i = 0; i < length * qk; i++)
        gk[i] = 0.0f;
    for (int64_t i = 0; i < length * v_dim; i++)
        gv[i] = 0.0f;
    for (int64_t h = kv * sharing; h < (kv + 1) * sharing; h++) {
        load(q, a->q, sequence, length, h, qk, row);
        load(gy, a->grad_y, sequence, length, h, v_dim, row);
        load(y, a->y, sequence, length, h, v_dim, row);
        for (int64_t i = 0; i < length; i++) {
            const float lse = *lse_of(a, sequence, i, h);
            const float *g = gy + i * v_dim;
            float delta = 0.0f;

            for (int64_t c = 0; c < v_dim; c++)
                delta += g[c] * y[i * v_dim + c];
            score(p, q + i * qk, keys, qk, length, i + 1, s->scale);
            NG_REF_SIMD
            for (int64_t j = 0; j <= i; j++)
                p[j] = ng_ref_exp(p[j] - lse);
            score(ds, g, values, v_dim, length, i + 1, 1.0f);
            NG_REF_SIMD
            for (int64_t j = 0; j <= i; j++)
                ds[j] = p[j] * (ds[j] - delta) * scale;
            for (int64_t c = 0; c < qk; c++)
                gq[i * qk + c] = 0.0f;
            for (int64_t j = 0; j <= i; j++) {
                add_row(gv + j * v_dim, p[j], g, v_dim);
                add_row(gq + i * qk, ds[j], k + j * qk, qk);
                add_row(gk + j * qk, ds[j], q + i * qk, qk);
            }
        }
        store(a->grad_q, sequence, length, h, qk, gq);
    }
    store(a->grad_k, sequence, length, kv, qk, gk);
    store(a->grad_v, sequence, length, kv, v_dim, gv);
}

static bool is(const ng_array *x, int64_t rows, int64_t cols)
{
    return x->rows == rows && x->cols == cols;
}

static ng_status check(const attention *a)
{
    const ng_attention_shape *s = &a->shape;
    const int64_t rows = s->sequences * s->length;

    if (s->sequences < 0 || s->length < 0 || s->heads < 1 || s->kv_heads < 1
        || s->heads % s->kv_heads != 0 || !is(a->q, rows, s->heads * s->qk)
        || !is(a->k, rows, s->kv_heads * s->qk)
        || !is(a->v, rows, s->kv_heads * s->v)
        || !is(a->y, rows, s->heads * s->v) || !is(a->lse, rows, s->heads))
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(a->q) || !ng_ref_is_numbers(a->k)
        || !ng_ref_is_numbers(a->v) || !ng_ref_is_numbers(a->y)
        || a->lse->carrier != NG_CARRY_FP32)
        return NG_BAD_DTYPE;
    return NG_OK;
}

ng_status ng_ref_attention(void *context, const ng_array *y,
                           const ng_array *lse, const ng_array *q,
                           const ng_array *k, const ng_array *v,
                           const ng_attention_shape *shape)
{
    const attention a = {
        .y = y, .lse = lse, .q = q, .k = k, .v = v, .shape = *shape};
    const ng_status status = check(&a);

    (void)context;
    if (status != NG_OK)
        return status;
    return ng_ref_each_row(forward_job, &a, shape->sequences * shape->kv_heads,
                           shape->length * (2 * shape->qk + 2 * shape->v + 1)
                               + shape->qk + shape->v);
}

ng_status ng_ref_attention_backward(void *context, const ng_array *grad_q,
                                    const ng_array *grad_k,
                                    const ng_array *grad_v,
                                    const ng_array *grad_y, const ng_array *y,
                                    const ng_array *lse, const ng_array *q,
                                    const ng_array *k, const ng_array *v,
                                    const ng_attention_shape *shape)
{
    const attention a = {y,      lse,    q,      k,      v,
                         grad_q, grad_k, grad_v, grad_y, *shape};
    const ng_status status = check(&a);

    (void)context;
    if (status != NG_OK)
        return status;
    if (!is(grad_q, q->rows, q->cols) || !is(grad_k, k->rows, k->cols)
        || !is(grad_v, v->rows, v->cols) || !is(grad_y, y->rows, y->cols))
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(grad_q) || !ng_ref_is_numbers(grad_k)
        || !ng_ref_is_numbers(grad_v) || !ng_ref_is_numbers(grad_y))
        return NG_BAD_DTYPE;
    return ng_ref_each_row(backward_job, &a, shape->sequences * shape->kv_heads,
                           shape->length * (5 * shape->qk + 5 * shape->v + 2)
                               + shape->qk + shape->v);
}
