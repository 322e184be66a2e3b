/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of optimizers that happened (docs/cases.md L-17, L-18, L-27, and of
 * L-19 and L-20 what concerns split weights). Inputs and expected bits are
 * restated from there, or worked out, by hand; both writings must give them.
 */
#include <math.h>

#include "conformance/checks/writings.h"
#include "conformance/subject/optim_functions.h"
#include "reference/optim/optimizer.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

static const ng_optim_functions *const functions[] = {
    &ng_reference_optim_functions,
#ifdef HAVE_MPFR
    &ng_oracle_optim_functions,
#endif
};

_Static_assert(N(functions) == N_WRITINGS, "the same writings");

/* A weight, split; what saturated. */
static uint64_t split(uint16_t *low, int16_t *rho, int writing, uint32_t theta,
                      ng_dtype dtype, int bits, ng_split rule)
{
    ng_rules rules = ng_default_rules;
    ng_optim_counts counts = {0};
    const ng_optim_options options = {&rules, &counts};
    const float x = ng_fp32_from_bits(theta);
    int8_t narrow = 0;
    const ng_weights y = {dtype, bits, low,
                          bits == 8 ? (void *)&narrow : (void *)rho};

    rules.split = (int)rule;
    *rho = 0;
    ck_assert_int_eq(functions[writing]->split_weights(&y, &x, 1, &options),
                     NG_OK);
    if (bits == 8)
        *rho = narrow;
    return counts.weights_saturated;
}

static uint32_t merge(int writing, uint16_t low, int16_t rho, ng_dtype dtype)
{
    float theta;
    const ng_weights x = {dtype, 16, &low, &rho};

    ck_assert_int_eq(functions[writing]->merge_weights(&theta, &x, 1, NULL),
                     NG_OK);
    return ng_fp32_bits(theta);
}

/* The upper half from ties to even, put together as if from ties up, loses the
 * first, third and fourth. */
START_TEST(trap_l17_tie_of_the_upper_half)
{
    static const struct {
        uint32_t theta;
        uint16_t low, rho;
    } table[] = {
        {0x3F808000, 0x3F81, 0x8000}, {0x3F818000, 0x3F82, 0x8000},
        {0xBF808000, 0xBF81, 0x8000}, {0x00008000, 0x0001, 0x8000},
        {0x3F807FFF, 0x3F80, 0x7FFF}, {0x3F808001, 0x3F81, 0x8001},
    };

    for (int i = 0; i < N(table); i++) {
        uint16_t low;
        int16_t rho;

        split(&low, &rho, _i, table[i].theta, NG_BF16, 16, NG_SPLIT_ULP);
        expect(_i, "low", i, table[i].low, low);
        expect(_i, "rho", i, table[i].rho, (uint16_t)rho);
        expect(_i, "merged", i, table[i].theta, merge(_i, low, rho, NG_BF16));
    }
}
END_TEST

/* FlashOptim's 16 bits are not lossless: peers.md C10, number 28. */
START_TEST(trap_l17_scaled_by_32767)
{
    const uint32_t theta = 0x3F7F8000;  /* 0.998046875, a tie: to even, 1 */
    ng_rules rules = ng_default_rules;
    const ng_optim_options options = {&rules, NULL};
    uint16_t low;
    int16_t rho;
    float back;
    const ng_weights x = {NG_BF16, 16, &low, &rho};

    split(&low, &rho, _i, theta, NG_BF16, 16, NG_SPLIT_ULP);
    expect(_i, "merged", 0, theta, merge(_i, low, rho, NG_BF16));

    rules.split = NG_SPLIT_FLASHOPTIM;
    split(&low, &rho, _i, theta, NG_BF16, 16, NG_SPLIT_FLASHOPTIM);
    expect(_i, "low", 0, 0x3F80, low);
    ck_assert_int_eq(functions[_i]->merge_weights(&back, &x, 1, &options),
                     NG_OK);
    expect(_i, "merged", 1, 0x3F7F7FFF, ng_fp32_bits(back)); /* 0.99804681 */
}
END_TEST

