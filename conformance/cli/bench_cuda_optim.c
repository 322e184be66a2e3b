/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/bench_cuda_optim.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/bench_cuda.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "cuda/bench/fill_numbers.h"
#include "cuda/optim/step.h"
#include "formats/profile.h"
#include "reference/optim/ref_step.h"
#include "reference/optim/ref_step_constants.h"

/* What is timed. */
typedef struct row {
    const char *operation;
    const char *form;
    ng_optimizer_kind kind;
    const char *profile;
    int64_t n; /* elements; of a list in all, about */
    int n_parameters;
    bool fp32; /* weights, states and gradients */
} row;

#define SIZES(operation, kind)                                              \
    {operation, "ng, 24 bits", kind, "ng", 1 << 20, 1, false},              \
        {operation, "ng, 24 bits", kind, "ng", 1 << 24, 1, false},          \
        {operation, "ng, 24 bits", kind, "ng", 1 << 27, 1, false},          \
        {operation, "ng, 24 bits", kind, "ng", 1 << 30, 1, false},          \
        {operation, "ng, 2000 of them", kind, "ng", INT64_C(1) << 31, 2000, \
         false},                                                            \
        {operation, "flashoptim", kind, "flashoptim", 1 << 27, 1, false},   \
    {                                                                       \
        operation, "ng, FP32", kind, "ng", 1 << 27, 1, true                 \
    }

static const row rows[] = {
    SIZES("step_adamw", NG_ADAMW),
    SIZES("step_lion", NG_LION),
    SIZES("step_sgdw", NG_SGDW),
};

enum { ROTATED_BYTES = 400 << 20, MAX_SETS = 16, PART = 1 << 16, ARRAYS = 7 };

/* The arrays of a set: all parameters one after the other, on boundaries of 32
 * elements. */
typedef enum array { LOW, RHO, M, M_SCALES, V, V_SCALES, GRAD } array;

typedef struct set {
    void *data[ARRAYS];
    void *table; /* on the device; null: one parameter */
    ng_cuda_step_table known;
} set;

typedef struct optim_case {
    const row *row;
    const ng_cuda_library *cuda;
    ng_rules rules;
    ng_step_constants c;
    int64_t n, elements; /* with, and without what lies between */
    int64_t first[2000], length[2000];
    set set[MAX_SETS];
    int n_sets;
    int64_t bytes; /* of a step: read and written */
} optim_case;

static ng_status (*cuda_step)(const ng_weights *, const ng_state *,
                              const ng_state *, const ng_gradient *, int64_t,
                              const ng_step_constants *, const int32_t *,
                              const ng_optim_options *, const ng_cuda_launch *);
static ng_status (*cuda_step_many)(const ng_cuda_step_table *, const void *,
                                   const ng_step_constants *, const int32_t *,
                                   const ng_optim_options *,
                                   const ng_cuda_launch *);
static ng_status (*cuda_table_make)(ng_cuda_step_table *, void *,
                                    const ng_cuda_parameter *, int64_t,
                                    const ng_step_constants *,
                                    const ng_optim_options *);
static int64_t (*cuda_table_bytes)(const ng_cuda_parameter *, int64_t);
static ng_status (*cuda_fill_numbers)(const ng_matrix *, uint64_t,
                                      const ng_cuda_launch *);

static bool find_functions(void)
{
    *(void **)&cuda_step = ng_cuda_library_find("ng_cuda_step");
    *(void **)&cuda_step_many = ng_cuda_library_find("ng_cuda_step_many");
    *(void **)&cuda_table_make =
        ng_cuda_library_find("ng_cuda_step_table_make");
    *(void **)&cuda_table_bytes =
        ng_cuda_library_find("ng_cuda_step_table_bytes");
    *(void **)&cuda_fill_numbers = ng_cuda_library_find("ng_cuda_fill_numbers");
    return cuda_step != NULL && cuda_step_many != NULL
           && cuda_table_make != NULL && cuda_table_bytes != NULL
           && cuda_fill_numbers != NULL;
}

/* ---- sizes --------------------------------------------------------------- */

