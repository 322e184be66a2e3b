/* SPDX-License-Identifier: Apache-2.0
 *
 * SwiGLU is written twice in reference/: ref_swiglu.c, the operation that a
 * kernel is held to, in FP64 with the machine's exp; ref_gate.c, the training
 * loop's, in FP32 by portable arithmetic, the same bits on every machine. It is
 * a bounded operation, so the two may differ; here both are held to one bound
 * over every BF16 gate, and to each other bit for bit where semantics.md leaves
 * nothing open: NaNs, infinities, zeros and their signs, and the codes that
 * follow from the values.
 */
#include "conformance/checks/model_fixture.h"
#include "conformance/oracle/oracle_swiglu.h"
#include "reference/convert/ref_quantize_fp8.h"
#include "reference/convert/ref_quantize_mxfp4.h"
#include "reference/model/ref_views_array.h"
#include "reference/moe/ref_swiglu.h"

enum { N = 1 << 16, WIDTH = 256, ROWS = N / WIDTH };

static const ng_backend *b;

static void begin(void)
{
    fixture_at = 0;
    b = ng_backend_reference();
}

static float value(uint16_t code)
{
    return ng_fp32_from_bits((uint32_t)code << 16);
}

/* Every gate, one up: values of both writings. */
static void forward(float *gated, float *swiglu, uint16_t up)
{
    static uint16_t gate_up[ROWS][2 * WIDTH], gate[ROWS][WIDTH],
        ups[ROWS][WIDTH];
    const ng_array x = {NG_CARRY_BF16, 1, ROWS, 2 * WIDTH, 0, gate_up, NULL};
    const ng_array y = {NG_CARRY_FP32, 1, ROWS, WIDTH, 0, gated, NULL};
    const ng_matrix g = {gate, NG_BF16, ROWS, WIDTH, WIDTH};
    const ng_matrix u = {ups, NG_BF16, ROWS, WIDTH, WIDTH};
    const ng_matrix z = {swiglu, NG_FP32, ROWS, WIDTH, WIDTH};

    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < WIDTH; c++) {
            gate_up[r][c] = gate[r][c] = (uint16_t)(r * WIDTH + c);
            gate_up[r][WIDTH + c] = ups[r][c] = up;
        }
    ck_assert_int_eq(b->swiglu(b->context, &y, &x, NULL, NULL, NULL), NG_OK);
    ck_assert_int_eq(ng_ref_swiglu(&z, &g, &u, NULL), NG_OK);
}

/* Whether the formula itself is open: exp(-gate) near or past FP32's range, with
 * something infinite behind it. */
static bool open_to(uint16_t gate, uint16_t up)
{
    return value(gate) < -88.0f && !isinf(value(gate)) && isinf(value(up));
}

/* 1, -0.3, 2^100, 0, -0, Inf, NaN */
static const uint16_t ups[] = {0x3F80, 0xBE9A, 0x7180, 0x0000,
                               0x8000, 0x7F80, 0x7FC1};

START_TEST(values)
{
    static float gated[N], swiglu[N];
    const uint16_t up = ups[_i];
    int64_t special = 0, same = 0, bounded = 0;

    forward(gated, swiglu, up);
    for (int code = 0; code < N; code++) {
        const uint16_t gate = (uint16_t)code;
        const ng_oracle_bounded want =
            ng_oracle_swiglu_element(gate, up, NG_FP32);
        const double one = (double)gated[code], two = (double)swiglu[code];

        same += ng_fp32_bits(gated[code]) == ng_fp32_bits(swiglu[code]);
        if (!isfinite(value(gate)) || value(gate) == 0.0f
            || !isfinite(value(up)) || value(up) == 0.0f
            || fabs(want.exact) > (double)ng_fp32_from_bits(NG_FP32_MAX_CODE)) {
            special++;
            ck_assert_msg(open_to(gate, up)
                              || ng_fp32_bits(gated[code])
                                     == ng_fp32_bits(swiglu[code]),
                          "gate %04x up %04x: %a, %a", gate, up, one, two);
            continue;
        }
        if (isinf(want.bound) || isinf(want.exact))
            continue;
        bounded++;
        ck_assert_msg(fabs(one - want.exact) <= want.bound,
                      "gate %04x up %04x: %a, exact %a, bound %a", gate, up,
                      one, want.exact, want.bound);
        ck_assert_msg(fabs(two - want.exact) <= want.bound,
                      "ref_swiglu: gate %04x up %04x", gate, up);
    }
    ck_assert_int_ge(special, 258);
    ck_assert(_i > 2 || bounded > 30000);
    ck_assert_int_gt(same, 1000);
}
END_TEST