/* A gradient of zero: m = v = 0 of one element among {1, -1, 0, ...}. */
static void step_zeros(int writing, ng_state_coding coding,
                       const ng_rules *rules)
{
    enum { COUNT = 32 };
    const ng_optim_options options = {rules, NULL};
    const ng_hyper hyper = {.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999,
                            .eps = 1e-8};
    float m[COUNT] = {1, -1}, v[COUNT] = {1, 1}, g[COUNT] = {1, -1};
    float theta[COUNT], back[COUNT];
    int8_t m_codes[COUNT];
    uint8_t v_codes[COUNT];
    uint16_t m_scale, v_scale;
    const ng_state m_state = {NG_MOMENTUM, coding, m_codes, &m_scale};
    const ng_state v_state = {NG_VARIANCE, coding, v_codes, &v_scale};
    const ng_weights weights = {.dtype = NG_FP32, .low = theta};
    const ng_gradient gradient = {NG_FP32, g, NULL};
    const ng_optim_functions *f = functions[writing];
    ng_step_constants c;

    for (int i = 0; i < COUNT; i++)
        theta[i] = 0.75f;
    ck_assert_int_eq(f->compand(&m_state, m, COUNT, &options), NG_OK);
    ck_assert_int_eq(f->compand(&v_state, v, COUNT, &options), NG_OK);
    expect(writing, "code of 1", 0, 127, (uint8_t)m_codes[0]);
    expect(writing, "code of -1", 1, 0x81, (uint8_t)m_codes[1]);
    for (int round = 0; round < 2; round++) {
        for (int i = 2; i < COUNT; i++) {
            expect(writing, "momentum code", i, 0, (uint8_t)m_codes[i]);
            expect(writing, "variance code", i, 0, v_codes[i]);
        }
        ck_assert_int_eq(f->expand(back, &m_state, COUNT, &options), NG_OK);
        for (int i = 2; i < COUNT; i++)
            expect(writing, "momentum", i, 0, ng_fp32_bits(back[i]));
        ck_assert_int_eq(f->expand(back, &v_state, COUNT, &options), NG_OK);
        for (int i = 2; i < COUNT; i++)
            expect(writing, "variance", i, 0, ng_fp32_bits(back[i]));
        ck_assert_int_eq(f->step_constants(&c, NG_ADAMW, &hyper, 1000, &options,
                                           NULL), NG_OK);
        ck_assert_int_eq(f->step(&weights, &m_state, &v_state, &gradient, COUNT,
                                 &c, &options), NG_OK);
        for (int i = 2; i < COUNT; i++)
            expect(writing, "theta", i, 0x3F400000, ng_fp32_bits(theta[i]));
        ck_assert(theta[0] < 0.75f && theta[1] > 0.75f);
    }
}

START_TEST(trap_l18_zero_without_a_code)
{
    ng_rules rules = ng_default_rules;

    for (int profile = 0; profile < 2; profile++) {
        rules.compand = profile == 0 ? NG_COMPAND_NG : NG_COMPAND_FLASHOPTIM;
        rules.step = profile == 0 ? NG_STEP_NG : NG_STEP_FLASHOPTIM;
        step_zeros(_i, NG_STATE_COMPANDED, &rules);
        step_zeros(_i, NG_STATE_LINEAR, &rules);
    }
}
END_TEST

/* The eps hole beside it: v > 0 that would code to 0 keeps code 1, so that m is
 * not divided by eps alone. FlashOptim loses it. */
START_TEST(trap_l18_variance_flushed)
{
    ng_rules rules = ng_default_rules;
    const ng_optim_options options = {&rules, NULL};
    const float v[2] = {1, 1e-10f};     /* r = 1, 1e-5: 255 r is 0.00255 */
    uint8_t codes[2];
    uint16_t scale;
    const ng_state y = {NG_VARIANCE, NG_STATE_COMPANDED, codes, &scale};

    for (int rule = 0; rule < NG_N_COMPANDS; rule++) {
        rules.compand = rule;
        ck_assert_int_eq(functions[_i]->compand(&y, v, 2, &options), NG_OK);
        expect(_i, "code", 0, 255, codes[0]);
        expect(_i, "code", rule, rule == NG_COMPAND_NG ? 1 : 0, codes[1]);
    }
}
END_TEST

