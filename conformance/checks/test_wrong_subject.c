/* SPDX-License-Identifier: Apache-2.0
 *
 * Subjects that are wrong on purpose: each way of failing a case is reported as
 * what it is, and its line leads back to the case.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conformance/checks/suite_runner.h"
#include "conformance/checks/verify.h"

typedef enum fault {
    NONE,
    FLIP,                       /* one bit of byte `at` of y.codes */
    UNWRITTEN,                  /* byte `at` as it was before */
    ALTERNATE,                  /* FLIP in every second run */
    REFUSE,                     /* another status */
    MISCOUNT                    /* one event too many */
} fault;

static fault kind;
static int64_t at;
static int runs;

static bool covers(const ng_call *call)
{
    return ng_subject_reference.covers(call);
}

/* The reference, then the fault. */
static ng_status run(const ng_call *call)
{
    unsigned char *byte =
        (unsigned char *)ng_call_output(call, "y.codes")->data + at;
    const unsigned char before = *byte;
    const ng_status status = ng_subject_reference.run(call);

    runs++;
    if (kind == FLIP || (kind == ALTERNATE && runs % 2 == 0))
        *byte ^= 0x10;
    else if (kind == UNWRITTEN)
        *byte = before;
    else if (kind == MISCOUNT)
        call->events->count[NG_EVENT_TIE]++;
    return kind == REFUSE ? NG_BAD_VALUE : status;
}

static ng_subject subject = {.name = "wrong", .description = "for this test",
                             .counts_events = true, .covers = covers,
                             .run = run};
static ng_profile profile;
static ng_verify_plan plan = {.subject = &subject,
                              .expected = &ng_subject_reference,
                              .profile = &profile, .seed = 1, .n_shards = 1};

static ng_case_id id;
static ng_variant variant;
static ng_failure failure;
static ng_tensor codes;         /* y.codes of the case, without its data */

/* Choose a random FP8 case whose codes have a gap after each row. */
static void setup(void)
{
    ng_error error;
    const ng_tensor *y;
    ng_case c;

    kind = NONE;
    at = runs = 0;
    subject.trusted = false;
    subject.counts_events = true;
    ck_assert_int_eq(ng_profile_load(&profile, "ng", &error), NG_OK);
    id = (ng_case_id){.operation = ng_operation_find("quantize_fp8_row"),
                      .seed = 1};
    id.stratum = id.operation->strata;
    while (strcmp(id.stratum->name, "random") != 0)
        id.stratum++;
    ck_assert(ng_variant_at(&variant, id.operation->axes, id.operation->n_axes,
                            &profile, 0));
    for (id.index = 4;; id.index++) {
        ng_case_begin(&c, id.operation->name, &variant, "random", id.index, 1);
        id.stratum->fill(&c, id.index);
        y = ng_call_output(&c.call, "y.codes");
        codes = *y;
        ng_case_end(&c);
        if (codes.stride[0] > codes.shape[1])
            break;
        ck_assert_int_lt(id.index, 40);
    }
}

static bool verify(void)
{
    ng_events events = {{0}};
    int64_t elements;

    runs = 0;
    return ng_verify_case(&failure, &events, &elements, &id, &variant, &plan);
}

/* The failure's line has this text and, parsed, gives the same line again. */
static void expect_line(const char *has)
{
    char line[1536], again[1536];
    const ng_case_id before = id;
    ng_error error;

    ng_failure_print(line, sizeof line, &failure);
    ck_assert_msg(strncmp(line, "FAIL op=quantize_fp8_row variant=rounding="
                                "nearest-even,", 50) == 0, "%s", line);
    ck_assert_msg(strstr(line, has) != NULL, "no %s: %s", has, line);
    memset(&id, 0, sizeof id);
    ck_assert_msg(ng_failure_parse(&id, line, &profile, &error) == NG_OK, "%s",
                  error.text);
    ck_assert_ptr_eq(id.operation, before.operation);
    ck_assert_ptr_eq(id.stratum, before.stratum);
    ck_assert_int_eq(id.variant, before.variant);
    ck_assert_int_eq(id.index, before.index);
    ck_assert_uint_eq(id.seed, before.seed);
    ck_assert(ng_variant_at(&variant, id.operation->axes, id.operation->n_axes,
                            &profile, id.variant));
    ck_assert(!verify());
    ng_failure_print(again, sizeof again, &failure);
    ck_assert_str_eq(again, line);
}

/* Units of a call's outputs that hold one poison in one run and the other in
 * the other. */
static int64_t count_unwritten(const ng_call *first, const ng_call *second)
{
    int64_t n = 0;

    for (int i = 0; i < first->n_outputs; i++) {
        const ng_tensor *a = &first->output[i], *b = &second->output[i];
        const size_t size = ng_dtype_size(a->dtype);
        const int64_t rows = a->rank == 2 ? a->shape[0] : 1;

        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < a->shape[a->rank - 1]; c++) {
                const int64_t unit = (a->rank == 2 ? r * a->stride[0] : 0)
                                     + c * a->stride[a->rank - 1];
                uint64_t in_a = 0, in_b = 0, poison_a = 0, poison_b = 0;

                memcpy(&in_a, (char *)a->data + unit * (int64_t)size, size);
                memcpy(&in_b, (char *)b->data + unit * (int64_t)size, size);
                memset(&poison_a, ng_poison[0], size);
                memset(&poison_b, ng_poison[1], size);
                n += in_a == poison_a && in_b == poison_b;
            }
    }
    return n;
}