/* Bytes of `n` elements of an array: of scales one pair for 32. */
static int64_t array_bytes(const row *r, array a, int64_t n)
{
    const bool adam = r->kind == NG_ADAM || r->kind == NG_ADAMW;

    switch (a) {
    case LOW:
    case GRAD:
        return n * (r->fp32 ? 4 : 2);
    case RHO:
        return r->fp32 ? 0 : n;
    case M:
        return n * (r->fp32 ? 4 : 1);
    case V:
        return !adam ? 0 : n * (r->fp32 ? 4 : 1);
    case M_SCALES:
        return r->fp32 ? 0 : (n + 31) / 32 * 2;
    default:
        return r->fp32 || !adam ? 0 : (n + 31) / 32 * 2;
    }
}

/* Sizes of a list: from 10^3 to 10^7, evenly in their logarithms, shuffled:
 * 2000 of them have 2.2 10^9 elements. Odd sizes, as biases have them. */
static void make_sizes(optim_case *c)
{
    const int count = c->row->n_parameters;

    for (int i = 0; i < count; i++) {
        const int k = (int)((int64_t)i * 1201 % count);
        const int64_t n = count == 1
                              ? c->row->n
                              : (int64_t)pow(10.0, 3 + 4.0 * k / (count - 1));

        c->first[i] = c->n;
        c->length[i] = n;
        c->elements += n;
        c->n += (n + 31) / 32 * 32;
    }
    for (int i = 0; i < count; i++)
        for (array a = LOW; a <= GRAD; a++)
            c->bytes +=
                array_bytes(c->row, a, c->length[i]) * (a == GRAD ? 1 : 2);
}

/* ---- views --------------------------------------------------------------- */

static ng_cuda_parameter parameter_at(const optim_case *c, void *const *data,
                                      int64_t first, int64_t n)
{
    const bool fp32 = c->row->fp32;
    const ng_state_coding coding = fp32 ? NG_STATE_FP32 : NG_STATE_COMPANDED;
    void *at[ARRAYS];

    for (array a = LOW; a <= GRAD; a++)
        at[a] = data[a] == NULL
                    ? NULL
                    : (char *)data[a] + array_bytes(c->row, a, first);
    return (ng_cuda_parameter){
        .theta = {fp32 ? NG_FP32 : NG_BF16, fp32 ? 0 : 8, at[LOW], at[RHO]},
        .m = {NG_MOMENTUM, coding, at[M], at[M_SCALES]},
        .v = {NG_VARIANCE, coding, at[V], at[V_SCALES]},
        .g = {fp32 ? NG_FP32 : NG_BF16, at[GRAD], NULL},
        .n = n};
}

static const ng_state *variance_of(const ng_cuda_parameter *p)
{
    return p->v.data != NULL ? &p->v : NULL;
}

static ng_status enqueue(void *context, int s)
{
    const optim_case *c = context;
    const ng_cuda_launch launch = {.stream = NULL};
    const ng_optim_options options = {&c->rules, NULL};
    const set *x = &c->set[s];

    if (x->table != NULL)
        return cuda_step_many(&x->known, x->table, &c->c, NULL, &options,
                              &launch);

    const ng_cuda_parameter p = parameter_at(c, x->data, 0, c->n);

    return cuda_step(&p.theta, &p.m, variance_of(&p), &p.g, p.n, &c->c, NULL,
                     &options, &launch);
}

/* ---- making -------------------------------------------------------------- */

static ng_status make_table(optim_case *c, set *x)
{
    const ng_optim_options options = {&c->rules, NULL};
    static ng_cuda_parameter list[2000];
    const int count = c->row->n_parameters;
    ng_status status;
    void *host;

    for (int i = 0; i < count; i++)
        list[i] = parameter_at(c, x->data, c->first[i], c->length[i]);

    const int64_t bytes = cuda_table_bytes(list, count);

    host = malloc((size_t)bytes);
    if (host == NULL)
        return NG_NO_MEMORY;
    status = cuda_table_make(&x->known, host, list, count, &c->c, &options);
    if (status == NG_OK)
        status = c->cuda->allocate(&x->table, bytes);
    if (status == NG_OK)
        status = c->cuda->copy(x->table, host, bytes, NULL);
    if (status == NG_OK)
        status = c->cuda->synchronize(NULL);
    free(host);
    return status;
}

static ng_status fill(optim_case *c, const set *x, array a, uint64_t seed)
{
    const ng_cuda_launch launch = {.stream = NULL};
    const ng_matrix y = {.dtype = c->row->fp32 ? NG_FP32 : NG_BF16,
                         .rows = c->n / 32,
                         .cols = 32,
                         .ld = 32,
                         .data = x->data[a]};

    return cuda_fill_numbers(&y, seed, &launch);
}