/* NaN stays NaN, infinity infinity, in both halves. */
START_TEST(trap_l19_split_specials)
{
    static const struct {
        uint32_t theta;
        uint16_t bf16, fp16;
        uint32_t back;
    } table[] = {
        {0x7FFFFFFF, 0x7FFF, 0x7FFF, 0x7FFFFFFF},
        {0xFFFFFFFF, 0x7FFF, 0x7FFF, 0x7FFFFFFF},
        {0x7F800001, 0x7FFF, 0x7FFF, 0x7FFFFFFF},
        {0x7F800000, 0x7F80, 0x7C00, 0x7F800000},
        {0xFF800000, 0xFF80, 0xFC00, 0xFF800000},
        {0x3F800000, 0x3F80, 0x3C00, 0x3F800000},
    };
    uint16_t low;
    int16_t rho;

    for (int i = 0; i < N(table); i++)
        for (int half = 0; half < 2; half++) {
            const ng_dtype dtype = half == 0 ? NG_BF16 : NG_FP16;

            ck_assert_uint_eq(split(&low, &rho, _i, table[i].theta, dtype, 16,
                                    NG_SPLIT_ULP), 0);
            expect(_i, "low", i, half == 0 ? table[i].bf16 : table[i].fp16,
                   low);
            expect(_i, "rho", i, 0, (uint16_t)rho);
            expect(_i, "merged", i, table[i].back,
                   merge(_i, low, rho, dtype));
        }

    /* Carrying to infinity is a matter of policy: ours stops, and counts. */
    ck_assert_uint_eq(split(&low, &rho, _i, 0x7F7FFFFF, NG_BF16, 16,
                            NG_SPLIT_ULP), 1);
    expect(_i, "low", 0, 0x7F7F, low);
    expect(_i, "rho", 0, 0x7FFF, (uint16_t)rho);
    ck_assert_uint_eq(split(&low, &rho, _i, 0x7F7FFFFF, NG_BF16, 16,
                            NG_SPLIT_FLASHOPTIM), 1);
    expect(_i, "low", 1, 0x7F80, low);
}
END_TEST

/* The low half is nearest, not cut off, and FP16 subnormals live. Without a
 * correction, and under flashoptim, ties go to even. */
START_TEST(trap_l20_low_half)
{
    static const struct {
        ng_dtype dtype;
        uint32_t theta;
        uint16_t low;
        uint16_t ulp_low;       /* with 8 bits: ties away */
    } table[] = {
        {NG_BF16, 0x3E89CCD5, 0x3E8A, 0x3E8A},
        {NG_BF16, 0x3F808000, 0x3F80, 0x3F81},
        {NG_BF16, 0x3F818000, 0x3F82, 0x3F82},
        {NG_FP16, 0x33800000, 0x0001, 0x0001},
        {NG_FP16, 0x33000000, 0x0000, 0x0001},
        {NG_FP16, 0x33000001, 0x0001, 0x0001},
        {NG_FP16, 0x33C00000, 0x0002, 0x0002},
        {NG_FP16, 0x38000000, 0x0200, 0x0200},
        {NG_FP16, 0x387FE000, 0x0400, 0x0400},
    };
    uint16_t low;
    int16_t rho;

    for (int i = 0; i < N(table); i++) {
        split(&low, &rho, _i, table[i].theta, table[i].dtype, 0, NG_SPLIT_ULP);
        expect(_i, "bare low", i, table[i].low, low);
        split(&low, &rho, _i, table[i].theta, table[i].dtype, 8,
              NG_SPLIT_FLASHOPTIM);
        expect(_i, "flashoptim's low", i, table[i].low, low);
        split(&low, &rho, _i, table[i].theta, table[i].dtype, 8, NG_SPLIT_ULP);
        expect(_i, "low", i, table[i].ulp_low, low);
    }
}
END_TEST