/* The second run's expected values are copied from the first where there are
 * no groups: every operation then writes all of its outputs. One case in each
 * variant, each eighth stratum in turn. */
START_TEST(without_groups_all_is_written)
{
    int64_t ran = 0;

    for (int i = 0; ng_operation_at(i) != NULL; i++) {
        const ng_operation *o = ng_operation_at(i);
        ng_variant v;

        for (int64_t n = 0; ng_variant_at(&v, o->axes, o->n_axes, &profile, n);
             n++)
            for (const ng_stratum *s = o->strata; s->name != NULL; s++) {
                const int64_t count =
                    (s - o->strata - n) % 8 == 0 ? s->count(&v, 0) : 0;
                ng_outputs outputs[2];
                ng_call call[2];
                ng_case c;

                if (count == 0 || (o->offers != NULL && !o->offers(&v)))
                    continue;
                ng_case_begin(&c, o->name, &v, s->name, n % count, 1);
                s->fill(&c, n % count);
                ng_case_spread(&c);
                ck_assert(!c.failed);
                for (int k = 0; k < 2; k++)
                    ck_assert(ng_outputs_make(&outputs[k], &call[k], &c,
                                              ng_poison[k]));
                if (ng_call_input(&c.call, "offsets") == NULL
                    && ng_subject_reference.covers(&c.call)
                    && ng_subject_reference.run(&call[0]) == NG_OK
                    && ng_subject_reference.run(&call[1]) == NG_OK) {
                    ck_assert_msg(count_unwritten(&call[0], &call[1]) == 0,
                                  "%s %s", o->name, s->name);
                    ng_outputs_free(&outputs[1]);
                    ck_assert(ng_outputs_make(&outputs[1], &call[1], &c,
                                              ng_poison[0]));
                    ng_outputs_copy(&call[1], &call[0]);
                    ck_assert_ptr_null(ng_outputs_compare(&call[0], &outputs[0],
                                                          &call[1], &outputs[1])
                                           .tensor);
                    ran++;
                }
                for (int k = 0; k < 2; k++)
                    ng_outputs_free(&outputs[k]);
                ng_case_end(&c);
            }
    }
    ck_assert_int_gt(ran, 500);
}
END_TEST

START_TEST(right)
{
    ck_assert(verify());
    ck_assert_int_eq(runs, 2);          /* a stranger, over two poisons */
    subject.trusted = true;
    ck_assert(verify());
    ck_assert_int_eq(runs, 1);
}
END_TEST

START_TEST(flipped_bit)
{
    const int64_t row = codes.shape[0] - 1, col = codes.shape[1] / 2;
    char has[128];

    kind = FLIP;
    at = row * codes.stride[0] + col;
    ck_assert(!verify());
    ck_assert_int_eq((int)failure.kind, NG_FAILURE_BITS);
    ck_assert_str_eq(failure.tensor, "y.codes");
    ck_assert_int_eq(failure.difference.count, 1);
    ck_assert_int_eq(failure.difference.index[0], row);
    ck_assert_int_eq(failure.difference.index[1], col);
    ck_assert_uint_eq(failure.difference.want ^ failure.difference.got, 0x10);
    snprintf(has, sizeof has,
             " at=y.codes[%lld,%lld] want=%02llx got=%02llx x=", (long long)row,
             (long long)col,
             (unsigned long long)failure.difference.want,
             (unsigned long long)failure.difference.got);
    expect_line(has);
}
END_TEST

/* Behind the last element, before the first, and in the gap of a row. */
START_TEST(written_outside)
{
    const int64_t end = (codes.shape[0] - 1) * codes.stride[0] + codes.shape[1];
    const int64_t bytes[3] = {end, -1, codes.shape[1]};
    char has[64];

    kind = FLIP;
    for (int i = 0; i < 3; i++) {
        at = bytes[i];
        ck_assert(!verify());
        ck_assert_int_eq((int)failure.kind, NG_FAILURE_OUTSIDE);
        ck_assert_int_eq(failure.difference.index[0], bytes[i]);
        snprintf(has, sizeof has, " outside y.codes byte=%lld want=a5 got=b5",
                 (long long)bytes[i]);
        expect_line(has);
    }
}
END_TEST

/* An element left as it was shows in the first run, and in the second where by
 * chance the poison is the right answer. */
