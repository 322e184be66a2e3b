/* SPDX-License-Identifier: Apache-2.0
 *
 * What the optimizer's launchers refuse before they speak to CUDA, so on a machine
 * without a GPU too: wrong steps, splits and codings with the status that the
 * reference gives; a launch, a flag or a table that is wrong with that of
 * step.h. Calls that are right are not made: they would run. Of those with
 * nothing to do, some are.
 */
#ifdef _OPENMP
#include <omp.h>
#endif
#include <inttypes.h>
#include <string.h>

#include "cuda/optim/state_arrays.h"
#include "cuda/optim/step.h"
#include "reference/optim/ref_compand.h"
#include "reference/optim/ref_expand.h"
#include "reference/optim/ref_merge_weights.h"
#include "reference/optim/ref_split_weights.h"
#include "reference/optim/ref_step.h"

/* Those that are called here. */
#define LAUNCHERS(X)        \
    X(split_weights)        \
    X(merge_weights)        \
    X(compand)              \
    X(expand)               \
    X(step)                 \
    X(step_table_bytes)     \
    X(step_table_make)      \
    X(step_many)            \
    X(gradients_not_finite)
#include "conformance/checks/cuda_refusals.h"

enum { N = 5000 }; /* three chunks of 2048 */

static _Alignas(256) unsigned char arrays[8][4 * N];

static ng_cuda_parameter parameter(int64_t n)
{
    return (ng_cuda_parameter){.theta = {NG_BF16, 8, arrays[0], arrays[1]},
                               .m = {NG_MOMENTUM, NG_STATE_COMPANDED, arrays[2],
                                     (uint16_t *)(void *)arrays[3]},
                               .v = {NG_VARIANCE, NG_STATE_COMPANDED, arrays[4],
                                     (uint16_t *)(void *)arrays[5]},
                               .g = {NG_BF16, arrays[6], NULL},
                               .n = n};
}

static void steps(void)
{
    const ng_cuda_launch launch = {.stream = NULL};
    const ng_cuda_launch odd = {.events = (ng_events *)(void *)(arrays[7] + 4)};
    const int32_t *flag = (const int32_t *)(const void *)(arrays[7] + 2);
    const ng_optim_options counted = {
        .counts = (ng_optim_counts *)(void *)(arrays[7] + 4)};
    const ng_step_constants adamw = {.kind = NG_ADAMW};
    ng_step_constants none = adamw;
    const ng_cuda_parameter p = parameter(N);
    float *x = (float *)(void *)arrays[6];

#define STEP(c, skip, options, launch) \
    cuda_step(&p.theta, &p.m, &p.v, &p.g, N, c, skip, options, launch)
    none.kind = NG_N_OPTIMIZERS;
    expect(STEP(NULL, NULL, NULL, &launch), NG_BAD_POINTER, "step, no numbers");
    expect(STEP(&none, NULL, NULL, &launch), NG_BAD_VALUE, "step, no kind");
    expect(STEP(&adamw, NULL, NULL, NULL), NG_BAD_POINTER, "step, no launch");
    expect(STEP(&adamw, flag, NULL, &launch), NG_BAD_POINTER,
           "step, a skip flag off its boundary");
    expect(STEP(&adamw, NULL, NULL, &odd), NG_BAD_POINTER,
           "step, events off their boundary");
    expect(STEP(&adamw, NULL, &counted, &launch), NG_BAD_POINTER,
           "step, counts off their boundary");
#undef STEP
    expect(
        cuda_step(&p.theta, NULL, &p.v, &p.g, N, &adamw, NULL, NULL, &launch),
        NG_BAD_POINTER, "step, no momentum");
    expect(
        cuda_step(&p.theta, &p.v, &p.v, &p.g, N, &adamw, NULL, NULL, &launch),
        NG_BAD_LAYOUT, "step, a variance for a momentum");
    expect(cuda_step(&p.theta, &p.m, &p.v, &p.g,
                     ((int64_t)INT32_MAX + 1) * 2048, &adamw, NULL, NULL,
                     &launch),
           NG_BAD_SHAPE, "step, more chunks than are counted");
    expect(
        cuda_step(&p.theta, &p.m, &p.v, &p.g, 0, &adamw, NULL, NULL, &launch),
        NG_OK, "step, nothing");
    expect(cuda_split_weights(&p.theta, x, 1, NULL, NULL), NG_BAD_POINTER,
           "split_weights, no launch");
    expect(cuda_compand(&p.m, x, 1, NULL, NULL), NG_BAD_POINTER,
           "compand, no launch");
    expect(cuda_expand(x, &p.m, 1, NULL, NULL), NG_BAD_POINTER,
           "expand, no launch");
    expect(cuda_compand(&p.m, x, 1, &counted, &launch), NG_BAD_POINTER,
           "compand, counts off their boundary");
}

