/* SPDX-License-Identifier: Apache-2.0
 *
 * What a training run refuses to begin with: configurations that cannot be, texts
 * too short or cut off meanwhile; and logs that are none.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <math.h>

#include "conformance/checks/failing_calls.h"
#include "conformance/checks/train_refusals.h"
#include "reference/train/convergence.h"
#include "reference/train/tokens.h"

/* ---- configurations ------------------------------------------------------ */

/* `set` on the command line, and where it is a line of the file. */
static const struct {
    const char *set, *words;
} settings[] = {
    {"batch.sequence=17", "batch.sequence: is longer than model.length"},
    {"model.mtp_depth=8", "batch.sequence: is too short for model.mtp_depth"},
    {"schedule.warmup=5", "schedule.warmup: is more than steps"},
    {"schedule.kind=wsd", "schedule.decay: is not in 1 .. steps - warmup"},
    {"data.validation_share=0",
     "data.validation_share: is 0, and there is no data.validation"},
    {"run=", "run: is empty"},
    {"optimizer.profile=none-such", "optimizer.profile: "},
    {"optimizer.beta1=1", "optimizer.beta1: 1 is outside [0, 1)"},
    {"optimizer.eps=0", "optimizer.eps: "},
    {"model.rope_dim=3", "model.rope_dim: 3 is odd"},
    {"model.expert_groups=2", "model.top_k: 2 is not in 1..1"},
    {"model.top_k=4", "model.top_k: 4 is not in 1..3"},
};

START_TEST(configurations)
{
    char file[600];
    ng_train_config config;

    expect(read_config(&config, settings[_i].set), NG_BAD_VALUE,
           settings[_i].words);
    snprintf(file, sizeof file, "%s", scratch_path("c.yaml"));
    ck_assert(strncmp(error.text, file, strlen(file)) == 0);

    /* from the file itself: with its line */
    write_yaml("evaluations: 1\n");
    ck_assert_int_eq(read_config(&config, NULL), NG_BAD_FILE);
    expect(NG_BAD_FILE, NG_BAD_FILE,
           "c.yaml:28: evaluations: there is no such field");
}
END_TEST

/* What only all fields together make too much. */
START_TEST(too_large)
{
    ng_train_config config = config_with(NULL);

    config.sequences = INT64_MAX / 8192;
    expect(ng_train_config_check(&config, "c.yaml", &error), NG_BAD_VALUE,
           "c.yaml:23: batch.shards: is too large");
}
END_TEST

/* ---- texts --------------------------------------------------------------- */

START_TEST(texts)
{
    char set[700], other[600];
    ng_train_config config;
    ng_train *train = NULL;
    double loss;

    snprintf(set, sizeof set, "data.train=%s", scratch_path("short"));
    write_yaml("");
    config = config_with(set);
    config.validation_share = 0.5;
    config.sequence = config.model.length = 30;
    expect(start(&train, &config, NULL), NG_BAD_SHAPE,
           "/short: tokens: 25 to train on are too few for sequences of 30");
    config.validation_share = 0.1;
    config.sequence = 8;
    expect(start(&train, &config, NULL), NG_BAD_SHAPE,
           "/short: tokens: 5 for validation are too few for sequences of 8");
    ck_assert_ptr_null(train);

    /* a text of its own to validate on; a run over another is another run */
    snprintf(other, sizeof other, "data.validation=%s", scratch_path("other"));
    config = config_with(other);
    ck_assert_msg(run(&config, NULL, 2, &loss) == NG_OK, "%s", error.text);
    ck_assert(isfinite(loss));
    config = config_with(NULL);
    expect(run(&config, scratch_path("run"), 4, NULL), NG_BAD_FILE,
           "identity: has further fields");
    snprintf(other, sizeof other, "data.validation=%s", scratch_path("none"));
    config = config_with(other);
    expect(start(&train, &config, NULL), NG_BAD_FILE, "/none: open: ");
    ck_assert_ptr_null(train);
}
END_TEST

/* Cut off after it was opened. */
START_TEST(text_cut_off)
{
    const ng_train_config config = config_with(NULL);
    ng_train *train = NULL;
    double loss = 7.0;

    ck_assert_int_eq(start(&train, &config, NULL), NG_OK);
    ck_assert_int_eq(truncate(scratch_path("text"), 0), 0);
    ck_assert_int_eq(ng_train_run(NULL, train, 4, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "/text: "));
    ck_assert_int_eq(ng_train_step_of(train), 0);
    ck_assert_int_eq(ng_train_evaluate(&loss, train, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "/text: "));
    ng_train_free(train);
}
END_TEST

START_TEST(unreadable_tokens)
{
    static uint8_t header[1024 + 20] = {0x88, 0xD8, 0x34, 0x01, 1, 0, 0, 0, 10};
    ng_tokens tokens = {.n = 0};
    const char *path = scratch_write("l.bin", header, sizeof header);
    int n = 0;

    ck_assert_msg(ng_tokens_open(&tokens, path, NG_TOKENS_LLMC, 256, &error)
                      == NG_OK,
                  "%s", error.text);
    ng_tokens_close(&tokens);
    for (;; n++) {
        ng_status status;

        fail_call(FAIL_PREAD, n);
        status = ng_tokens_open(&tokens, path, NG_TOKENS_LLMC, 256, &error);
        if (!fail_calls_no_more())
            break;
        expect(status, NG_BAD_FILE, "l.bin: ");
        ck_assert_int_eq(tokens.n, 0);
    }
    ck_assert_int_ge(n, 1);
    ng_tokens_close(&tokens);
    fail_call(FAIL_PREAD, 0);
    ck_assert_int_eq(ng_tokens_open(&tokens, path, NG_TOKENS_AUTO, 256, &error),
                     NG_BAD_FILE);
    fail_calls_no_more();
}
END_TEST

/* ---- logs ---------------------------------------------------------------- */

START_TEST(logs)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"{\"event\": \"start\"}\nnot JSON\n", "l: log: line 2 is no JSON"},
        {"", "l: log: holds no steps, no evaluation or no start"},
        {"{\"step\": 1}\n{\"event\": \"other\"}\n",
         "l: log: holds no steps, no evaluation or no start"},
    };
    json_t *out = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = scratch_write("l", bad[i].text, strlen(bad[i].text));

        expect(ng_convergence_read(&out, path, &error), NG_BAD_FILE,
               bad[i].words);
        ck_assert_ptr_null(out);
    }
    expect(ng_convergence_read(&out, scratch_path("none"), &error), NG_BAD_FILE,
           "none: open: ");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("beginnings");

    tcase_add_loop_test(tcase, configurations, 0,
                        (int)(sizeof settings / sizeof *settings));
    tcase_add_test(tcase, too_large);
    tcase_add_test(tcase, texts);
    tcase_add_test(tcase, text_cut_off);
    tcase_add_test(tcase, unreadable_tokens);
    tcase_add_test(tcase, logs);
    return run_refusals(tcase);
}
