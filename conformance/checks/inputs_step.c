/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights, states and gradients to be stepped, with hyper-parameters. The
 * variant says which types weights and gradients have and whether states are
 * coded; a case chooses the rest by itself: 0, 8 or 16 bits of correction,
 * companded or linear codes, one state in FP32 beside a coded one, a scale on
 * the gradient, a momentum of 0.
 */
#include "conformance/checks/inputs_optim.h"

#include <math.h>
#include <string.h>

#include "conformance/checks/numbers.h"
#include "formats/fp32.h"
#include "formats/optim.h"

typedef struct state {
    bool there, coded;
    uint32_t *numbers;
    uint8_t *codes;
    uint16_t *scales;
} state;

typedef struct task {
    ng_case *c;
    int64_t n;
    ng_dtype theta_type, grad_type;
    int bits;                   /* of correction */
    uint32_t *theta;            /* FP32 */
    uint16_t *low;
    void *correction;
    void *grad;
    state state[NG_N_STATE_KINDS];
    const ng_format *scale;
} task;

static bool is(const ng_case *c, const char *kind)
{
    return strcmp(strchr(c->call.operation, '_') + 1, kind) == 0;
}

static bool is_adam(const ng_case *c)
{
    return is(c, "adam") || is(c, "adamw");
}

static bool is_sgd(const ng_case *c)
{
    return is(c, "sgd") || is(c, "sgdw");
}

/* ---- declaring ---- */

/* An input "x.NAME" and the output "y.NAME". */
static void *both(ng_case *c, const char *name, ng_dtype dtype, int64_t n)
{
    char full[NG_MAX_NAME] = "y.";

    strcat(full, name);
    ng_case_output(c, full, dtype, 1, &n, false);
    full[0] = 'x';
    return ng_case_input(c, full, dtype, 1, &n);
}

static void begin_weights(task *t)
{
    t->theta_type = (ng_dtype)ng_variant_get(t->c->variant, "theta", NG_FP32);
    if (t->theta_type == NG_FP32) {
        t->theta = both(t->c, "theta", NG_FP32, t->n);
        return;
    }
    t->bits = 8 * (int)ng_case_below(t->c, 3);
    t->low = both(t->c, "low", t->theta_type, t->n);
    if (t->bits > 0)
        t->correction = both(t->c, "correction", t->bits == 8 ? NG_I8 : NG_I16,
                             t->n);
}

static void begin_state(task *t, ng_state_kind kind, const char *names[3],
                        bool coded, const char *linear)
{
    state *s = &t->state[kind];
    ng_dtype scales;

    t->scale = ng_case_scale_format(t->c, &scales);
    s->there = true;
    s->coded = coded;
    if (!coded) {
        s->numbers = both(t->c, names[0], NG_FP32, t->n);
        return;
    }
    s->codes = both(t->c, names[1], kind == NG_MOMENTUM ? NG_I8 : NG_U8, t->n);
    s->scales = both(t->c, names[2], scales,
                     ng_ceil_div(t->n, NG_STATE_GROUP));
    ng_case_attribute(t->c, linear, ng_case_chance(t->c, 4));
}

static bool begin(task *t, ng_case *c, int64_t n, bool has_momentum)
{
    static const char *momentum[] = {"momentum", "momentum.codes",
                                     "momentum.scales"};
    static const char *variance[] = {"variance", "variance.codes",
                                     "variance.scales"};
    const bool coded = ng_variant_get(c->variant, "coded", 0) != 0;
    const int64_t one = 1;

    *t = (task){.c = c, .n = n};
    t->grad_type = (ng_dtype)ng_variant_get(c->variant, "grad", NG_FP32);
    begin_weights(t);
    if (has_momentum)
        begin_state(t, NG_MOMENTUM, momentum,
                    coded && !(is_adam(c) && ng_case_chance(c, 8)),
                    "momentum.linear");
    if (is_adam(c))
        begin_state(t, NG_VARIANCE, variance, coded && !ng_case_chance(c, 8),
                    "variance.linear");
    t->grad = ng_case_input(c, "grad", t->grad_type, 1, &n);
    if (ng_case_chance(c, 3)) {
        float *scale = ng_case_input(c, "grad.scale", NG_FP32, 1, &one);

        if (scale != NULL)
            *scale = (float)exp2(4 * ng_case_normal(c));
    }
    ng_case_counts(c);
    return !c->failed;
}