/* Break the n-th thing; false: there is no n-th. */
static bool break_parameter(ng_cuda_parameter *p, int n)
{
    ng_state *states[] = {&p->m, &p->v};

    if (n < 2 + NG_N_DTYPES)
        p->theta.dtype = (ng_dtype)(n - 1);
    else if ((n -= 2 + NG_N_DTYPES) < 2 + NG_N_DTYPES)
        p->g.dtype = (ng_dtype)(n - 1);
    else if ((n -= 2 + NG_N_DTYPES) < 18)
        p->theta.correction_bits = n - 1;
    else if ((n -= 18) < 5)
        *(n == 0   ? &p->theta.low
          : n == 1 ? &p->theta.correction
          : n == 2 ? &p->m.data
          : n == 3 ? &p->v.data
                   : (void **)&p->g.data) = NULL;
    else if ((n -= 5) < 2)
        states[n]->scales = NULL;
    else if ((n -= 2) < 8)
        states[n % 2]->kind = (ng_state_kind)(n / 2 - 1);
    else if ((n -= 8) < 12)
        states[n % 2]->coding = (ng_state_coding)(n / 2 - 1);
    else if ((n -= 12) < 2)
        p->n = n == 0 ? -1 : INT64_MAX / 2;
    else
        return false;
    return true;
}

static ng_status every_step(const ng_weights *theta, const ng_state *m,
                            const ng_state *v, const ng_gradient *g, int64_t n,
                            const ng_step_constants *c,
                            const ng_optim_options *options,
                            const ng_cuda_launch *launch)
{
    return cuda_step(theta, m, v, g, n, c, NULL, options, launch);
}