/* Weights, and states of zeros after three steps with other gradients. */
static ng_status make_set(optim_case *c, set *x, int s)
{
    ng_status status = NG_OK;

    for (array a = LOW; a <= GRAD && status == NG_OK; a++) {
        const int64_t bytes = array_bytes(c->row, a, c->n);

        if (bytes == 0)
            continue;
        status = c->cuda->allocate(&x->data[a], bytes);
        if (status == NG_OK)
            status = c->cuda->fill(x->data[a], 0, bytes, NULL);
    }
    if (status == NG_OK && c->row->n_parameters > 1)
        status = make_table(c, x);
    if (status == NG_OK)
        status = fill(c, x, LOW, 10 * (uint64_t)s);
    for (int t = 1; t <= 4 && status == NG_OK; t++) {
        status = fill(c, x, GRAD, 10 * (uint64_t)s + (uint64_t)t);
        if (status == NG_OK && t < 4)
            status = enqueue(c, s);
    }
    return status;
}

static ng_status begin(optim_case *c, const row *r, const ng_cuda_library *cuda)
{
    const bool sgd = r->kind == NG_SGDW;
    const ng_hyper hyper = {.lr = sgd ? 0.05 : 3e-4,
                            .beta1 = 0.9,
                            .beta2 = r->kind == NG_LION ? 0.99 : 0.999,
                            .momentum = 0.9,
                            .eps = 1e-8,
                            .weight_decay = 0.1,
                            .nesterov = sgd};
    ng_profile profile;
    ng_error error;
    ng_status status;

    memset(c, 0, sizeof *c);
    c->row = r;
    c->cuda = cuda;
    make_sizes(c);
    if ((status = ng_profile_load(&profile, r->profile, &error)) != NG_OK)
        return status;
    c->rules = profile.rules;

    const ng_optim_options options = {&c->rules, NULL};

    status =
        ng_ref_step_constants(&c->c, r->kind, &hyper, 100, &options, &error);
    while (status == NG_OK && c->n_sets < MAX_SETS
           && (c->n_sets == 0 || c->n_sets * c->bytes < ROTATED_BYTES)) {
        status = make_set(c, &c->set[c->n_sets], c->n_sets);
        c->n_sets++;
    }
    return status == NG_OK ? cuda->synchronize(NULL) : status;
}

static void end(optim_case *c)
{
    for (int s = 0; s < c->n_sets; s++) {
        for (array a = LOW; a <= GRAD; a++)
            if (c->set[s].data[a] != NULL)
                c->cuda->free(c->set[s].data[a]);
        if (c->set[s].table != NULL)
            c->cuda->free(c->set[s].table);
    }
}

/* ---- verifying ----------------------------------------------------------- */

/* The arrays of elements first .. first + n - 1, to the host. */
static ng_status fetch(void **host, const optim_case *c, int64_t first,
                       int64_t n)
{
    for (array a = LOW; a <= GRAD; a++) {
        const int64_t bytes = array_bytes(c->row, a, n);
        const char *from = c->set[0].data[a];
        ng_status status;

        if (bytes == 0)
            continue;
        host[a] = malloc((size_t)bytes);
        if (host[a] == NULL)
            return NG_NO_MEMORY;
        status = c->cuda->copy(host[a], from + array_bytes(c->row, a, first),
                               bytes, NULL);
        if (status != NG_OK)
            return status;
    }
    return c->cuda->synchronize(NULL);
}

static void drop(void **host)
{
    for (array a = LOW; a <= GRAD; a++)
        free(host[a]);
}

/* One parameter's first elements, as many as a part has. */
static ng_status check_part(char *line, size_t size, optim_case *c, int i,
                            int64_t skip, void *const *before)
{
    const int64_t left = c->length[i] - skip;
    const int64_t n = left < PART ? left : PART;
    const ng_optim_options options = {&c->rules, NULL};
    void *after[ARRAYS] = {NULL};
    ng_status status = fetch(after, c, c->first[i] + skip, n);
    const ng_cuda_parameter p = parameter_at(c, before, 0, n);

    if (status == NG_OK)
        status = ng_ref_step(&p.theta, &p.m, variance_of(&p), &p.g, n, &c->c,
                             &options);
    for (array a = LOW; a < GRAD && status == NG_OK; a++)
        if (before[a] != NULL
            && memcmp(before[a], after[a], (size_t)array_bytes(c->row, a, n))
                   != 0)
            snprintf(line, size,
                     "parameter %d, from element %" PRId64
                     " on: array %d differs",
                     i, skip, (int)a);
    drop(after);
    return status;
}

