/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/study_losses.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/fp32.h"
#include "formats/optim.h"
#include "formats/profile.h"
#include "reference/optim/ref_compand.h"
#include "reference/optim/ref_expand.h"
#include "reference/optim/ref_merge_weights.h"
#include "reference/optim/ref_split_weights.h"
#include "reference/optim/ref_step.h"
#include "reference/optim/ref_step_constants.h"
#include "reference/train/train_log.h"

enum { GROUP = NG_STATE_GROUP, FLASHOPTIM = 0, NG = 1, N_PROFILES = 2 };

typedef struct losses {
    json_t *rows;
    ng_rules rules[N_PROFILES];
    ng_status status; /* the first error */
} losses;

static void note(losses *l, ng_status status)
{
    if (l->status == NG_OK)
        l->status = status;
}

static void add_row(losses *l, const char *name, const char *input,
                    const char *unit, double exact, const double *got)
{
    json_t *row = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o}", "case", name, "input", input, "unit",
        unit, "exact", ng_json_number(exact), "flashoptim",
        ng_json_number(got[FLASHOPTIM]), "ng", ng_json_number(got[NG]));

    if (json_array_append_new(l->rows, row) != 0)
        note(l, NG_NO_MEMORY);
}

/* A group coded and decoded under a profile. */
static void pass(losses *l, float *y, const float *x, ng_state_kind kind,
                 int profile)
{
    uint8_t codes[GROUP];
    uint16_t scale;
    const ng_state state = {kind, NG_STATE_COMPANDED, codes, &scale};
    const ng_optim_options options = {.rules = &l->rules[profile]};

    note(l, ng_ref_compand(&state, x, GROUP, &options));
    note(l, ng_ref_expand(y, &state, GROUP, &options));
}

/* Element `shown` of a group whose first is `first` and whose others are
 * `others`. */
static void show_group(losses *l, const char *name, const char *input,
                       ng_state_kind kind, float first, float others, int shown)
{
    float x[GROUP], y[GROUP];
    double got[N_PROFILES];

    for (int i = 0; i < GROUP; i++)
        x[i] = i == 0 ? first : others;
    for (int profile = 0; profile < N_PROFILES; profile++) {
        pass(l, y, x, kind, profile);
        got[profile] = (double)y[shown];
    }
    add_row(l, name, input, "value", (double)x[shown], got);
}

static void list_range(losses *l)
{
    show_group(l, "momentum underflows at 2^-25", "32 elements of 2^-25",
               NG_MOMENTUM, 0x1p-25f, 0x1p-25f, 0);
    show_group(l, "variance underflows", "32 elements of 8.8e-16", NG_VARIANCE,
               8.8e-16f, 8.8e-16f, 0);
    show_group(l, "momentum overflows at 65520", "65520 and 31 zeros; it",
               NG_MOMENTUM, 65520.0f, 0.0f, 0);
    show_group(l, "momentum overflows at 65520",
               "65520 and 31 zeros; one of the zeros", NG_MOMENTUM, 65520.0f,
               0.0f, 1);
    show_group(l, "variance overflows", "32 elements of 4.2931e9", NG_VARIANCE,
               4.2931e9f, 4.2931e9f, 0);
    show_group(l, "where ng ends below: lost, and counted",
               "32 elements of 2^-57", NG_MOMENTUM, 0x1p-57f, 0x1p-57f, 0);
    show_group(l, "where ng ends above: saturated, and counted",
               "32 elements of 300000", NG_MOMENTUM, 3e5f, 3e5f, 0);
    show_group(l, "the scale is an FP16 subnormal",
               "32 elements of 1.49 * 2^-24", NG_MOMENTUM, 0x1.7d70a4p-24f,
               0x1.7d70a4p-24f, 0);
    show_group(l, "a NaN in the group", "NaN and 31 ones; it", NG_MOMENTUM, NAN,
               1.0f, 0);
    show_group(l, "a NaN in the group", "NaN and 31 ones; a one", NG_MOMENTUM,
               NAN, 1.0f, 1);
    show_group(l, "an Inf in the group", "Inf and 31 ones; it", NG_MOMENTUM,
               INFINITY, 1.0f, 0);
    show_group(l, "an Inf in the group", "Inf and 31 ones; a one", NG_MOMENTUM,
               INFINITY, 1.0f, 1);
}

/* Codes made with the unrounded scale are decoded with the stored one. Over
 * scales next to 1 and elements of half to all of them, find where that costs
 * the published scheme most over ours. */
