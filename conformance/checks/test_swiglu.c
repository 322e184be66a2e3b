/* SPDX-License-Identifier: Apache-2.0
 *
 * SwiGLU with values worked out by hand, in both writings, and its bound tried
 * from both sides: the formula in plain FP32 lies within, small mistakes do
 * not.
 */
#include <math.h>
#include <string.h>

#include "conformance/checks/verify.h"
#include "conformance/checks/writings.h"
#include "conformance/subject/swiglu_functions.h"

static const ng_swiglu_functions *tables[] = {
    &ng_reference_swiglu_functions,
#ifdef HAVE_MPFR
    &ng_oracle_swiglu_functions,
#endif
};

static ng_matrix matrix(void *data, ng_dtype dtype, int64_t rows, int64_t cols)
{
    return (ng_matrix){data, dtype, rows, cols, cols};
}

/* The exact BF16 code of x. */
static uint16_t bf16(float x)
{
    ck_assert_int_eq(ng_fp32_bits(x) & 0xFFFF, 0);
    return (uint16_t)(ng_fp32_bits(x) >> 16);
}

/* One element. */
static float forward(int writing, float gate, float up)
{
    uint16_t g = bf16(gate), u = bf16(up);
    float y = 0;
    const ng_options options = {.rules = NULL};
    const ng_matrix x = matrix(&g, NG_BF16, 1, 1);
    const ng_matrix f = matrix(&u, NG_BF16, 1, 1);
    const ng_matrix out = matrix(&y, NG_FP32, 1, 1);

    ck_assert_int_eq(tables[writing]->swiglu(&out, &x, &f, &options), NG_OK);
    return y;
}

static void backward(int writing, float *grad_gate, float *grad_up, float grad,
                     float gate, float up)
{
    uint16_t d = bf16(grad), g = bf16(gate), u = bf16(up);
    const ng_options options = {.rules = NULL};
    const ng_matrix y = matrix(&d, NG_BF16, 1, 1);
    const ng_matrix x = matrix(&g, NG_BF16, 1, 1);
    const ng_matrix f = matrix(&u, NG_BF16, 1, 1);
    const ng_matrix out_gate = matrix(grad_gate, NG_FP32, 1, 1);
    const ng_matrix out_up = matrix(grad_up, NG_FP32, 1, 1);

    ck_assert_int_eq(
        tables[writing]->backward(&out_gate, &out_up, &y, &x, &f, &options),
        NG_OK);
}

/* s(1) = e / (e + 1) = 0.731058578630004879 ... */
START_TEST(special_values)
{
    ck_assert(forward(_i, 1, 1) == 0x1.764d5p-1f);
    ck_assert(forward(_i, -1, 1) == -0x1.136562p-2f);
    ck_assert(forward(_i, 64, 3) == 192);
    expect(_i, "+0", 0, 0, ng_fp32_bits(forward(_i, 0, 5)));
    expect(_i, "-0", 0, 0x80000000, ng_fp32_bits(forward(_i, -0.0f, 5)));
    expect(_i, "-0", 1, 0x80000000, ng_fp32_bits(forward(_i, 0, -5)));
}
END_TEST

/* x / (1 + exp(-x)) of -Inf is -Inf / Inf; Inf * 0; a NaN comes out canonical.
 */
START_TEST(trap_infinite_gate)
{
    const float inf = (float)INFINITY;

    expect(_i, "gate -Inf", 0, NG_FP32_NAN, ng_fp32_bits(forward(_i, -inf, 1)));
    expect(_i, "Inf * 0", 0, NG_FP32_NAN, ng_fp32_bits(forward(_i, inf, 0)));
    expect(_i, "gate Inf", 0, 0xFF800000, ng_fp32_bits(forward(_i, inf, -2)));
    expect(_i, "overflow", 0, 0x7F800000,
           ng_fp32_bits(forward(_i, 0x1p100f, 0x1p100f)));
}
END_TEST

/* silu(-100) is -3.72e-42, an FP32 subnormal; up brings it back. 100 e^-100
 * 2^127 = 6.329381e-4. */
START_TEST(trap_vanished_gate_returns)
{
    const float y = forward(_i, -100, 0x1p127f);

    ck_assert_msg(y < -6.3293e-4f && y > -6.3294e-4f, "%a", (double)y);
}
END_TEST

/* At 0 the slope is 1/2; at 1 it is s (1 + 1 - s) = 0.927670511871486735; for a
 * large gate it is 1, not 1 + x (1 - s) with a cancelled 1 - s. */
