/* SPDX-License-Identifier: Apache-2.0
 *
 * Hyper-parameters from which the constants of a step are made.
 */
#include "conformance/checks/inputs_optim.h"

#include <math.h>

#include "conformance/checks/numbers.h"
#include "conformance/subject/optim_functions.h"

#define N(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* Fields in the order of ng_hyper, eight numbers and two flags. */
enum { LR, LR0, BETA1, BETA2, MOMENTUM, DAMPENING, EPS, DECAY, N_NUMBERS };

typedef struct setting {
    double number[N_NUMBERS];
    bool nesterov, lr_decoupled;
    int64_t kind, t;
} setting;

static setting usual(ng_case *c, int64_t kind)
{
    static const double lr[] = {1e-3, 3e-4, 0.1, 6e-5, 1e-7};
    static const double beta[] = {0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};
    static const double decay[] = {0, 0.1, 0.01, 1e-4, 1};
    const int64_t bits = 1 + ng_case_below(c, 40);
    setting s = {
        .number = {[LR] = lr[ng_case_below(c, 5)],
                   [LR0] = lr[ng_case_below(c, 5)],
                   [BETA1] = beta[ng_case_below(c, 7)],
                   [BETA2] = beta[ng_case_below(c, 7)],
                   [MOMENTUM] = beta[1 + ng_case_below(c, 6)],
                   [DAMPENING] = 0,
                   [EPS] = ng_case_chance(c, 2) ? 1e-8 : 1e-6,
                   [DECAY] = decay[ng_case_below(c, 5)]},
        .nesterov = ng_case_chance(c, 3),
        .lr_decoupled = ng_case_chance(c, 2),
        .kind = kind,
        .t = 1 + (int64_t)(ng_case_random(c) >> 1 >> (63 - bits))};

    if (!s.nesterov)
        s.number[DAMPENING] = beta[ng_case_below(c, 7)];
    return s;
}

static void attach(ng_case *c, const setting *s)
{
    static const char *const name[N_NUMBERS] = {
        "lr", "lr0", "beta1", "beta2", "momentum", "dampening", "eps",
        "weight_decay"};
    const int64_t n = NG_N_STEP_CONSTANTS;

    for (int i = 0; i < N_NUMBERS; i++)
        ng_case_number(c, name[i], s->number[i]);
    ng_case_attribute(c, "nesterov", s->nesterov);
    ng_case_attribute(c, "lr_decoupled", s->lr_decoupled);
    ng_case_attribute(c, "kind", s->kind);
    ng_case_attribute(c, "t", s->t);
    ng_case_output(c, "y", NG_FP32, 1, &n, false);
}

static int64_t count_usual(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 500 : 20000;
}

static void fill_usual(ng_case *c, int64_t index)
{
    const setting s = usual(c, index % NG_N_OPTIMIZERS);

    attach(c, &s);
}

/* Any number of the field's range, its ends included. */
static double any(ng_case *c, int field)
{
    static const double unit[] = {0, 0x1p-1074, 1e-60, 0x1p-149, 0x1p-150,
                                  0x1p-26, 1 - 0x1p-20, 1 - 0x1p-24,
                                  1 - 0x1p-25, 1 - 0x1.8p-25, 1 - 0x1p-53};
    static const double number[] = {0, -0.0, 0x1p-1074, 1e-300, 0x1p-150, 1e-44,
                                    0x1p-126, 0x1.000001p-126, 1e-20,
                                    0x1.0000001p+0, 0x1.000001p+0, 1e20,
                                    0x1.fffffep+127, 0x1.fffffefp+127};
    static const double positive[] = {0x1.8p-149, 0x1.0001p-150, 1e-30, 1e-8,
                                      0.1, 1, 1e30, 0x1.fffffep+127};
    double x;

    if (field == BETA1 || field == BETA2 || field == MOMENTUM)
        return ng_case_chance(c, 2)
                   ? unit[ng_case_below(c, N(unit))]
                   : (double)(ng_case_random(c) >> 11) * 0x1p-53;
    if (field == EPS)
        return positive[ng_case_below(c, N(positive))];
    if (ng_case_chance(c, 2)) {
        x = number[ng_case_below(c, N(number))];
    } else {
        x = 1 + (double)(ng_case_random(c) >> 12) * 0x1p-52;
        x *= exp2(30 * ng_case_normal(c));
    }
    if (field == LR0 && x == 0)
        x = 1;
    return ng_case_chance(c, 4) ? -x : x;
}

