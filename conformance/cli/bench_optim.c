/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/bench_optim.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/subject/optim_functions.h"
#include "conformance/subject/subject.h"
#include "formats/fp32.h"
#include "formats/optim.h"

/* What numbers are for; weights and states are coded in two parts. */
typedef enum purpose { WEIGHTS, MOMENTUM, VARIANCE, GRADIENT } purpose;

/* ---- numbers ---- */

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

/* Nearly so: the sum of twelve uniforms less six. */
static double normal(uint64_t *state)
{
    int64_t sum = 0;

    for (int i = 0; i < 3; i++)
        for (uint64_t word = next(state), k = 0; k < 4; k++, word >>= 16)
            sum += (int64_t)(word & 0xFFFF);
    return (double)sum / 65536 - 6;
}

/* The n numbers of a purpose in turn: weights near 0.02; the others in groups
 * that have a lognormal scale, the same one in each purpose; variances are
 * squares. */
typedef struct source {
    purpose what;
    uint64_t numbers, scales;   /* states of next */
    double scale;
} source;

static source source_of(purpose what)
{
    return (source){.what = what, .numbers = (uint64_t)what + 1};
}

static float draw(source *from, int64_t i)
{
    const double x = normal(&from->numbers);

    if (from->what == WEIGHTS)
        return (float)(0.02 * x);
    if (i % NG_STATE_GROUP == 0)
        from->scale = exp2(2 * normal(&from->scales) - 10);
    if (from->what == VARIANCE)
        return (float)(from->scale * x * from->scale * x);
    return (float)(from->scale * x);
}

static void fill(const ng_tensor *tensor, purpose what)
{
    source from = source_of(what);

    for (int64_t i = 0; tensor->data != NULL && i < tensor->shape[0]; i++) {
        const float value = draw(&from, i);

        if (tensor->dtype == NG_FP32)
            ((float *)tensor->data)[i] = value;
        else /* cut: any BF16 number will do */
            ((uint16_t *)tensor->data)[i] =
                (uint16_t)(ng_fp32_bits(value) >> 16);
    }
}

/* ---- declaring ---- */

/* A tensor "SIDE.NAME", or "SIDE" without a name; an input "NAME" with side
 * 0. */
static const ng_tensor *add(ng_bench_case *bench, char side, const char *name,
                            ng_dtype dtype, int64_t n)
{
    ng_call *call = &bench->call;
    ng_tensor *tensor = side == 'y' ? &call->output[call->n_outputs++]
                                    : &call->input[call->n_inputs++];
    int64_t units, bytes;

    *tensor = ng_tensor_dense(name, dtype, 1, &n, NULL);
    if (side != 0)
        snprintf(tensor->name, sizeof tensor->name, "%c%s%s", side,
                 name[0] != '\0' ? "." : "", name);
    if (ng_tensor_extent(&units, &bytes, tensor) == NG_OK)
        tensor->data = calloc((size_t)bytes + 1, 1);
    if (tensor->data != NULL)
        bench->block[bench->n_blocks++] = tensor->data;
    return tensor;
}

/* The plain array "x" or "y". */
static const ng_tensor *add_plain(ng_bench_case *bench, char side)
{
    return add(bench, side, "", NG_FP32, bench->values);
}

static void add_counts(ng_bench_case *bench)
{
    add(bench, 'y', "counts", NG_U64, NG_N_OPTIM_COUNTS);
}

/* Low and correction, or codes and scales; of a step with the state's name. */
static void add_parts(ng_bench_case *bench, char side, purpose what,
                      bool in_step)
{
    const char *prefix = !in_step           ? ""
                         : what == MOMENTUM ? "momentum."
                                            : "variance.";
    const ng_dtype scales =
        bench->call.rules.compand == NG_COMPAND_NG ? NG_UE6M10 : NG_FP16;
    const int64_t n = bench->values;
    char name[32];

    if (what == WEIGHTS) {
        add(bench, side, "low", NG_BF16, n);
        add(bench, side, "correction", NG_I8, n);
        return;
    }
    snprintf(name, sizeof name, "%scodes", prefix);
    add(bench, side, name, what == MOMENTUM ? NG_I8 : NG_U8, n);
    snprintf(name, sizeof name, "%sscales", prefix);
    add(bench, side, name, scales, (n + NG_STATE_GROUP - 1) / NG_STATE_GROUP);
}