/* ---- putting ---- */

static void put_theta(task *t, int64_t i, uint32_t bits)
{
    const ng_format *low = ng_number_format(t->theta_type);
    const float value = ng_fp32_from_bits(bits);

    if (t->theta_type == NG_FP32) {
        t->theta[i] = bits;
        return;
    }
    if (t->theta_type == NG_BF16)
        t->low[i] = (uint16_t)(bits >> 16);
    else if (isnan(value))
        t->low[i] = (uint16_t)ng_formats[NG_FORMAT_FP16].nan;
    else
        t->low[i] = (uint16_t)(
            isinf(value) ? (value < 0 ? 0xFC00 : 0x7C00)
                         : (int)ng_number_below(low, (double)value));
    if (t->bits == 8)
        ((int8_t *)t->correction)[i] = (int8_t)ng_case_random(t->c);
    else if (t->bits == 16)
        ((int16_t *)t->correction)[i] = (int16_t)ng_case_random(t->c);
}

static void put_grad(task *t, int64_t i, uint32_t bits)
{
    const float value = ng_fp32_from_bits(bits);
    uint16_t *narrow = t->grad;

    if (t->grad_type == NG_FP32)
        ((uint32_t *)t->grad)[i] = bits;
    else if (t->grad_type == NG_BF16)
        narrow[i] = (uint16_t)(bits >> 16);
    else if (isnan(value) || isinf(value))
        narrow[i] = (uint16_t)((bits >> 16 & 0x8000) | 0x7C00
                               | (isnan(value) ? bits & 0x3FF : 0));
    else
        narrow[i] = (uint16_t)ng_number_below(ng_number_format(NG_FP16),
                                              (double)value);
}

/* Put a state: the number x, or a code and a scale for a group around it. */
static void put_state(task *t, ng_state_kind kind, int64_t i, uint32_t bits)
{
    state *s = &t->state[kind];
    const double value = fabs((double)ng_fp32_from_bits(bits));
    const double a = kind == NG_VARIANCE ? sqrt(value) : value;

    if (!s->there)
        return;
    if (!s->coded) {
        s->numbers[i] = bits;
        return;
    }
    s->codes[i] = ng_case_chance(t->c, 8) ? 0 : (uint8_t)ng_case_random(t->c);
    if (i % NG_STATE_GROUP == 0)
        s->scales[i / NG_STATE_GROUP] =
            !isfinite(a) ? 0xFFFF
                         : (uint16_t)ng_number_below(t->scale, a);
}

static uint32_t fp32(double x)
{
    return ng_fp32_bits((float)x);
}

/* Weights near 0.02, gradients around a magnitude that differs from group to
 * group, states that such gradients leave. */
static void put_realistic(task *t, int center)
{
    double size = 0;

    for (int64_t i = 0; i < t->n; i++) {
        ng_case *c = t->c;

        if (i % NG_STATE_GROUP == 0)
            size = exp2(center + 4 * ng_case_normal(c));
        put_theta(t, i, fp32(0.02 * ng_case_normal(c)));
        put_grad(t, i, ng_case_chance(c, 16) ? 0
                                             : fp32(size * ng_case_normal(c)));
        put_state(t, NG_MOMENTUM, i, fp32(size * ng_case_normal(c) / 3));
        put_state(t, NG_VARIANCE, i,
                  fp32(size * size * fabs(ng_case_normal(c))));
    }
}

/* ---- hyper-parameters ---- */

typedef struct setting {
    double lr, lr0, beta1, beta2, momentum, dampening, eps, weight_decay;
    bool nesterov, lr_decoupled;
    int64_t t;
} setting;