START_TEST(unwritten)
{
    ng_case c;
    ng_call call;
    ng_outputs outputs;
    int64_t equal = -1, other = -1;

    ng_case_begin(&c, id.operation->name, &variant, "random", id.index, 1);
    id.stratum->fill(&c, id.index);
    ng_case_spread(&c);
    ck_assert(ng_outputs_make(&outputs, &call, &c, 0));
    ck_assert_int_eq(ng_subject_reference.run(&call), NG_OK);
    for (int64_t i = 0; i < codes.shape[1]; i++) {
        const unsigned char code = outputs.block[0][NG_GUARD_BYTES + i];

        *(code == 0xA5 ? &equal : &other) = i;
    }
    for (int64_t i = 0; equal < 0 && i < outputs.span[0]; i++)
        if (outputs.block[0][NG_GUARD_BYTES + i] == 0xA5)
            equal = i;
    ng_outputs_free(&outputs);
    ng_case_end(&c);
    ck_assert_int_ge(other, 0);
    ck_assert_int_ge(equal, 0);         /* else choose another seed */

    kind = UNWRITTEN;
    at = other;
    ck_assert(!verify());
    ck_assert_int_eq((int)failure.kind, NG_FAILURE_UNWRITTEN);
    ck_assert_uint_eq(failure.difference.got, 0xA5);
    expect_line(" got=a5 ");
    at = equal;
    ck_assert(!verify());
    ck_assert_int_eq((int)failure.kind, NG_FAILURE_UNWRITTEN);
    ck_assert_uint_eq(failure.difference.want, 0xA5);
    ck_assert_uint_eq(failure.difference.got, 0x5A);
    expect_line(" unwritten at=y.codes[");
}
END_TEST

START_TEST(two_results)
{
    kind = ALTERNATE;
    ck_assert(!verify());
    ck_assert_int_eq((int)failure.kind, NG_FAILURE_UNSTABLE);
    ck_assert_int_eq(failure.difference.count, 1);
    expect_line(" unstable at=y.codes[0,0] want=");
}
END_TEST

START_TEST(other_status)
{
    kind = REFUSE;
    ck_assert(!verify());
    ck_assert_int_eq((int)failure.kind, NG_FAILURE_STATUS);
    ck_assert_int_eq(failure.want_status, NG_OK);
    ck_assert_int_eq(failure.got_status, NG_BAD_VALUE);
    expect_line(" status want=\"ok\" got=\"a number that this operation does "
                "not take\"");
}
END_TEST

START_TEST(miscounted)
{
    kind = MISCOUNT;
    ck_assert(!verify());
    ck_assert_int_eq((int)failure.kind, NG_FAILURE_EVENTS);
    ck_assert_int_eq((int)failure.event, NG_EVENT_TIE);
    ck_assert_uint_eq(failure.difference.got, failure.difference.want + 1);
    expect_line(" events.tie want=");
    subject.counts_events = false;      /* then nobody asks */
    ck_assert(verify());
}
END_TEST

/* A line, and what the refusal names. */
START_TEST(refused_lines)
{
    static const char good[] = "FAIL op=encode_e2m1 variant=rounding=up "
                               "stratum=ties case=3 seed=1 at=y[1] want=0";
    static const char *const bad[][2] = {
        {"", "op"}, {"FAIL", "op"}, {"FAIL op=encode_e5m2", "op"},
        {"FAIL op=encode_e2m1 variant=rounding=up case=3 seed=1", "stratum"},
        {"FAIL op=encode_e2m1 variant=rounding=up stratum=tie case=3 seed=1",
         "stratum"},
        {"FAIL op=encode_e2m1 variant=rounding=up stratum=ties seed=1",
         "case"},
        {"FAIL op=encode_e2m1 variant=rounding=up stratum=ties case=x seed=1",
         "case"},
        {"FAIL op=encode_e2m1 variant=rounding=up stratum=ties case=-1 seed=1",
         "case"},
        {"FAIL op=encode_e2m1 variant=rounding=up stratum=ties case=65 seed=1",
         "past"},
        {"FAIL op=encode_e2m1 variant=rounding=up stratum=ties case=3 seed=1x",
         "seed"},
        {"FAIL op=encode_e2m1 variant=rounding=up stratum=ties case=3 "
         "seed=99999999999999999999", "seed"},
        {"FAIL op=encode_e2m1 stratum=ties case=3 seed=1", "variant"},
        {"FAIL op=encode_e2m1 variant=rounding=sideways stratum=ties case=3 "
         "seed=1", "variant"},
    };
    ng_error error;

    ck_assert_int_eq(ng_failure_parse(&id, good, &profile, &error), NG_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(ng_failure_parse(&id, bad[i][0], &profile, &error)
                          == NG_BAD_FILE, "%s", bad[i][0]);
        ck_assert_msg(strncmp(error.text, "replay: ", 8) == 0
                          && strstr(error.text, bad[i][1]) != NULL,
                      "%s: %s", bad[i][0], error.text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wrong subjects");
    TCase *tcase = tcase_create("wrong subjects");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, without_groups_all_is_written);
    tcase_add_test(tcase, right);
    tcase_add_test(tcase, flipped_bit);
    tcase_add_test(tcase, written_outside);
    tcase_add_test(tcase, unwritten);
    tcase_add_test(tcase, two_results);
    tcase_add_test(tcase, other_status);
    tcase_add_test(tcase, miscounted);
    tcase_add_test(tcase, refused_lines);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