/* Wrong steps, splits and codings, beside the reference. */
static void optimizers(int64_t n)
{
    const ng_cuda_launch launch = {.stream = NULL};
    ng_rules rules = ng_default_rules;
    const ng_optim_options options = {.rules = &rules};
    float *x = (float *)(void *)arrays[7];

#define OPTIM_BESIDE(name, launcher, ...)                            \
    do {                                                             \
        const ng_status want = ng_ref_##name(__VA_ARGS__, &options); \
                                                                     \
        if (want != NG_OK || n == 0)                                 \
            expect(launcher(__VA_ARGS__, &options, &launch), want,   \
                   #name ", beside the reference");                  \
    } while (0)
    for (int wrong_rule = 0; wrong_rule < 2; wrong_rule++)
        for (int i = 0;; i++) {
            ng_cuda_parameter p = parameter(n);

            if (!break_parameter(&p, i))
                break;
            rules.split = (ng_split)(wrong_rule ? 100 : NG_SPLIT_ULP);
            for (int kind = -1; kind <= NG_N_OPTIMIZERS; kind++)
                for (int mu = 0; mu < 2; mu++) {
                    const ng_step_constants c = {.kind =
                                                     (ng_optimizer_kind)kind,
                                                 .mu = mu ? 0.5f : 0.0f,
                                                 .eps = 1.0f};

                    OPTIM_BESIDE(step, every_step, &p.theta, &p.m, &p.v, &p.g,
                                 p.n, &c);
                    OPTIM_BESIDE(step, every_step, &p.theta, NULL, &p.v, &p.g,
                                 p.n, &c);
                    OPTIM_BESIDE(step, every_step, &p.theta, &p.m, NULL, &p.g,
                                 p.n, &c);
                    OPTIM_BESIDE(step, every_step, NULL, &p.m, &p.v, &p.g, p.n,
                                 &c);
                    OPTIM_BESIDE(step, every_step, &p.theta, &p.m, &p.v, NULL,
                                 p.n, &c);
                }
            OPTIM_BESIDE(split_weights, cuda_split_weights, &p.theta, x, p.n);
            OPTIM_BESIDE(split_weights, cuda_split_weights, &p.theta, NULL,
                         p.n);
            OPTIM_BESIDE(merge_weights, cuda_merge_weights, x, &p.theta, p.n);
            OPTIM_BESIDE(merge_weights, cuda_merge_weights, NULL, &p.theta,
                         p.n);
            OPTIM_BESIDE(compand, cuda_compand, &p.m, x, p.n);
            OPTIM_BESIDE(compand, cuda_compand, NULL, x, p.n);
            OPTIM_BESIDE(expand, cuda_expand, x, &p.v, p.n);
            OPTIM_BESIDE(expand, cuda_expand, NULL, &p.v, p.n);
        }
#undef OPTIM_BESIDE
}

/* A table's bytes are the parameters and then the chunks: 8 bytes each, of the
 * parameter's number and the chunk's own in it. */
static void tables(void)
{
    static uint64_t bytes[64], before[64];
    const ng_step_constants adamw = {.kind = NG_ADAMW};
    const ng_cuda_launch launch = {.stream = NULL};
    ng_cuda_parameter list[] = {parameter(0), parameter(N), parameter(2048)};
    ng_cuda_step_table table = {.n_chunks = -5};
    const int64_t size = cuda_step_table_bytes(list, 3);
    const int32_t chunks[4][2] = {{1, 0}, {1, 1}, {1, 2}, {2, 0}};
    int32_t flag = 0;

    memset(bytes, 0x5A, sizeof bytes);
    memcpy(before, bytes, sizeof bytes);
    list[0].theta.low = NULL; /* of no elements: it need not be there */
    if (size <= (int64_t)sizeof chunks || size >= (int64_t)sizeof bytes) {
        fprintf(stderr, "FAIL a table of %" PRId64 " bytes\n", size);
        failed = 1;
        return;
    }
    if (cuda_step_table_bytes(list, -1) != -1
        || cuda_step_table_bytes(NULL, 1) != -1
        || cuda_step_table_bytes(NULL, 0) != 0) {
        fprintf(stderr, "FAIL the sizes of tables that cannot be\n");
        failed = 1;
    }

#define MAKE(bytes, list, count, c) \
    cuda_step_table_make(&table, bytes, list, count, c, NULL)
    expect(MAKE(bytes, NULL, 3, &adamw), NG_BAD_POINTER, "table, no list");
    expect(MAKE(NULL, list, 3, &adamw), NG_BAD_POINTER, "table, no bytes");
    expect(MAKE((char *)bytes + 4, list, 3, &adamw), NG_BAD_POINTER,
           "table, off its boundary");
    expect(MAKE(bytes, list, 3, NULL), NG_BAD_POINTER, "table, no numbers");
    list[1].n = -1;
    expect(MAKE(bytes, list, 3, &adamw), NG_BAD_SHAPE, "table, n below 0");
    list[1] = parameter(N);
    list[2].g.data = arrays[6] + 1;
    expect(MAKE(bytes, list, 3, &adamw), NG_BAD_POINTER,
           "table, a gradient off its boundary");
    list[2] = parameter(2048);
    list[2].theta.correction_bits = 16;
    expect(MAKE(bytes, list, 3, &adamw), NG_BAD_LAYOUT, "table, two forms");
    if (memcmp(bytes, before, sizeof bytes) != 0 || table.n_chunks != -5) {
        fprintf(stderr, "FAIL a table that was refused is written\n");
        failed = 1;
    }

    list[2] = parameter(2048);
    expect(MAKE(bytes, list, 3, &adamw), NG_OK, "table");
    if (table.n_parameters != 3 || table.n_chunks != 4 || table.first.n != N
        || memcmp((char *)bytes + size - sizeof chunks, chunks, sizeof chunks)
               != 0
        || memcmp((char *)bytes + size, (char *)before + size,
                  sizeof bytes - (size_t)size)
               != 0) {
        fprintf(stderr, "FAIL the table's chunks\n");
        failed = 1;
    }

    /* Steps with it that must not begin. */
    const ng_step_constants sgd = {.kind = NG_SGD, .mu = 0.5f};
    ng_cuda_step_table other = table;

    expect(cuda_step_many(NULL, bytes, &adamw, NULL, NULL, &launch),
           NG_BAD_POINTER, "step_many, no table");
    expect(cuda_step_many(&table, NULL, &adamw, NULL, NULL, &launch),
           NG_BAD_POINTER, "step_many, no bytes");
    expect(cuda_step_many(&table, bytes, &adamw, NULL, NULL, NULL),
           NG_BAD_POINTER, "step_many, no launch");
    expect(cuda_step_many(&table, bytes, &adamw,
                          (const int32_t *)(const void *)(arrays[7] + 1), NULL,
                          &launch),
           NG_BAD_POINTER, "step_many, a skip flag off its boundary");
    memset(&other.first.m, 0, sizeof other.first.m);
    expect(cuda_step_many(&other, bytes, &sgd, NULL, NULL, &launch),
           NG_BAD_POINTER, "step_many, a state that the list has not");
    expect(cuda_gradients_not_finite(NULL, &table, bytes, &launch),
           NG_BAD_POINTER, "gradients_not_finite, no flag");
    expect(cuda_gradients_not_finite(&flag, &table, bytes, NULL),
           NG_BAD_POINTER, "gradients_not_finite, no launch");

    /* Nothing to do. */
    expect(MAKE(NULL, NULL, 0, &adamw), NG_OK, "table of nothing");
    expect(cuda_step_many(&table, NULL, &adamw, NULL, NULL, &launch), NG_OK,
           "step_many of nothing");
    expect(cuda_gradients_not_finite(&flag, &table, NULL, &launch), NG_OK,
           "gradients_not_finite of nothing");
#undef MAKE
}

int main(void)
{
    if (!find_launchers())
        return 99;
#ifdef _OPENMP
    omp_set_num_threads(1); /* the calls that the reference takes are small */
#endif
    steps();
    optimizers(40);
    optimizers(0);
    tables();
    printf("%d calls refused\n", refused);
    return failed || refused < 500;
}