/* The beginning, the middle and the end: of a list parameters from there. */
static ng_status verify(char *line, size_t size, optim_case *c)
{
    void *before[3][ARRAYS] = {{NULL}};
    int number[3];
    int64_t skip[3];
    ng_status status = NG_OK;

    for (int k = 0; k < 3; k++) {
        const int count = c->row->n_parameters;
        const int64_t last = c->length[0] > PART ? c->length[0] - PART : 0;

        number[k] = (count - 1) * k / 2;
        skip[k] = count > 1 ? 0 : last * k / 2 / 32 * 32;

        const int64_t left = c->length[number[k]] - skip[k];

        if (status == NG_OK)
            status = fetch(before[k], c, c->first[number[k]] + skip[k],
                           left < PART ? left : PART);
    }
    if (status == NG_OK)
        status = enqueue(c, 0);
    for (int k = 0; k < 3; k++) {
        if (status == NG_OK && line[0] == '\0')
            status = check_part(line, size, c, number[k], skip[k], before[k]);
        drop(before[k]);
    }
    return status;
}

/* ---- reporting ----------------------------------------------------------- */

static void report(json_t *list, const optim_case *c, ng_spread s,
                   ng_spread copy)
{
    const row *r = c->row;
    const double rate = (double)c->bytes / s.median / 1e9;
    const double limit = (double)c->bytes / copy.median / 1e9;
    char shape[48];

    snprintf(shape, sizeof shape, "%" PRId64, c->elements);
    if (list == NULL) {
        printf("%-23s %-16s %-11s %9.2f %9.2f %9.2f %7.0f %7.0f %5.1f %%"
               "  %.1f G/s\n",
               r->operation, r->form, shape, s.median * 1e6, s.min * 1e6,
               s.max * 1e6, rate, limit, 100 * rate / limit,
               (double)c->elements / s.median / 1e9);
        fflush(stdout);
        return;
    }

    json_t *made = ng_cuda_bench_row_json(c->cuda, r->operation, r->form, shape,
                                          s, copy, c->bytes, c->n_sets);

    json_object_set_new(made, "parameters_per_second",
                        json_real((double)c->elements / s.median));
    json_array_append_new(list, made);
}

static int run_row(const row *r, const ng_cuda_library *cuda, int repeat,
                   json_t *list)
{
    optim_case *c = malloc(sizeof *c);
    ng_spread spread, copy;
    char line[256] = "";
    ng_status status = c != NULL ? begin(c, r, cuda) : NG_NO_MEMORY;

    if (status == NG_OK)
        status = verify(line, sizeof line, c);
    if (status == NG_OK && line[0] == '\0') {
        status = ng_cuda_time(&spread, cuda, enqueue, c, c->n_sets, repeat);
        if (status == NG_OK)
            status =
                ng_cuda_time_copy(&copy, cuda, c->bytes, c->n_sets, repeat);
        if (status == NG_OK)
            report(list, c, spread, copy);
    }
    if (c != NULL)
        end(c);
    free(c);
    if (status != NG_OK)
        return ng_complain(status == NG_NO_MEMORY ? NG_EXIT_ENVIRONMENT
                                                  : NG_EXIT_SUBJECT,
                           "bench", "%s, %s: %s %s", r->operation, r->form,
                           ng_status_text(status), cuda->error_text());
    return line[0] == '\0' ? NG_EXIT_OK
                           : ng_complain(NG_EXIT_DIFFERENCE, "bench",
                                         "%s, %s: not timed: %s", r->operation,
                                         r->form, line);
}

int ng_bench_cuda_optim(bool (*listed)(const void *context,
                                       const char *operation),
                        const void *context, int repeat, int64_t most,
                        json_t *list, const ng_cuda_library *cuda, int *n)
{
    int exit_status = NG_EXIT_OK;

    if (!find_functions())
        return NG_EXIT_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!listed(context, rows[i].operation)
            || (most > 0 && rows[i].n > most))
            continue;
        ++*n;

        const int status = run_row(&rows[i], cuda, repeat, list);

        if (exit_status == NG_EXIT_OK)
            exit_status = status;
        if (status == NG_EXIT_ENVIRONMENT)
            return status;
    }
    return exit_status;
}