static void attach(ng_case *c, const setting *s)
{
    ng_case_number(c, "lr", s->lr);
    ng_case_number(c, "lr0", s->lr0);
    ng_case_number(c, "beta1", s->beta1);
    ng_case_number(c, "beta2", s->beta2);
    ng_case_number(c, "momentum", s->momentum);
    ng_case_number(c, "dampening", s->dampening);
    ng_case_number(c, "eps", s->eps);
    ng_case_number(c, "weight_decay", s->weight_decay);
    ng_case_attribute(c, "nesterov", s->nesterov);
    ng_case_attribute(c, "lr_decoupled", s->lr_decoupled);
    ng_case_attribute(c, "t", s->t);
}

static setting usual(ng_case *c)
{
    static const int64_t steps[] = {1, 2, 3, 10, 100, 2641, 1000000};
    setting s = {.lr = 3e-4, .lr0 = 1e-3, .beta1 = 0.9, .beta2 = 0.999,
                 .momentum = 0.9, .eps = 1e-8, .weight_decay = 0.1,
                 .t = steps[ng_case_below(c, 7)]};

    if (is_sgd(c)) {
        s.lr = 0.05;
        s.nesterov = ng_case_chance(c, 2);
        s.dampening = s.nesterov || ng_case_chance(c, 2) ? 0 : 0.1;
    } else if (is(c, "lion")) {
        s.lr = 1e-4;
        s.beta2 = 0.99;
    } else if (ng_case_chance(c, 3)) {
        s.beta2 = 0.95;
    }
    if (ng_case_chance(c, 3))
        s.weight_decay = 0;
    s.lr_decoupled = ng_case_chance(c, 3);
    return s;
}

/* ---- strata ---- */

static int64_t count_special(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 3 : 64;
}

/* Special numbers everywhere, among realistic ones. */
static void fill_special(ng_case *c, int64_t index)
{
    enum { COUNT = 96 };
    const setting s = usual(c);
    task t;

    if (!begin(&t, c, COUNT, true))
        return;
    attach(c, &s);
    put_realistic(&t, -6);
    for (int64_t i = 0; i < COUNT; i++) {
        if (index == 0 || ng_case_chance(c, 3))
            put_theta(&t, i, ng_case_special(c));
        if (index == 1 || ng_case_chance(c, 3))
            put_grad(&t, i, ng_case_special(c));
        if (index == 2 || ng_case_chance(c, 3)) {
            put_state(&t, NG_MOMENTUM, i, ng_case_special(c));
            put_state(&t, NG_VARIANCE, i,
                      ng_case_special(c)
                          & (ng_case_chance(c, 8) ? ~UINT32_C(0)
                                                  : ~NG_FP32_SIGN));
        }
    }
}

static int64_t count_lengths(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 10 : 40;
}

static void fill_lengths(ng_case *c, int64_t index)
{
    const setting s = usual(c);
    task t;

    if (!begin(&t, c, ng_case_length(c, index), true))
        return;
    attach(c, &s);
    put_realistic(&t, -8);
}

static int64_t count_random(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 4 : 256;
}

static void fill_random(ng_case *c, int64_t index)
{
    enum { COUNT = 160 };
    const setting s = usual(c);
    task t;

    if (!begin(&t, c, COUNT, true))
        return;
    attach(c, &s);
    put_realistic(&t, index % 2 == 0 ? -8 : -50 + (int)ng_case_below(c, 80));
}

/* Any bits, pairs and codes that nothing writes among them. */
static void fill_bits(ng_case *c, int64_t index)
{
    enum { COUNT = 96 };
    const setting s = usual(c);
    task t;

    (void)index;
    if (!begin(&t, c, COUNT, true))
        return;
    attach(c, &s);
    for (int i = 0; i < c->call.n_inputs; i++) {
        const ng_tensor *x = &c->call.input[i];
        int64_t units, bytes;

        if (ng_tensor_extent(&units, &bytes, x) != NG_OK)
            continue;
        for (int64_t b = 0; b < bytes; b++)
            ((uint8_t *)x->data)[b] = (uint8_t)ng_case_random(c);
    }
}