/* The gradient of the gate: the same NaNs and infinities, and the same bound. */
START_TEST(gradients)
{
    static uint16_t gate_up[ROWS][2 * WIDTH], gate[ROWS][WIDTH],
        others[2][ROWS][WIDTH];
    static float grad[ROWS][2 * WIDTH], grads[2][N];
    const uint16_t of_up = 0x4020 /* 2.5 */, of_y = 0xBF40 /* -0.75 */;
    const ng_array x = {NG_CARRY_BF16, 1, ROWS, 2 * WIDTH, 0, gate_up, NULL};
    const ng_array h = {NG_CARRY_BF16, 1, ROWS, WIDTH, 0, others[1], NULL};
    const ng_array out = {NG_CARRY_FP32, 1, ROWS, 2 * WIDTH, 0, grad, NULL};
    const ng_matrix g = {gate, NG_BF16, ROWS, WIDTH, WIDTH};
    const ng_matrix u = {others[0], NG_BF16, ROWS, WIDTH, WIDTH};
    const ng_matrix y = {others[1], NG_BF16, ROWS, WIDTH, WIDTH};
    const ng_matrix to_gate = {grads[0], NG_FP32, ROWS, WIDTH, WIDTH};
    const ng_matrix to_up = {grads[1], NG_FP32, ROWS, WIDTH, WIDTH};

    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < WIDTH; c++) {
            gate_up[r][c] = gate[r][c] = (uint16_t)(r * WIDTH + c);
            gate_up[r][WIDTH + c] = others[0][r][c] = of_up;
            others[1][r][c] = of_y;
        }
    ck_assert_int_eq(b->swiglu_backward(b->context, &out, NULL, &h, &x, NULL),
                     NG_OK);
    ck_assert_int_eq(ng_ref_swiglu_backward(&to_gate, &to_up, &y, &g, &u, NULL),
                     NG_OK);
    for (int code = 0; code < N; code++) {
        const uint16_t at = (uint16_t)code;
        const float *row = grad[code / WIDTH] + code % WIDTH;
        const ng_oracle_bounded want[2] = {
            ng_oracle_swiglu_grad_gate(of_y, at, of_up, NG_FP32),
            ng_oracle_swiglu_grad_up(of_y, at, NG_FP32)};

        for (int i = 0; i < 2; i++) {
            const float one = row[i * WIDTH], two = grads[i][code];

            if (!isfinite(value(at)))
                ck_assert_msg(ng_fp32_bits(one) == ng_fp32_bits(two),
                              "gate %04x, gradient %d: %a, %a", at, i,
                              (double)one, (double)two);
            else if (!isinf(want[i].bound) && !isinf(want[i].exact))
                ck_assert_msg(
                    fabs((double)one - want[i].exact) <= want[i].bound
                        && fabs((double)two - want[i].exact) <= want[i].bound,
                    "gate %04x, gradient %d: %a and %a, exact %a, bound %a", at,
                    i, (double)one, (double)two, want[i].exact, want[i].bound);
        }
    }
}
END_TEST

/* What is quantised is quantised by the one rule, from the values that were
 * made: codes, scales and events of the exact quantisers. */
START_TEST(codes)
{
    static const ng_carrier carriers[] = {NG_CARRY_FP8, NG_CARRY_MXFP4,
                                          NG_CARRY_FP8_COL};
    const ng_array x = random_matrix(200, 2 * 150, 6.0);
    ng_rules rules = ng_default_rules;

    rules.fp8_scale = NG_FP8_POW2;

    floats(&x)[7] = NAN;
    floats(&x)[900] = INFINITY;
    for (int c = 0; c < 3; c++) {
        const ng_array made = matrix_of(NG_CARRY_FP32, 200, 150);
        ng_array y = array_of(carriers[c], 1, 200, 150, 2);
        ng_array want = array_of(carriers[c], 1, 200, 150, 2);
        ng_events one = {{0}}, two = {{0}};
        const ng_options options = {.rules = &rules, .events = &two};
        const ng_matrix v = ng_ref_matrix_view(&made);

        ck_assert_int_eq(b->swiglu(b->context, &made, &x, NULL, NULL, NULL),
                         NG_OK);
        ck_assert_int_eq(b->swiglu(b->context, &y, &x, NULL, NULL, &one),
                         NG_OK);
        if (carriers[c] == NG_CARRY_MXFP4) {
            const ng_mxfp4 to = ng_ref_mxfp4_view(&want);

            ck_assert_int_eq(ng_ref_quantize_mxfp4(&to, &v, &options), NG_OK);
        } else {
            const ng_fp8 to = ng_ref_fp8_view(&want);

            ck_assert_int_eq(ng_ref_quantize_fp8(&to, &v, &options), NG_OK);
        }
        ck_assert(same_arrays(&y, &want));
        ck_assert_mem_eq(&one, &two, sizeof one);
        ck_assert_uint_gt(one.count[NG_EVENT_NAN], 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model, gate");
    TCase *tcase = tcase_create("gate");

    tcase_add_checked_fixture(tcase, begin, fixture_end);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, values, 0, (int)(sizeof ups / sizeof *ups));
    tcase_add_test(tcase, gradients);
    tcase_add_test(tcase, codes);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
