/* SPDX-License-Identifier: Apache-2.0
 *
 * Scores (bounded), then the choice on them (exact): semantics.md 11; L-24.
 *   sigmoid: s[e] = 1 / (1 + exp(-l[e]));  softmax: s[e] = exp(l[e] - m) / sum
 *   z = RN32(s + bias); groups by the sum of their two largest z, experts by z,
 *   ties to the lower index; w[i] = s[expert i], over their sum, times the
 *   scale
 * Balance loss of a sequence of L tokens (arXiv 2412.19437, equations 17 to
 * 20), in which f has no gradient:
 *   f[e] = E / (S L) * tokens that chose e;  P[e] = mean over tokens of
 *   s[e] / sum s;  loss = alpha * sum of f[e] P[e]
 * A NaN row takes no part in either, but counts among the L; nor has a row whose
 * scores are all 0 (every logit below -87) a P or a gradient: its shares of 0
 * are no numbers, as in the weights.
 */
#include <math.h>
#include <stdlib.h>

#include "reference/model/ref_exp.h"
#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_rows.h"

/* Whether a comes before b in the one order that there is: value down, index
 * up; -0 equals +0. */
static bool before(const float *z, int64_t a, int64_t b)
{
    const float x = z[a], y = z[b];

    return x > y || (x == y && a < b);
}

/* The k first of n by that order, among those with candidate[i] (null: all). */
static void choose(int64_t *chosen, int64_t k, const float *z, int64_t n,
                   const bool *candidate)
{
    int64_t found = 0;

    for (int64_t i = 0; i < n; i++) {
        int64_t at;

        if (candidate != NULL && !candidate[i])
            continue;
        if (found == k && !before(z, i, chosen[k - 1]))
            continue;
        at = found < k ? found++ : k - 1;
        for (; at > 0 && before(z, i, chosen[at - 1]); at--)
            chosen[at] = chosen[at - 1];
        chosen[at] = i;
    }
}

/* RN32 of the two largest of z [n], n > 0. */
static float worth(const float *z, int64_t n)
{
    int64_t best[2] = {0, 1};

    if (n < 2)
        return z[0];
    choose(best, 2, z, n, NULL);
    return z[best[0]] + z[best[1]];
}

typedef struct routing {
    const ng_array *scores, *weight, *logits, *bias;
    int32_t *choice;       /* forward: written */
    const int32_t *expert; /* backward: read */
    const ng_router_shape *shape;
    const ng_array *grad_logits, *grad_weight;
    const float *fraction; /* [sequences][E]: f, for backward */
    float balance_scale;
} routing;

static void score_row(float *s, const float *l, int64_t n, bool softmax)
{
    float largest = -INFINITY, sum = 0.0f;

    if (!softmax) {
        for (int64_t e = 0; e < n; e++)
            s[e] = ng_ref_sigmoid(l[e]);
        return;
    }
    for (int64_t e = 0; e < n; e++)
        largest = l[e] > largest ? l[e] : largest;
    for (int64_t e = 0; e < n; e++)
        s[e] = ng_ref_exp(l[e] - largest);
    for (int64_t e = 0; e < n; e++)
        sum += s[e];
    for (int64_t e = 0; e < n; e++)
        s[e] /= sum;
}

/* The weights of chosen experts: scores over their sum, times the scale. */
static void weigh(float *w, const float *s, const int64_t *chosen,
                  const ng_router_shape *shape)
{
    float sum = 0.0f;

    for (int64_t i = 0; i < shape->top_k; i++) {
        w[i] = s[chosen[i]];
        sum = i == 0 ? w[i] : sum + w[i];
    }
    for (int64_t i = 0; i < shape->top_k; i++) {
        if (shape->normalize)
            w[i] = sum == 0.0f ? 0.0f : w[i] / sum;
        w[i] *= shape->route_scale;
    }
}

static void mark_groups(bool *candidate, const float *z,
                        const ng_router_shape *shape, float *worths,
                        int64_t *best)
{
    const int64_t run = shape->experts / shape->n_groups;

    for (int64_t g = 0; g < shape->n_groups; g++)
        worths[g] = worth(z + g * run, run);
    choose(best, shape->top_groups, worths, shape->n_groups, NULL);
    for (int64_t e = 0; e < shape->experts; e++)
        candidate[e] = false;
    for (int64_t i = 0; i < shape->top_groups; i++)
        for (int64_t e = best[i] * run; e < (best[i] + 1) * run; e++)
            candidate[e] = true;
}

/* Whether row t of the choice is that of a NaN row is told by its z alone. */
static bool holds_nan(const float *z, int64_t n)
{
    for (int64_t e = 0; e < n; e++)
        if (z[e] != z[e])
            return true;
    return false;
}

static const float *bias_of(const routing *r)
{
    return r->bias != NULL ? r->bias->data : NULL;
}

static void biased(float *z, const float *s, const float *bias, int64_t n)
{
    for (int64_t e = 0; e < n; e++)
        z[e] = bias != NULL ? s[e] + bias[e] : s[e];
}