/* Code numbers into the two inputs that were added last. */
static ng_status code_parts(const ng_bench_case *bench, purpose what)
{
    static const char *const coder[] = {"split_weights", "compand_momentum",
                                        "compand_variance"};
    const ng_tensor *parts = &bench->call.input[bench->call.n_inputs - 2];
    ng_bench_case numbers = {
        .call = {.operation = coder[what], .rules = bench->call.rules},
        .values = bench->values};
    const ng_tensor *x = add_plain(&numbers, 'x');
    ng_status status = NG_NO_MEMORY;

    fill(x, what);
    for (int i = 0; i < 2; i++) {
        static const char *const name[2][2] = {{"y.codes", "y.scales"},
                                               {"y.low", "y.correction"}};
        ng_tensor *y = &numbers.call.output[numbers.call.n_outputs++];

        *y = parts[i];
        snprintf(y->name, sizeof y->name, "%s", name[what == WEIGHTS][i]);
    }
    if (x->data != NULL && parts[0].data != NULL && parts[1].data != NULL)
        status = ng_subject_reference.run(&numbers.call);
    ng_bench_case_end(&numbers);
    return status;
}

static ng_status add_coded(ng_bench_case *bench, purpose what, bool in_step)
{
    add_parts(bench, 'x', what, in_step);
    return code_parts(bench, what);
}

/* ---- hyper-parameters ---- */

static void add_attribute(ng_call *call, const char *name, int64_t value)
{
    call->attribute[call->n_attributes++] = (ng_attribute){name, value};
}

static void add_number(ng_call *call, const char *name, double x)
{
    int64_t bits;

    memcpy(&bits, &x, sizeof bits);
    add_attribute(call, name, bits);
}

/* Those that a kind is usually run with, at step 100. */
static void add_hyper(ng_call *call, ng_optimizer_kind kind)
{
    const bool sgd = kind == NG_SGD || kind == NG_SGDW;

    add_number(call, "lr", sgd ? 0.05 : kind == NG_LION ? 1e-4 : 3e-4);
    add_number(call, "lr0", 1e-3);
    add_number(call, "beta1", 0.9);
    add_number(call, "beta2", kind == NG_LION ? 0.99 : 0.999);
    add_number(call, "momentum", 0.9);
    add_number(call, "dampening", 0);
    add_number(call, "eps", 1e-8);
    add_number(call, "weight_decay", sgd ? 5e-4 : 0.1);
    add_attribute(call, "nesterov", sgd);
    add_attribute(call, "lr_decoupled", 0);
    add_attribute(call, "t", 100);
}

/* ---- operations ---- */

static ng_status begin_encoding(ng_bench_case *bench, purpose what)
{
    fill(add_plain(bench, 'x'), what);
    add_parts(bench, 'y', what, false);
    add_counts(bench);
    return NG_OK;
}

static ng_status begin_decoding(ng_bench_case *bench, purpose what)
{
    add_plain(bench, 'y');
    return add_coded(bench, what, false);
}

/* One step: how long it takes does not depend on which. */
static ng_status begin_constants(ng_bench_case *bench)
{
    bench->values = NG_N_STEP_CONSTANTS;
    add_plain(bench, 'y');
    add_attribute(&bench->call, "kind", NG_ADAMW);
    add_hyper(&bench->call, NG_ADAMW);
    return NG_OK;
}

static ng_status begin_step(ng_bench_case *bench, ng_optimizer_kind kind)
{
    const bool adam = kind == NG_ADAM || kind == NG_ADAMW;
    ng_status status = add_coded(bench, WEIGHTS, true);

    if (status == NG_OK)
        status = add_coded(bench, MOMENTUM, true);
    if (status == NG_OK && adam)
        status = add_coded(bench, VARIANCE, true);
    if (status != NG_OK)
        return status;
    fill(add(bench, 0, "grad", NG_BF16, bench->values), GRADIENT);
    add_parts(bench, 'y', WEIGHTS, true);
    add_parts(bench, 'y', MOMENTUM, true);
    if (adam)
        add_parts(bench, 'y', VARIANCE, true);
    add_counts(bench);
    add_hyper(&bench->call, kind);
    return NG_OK;
}

ng_status ng_bench_optim_begin(ng_bench_case *bench)
{
    static const struct {
        const char *name;
        purpose what;
        bool encodes;
    } codec[] = {
        {"split_weights", WEIGHTS, true},
        {"merge_weights", WEIGHTS, false},
        {"compand_momentum", MOMENTUM, true},
        {"compand_variance", VARIANCE, true},
        {"expand_momentum", MOMENTUM, false},
        {"expand_variance", VARIANCE, false},
    };
    const char *operation = bench->call.operation;
    ng_status status = NG_NOT_COVERED;
    ng_optimizer_kind kind;

    for (size_t i = 0; i < sizeof codec / sizeof *codec; i++)
        if (strcmp(operation, codec[i].name) == 0)
            status = codec[i].encodes ? begin_encoding(bench, codec[i].what)
                                      : begin_decoding(bench, codec[i].what);
    if (strcmp(operation, "step_constants") == 0)
        status = begin_constants(bench);
    else if (strncmp(operation, "step_", 5) == 0
             && ng_optimizer_find(operation + 5, &kind))
        status = begin_step(bench, kind);
    snprintf(bench->shape, sizeof bench->shape, "%" PRId64, bench->values);
    return status;
}
