/* SPDX-License-Identifier: Apache-2.0
 *
 * What splitting, companding and the steps refuse: a good call of each is broken
 * in one place at a time; wanted are the status, and every array as it was.
 */
#include <check.h>
#include <string.h>

#include "conformance/checks/scratch.h"
#include "reference/optim/ref_compand.h"
#include "reference/optim/ref_expand.h"
#include "reference/optim/ref_merge_weights.h"
#include "reference/optim/ref_split_weights.h"
#include "reference/optim/ref_step.h"
#include "reference/optim/ref_step_constants.h"

enum { N = 40 };                /* one group of 32 and a short one */

enum { THETA, LOW, RHO, M, M_SCALES, V, V_SCALES, G, N_ARRAYS };

/* All arrays, and the arguments that point into them. */
static struct call {
    unsigned char bytes[N_ARRAYS][4 * N];
    float *x;                   /* FP32 numbers in or out */
    ng_weights theta;
    ng_state m, v;
    ng_gradient g;
    const ng_weights *p_theta;
    const ng_state *p_m, *p_v;
    const ng_gradient *p_g;
    int64_t n;
    ng_step_constants c;
    const ng_step_constants *p_c;
    ng_rules rules;
    ng_optim_options options;
} call;

typedef ng_status perform(void);

static ng_status split(void)
{
    return ng_ref_split_weights(call.p_theta, call.x, call.n, &call.options);
}

static ng_status merge(void)
{
    return ng_ref_merge_weights(call.x, call.p_theta, call.n, &call.options);
}

static ng_status compand(void)
{
    return ng_ref_compand(call.p_m, call.x, call.n, &call.options);
}

static ng_status expand(void)
{
    return ng_ref_expand(call.x, call.p_m, call.n, &call.options);
}

static ng_status sgd(void)
{
    return ng_ref_step_sgd(call.p_theta, call.p_m, call.p_g, call.n, call.p_c,
                           &call.options);
}

static ng_status sgdw(void)
{
    return ng_ref_step_sgdw(call.p_theta, call.p_m, call.p_g, call.n, call.p_c,
                            &call.options);
}

static ng_status adam(void)
{
    return ng_ref_step_adam(call.p_theta, call.p_m, call.p_v, call.p_g, call.n,
                            call.p_c, &call.options);
}

static ng_status adamw(void)
{
    return ng_ref_step_adamw(call.p_theta, call.p_m, call.p_v, call.p_g, call.n,
                             call.p_c, &call.options);
}

static ng_status lion(void)
{
    return ng_ref_step_lion(call.p_theta, call.p_m, call.p_g, call.n, call.p_c,
                            &call.options);
}

static ng_status any_step(void)
{
    return ng_ref_step(call.p_theta, call.p_m, call.p_v, call.p_g, call.n,
                       call.p_c, &call.options);
}

enum { USES_X = 1, USES_THETA = 2, USES_M = 4, USES_V = 8, USES_G = 16 };