static void route_row(const void *job, int64_t t, float *scratch)
{
    const routing *r = job;
    const ng_router_shape *shape = r->shape;
    const int64_t n = shape->experts, k = shape->top_k;
    float *s = (float *)r->scores->data + t * n;
    float *w = (float *)r->weight->data + t * k;
    int32_t *expert = r->choice + t * k;
    float *z = scratch, *worths = z + n;
    int64_t *chosen = (int64_t *)(void *)(scratch + 2 * n);
    bool *candidate = (bool *)(void *)(chosen + n);

    score_row(s, (const float *)r->logits->data + t * n, n, shape->softmax);
    biased(z, s, bias_of(r), n);
    if (holds_nan(z, n)) {
        for (int64_t i = 0; i < k; i++) {
            expert[i] = (int32_t)i;
            w[i] = 0.0f;
        }
        return;
    }
    if (shape->n_groups > 1)
        mark_groups(candidate, z, shape, worths, chosen);
    choose(chosen, k, z, n, shape->n_groups > 1 ? candidate : NULL);
    for (int64_t i = 0; i < k; i++)
        expert[i] = (int32_t)chosen[i];
    weigh(w, s, chosen, shape);
}

static ng_status check(const ng_router_shape *s, int64_t rows)
{
    if (s->experts < 1 || s->experts > INT32_MAX || s->top_k < 1
        || s->n_groups < 1 || s->experts % s->n_groups != 0 || s->top_groups < 1
        || s->top_groups > s->n_groups
        || s->top_k > s->experts / s->n_groups * s->top_groups)
        return NG_BAD_SHAPE;
    if (s->balance != 0.0f
        && (s->length < 1 || s->sequences * s->length != rows))
        return NG_BAD_SHAPE;
    return NG_OK;
}

static bool nan_row(const float *s, const float *bias, int64_t n)
{
    for (int64_t e = 0; e < n; e++)
        if (s[e] != s[e] || (bias != NULL && s[e] + bias[e] != s[e] + bias[e]))
            return true;
    return false;
}

/* f of a sequence, and P in FP64 where it is not null. A NaN row is one without
 * weight whose scores hold a NaN. */
static void sequence_shares(float *f, double *P, const float *scores,
                            const int32_t *expert, const ng_router_shape *shape,
                            int64_t sequence)
{
    const int64_t n = shape->experts, k = shape->top_k;
    const float each = (float)n / (float)(k * shape->length);

    for (int64_t e = 0; e < n; e++) {
        f[e] = 0.0f;
        if (P != NULL)
            P[e] = 0.0;
    }
    for (int64_t i = 0; i < shape->length; i++) {
        const int64_t t = sequence * shape->length + i;
        const float *s = scores + t * n;
        float sum = 0.0f;

        if (holds_nan(s, n))
            continue;
        for (int64_t e = 0; e < n; e++)
            sum += s[e];
        for (int64_t slot = 0; slot < k; slot++)
            f[expert[t * k + slot]] += 1.0f;
        for (int64_t e = 0; P != NULL && sum > 0.0f && e < n; e++)
            P[e] += (double)(s[e] / sum);
    }
    for (int64_t e = 0; e < n; e++) {
        f[e] *= each;
        if (P != NULL)
            P[e] /= (double)shape->length;
    }
}

static ng_status add_balance(double *balance, const ng_array *scores,
                             const int32_t *expert,
                             const ng_router_shape *shape)
{
    const size_t n = (size_t)shape->experts;
    float *f = malloc(n * sizeof *f);
    double *P = malloc(n * sizeof *P);

    for (int64_t q = 0; f != NULL && P != NULL && q < shape->sequences; q++) {
        double sum = 0.0;

        sequence_shares(f, P, scores->data, expert, shape, q);
        for (size_t e = 0; e < n; e++)
            sum += (double)f[e] * P[e];
        *balance += (double)shape->balance * sum;
    }

    const bool done = f != NULL && P != NULL;

    free(f);
    free(P);
    return done ? NG_OK : NG_NO_MEMORY;
}

ng_status ng_ref_router(void *context, const ng_array *scores, int32_t *expert,
                        const ng_array *weight, int64_t *load,
                        int64_t *nan_rows, double *balance,
                        const ng_array *logits, const ng_array *bias,
                        const ng_router_shape *shape)
{
    const int64_t n = shape->experts, k = shape->top_k, rows = logits->rows;
    const routing r = {.scores = scores,
                       .weight = weight,
                       .logits = logits,
                       .bias = bias,
                       .choice = expert,
                       .shape = shape};
    ng_status status = check(shape, rows);

    (void)context;
    if (status != NG_OK)
        return status;
    if (logits->cols != n || scores->rows != rows || scores->cols != n
        || weight->rows != rows || weight->cols != k
        || (bias != NULL && bias->rows * bias->cols != n))
        return NG_BAD_SHAPE;
    if (logits->carrier != NG_CARRY_FP32 || scores->carrier != NG_CARRY_FP32
        || weight->carrier != NG_CARRY_FP32
        || (bias != NULL && bias->carrier != NG_CARRY_FP32))
        return NG_BAD_DTYPE;
    /* z, worths; n integers of 64 bits; n bools */
    status = ng_ref_each_row(route_row, &r, rows, 2 * n + 2 * n + n);
    for (int64_t t = 0; status == NG_OK && t < rows; t++) {
        if (nan_row((const float *)scores->data + t * n, bias_of(&r), n)) {
            ++*nan_rows;
            continue;
        }
        for (int64_t i = 0; i < k; i++)
            load[expert[t * k + i]]++;
    }
    if (status == NG_OK && shape->balance != 0.0f)
        status = add_balance(balance, scores, expert, shape);
    return status;
}