static int64_t count_hyper(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 8 : 128;
}

/* Hyper-parameters at their ends, one or two at a time: no decay and decay that
 * rounds away, betas and momentum of 0 (no state then, or one that is left
 * alone), learning rates of 0, below 0, of any size. */
static void fill_hyper(ng_case *c, int64_t index)
{
    enum { COUNT = 40 };
    static const double decays[] = {0, 1e-60, 1e-12, 1e4, -0.1};
    static const double rates[] = {0, -1e-3, 1e-44, 0x1p-126, 1e-20, 1, 1e10};
    setting s = usual(c);
    task t;

    if (ng_case_chance(c, 2))
        s.weight_decay = decays[ng_case_below(c, 5)];
    if (ng_case_chance(c, 2))
        s.lr = rates[ng_case_below(c, 7)];
    if (ng_case_chance(c, 3))
        s.beta1 = ng_case_chance(c, 2) ? 0 : 1 - 0x1p-20;
    if (ng_case_chance(c, 3))
        s.beta2 = ng_case_chance(c, 2) ? 0 : 1 - 0x1p-26;
    if (ng_case_chance(c, 3))
        s.eps = ng_case_chance(c, 2) ? 1e-44 : 1;
    if (ng_case_chance(c, 3))
        s.dampening = s.nesterov ? 0 : 1;
    if (is_sgd(c) && index % 2 == 0) {
        s.momentum = ng_case_chance(c, 2) ? 0 : 1e-60;
        s.nesterov = false;
    }
    if (!begin(&t, c, COUNT, s.momentum > 1e-50 || index % 4 == 0))
        return;
    attach(c, &s);
    put_realistic(&t, -8);
}

static int64_t count_hole(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 2 : 16;
}

/* Gradients of zero, of either sign, upon states that are zero in part: what
 * has no second moment must not move by m/eps, nor what has neither at all
 * (L-18). The odd case is almost zero: its first group is under every scale. */
static void fill_hole(ng_case *c, int64_t index)
{
    enum { COUNT = 64 };
    static const uint32_t zeros[] = {0, NG_FP32_SIGN, 1, 0x00800000,
                                     0x1E3CE508 /* 1e-20 */};
    const bool almost = index % 2 != 0;
    setting s = usual(c);
    task t;

    if (almost)
        s.weight_decay = 0;     /* L2: g would be w*theta */
    if (!begin(&t, c, COUNT, true))
        return;
    attach(c, &s);
    put_realistic(&t, almost ? -70 : -12);
    for (int64_t i = 0; i < COUNT; i++) {
        put_grad(&t, i, zeros[ng_case_below(c, 5)]);
        if (ng_case_chance(c, 2))
            put_state(&t, NG_MOMENTUM, i, zeros[ng_case_below(c, 5)]);
        if (ng_case_chance(c, 2))
            put_state(&t, NG_VARIANCE, i, zeros[2 * ng_case_below(c, 3)]);
        if (ng_case_chance(c, 4))
            put_theta(&t, i, zeros[ng_case_below(c, 5)]);
        if (almost && i < NG_STATE_GROUP) {
            put_grad(&t, i, fp32(1e-30));
            put_state(&t, NG_MOMENTUM, i, 0);
        }
    }
}

const ng_stratum ng_step_strata[] = {
    {"random", "weights, gradients and states as training has them", 0,
     count_random, fill_random},
    {"lengths", "tensors of any length, 0 too", 0, count_lengths,
     fill_lengths},
    {"special", "zeros, subnormals, ends of formats, infinities, NaNs", 0,
     count_special, fill_special},
    {"hole", "zero gradients and states, and what almost vanishes", 0,
     count_hole, fill_hole},
    {"hyper", "hyper-parameters at their ends", 0, count_hyper, fill_hyper},
    {"bits", "any bits", 0, count_special, fill_bits},
    {0},
};