/* What step 1 in place of 2641 does: m scaled by 10.0, the update by 0.328. */
START_TEST(trap_l27_wrong_step)
{
    const ng_hyper hyper = {.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999,
                            .eps = 1e-8};
    ng_step_constants right, wrong;

    ck_assert_int_eq(functions[_i]->step_constants(&right, NG_ADAMW, &hyper,
                                                   2641, NULL, NULL), NG_OK);
    ck_assert_int_eq(functions[_i]->step_constants(&wrong, NG_ADAMW, &hyper, 1,
                                                   NULL, NULL), NG_OK);

    const double m = (double)wrong.al / (double)right.al;
    const double root = (double)wrong.ka / (double)right.ka;

    ck_assert_double_eq_tol(m, 10.0, 0.05);
    ck_assert_double_eq_tol(m / root, 0.328, 0.0005);
}
END_TEST

/* The steps that an optimizer would save of each of its two groups. */
static void expect_saved(const ng_optimizer *optimizer, const char *steps)
{
    ng_tensor_file file = {0};
    ng_error error;

    ck_assert_int_eq(ng_optimizer_to_tensors(&file, optimizer, &error), NG_OK);
    ck_assert_str_eq(ng_tensor_file_metadata(&file, "group.0.steps"), steps);
    ck_assert_str_eq(ng_tensor_file_metadata(&file, "group.1.steps"), steps);
    ng_tensor_file_free(&file);
}

/* Two ranks, each with one group full and the other empty, come to the same
 * step, and one takes up the other's. */
START_TEST(trap_l27_empty_group)
{
    enum { TRUE_STEP = 2641 };
    const ng_group_settings settings = {
        .hyper = {.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
        .weights = NG_BF16, .correction_bits = 8,
        .momentum = NG_STATE_COMPANDED, .variance = NG_STATE_COMPANDED,
        .gradients = NG_BF16};
    const int64_t shape = 3;

    for (int64_t rank = 0; rank < 2; rank++) {
        ng_optimizer *optimizer;
        int64_t group, parameter;
        ng_error error;
        bool stepped;

        ck_assert_int_eq(ng_optimizer_create(&optimizer, NG_ADAMW, NULL,
                                             &error), NG_OK);
        for (int g = 0; g < 2; g++)
            ck_assert_int_eq(ng_optimizer_add_group(&group, optimizer,
                                                    &settings, &error), NG_OK);
        ck_assert_int_eq(ng_optimizer_add_parameter(&parameter, optimizer, rank,
                                                    "w", 1, &shape, NULL,
                                                    &error), NG_OK);
        for (int step = 0; step < TRUE_STEP; step++)
            ck_assert_int_eq(ng_optimizer_step(&stepped, optimizer, NULL,
                                               &error), NG_OK);
        ck_assert_uint_eq(ng_optimizer_steps(optimizer, 0), TRUE_STEP);
        ck_assert_uint_eq(ng_optimizer_steps(optimizer, 1), TRUE_STEP);
        expect_saved(optimizer, "2641");
        ng_optimizer_free(optimizer);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("optimizer traps");
    TCase *tcase = tcase_create("traps");

    tcase_set_timeout(tcase, 60);
    ADD_TRAP(tcase, trap_l17_tie_of_the_upper_half);
    ADD_TRAP(tcase, trap_l17_scaled_by_32767);
    ADD_TRAP(tcase, trap_l18_zero_without_a_code);
    ADD_TRAP(tcase, trap_l18_variance_flushed);
    ADD_TRAP(tcase, trap_l19_split_specials);
    ADD_TRAP(tcase, trap_l20_low_half);
    ADD_TRAP(tcase, trap_l27_wrong_step);
    tcase_add_test(tcase, trap_l27_empty_group);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
