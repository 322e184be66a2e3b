/* SPDX-License-Identifier: Apache-2.0
 *
 * A training run under way: samples, ranks that fail or part, memory that runs
 * out.
 */
#include <jansson.h>
#include <math.h>

#include "conformance/checks/failing_memory.h"
#include "conformance/checks/train_refusals.h"
#include "reference/train/trigram.h"

/* ---- samples ------------------------------------------------------------- */

/* Temperature 0 takes the likeliest; an empty prompt is a new line; tokens that
 * are no bytes are shown as numbers. */
START_TEST(samples)
{
    static uint8_t numbers[800];
    char set[700], *text[3];
    ng_train_config config = config_with("sample.temperature=0");
    ng_train *train = NULL;

    ck_assert_int_eq(start(&train, &config, NULL), NG_OK);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(ng_train_sample(&text[i], train, "", 6, &error),
                         NG_OK);
    ck_assert_str_eq(text[0], text[1]);
    ck_assert_uint_eq(strlen(text[0]), 7);
    ck_assert_int_eq(text[0][0], '\n');
    ck_assert_int_eq(ng_train_sample(&text[2], train, "a\tb", 0, &error),
                     NG_OK);
    ck_assert_str_eq(text[2], "a?b");
    for (int i = 0; i < 3; i++)
        free(text[i]);
#ifdef FAILING_MEMORY
    for (int n = 0;; n++) {
        ng_status status;
        bool did_fail;

        text[0] = NULL;
        fail_at(n);
        status = ng_train_sample(&text[0], train, "a", 1, &error);
        did_fail = fail_no_more();
        free(text[0]);
        if (!did_fail)
            break;
        expect(status, NG_NO_MEMORY, "memory");
        ck_assert_ptr_null(text[0]);
    }
#endif
    ng_train_free(train);

    for (size_t i = 0; i < sizeof numbers; i += 2)
        numbers[i] = (uint8_t)(i % 200);
    snprintf(set, sizeof set, "data.train=%s",
             scratch_write("n.bin", numbers, sizeof numbers));
    config = config_with(set);
    train = NULL;
    ck_assert_msg(start(&train, &config, NULL) == NG_OK, "%s", error.text);
    ck_assert(isnan(ng_train_trigram(train)));
    ck_assert_int_eq(ng_train_sample(&text[0], train, "not read", 3, &error),
                     NG_OK);
    ck_assert(strncmp(text[0], "0 ", 2) == 0);
    ck_assert_uint_eq(strspn(text[0], "0123456789 "), strlen(text[0]));
    free(text[0]);
    ng_train_free(train);
}
END_TEST

/* ---- ranks --------------------------------------------------------------- */

/* Rank 0 of two, of which the other says `its`; or an exchange that fails. */
static int64_t its;
static bool cut;

static ng_status exchange(void *context, int64_t *from, const int64_t *to,
                          int64_t n, ng_error *e)
{
    (void)context;
    if (cut)
        return ng_fail(e, NG_BAD_FILE, "the wire is cut");
    ck_assert_int_eq(n, 1);
    from[0] = to[0];
    from[1] = its;
    return NG_OK;
}

START_TEST(ranks)
{
    const ng_comm comm = {
        .name = "two", .size = 2, .exchange_counts = exchange};
    bool same = false;
    int64_t number = 5;

    its = NG_OK;
    ck_assert_int_eq(ng_train_agree(&comm, NG_OK, &error), NG_OK);
    its = NG_BAD_FILE;
    expect(ng_train_agree(&comm, NG_OK, &error), NG_BAD_FILE, "rank 1 failed");
    strcpy(error.text, "my own");
    expect(ng_train_agree(&comm, NG_BAD_SHAPE, &error), NG_BAD_SHAPE, "my own");
    its = 5;
    ck_assert_int_eq(ng_train_same(&same, &comm, 5, &error), NG_OK);
    ck_assert(same);
    ck_assert_int_eq(ng_train_same(&same, &comm, 6, &error), NG_OK);
    ck_assert(!same);
    its = 9;
    ck_assert_int_eq(ng_train_largest(&number, &comm, &error), NG_OK);
    ck_assert_int_eq(number, 9);

    cut = true;
    number = 5;
    expect(ng_train_agree(&comm, NG_OK, &error), NG_BAD_FILE,
           "the wire is cut");
    strcpy(error.text, "my own");
    expect(ng_train_agree(&comm, NG_BAD_SHAPE, &error), NG_BAD_SHAPE, "my own");
    expect(ng_train_same(&same, &comm, 5, &error), NG_BAD_FILE,
           "the wire is cut");
    expect(ng_train_largest(&number, &comm, &error), NG_BAD_FILE,
           "the wire is cut");
    ck_assert_int_eq(number, 5);
    cut = false;
#ifdef FAILING_MEMORY
    for (int i = 0; i < 3; i++) {
        ng_status status;

        fail_at(0);
        status = i == 0   ? ng_train_agree(&comm, NG_OK, &error)
                 : i == 1 ? ng_train_same(&same, &comm, 5, &error)
                          : ng_train_largest(&number, &comm, &error);
        fail_no_more();
        expect(status, NG_NO_MEMORY, "out of memory");
        ck_assert_int_eq(number, 5);
    }
#endif
}
END_TEST