static void list_scale(losses *l)
{
    float worst_a = 1.0f, worst_x = 1.0f;
    double worst = -1.0, got[N_PROFILES] = {0.0, 0.0};
    char input[128];

    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 16 * (GROUP - 1); j += GROUP - 1) {
            float x[GROUP], y[N_PROFILES][GROUP];

            x[0] = 1.0f + (float)i * 0x1p-15f;
            for (int k = 1; k < GROUP; k++)
                x[k] = x[0] * (0.5f + (float)(j + k) * 0x1p-10f);
            for (int profile = 0; profile < N_PROFILES; profile++)
                pass(l, y[profile], x, NG_MOMENTUM, profile);
            for (int k = 1; k < GROUP; k++) {
                const double lost =
                    (fabs((double)y[FLASHOPTIM][k] - (double)x[k])
                     - fabs((double)y[NG][k] - (double)x[k]))
                    / (double)x[k];

                if (lost > worst) {
                    worst = lost;
                    worst_a = x[0];
                    worst_x = x[k];
                    got[FLASHOPTIM] = (double)y[FLASHOPTIM][k];
                    got[NG] = (double)y[NG][k];
                }
            }
        }
    snprintf(input, sizeof input, "%.9g in a group whose largest is %.9g",
             (double)worst_x, (double)worst_a);
    add_row(l, "coded by one scale, decoded by another", input, "value",
            (double)worst_x, got);
}

/* AdamW on a group that starts from these states: the update of element 0 over
 * the learning rate. Weights are 0 and undecayed. */
typedef struct adamw {
    ng_hyper hyper;
    uint8_t m_codes[GROUP], v_codes[GROUP];
    uint16_t m_scale, v_scale;
} adamw;

static adamw adamw_from(losses *l, const float *m, const float *v, int profile)
{
    adamw a = {
        .hyper = {.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}};
    const ng_state m_state = {NG_MOMENTUM, NG_STATE_COMPANDED, a.m_codes,
                              &a.m_scale};
    const ng_state v_state = {NG_VARIANCE, NG_STATE_COMPANDED, a.v_codes,
                              &a.v_scale};
    const ng_optim_options options = {.rules = &l->rules[profile]};

    note(l, ng_ref_compand(&m_state, m, GROUP, &options));
    note(l, ng_ref_compand(&v_state, v, GROUP, &options));
    return a;
}

static double adamw_step(losses *l, adamw *a, const float *gradient, uint64_t t,
                         int profile)
{
    float theta[GROUP] = {0.0f};
    const ng_weights weights = {.dtype = NG_FP32, .low = theta};
    const ng_state m = {NG_MOMENTUM, NG_STATE_COMPANDED, a->m_codes,
                        &a->m_scale};
    const ng_state v = {NG_VARIANCE, NG_STATE_COMPANDED, a->v_codes,
                        &a->v_scale};
    const ng_gradient g = {NG_FP32, gradient, NULL};
    const ng_optim_options options = {.rules = &l->rules[profile]};
    ng_step_constants c = {.kind = NG_ADAMW};

    note(l, ng_ref_step_constants(&c, NG_ADAMW, &a->hyper, t, &options, NULL));
    note(l, ng_ref_step_adamw(&weights, &m, &v, &g, GROUP, &c, &options));
    return -(double)theta[0] / a->hyper.lr;
}

/* The same element in FP64. */
typedef struct exact_adamw {
    double m, v;
} exact_adamw;

static double exact_step(exact_adamw *a, double g, uint64_t t)
{
    a->m = 0.9 * a->m + 0.1 * g;
    a->v = 0.999 * a->v + 0.001 * g * g;
    return a->m / (1.0 - pow(0.9, (double)t))
           / (sqrt(a->v / (1.0 - pow(0.999, (double)t))) + 1e-8);
}

/* Element 0 gets a small steady gradient while its neighbour's alternates: then
 * |m| is a hundredth of the group's largest and survives, sqrt(v) less than
 * 1/510 of it and is flushed where nothing forbids it. */