START_TEST(trap_slope)
{
    float gate, up;

    backward(_i, &gate, &up, 3, 0, 5);
    ck_assert(gate == 7.5f && up == 0);
    backward(_i, &gate, &up, 1, 1, 1);
    ck_assert(gate == 0x1.daf7a2p-1f);
    ck_assert(up == 0x1.764d5p-1f);
    backward(_i, &gate, &up, 2, 96, 3);
    ck_assert(gate == 6 && up == 192);
    backward(_i, &gate, &up, 1, -96, 1);
    ck_assert(gate < 0 && gate > -1e-39f);
}
END_TEST

/* silu(64) is 64: 64 up is exact, and the MXFP4 block is read off. Its largest
 * is 384 = 1.5 * 2^8: scale 2^6. */
START_TEST(trap_quantised_values)
{
    static const float ups[8] = {0.5f, -1, 1.5f, 2, 3, 4, -6, -0.0f};
    static const uint8_t want[4] = {0xA1, 0x43, 0x65, 0x8F};
    uint16_t gate[8], up[8];
    uint8_t codes[4], scale = 0;
    float values[8];
    const ng_options options = {.rules = NULL};
    const ng_matrix x = matrix(gate, NG_BF16, 1, 8);
    const ng_matrix f = matrix(up, NG_BF16, 1, 8);
    const ng_matrix v = matrix(values, NG_FP32, 1, 8);
    const ng_mxfp4 y = {.codes = codes,
                        .rows = 1,
                        .cols = 8,
                        .ld = 4,
                        .scales = {&scale, NG_UE8M0, false, 1, 1}};

    for (int i = 0; i < 8; i++) {
        gate[i] = bf16(64);
        up[i] = bf16(ups[i]);
    }
    ck_assert_int_eq(tables[_i]->swiglu_mxfp4(&y, &v, &x, &f, &options), NG_OK);
    expect(_i, "scale", 0, 133, scale);
    for (int i = 0; i < 4; i++)
        expect(_i, "codes", i, want[i], codes[i]);
    for (int i = 0; i < 8; i++)
        ck_assert(values[i] == 64 * ups[i]);
}
END_TEST

/* The reference alone: without values, and with outputs that do not fit. */
START_TEST(refusals)
{
    uint16_t gate[8] = {0}, up[8] = {0};
    uint8_t codes[8];
    float scale, values[8];
    const ng_matrix x = matrix(gate, NG_BF16, 2, 4);
    const ng_matrix f = matrix(up, NG_BF16, 2, 4);
    const ng_matrix short_up = matrix(up, NG_BF16, 1, 4);
    const ng_matrix v = matrix(values, NG_FP32, 2, 4);
    ng_fp8 y = {.codes = codes,
                .form = NG_FP8_ROW,
                .rows = 2,
                .cols = 4,
                .ld = 4,
                .scales = {&scale, NG_FP32, false, 1, 1}};
    const ng_swiglu_functions *table = tables[0];

    y.scales.data = values;
    ck_assert_int_eq(table->swiglu_fp8(&y, NULL, NULL, &x, &f, NULL), NG_OK);
    ck_assert_int_eq(table->swiglu(&v, &x, &short_up, NULL), NG_BAD_SHAPE);
    ck_assert_int_eq(table->swiglu(&v, &x, &v, NULL), NG_BAD_DTYPE);
    ck_assert_int_eq(table->swiglu(NULL, &x, &f, NULL), NG_BAD_POINTER);
    ck_assert_int_eq(table->swiglu_fp8(&y, &y, NULL, &x, &f, NULL),
                     NG_BAD_LAYOUT);
    ck_assert_int_eq(table->swiglu_fp8(&y, NULL, &x, &x, &f, NULL),
                     NG_BAD_DTYPE);
    y.scales.dtype = NG_UE8M0;
    ck_assert_int_eq(table->swiglu_fp8(&y, NULL, NULL, &x, &f, NULL),
                     NG_BAD_RULES);
    ck_assert_int_eq(table->backward(&v, &x, &x, &x, &f, NULL), NG_BAD_DTYPE);
}
END_TEST

/* ---- the bound ---- */

#ifdef HAVE_MPFR

typedef float formula(float gate, float up);

static formula *stranger;

static float value_of(uint16_t code)
{
    return ng_fp32_from_bits((uint32_t)code << 16);
}

static ng_status run_stranger(const ng_call *call)
{
    const ng_matrix y = ng_call_matrix(call, "y");
    const ng_matrix gate = ng_call_matrix(call, "gate");
    const ng_matrix up = ng_call_matrix(call, "up");
    ng_groups groups;
    const int64_t rows =
        ng_groups_rows(ng_call_groups(&groups, call), gate.rows);

    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < gate.cols; c++) {
            const float v =
                stranger(value_of(((uint16_t *)gate.data)[r * gate.ld + c]),
                         value_of(((uint16_t *)up.data)[r * up.ld + c]));

            ((uint32_t *)y.data)[r * y.ld + c] =
                isnan(v) ? NG_FP32_NAN : ng_fp32_bits(v);
        }
    return NG_OK;
}