static const struct function {
    const char *name;
    perform *perform;
    unsigned uses;
    ng_optimizer_kind kind;     /* of steps */
} functions[] = {
    {"split_weights", split, USES_X | USES_THETA, NG_SGD},
    {"merge_weights", merge, USES_X | USES_THETA, NG_SGD},
    {"compand", compand, USES_X | USES_M, NG_SGD},
    {"expand", expand, USES_X | USES_M, NG_SGD},
    {"step_sgd", sgd, USES_THETA | USES_M | USES_G, NG_SGD},
    {"step_sgdw", sgdw, USES_THETA | USES_M | USES_G, NG_SGDW},
    {"step_adam", adam, USES_THETA | USES_M | USES_V | USES_G, NG_ADAM},
    {"step_adamw", adamw, USES_THETA | USES_M | USES_V | USES_G, NG_ADAMW},
    {"step_lion", lion, USES_THETA | USES_M | USES_G, NG_LION},
    {"step", any_step, USES_THETA | USES_M | USES_V | USES_G, NG_ADAMW},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static const ng_hyper hyper = {.lr = 0.5, .beta1 = 0.9, .beta2 = 0.99,
                               .momentum = 0.9, .eps = 1e-8};

/* The good call, of small numbers. */
static void begin(const struct function *f)
{
    static const float numbers[] = {1.0f, -0.5f, 0.25f, 3.0f};

    call = (struct call){.n = N, .rules = ng_default_rules};
    for (int i = 0; i < N; i++) {
        memcpy(&call.bytes[THETA][4 * i], &numbers[i % 4], 4);
        memcpy(&call.bytes[G][4 * i], &numbers[(i + 1) % 4], 4);
    }
    call.x = (float *)(void *)call.bytes[THETA];
    call.theta = (ng_weights){NG_BF16, 8, call.bytes[LOW], call.bytes[RHO]};
    call.m = (ng_state){NG_MOMENTUM, NG_STATE_COMPANDED, call.bytes[M],
                        (uint16_t *)(void *)call.bytes[M_SCALES]};
    call.v = (ng_state){NG_VARIANCE, NG_STATE_COMPANDED, call.bytes[V],
                        (uint16_t *)(void *)call.bytes[V_SCALES]};
    call.g = (ng_gradient){NG_FP32, call.bytes[G], NULL};
    call.p_theta = &call.theta;
    call.p_m = &call.m;
    call.p_v = &call.v;
    call.p_g = &call.g;
    call.p_c = &call.c;
    call.options = (ng_optim_options){.rules = &call.rules};
    ck_assert_int_eq(ng_ref_step_constants(&call.c, f->kind, &hyper, 1, NULL,
                                           NULL), NG_OK);
}

static void want(const struct function *f, ng_status status, const char *what)
{
    static unsigned char before[sizeof call.bytes];

    memcpy(before, call.bytes, sizeof before);

    const ng_status got = f->perform();

    if (got != status)
        ck_abort_msg("%s: %s: want \"%s\", got \"%s\"", f->name, what,
                     ng_status_text(status), ng_status_text(got));
    if (status != NG_OK && memcmp(before, call.bytes, sizeof before) != 0)
        ck_abort_msg("%s: %s: an array is touched", f->name, what);
}

#define REFUSES(f, status, change)  \
    do {                            \
        begin(f);                   \
        change;                     \
        want(f, status, #change);   \
    } while (0)

/* The next function that uses all of some arguments, or null. */
static const struct function *next(const struct function *f, unsigned uses)
{
    for (f = f == NULL ? functions : f + 1; f < functions + N_FUNCTIONS; f++)
        if ((f->uses & uses) == uses)
            return f;
    return NULL;
}

#define FOR_EACH(f, uses) \
    for (const struct function *f = next(NULL, uses); f != NULL; \
         f = next(f, uses))

START_TEST(good_calls)
{
    FOR_EACH(f, 0) {
        static unsigned char before[sizeof call.bytes];

        begin(f);
        memcpy(before, call.bytes, sizeof before);
        want(f, NG_OK, "good");
        ck_assert_msg(memcmp(before, call.bytes, sizeof before) != 0, "%s",
                      f->name);
    }
}
END_TEST

START_TEST(shapes_and_rules)
{
    FOR_EACH(f, 0) {
        REFUSES(f, NG_BAD_SHAPE, call.n = -1);
        REFUSES(f, NG_BAD_SHAPE, call.n = INT64_MAX / 4 + 1);
        REFUSES(f, NG_BAD_RULES, call.rules.split = -1);
        REFUSES(f, NG_BAD_RULES, call.rules.compand = 99);
    }
}
END_TEST

START_TEST(weights)
{
    FOR_EACH(f, USES_THETA) {
        REFUSES(f, NG_BAD_POINTER, call.p_theta = NULL);
        REFUSES(f, NG_BAD_POINTER, call.theta.low = NULL);
        REFUSES(f, NG_BAD_POINTER, call.theta.correction = NULL);
        REFUSES(f, NG_BAD_DTYPE, call.theta.dtype = NG_U8);
        REFUSES(f, NG_BAD_LAYOUT, call.theta.correction_bits = 7);
        REFUSES(f, NG_BAD_LAYOUT, call.theta.correction_bits = -8);
        REFUSES(f, NG_BAD_LAYOUT, call.theta.dtype = NG_FP32);
    }
}
END_TEST

START_TEST(states)
{
    FOR_EACH(f, USES_M) {
        REFUSES(f, NG_BAD_POINTER, call.p_m = NULL);
        REFUSES(f, NG_BAD_POINTER, call.m.data = NULL);
        REFUSES(f, NG_BAD_POINTER, call.m.scales = NULL);
        REFUSES(f, NG_BAD_LAYOUT, call.m.kind = (ng_state_kind)7);
        REFUSES(f, NG_BAD_LAYOUT, call.m.coding = (ng_state_coding)7);
    }
    FOR_EACH(f, USES_M | USES_G)
        REFUSES(f, NG_BAD_LAYOUT, call.m.kind = NG_VARIANCE);
    FOR_EACH(f, USES_V) {
        REFUSES(f, NG_BAD_POINTER, call.p_v = NULL);
        REFUSES(f, NG_BAD_POINTER, call.v.data = NULL);
        REFUSES(f, NG_BAD_POINTER, call.v.scales = NULL);
        REFUSES(f, NG_BAD_LAYOUT, call.v.kind = NG_MOMENTUM);
        REFUSES(f, NG_BAD_LAYOUT, call.v.coding = (ng_state_coding)7);
    }
    FOR_EACH(f, USES_X)
        REFUSES(f, NG_BAD_POINTER, call.x = NULL);
}
END_TEST

START_TEST(gradients_and_constants)
{
    FOR_EACH(f, USES_G) {
        REFUSES(f, NG_BAD_POINTER, call.p_g = NULL);
        REFUSES(f, NG_BAD_POINTER, call.g.data = NULL);
        REFUSES(f, NG_BAD_DTYPE, call.g.dtype = NG_E4M3);
        REFUSES(f, NG_BAD_POINTER, call.p_c = NULL);
        REFUSES(f, NG_BAD_VALUE, call.c.kind = NG_N_OPTIMIZERS);
        if (f->perform != any_step)
            REFUSES(f, NG_BAD_VALUE,
                    call.c.kind = f->kind == NG_LION ? NG_SGD : NG_LION);
    }
}
END_TEST

/* Without elements no array need be there; without momentum no state. */
START_TEST(nothing_needed)
{
    FOR_EACH(f, 0) {
        begin(f);
        call.n = 0;
        call.x = NULL;
        call.theta.low = call.theta.correction = NULL;
        call.m.data = call.v.data = NULL;
        call.g.data = NULL;
        want(f, NG_OK, "no elements");
    }
    FOR_EACH(f, USES_G)
        if (f->kind == NG_SGD || f->kind == NG_SGDW)
            REFUSES(f, NG_OK, call.c.mu = 0.0f; call.p_m = NULL);
}
END_TEST

/* The one step for all kinds is the step of each. */
START_TEST(step_of_any_kind)
{
    static unsigned char want_bytes[sizeof call.bytes];
    const struct function *any = &functions[N_FUNCTIONS - 1];

    FOR_EACH(f, USES_G) {
        begin(f);
        want(f, NG_OK, "its own");
        memcpy(want_bytes, call.bytes, sizeof want_bytes);
        begin(f);
        want(any, NG_OK, "by kind");
        ck_assert_mem_eq(want_bytes, call.bytes, sizeof want_bytes);
    }
}
END_TEST

/* A state kept in FP32 is moved, a NaN's bits too, and no further than n. */
START_TEST(states_of_fp32_are_moved)
{
    static const uint32_t bits[3] = {0x7FA00001, 0xFF800000, 0x80000001};
    float x[3], y[4] = {7.0f, 7.0f, 7.0f, 7.0f};
    const ng_state m = {.kind = NG_MOMENTUM, .data = y};
    const ng_state back = {.kind = NG_MOMENTUM, .data = x};
    float z[4] = {7.0f, 7.0f, 7.0f, 7.0f};

    memcpy(x, bits, sizeof x);
    ck_assert_int_eq(ng_ref_compand(&m, x, 3, NULL), NG_OK);
    ck_assert_mem_eq(y, bits, sizeof bits);
    ck_assert_int_eq(ng_ref_expand(z, &back, 3, NULL), NG_OK);
    ck_assert_mem_eq(z, bits, sizeof bits);
    ck_assert(y[3] == 7.0f && z[3] == 7.0f);
}
END_TEST

START_TEST(finiteness)
{
    float data[2] = {1.0f, 2.0f};
    ng_gradient g = {NG_FP32, data, NULL};
    bool finite = false;

    ck_assert_int_eq(ng_ref_gradient_is_finite(NULL, &g, 2), NG_BAD_POINTER);
    ck_assert_int_eq(ng_ref_gradient_is_finite(&finite, NULL, 2),
                     NG_BAD_POINTER);
    ck_assert_int_eq(ng_ref_gradient_is_finite(&finite, &g, -1), NG_BAD_SHAPE);
    g.dtype = NG_U8;
    ck_assert_int_eq(ng_ref_gradient_is_finite(&finite, &g, 2), NG_BAD_DTYPE);
    ck_assert(!finite);
    g.dtype = NG_FP32;
    ck_assert_int_eq(ng_ref_gradient_is_finite(&finite, &g, 2), NG_OK);
    ck_assert(finite);
}
END_TEST

static void expect_constants(ng_status status, const ng_hyper *h, int rule,
                             const char *line)
{
    ng_rules rules = ng_default_rules;
    const ng_optim_options options = {.rules = &rules};
    ng_step_constants c, before;
    ng_error error = {{0}};

    rules.step = rule;
    memset(&c, 0xA5, sizeof c);
    memcpy(&before, &c, sizeof c);
    ck_assert_int_eq(ng_ref_step_constants(&c, NG_ADAMW, h, 1, &options,
                                           &error), status);
    ck_assert_str_eq(error.text, line);
    ck_assert_mem_eq(&before, &c, sizeof c);
}

START_TEST(constants)
{
    ng_error error = {{0}};

    ck_assert_int_eq(ng_ref_step_constants(NULL, NG_ADAMW, &hyper, 1, NULL,
                                           &error), NG_BAD_POINTER);
    ck_assert_str_eq(error.text, "step: a required pointer is null");
    expect_constants(NG_BAD_POINTER, NULL, ng_default_rules.step,
                     "step: a required pointer is null");
    expect_constants(NG_BAD_RULES, &hyper, 99,
                     "step: rules: rules that this operation does not offer");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refusals_optim");
    TCase *tcase = tcase_create("refusals_optim");

    tcase_add_test(tcase, good_calls);
    tcase_add_test(tcase, shapes_and_rules);
    tcase_add_test(tcase, weights);
    tcase_add_test(tcase, states);
    tcase_add_test(tcase, gradients_and_constants);
    tcase_add_test(tcase, nothing_needed);
    tcase_add_test(tcase, step_of_any_kind);
    tcase_add_test(tcase, states_of_fp32_are_moved);
    tcase_add_test(tcase, finiteness);
    tcase_add_test(tcase, constants);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