static int64_t count_edges(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 1500 : 50000;
}

static void fill_edges(ng_case *c, int64_t index)
{
    static const int64_t steps[] = {1, 2, 3, INT64_MAX, INT64_MIN, -1,
                                    INT64_C(1) << 53};
    setting s = usual(c, index % NG_N_OPTIMIZERS);

    for (int i = 0; i < N_NUMBERS; i++)
        if (ng_case_chance(c, 3))
            s.number[i] = any(c, i);
    if (ng_case_chance(c, 4))
        s.t = steps[ng_case_below(c, N(steps))];
    if (ng_case_chance(c, 4)) {
        /* Near 1, 1 - beta^t is small and shows how the power was rounded. */
        for (int i = BETA1; i <= BETA2; i++)
            s.number[i] = 1 - exp2(-15 - 20 * (double)ng_case_below(c, 1000)
                                             / 1000);
        s.t = 2 + ng_case_below(c, 100);
    }
    attach(c, &s);
}

/* One thing after another that is the caller's error, or nearly. */
static const struct {
    int field;
    double value;
} wrong[] = {
    {LR, INFINITY}, {LR, NAN}, {LR, 0x1.ffffffp+127}, {LR, -1e300},
    {LR0, 0}, {LR0, -0.0}, {LR0, NAN}, {LR0, INFINITY}, {LR0, 1e300},
    {BETA1, 1}, {BETA1, -0x1p-1074}, {BETA1, NAN}, {BETA1, -0.0},
    {BETA2, 1}, {BETA2, 1.5}, {BETA2, NAN}, {BETA2, INFINITY},
    {MOMENTUM, 1}, {MOMENTUM, -1e-3}, {MOMENTUM, NAN}, {MOMENTUM, 0},
    {MOMENTUM, 0x1p-150}, {MOMENTUM, 0x1.8p-150},
    {DAMPENING, NAN}, {DAMPENING, INFINITY}, {DAMPENING, 1e300},
    {DAMPENING, 0.5}, {DAMPENING, -0.0}, {EPS, 0}, {EPS, -1e-8},
    {EPS, 0x1p-150}, {EPS, NAN}, {EPS, INFINITY}, {EPS, 1e39},
    {DECAY, NAN}, {DECAY, INFINITY}, {DECAY, -1e300},
};

enum { FLAGS = 4 };

static int64_t count_refused(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return N(wrong) * NG_N_OPTIMIZERS * FLAGS + 7;
}

static void fill_refused(ng_case *c, int64_t index)
{
    const int64_t i = index / (NG_N_OPTIMIZERS * FLAGS);
    setting s = usual(c, index / FLAGS % NG_N_OPTIMIZERS);

    s.nesterov = index % 2 != 0;
    s.lr_decoupled = index / 2 % 2 != 0;
    if (s.nesterov)
        s.number[DAMPENING] = 0;
    if (i < N(wrong))
        s.number[wrong[i].field] = wrong[i].value;
    else if (index % 7 < NG_N_OPTIMIZERS) { /* of every kind, a step of 0 */
        s.kind = index % 7;
        s.t = 0;
    } else
        s.kind = index % 7 == 5 ? -1 : NG_N_OPTIMIZERS;
    attach(c, &s);
}

const ng_stratum ng_step_constants_strata[] = {
    {"usual", "settings in use, steps up to 2^40", 0, count_usual, fill_usual},
    {"edges", "numbers at the ends of what is taken", 0, count_edges,
     fill_edges},
    {"refused", "every field out of its range, or nearly, for every kind", 0,
     count_refused, fill_refused},
    {0},
};