static void list_steady(losses *l, bool stops)
{
    enum { STEPS = 1000 };
    const float small = 1.0f / 520.0f;
    const float zeros[GROUP] = {0.0f};
    double got[N_PROFILES], exact = 0.0;
    exact_adamw truth = {0.0, 0.0};

    for (uint64_t t = 1; t <= STEPS; t++)
        exact =
            exact_step(&truth, stops && t == STEPS ? 0.0 : (double)small, t);
    for (int profile = 0; profile < N_PROFILES; profile++) {
        adamw a = adamw_from(l, zeros, zeros, profile);

        for (uint64_t t = 1; t <= STEPS; t++) {
            float g[GROUP];

            for (int i = 0; i < GROUP; i++)
                g[i] = i == 0 ? small : t % 2 == 0 ? 1.0f : -1.0f;
            if (stops && t == STEPS)
                g[0] = 0.0f;
            got[profile] = adamw_step(l, &a, g, t, profile);
        }
    }
    add_row(l, "the eps hole: m survives, sqrt(v) is flushed",
            stops ? "as above, but no gradient in step 1000"
                  : "gradient 1/520 a step, its neighbours' +-1; step 1000",
            "lr", exact, got);
}

/* States as they may be loaded, or left by other betas: sqrt(v) = 1/520 of the
 * largest, a gradient of 13.8 sqrt(v), and m such that the right step is 38 lr:
 * with v flushed it is 95 lr. */
static void list_loaded(losses *l)
{
    const uint64_t t = 100000; /* no bias to correct */
    const double r = 1.0 / 520.0;
    const double g = 13.8 * r;
    const double root = sqrt(0.999 * r * r + 0.001 * g * g);
    float m[GROUP], v[GROUP], gradient[GROUP];
    double got[N_PROFILES];

    for (int i = 0; i < GROUP; i++) {
        m[i] = (float)((38.0 * root - 0.1 * g) / 0.9);
        v[i] = i == 0 ? (float)(r * r) : 1.0f;
        gradient[i] = i == 0 ? (float)g : 0.0f;
    }

    exact_adamw truth = {(double)m[0], (double)v[0]};
    const double exact = exact_step(&truth, (double)gradient[0], t);

    for (int profile = 0; profile < N_PROFILES; profile++) {
        adamw a = adamw_from(l, m, v, profile);

        got[profile] = adamw_step(l, &a, gradient, t, profile);
    }
    add_row(l, "the eps hole: m survives, sqrt(v) is flushed",
            "loaded sqrt(v) = 1/520 of the largest, m = 44.5 sqrt(v), gradient "
            "13.8 sqrt(v)",
            "lr", exact, got);
}

static double split_and_merge(losses *l, float theta, int bits, int profile)
{
    uint16_t low;
    int16_t rho;
    float back = 0.0f;
    const ng_weights weights = {NG_BF16, bits, &low, &rho};
    const ng_optim_options options = {.rules = &l->rules[profile]};

    note(l, ng_ref_split_weights(&weights, &theta, 1, &options));
    note(l, ng_ref_merge_weights(&back, &weights, 1, &options));
    return (double)back;
}

static void show_weight(losses *l, const char *name, const char *input,
                        float theta, int bits)
{
    double got[N_PROFILES];

    for (int profile = 0; profile < N_PROFILES; profile++)
        got[profile] = split_and_merge(l, theta, bits, profile);
    add_row(l, name, input, "value", (double)theta, got);
}

static void list_weights(losses *l)
{
    char input[64];
    float theta = 1.0f;

    while (theta < 2.0f
           && split_and_merge(l, theta, 16, FLASHOPTIM) == (double)theta)
        theta = ng_fp32_from_bits(ng_fp32_bits(theta) + 1);
    snprintf(input, sizeof input, "BF16 + 16 bits, theta 0x%08" PRIX32,
             ng_fp32_bits(theta));
    show_weight(l, "a weight that does not come back", input, theta, 16);
    show_weight(l, "a weight that BF16 rounds to Inf",
                "BF16 + 8 bits, theta 0x7F7FFFFF", 0x1.fffffep+127f, 8);
}

ng_status ng_study_list_losses(json_t *rows, ng_error *error)
{
    losses l = {.rows = rows, .status = NG_OK};
    ng_profile profile;

    if (ng_profile_load(&profile, "flashoptim", error) != NG_OK)
        return NG_BAD_RULES;
    l.rules[FLASHOPTIM] = profile.rules;
    l.rules[NG] = ng_default_rules;
    list_range(&l);
    list_scale(&l);
    list_steady(&l, false);
    list_steady(&l, true);
    list_loaded(&l);
    list_weights(&l);
    return l.status == NG_OK ? NG_OK
                             : ng_fail(error, l.status, "losses: %s",
                                       ng_status_text(l.status));
}
