/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of one's own when memory runs out: allocation n of opening them, or of
 * a call, fails, for every n. The status is NG_NO_MEMORY, the line says so, and
 * what failed can be done once more, with the right result. What is right is
 * worked out by hand. (ng_subject_open stands here, so that a subject can take no
 * BF16 and that each release is counted.)
 */
#include <check.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/failing_memory.h"
#include "conformance/checks/suite_runner.h"
#include "conformance/cli/command.h"
#include "conformance/cli/own_kernels.h"

static int n_open;

/* Takes nothing in BF16. */
static bool narrow_covers(const ng_call *call)
{
    const ng_tensor *x = ng_call_input(call, "x");

    return (x == NULL || x->dtype != NG_BF16)
           && ng_subject_reference.covers(call);
}

static ng_subject narrow = {.name = "narrow", .covers = narrow_covers};

/* Never has the memory that it needs. */
static ng_status poor_run(const ng_call *call)
{
    (void)call;
    return NG_NO_MEMORY;
}

static ng_subject poor = {.name = "poor", .run = poor_run};

int ng_subject_open(ng_chosen_subject *chosen, const char *name, double timeout,
                    ng_error *error)
{
    (void)timeout, (void)error;
    narrow.run = ng_subject_reference.run;
    poor.covers = ng_subject_reference.covers;
    *chosen = (ng_chosen_subject){
        .subject = strcmp(name, "narrow") == 0 ? &narrow
                   : strcmp(name, "poor") == 0 ? &poor
                                               : &ng_subject_reference};
    n_open++;
    return NG_EXIT_OK;
}

void ng_subject_release(ng_chosen_subject *chosen)
{
    chosen->subject = NULL;
    n_open--;
}

#ifdef FAILING_MEMORY
static ng_own_subjects own;
static const ng_own_kernels *table;
static ng_error error;

static void begin(void)
{
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    n_open = 0;
    table = ng_own_subjects_begin(&own, 1);
}

static void end(void)
{
    ng_own_subjects_end(&own);
    ck_assert_int_eq(n_open, 0);
}

/* The list, the name, and the kernels'. */
START_TEST(opening)
{
    enum { LEAST = 3 };
    int kernel = -1, n;

    for (n = 0;; n++) {
        begin();
        error.text[0] = '\0';
        fail_at(n);
        const ng_status status =
            table->open(table->context, &kernel, "reference", "swiglu", &error);
        if (!fail_no_more()) {
            ck_assert_int_eq(status, NG_OK);
            ck_assert_int_eq(kernel, 0);
            end();
            break;
        }
        ck_assert_int_eq(status, NG_NO_MEMORY);
        ck_assert_str_eq(error.text, "out of memory");
        ck_assert_int_eq(own.n_kernels, 0);
        ck_assert_int_eq(
            table->open(table->context, &kernel, "reference", "swiglu", &error),
            NG_OK);
        ck_assert_int_eq(kernel, 0);
        end();
    }
    ck_assert_int_ge(n, LEAST);
}
END_TEST

/* ---- calls --------------------------------------------------------------- */

static const int64_t offsets[2] = {0, 2};
static const ng_row_groups one_group = {{1, offsets}, NULL};

static const uint16_t numbers[4] = {0x3F80, 0xC000, 0x3F00, 0x40C0};
static uint8_t codes[2], scales[1];

/* Field case L-12, 1 -2 .5 6: amax 6 under 2^0. */
static void expect_codes(void)
{
    ck_assert_uint_eq(codes[0], 0xC2);
    ck_assert_uint_eq(codes[1], 0x71);
    ck_assert_uint_eq(scales[0], 127);
}

static const uint16_t left[2] = {0x3F80, 0x4000};  /* 1 2 */
static const uint16_t right[2] = {0x4040, 0x4080}; /* 3 4 */
static float sum;

static void expect_sum(void)
{
    ck_assert(sum == 21); /* 10 + 1 * 3 + 2 * 4 */
}

static const uint16_t gate_up[4] = {0, 0x4040, 0, 0x4080}; /* 0 3, 0 4 */
static uint16_t hidden[2];

/* silu(0) is 0. */
static void expect_hidden(void)
{
    ck_assert_uint_eq(hidden[0], 0);
    ck_assert_uint_eq(hidden[1], 0);
}

static const uint16_t grad_hidden[2] = {0x3F80, 0x4000}; /* 1 2 */
static uint16_t grad_gate_up[4];