static bool covers(const ng_call *call)
{
    (void)call;
    return true;
}

/* Whether the formula passes all strata of operation swiglu in FP32. */
static bool passes(formula *f)
{
    static const ng_subject subject = {
        .name = "stranger", .covers = covers, .run = run_stranger};
    const ng_operation *operation = ng_operation_find("swiglu");
    const ng_verify_plan plan = {.subject = &subject,
                                 .expected = &ng_subject_reference,
                                 .oracle = &ng_subject_oracle};
    ng_profile profile;
    ng_error error;
    ng_variant variant;
    bool passed = true;

    stranger = f;
    ck_assert_int_eq(ng_profile_load(&profile, "ng", &error), NG_OK);
    ck_assert(ng_variant_at(&variant, operation->axes, operation->n_axes,
                            &profile, 0));
    for (const ng_stratum *s = operation->strata; s->name != NULL; s++)
        for (int64_t i = 0; i < s->count(&variant, 1); i++) {
            const ng_case_id id = {operation, 0, s, i, 1};
            ng_failure failure;
            ng_events events = {{0}};
            int64_t elements;

            passed = passed
                     && ng_verify_case(&failure, &events, &elements, &id,
                                       &variant, &plan);
        }
    return passed;
}

static float as_written(float gate, float up)
{
    const float s = 1.0f + expf(-gate);
    const float silu = gate / s;

    return silu * up;
}

static float by_exp2(float gate, float up)
{
    const float t = gate * -0x1.715476p+0f;
    const float r = 1.0f / (1.0f + exp2f(t));
    const float silu = gate * r;

    return silu * up;
}

static float by_tanh(float gate, float up)
{
    const float silu = 0.5f * gate * (1.0f + tanhf(0.5f * gate));

    return silu * up;
}

static float in_bf16(float gate, float up)
{
    const float silu =
        ng_fp32_from_bits(ng_fp32_bits(as_written(gate, 1)) & 0xFFFF0000);

    return silu * up;
}

static float flushed(float gate, float up)
{
    return gate < -80.0f ? -0.0f * up : as_written(gate, up);
}

static float gelu(float gate, float up)
{
    return gate / (1.0f + expf(-1.702f * gate)) * up;
}

static float linear_above(float gate, float up)
{
    return gate > 12.0f ? gate * up : as_written(gate, up);
}

START_TEST(bound_from_both_sides)
{
    ck_assert(passes(as_written));
    ck_assert(passes(by_exp2));
    ck_assert(!passes(by_tanh)); /* cancels for negative gates */
    ck_assert(!passes(in_bf16));
    ck_assert(!passes(flushed));
    ck_assert(!passes(gelu));
    ck_assert(!passes(linear_above));
}
END_TEST
#endif

/* What the stratum "gates" promises of level 1. */
START_TEST(trap_gates_left_out)
{
    const ng_operation *operation = ng_operation_find("swiglu");
    const ng_stratum *s = operation->strata;
    static bool met[65536];
    ng_profile profile;
    ng_variant variant;
    ng_error error;

    ck_assert_int_eq(ng_profile_load(&profile, "ng", &error), NG_OK);
    ck_assert(ng_variant_at(&variant, operation->axes, operation->n_axes,
                            &profile, 0));
    while (strcmp(s->name, "gates") != 0)
        s++;
    for (int64_t i = 0; i < s->count(&variant, 1); i++) {
        ng_case c;

        ng_case_begin(&c, operation->name, &variant, s->name, i, 1);
        s->fill(&c, i);
        const ng_tensor *gate = ng_call_input(&c.call, "gate");

        for (int64_t k = 0; k < gate->shape[0] * gate->shape[1]; k++)
            met[((const uint16_t *)gate->data)[k]] = true;
        ng_case_end(&c);
    }
    for (int gate = 0; gate < 65536; gate++)
        ck_assert_msg(met[gate], "gate %04x", gate);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("swiglu");
    TCase *traps = tcase_create("traps");
    const int n = (int)(sizeof tables / sizeof *tables);

    tcase_set_timeout(traps, 120);
    tcase_add_loop_test(traps, special_values, 0, n);
    tcase_add_loop_test(traps, trap_infinite_gate, 0, n);
    tcase_add_loop_test(traps, trap_vanished_gate_returns, 0, n);
    tcase_add_loop_test(traps, trap_slope, 0, n);
    tcase_add_loop_test(traps, trap_quantised_values, 0, n);
    tcase_add_test(traps, refusals);
    tcase_add_test(traps, trap_gates_left_out);
#ifdef HAVE_MPFR
    tcase_add_test(traps, bound_from_both_sides);
#endif
    suite_add_tcase(suite, traps);
    return run_suite(suite);
}