/* With q = s / sum s, c[e] = alpha f[e] / L: loss = sum of c q, whose gradient
 * by s[e] is (c[e] - sum of c q) / sum s. */
static void add_balance_row(float *grad, const float *s, const float *f,
                            const routing *r)
{
    const ng_router_shape *shape = r->shape;
    const int64_t n = shape->experts;
    const float factor =
        r->balance_scale * shape->balance / (float)shape->length;
    float sum = 0.0f, mean = 0.0f;

    for (int64_t e = 0; e < n; e++)
        sum += s[e];
    if (sum == 0.0f)
        return;
    for (int64_t e = 0; e < n; e++)
        mean += f[e] * (s[e] / sum);
    for (int64_t e = 0; e < n; e++)
        grad[e] += factor * (f[e] - mean) / sum;
}

/* w[i] = scale * s[i] / sum: its gradient by s[j] is scale * (grad[j] - sum of
 * grad[i] s[i] / sum) / sum. */
static void weight_row_backward(float *grad, const float *s, const float *g,
                                const int32_t *expert,
                                const ng_router_shape *shape)
{
    float sum = 0.0f, mean = 0.0f;

    for (int64_t i = 0; i < shape->top_k; i++)
        sum += s[expert[i]];
    if (shape->normalize && sum == 0.0f)
        return;
    for (int64_t i = 0; i < shape->top_k; i++)
        mean += g[i] * (s[expert[i]] / sum);
    for (int64_t i = 0; i < shape->top_k; i++)
        grad[expert[i]] += shape->normalize
                               ? shape->route_scale * (g[i] - mean) / sum
                               : shape->route_scale * g[i];
}

static void backward_row(const void *job, int64_t t, float *scratch)
{
    const routing *r = job;
    const ng_router_shape *shape = r->shape;
    const int64_t n = shape->experts, k = shape->top_k;
    const float *s = (const float *)r->scores->data + t * n;
    float *out = (float *)r->grad_logits->data + t * n;
    float dot = 0.0f;

    for (int64_t e = 0; e < n; e++)
        scratch[e] = out[e] = 0.0f;
    if (holds_nan(s, n))
        return;
    weight_row_backward(scratch, s, (const float *)r->grad_weight->data + t * k,
                        r->expert + t * k, shape);
    if (r->fraction != NULL)
        add_balance_row(scratch, s, r->fraction + t / shape->length * n, r);
    if (!shape->softmax) {
        for (int64_t e = 0; e < n; e++)
            out[e] = scratch[e] * s[e] * (1.0f - s[e]);
        return;
    }
    for (int64_t e = 0; e < n; e++)
        dot += scratch[e] * s[e];
    for (int64_t e = 0; e < n; e++)
        out[e] = s[e] * (scratch[e] - dot);
}

ng_status ng_ref_router_backward(void *context, const ng_array *grad_logits,
                                 const ng_array *grad_weight,
                                 const ng_array *scores, const int32_t *expert,
                                 const ng_router_shape *shape,
                                 float balance_scale)
{
    const int64_t n = shape->experts, rows = scores->rows;
    routing r = {.scores = scores,
                 .shape = shape,
                 .grad_logits = grad_logits,
                 .grad_weight = grad_weight,
                 .balance_scale = balance_scale};
    float *fraction = NULL;
    ng_status status = check(shape, rows);

    (void)context;
    if (status != NG_OK)
        return status;
    if (scores->cols != n || grad_logits->rows != rows || grad_logits->cols != n
        || grad_weight->rows != rows || grad_weight->cols != shape->top_k)
        return NG_BAD_SHAPE;
    if (scores->carrier != NG_CARRY_FP32
        || grad_logits->carrier != NG_CARRY_FP32
        || grad_weight->carrier != NG_CARRY_FP32)
        return NG_BAD_DTYPE;
    r.expert = expert;
    if (shape->balance != 0.0f) {
        fraction =
            malloc(((size_t)(shape->sequences * n) + 1) * sizeof *fraction);
        if (fraction == NULL)
            return NG_NO_MEMORY;
        for (int64_t q = 0; q < shape->sequences; q++)
            sequence_shares(fraction + q * n, NULL, scores->data, expert, shape,
                            q);
        r.fraction = fraction;
    }
    status = ng_ref_each_row(backward_row, &r, rows, n);
    free(fraction);
    return status;
}