/* ---- memory -------------------------------------------------------------- */

#ifdef FAILING_MEMORY
START_TEST(trigram_memory)
{
    ng_tokens tokens;
    ng_trigram *trigram = NULL;
    int n = 0;

    ck_assert_int_eq(ng_tokens_open(&tokens, scratch_path("text"),
                                    NG_TOKENS_BYTES, 256, &error),
                     NG_OK);
    for (;; n++) {
        ng_status status;
        bool did_fail;

        fail_at(n);
        status = ng_trigram_fit(&trigram, &tokens, 3000, &error);
        did_fail = fail_no_more();
        if (!did_fail)
            break;
        expect(status, NG_NO_MEMORY, "memory");
        ck_assert_ptr_null(trigram);
    }
    ck_assert_int_eq(n, 3);
    ng_trigram_free(trigram);
    ng_tokens_close(&tokens);
}
END_TEST

/* What the loop itself asks for, allocation by allocation: an evaluation, and a
 * step with its checkpoint. Afterwards the run is as good as another. */
START_TEST(memory)
{
    const ng_train_config config = config_with(NULL);
    double want, loss = 7.0;
    char from[300];
    ng_train *train = NULL;
    int n, failures = 0;

    ck_assert_int_eq(run(&config, NULL, 4, &want), NG_OK);
    snprintf(from, sizeof from, "%s/run/step-0000000002", scratch);
    ck_assert_int_eq(start(&train, &config, from), NG_OK);
    for (n = 0;; n++) {
        ng_status status;
        bool did_fail;

        fail_at(n);
        status = ng_train_evaluate(&loss, train, &error);
        did_fail = fail_no_more();
        if (!did_fail)
            break;
        expect(status, NG_NO_MEMORY, "memory");
    }
    ng_train_free(train);
    ck_assert_int_gt(n, 50);
    /* the beginning, and all of a resumed run, in larger and larger strides */
    for (int resumes = 0; resumes < 2; resumes++)
        for (n = 0;; n += 1 + n / (resumes ? 10 : 40)) {
            ng_train_config here = config;
            ng_status status;
            bool did_fail;

            if (!resumes)
                snprintf(here.run, sizeof here.run, "%s/%d", scratch, n);
            json_set_alloc_funcs(sure_malloc, free); /* reads could not tell */
            fail_at(n);
            status = run(&here, resumes ? from : NULL, resumes ? 4 : 0, NULL);
            did_fail = fail_no_more();
            json_set_alloc_funcs(malloc, free);
            if (status == NG_OK && !did_fail)
                break;
            if (status == NG_OK) /* stdio can do without its buffer */
                continue;
            failures++;
            ck_assert_msg(strstr(error.text, "memory") != NULL,
                          "allocation %d: %s", n, error.text);
        }
    ck_assert_int_gt(failures, 100);
    ck_assert_int_eq(run(&config, from, 4, &loss), NG_OK);
    ck_assert_double_eq(loss, want);
}
END_TEST
#endif

int main(void)
{
    TCase *tcase = tcase_create("under way");

    tcase_add_test(tcase, samples);
    tcase_add_test(tcase, ranks);
#ifdef FAILING_MEMORY
    tcase_add_test(tcase, trigram_memory);
    tcase_add_test(tcase, memory);
#endif
    return run_refusals(tcase);
}
