/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference backend: host memory, and the operations of reference/model/,
 * reference/moe/ and reference/optim/.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "reference/backend.h"
#include "reference/model/ref_codes.h"
#include "reference/model/ref_convert_array.h"
#include "reference/model/ref_linear.h"
#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_rows.h"
#include "reference/optim/ref_merge_weights.h"
#include "reference/optim/ref_split_weights.h"
#include "reference/optim/ref_step.h"

static void *allocate(void *context, int64_t bytes)
{
    const size_t size = ((size_t)bytes + 63) / 64 * 64;

    (void)context;
    return bytes < 0 ? NULL : aligned_alloc(64, size > 0 ? size : 64);
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static ng_status zero(void *context, void *memory, int64_t bytes)
{
    (void)context;
    if (bytes > 0)
        memset(memory, 0, (size_t)bytes);
    return NG_OK;
}

static ng_status copy(void *context, void *to, const void *from, int64_t bytes)
{
    (void)context;
    if (bytes > 0)
        memcpy(to, from, (size_t)bytes);
    return NG_OK;
}

static ng_status wait_for_all(void *context)
{
    (void)context;
    return NG_OK;
}

typedef struct summing {
    float *y;
    const float *a, *b;
    int64_t n;
} summing;

enum { CHUNK = 1 << 14 };

static void sum_chunk(const void *job, int64_t chunk, float *scratch)
{
    const summing *s = job;
    const int64_t first = chunk * CHUNK;
    const int64_t last = first + CHUNK < s->n ? first + CHUNK : s->n;

    (void)scratch;
    for (int64_t i = first; i < last; i++)
        s->y[i] = s->a[i] + s->b[i];
}

static ng_status sum(void *context, float *y, const float *a, const float *b,
                     int64_t n)
{
    const summing s = {y, a, b, n};

    (void)context;
    return ng_ref_each_row(sum_chunk, &s, ng_ceil_div(n, CHUNK), 0);
}

static ng_status sum_squares(void *context, double *total, const float *x,
                             int64_t n)
{
    double squares = 0.0;

    (void)context;
    for (int64_t i = 0; i < n; i++)
        squares += (double)x[i] * (double)x[i];
    *total = squares;
    return NG_OK;
}

static ng_status step(void *context, const ng_weights *theta, const ng_state *m,
                      const ng_state *v, const ng_gradient *g, int64_t n,
                      const ng_step_constants *c, const ng_rules *rules,
                      ng_optim_counts *counts)
{
    const ng_optim_options options = {.rules = rules, .counts = counts};

    (void)context;
    return ng_ref_step(theta, m, v, g, n, c, &options);
}

static ng_status is_finite(void *context, bool *finite, const ng_gradient *g,
                           int64_t n)
{
    (void)context;
    return ng_ref_gradient_is_finite(finite, g, n);
}

static ng_status split(void *context, const ng_weights *weights,
                       const float *theta, int64_t n, const ng_rules *rules,
                       ng_optim_counts *counts)
{
    const ng_optim_options options = {.rules = rules, .counts = counts};

    (void)context;
    return ng_ref_split_weights(weights, theta, n, &options);
}

static ng_status merge(void *context, float *theta, const ng_weights *weights,
                       int64_t n, const ng_rules *rules)
{
    const ng_optim_options options = {.rules = rules};

    (void)context;
    return ng_ref_merge_weights(theta, weights, n, &options);
}

static const ng_backend reference = {
    .name = "reference",
    .alloc = allocate,
    .free = release,
    .zero = zero,
    .copy = copy,
    .upload = copy,
    .download = copy,
    .wait = wait_for_all,
    .convert = ng_ref_convert_array,
    .transpose = ng_ref_transpose_array,
    .linear = ng_ref_linear,
    .linear_backward = ng_ref_linear_backward,
    .linear_weight = ng_ref_linear_weight,
    .embedding = ng_ref_embedding,
    .embedding_backward = ng_ref_embedding_backward,
    .rmsnorm = ng_ref_rmsnorm,
    .rmsnorm_backward = ng_ref_rmsnorm_backward,
    .add = ng_ref_add,
    .take_columns = ng_ref_take_columns,
    .put_columns = ng_ref_put_columns,
    .rope = ng_ref_rope,
    .mla_join = ng_ref_mla_join,
    .mla_join_backward = ng_ref_mla_join_backward,
    .attention = ng_ref_attention,
    .attention_backward = ng_ref_attention_backward,
    .swiglu = ng_ref_gate,
    .swiglu_backward = ng_ref_gate_backward,
    .router = ng_ref_router,
    .router_backward = ng_ref_router_backward,
    .permutation = ng_ref_permutation,
    .gather = ng_ref_gather,
    .combine = ng_ref_combine,
    .cross_entropy = ng_ref_cross_entropy,
    .sum = sum,
    .sum_squares = sum_squares,
    .is_finite = is_finite,
    .step = step,
    .split = split,
    .merge = merge,
};

static pthread_once_t begun = PTHREAD_ONCE_INIT;

const ng_backend *ng_backend_reference(void)
{
    pthread_once(&begun, ng_ref_codes_begin);
    return &reference;
}