/* silu'(0) is 1/2, so that the gate's are grad * up / 2; the up's are 0. */
static void expect_gradients(void)
{
    ck_assert_uint_eq(grad_gate_up[0], 0x3FC0); /* 1.5 */
    ck_assert_uint_eq(grad_gate_up[1], 0);
    ck_assert_uint_eq(grad_gate_up[2], 0x4080); /* 4 */
    ck_assert_uint_eq(grad_gate_up[3], 0);
}

static ng_array array(ng_carrier carrier, int64_t rows, int64_t cols,
                      const void *data, void *scale)
{
    return (ng_array){.carrier = carrier,
                      .batch = 1,
                      .rows = rows,
                      .cols = cols,
                      .data = (void *)data,
                      .scales = scale};
}

typedef struct made {
    ng_array y, a, b;
} made;

static made quantize(void)
{
    return (made){array(NG_CARRY_MXFP4, 1, 4, codes, scales),
                  array(NG_CARRY_BF16, 1, 4, numbers, NULL),
                  {0}};
}

static made accumulate(void)
{
    sum = 10;
    return (made){array(NG_CARRY_FP32, 1, 1, &sum, NULL),
                  array(NG_CARRY_BF16, 2, 1, left, NULL),
                  array(NG_CARRY_BF16, 2, 1, right, NULL)};
}

static made activate(void)
{
    return (made){array(NG_CARRY_BF16, 2, 1, hidden, NULL),
                  array(NG_CARRY_BF16, 2, 2, gate_up, NULL),
                  {0}};
}

static made differentiate(void)
{
    return (made){array(NG_CARRY_BF16, 2, 2, grad_gate_up, NULL),
                  array(NG_CARRY_BF16, 2, 1, grad_hidden, NULL),
                  array(NG_CARRY_BF16, 2, 2, gate_up, NULL)};
}

static const struct {
    const char *subject, *operation;
    made (*make)(void);
    void (*expect)(void);
    int least; /* allocations of own_call.c and own_kernels.c */
} calls[] = {
    {"reference", "quantize_mxfp4", quantize, expect_codes, 0},
    {"narrow", "quantize_mxfp4", quantize, expect_codes, 1},
    {"reference", "grouped_gemm_bf16_wgrad", accumulate, expect_sum, 1},
    {"reference", "swiglu", activate, expect_hidden, 2},
    {"reference", "swiglu_backward", differentiate, expect_gradients, 4},
};
enum { N_CALLS = sizeof calls / sizeof *calls };

static ng_status call(int i, int kernel)
{
    const made m = calls[i].make();

    return table->run(table->context, kernel, &m.y, &m.a,
                      m.b.carrier != NG_CARRY_NONE ? &m.b : NULL,
                      calls[i].make == accumulate ? &one_group : NULL, &error);
}

START_TEST(calling)
{
    int kernel, n;

    begin();
    ck_assert_int_eq(table->open(table->context, &kernel, calls[_i].subject,
                                 calls[_i].operation, &error),
                     NG_OK);
    ck_assert_msg(call(_i, kernel) == NG_OK, "%s", error.text);
    calls[_i].expect();
    for (n = 0;; n++) {
        error.text[0] = '\0';
        fail_at(n);
        const ng_status status = call(_i, kernel);
        const bool failed = fail_no_more();
        if (!failed)
            break;
        ck_assert_msg(status == NG_NO_MEMORY, "allocation %d: %s: %s", n,
                      ng_status_text(status), error.text);
        ck_assert_msg(strstr(error.text, "out of memory") != NULL,
                      "allocation %d: %s", n, error.text);
        ck_assert_msg(call(_i, kernel) == NG_OK, "%s", error.text);
        calls[_i].expect();
    }
    calls[_i].expect();
    ck_assert_msg(n >= calls[_i].least, "%s: %d", calls[_i].operation, n);
    end();
}
END_TEST

/* The machine's failure, not a wrong answer of the subject. */
START_TEST(subject_without)
{
    const made m = quantize();
    int kernel;

    begin();
    ck_assert_int_eq(
        table->open(table->context, &kernel, "poor", "quantize_mxfp4", &error),
        NG_OK);
    ck_assert_int_eq(
        table->run(table->context, kernel, &m.y, &m.a, NULL, NULL, &error),
        NG_NO_MEMORY);
    ck_assert_str_eq(error.text, "poor: out of memory");
    end();
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("own_no_memory");
    TCase *tcase = tcase_create("own_no_memory");

#ifdef FAILING_MEMORY
    tcase_add_test(tcase, opening);
    tcase_add_loop_test(tcase, calling, 0, N_CALLS);
    tcase_add_test(tcase, subject_without);
#endif
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
