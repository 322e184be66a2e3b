/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens, their order, the schedule of the learning rate, the yardstick, and
 * how many checkpoints are kept.
 */
#include <check.h>
#include <math.h>

#include "conformance/checks/scratch.h"
#include "reference/train/checkpoint.h"
#include "reference/train/schedule.h"
#include "reference/train/tokens.h"
#include "reference/train/trigram.h"

static ng_error error;

static void put32(uint8_t *at, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(x >> 8 * i);
}

/* An llm.c file of n tokens 0, 257, 514, ... whose header says `said`. */
static const char *llmc(const char *name, uint32_t magic, uint32_t version,
                        uint32_t said, int n)
{
    static uint8_t bytes[1024 + 200];

    memset(bytes, 0, sizeof bytes);
    put32(bytes, magic);
    put32(bytes + 4, version);
    put32(bytes + 8, said);
    for (int i = 0; i < n; i++) {
        bytes[1024 + 2 * i] = (uint8_t)i;
        bytes[1025 + 2 * i] = (uint8_t)i;
    }
    return scratch_write(name, bytes, 1024 + 2 * (size_t)n);
}

static ng_status open_as(ng_tokens *out, const char *path,
                         ng_tokens_format format, int64_t vocabulary)
{
    error.text[0] = '\0';
    return ng_tokens_open(out, path, format, vocabulary, &error);
}

START_TEST(formats)
{
    ng_tokens t;
    int32_t x[3];
    FILE *change;

    ck_assert_int_eq(
        open_as(&t, llmc("l.bin", 20240520, 1, 5, 5), NG_TOKENS_AUTO, 65536),
        NG_OK);
    ck_assert_int_eq(t.format, NG_TOKENS_LLMC);
    ck_assert_int_eq(t.n, 5);
    ck_assert_int_eq(ng_tokens_read(x, &t, 2, 3, &error), NG_OK);
    ck_assert_int_eq(x[0], 514);
    ck_assert_int_eq(x[2], 1028);
    ck_assert_int_eq(ng_tokens_read(x, &t, 3, 3, &error), NG_BAD_SHAPE);
    ck_assert_int_eq(ng_tokens_read(x, &t, -1, 1, &error), NG_BAD_SHAPE);
    ck_assert_int_eq(ng_tokens_read(x, &t, INT64_MAX, 1, &error), NG_BAD_SHAPE);
    ck_assert_int_eq(ng_tokens_read(x, &t, 5, 0, &error), NG_OK);
    ng_tokens_close(&t);

    ck_assert_int_eq(open_as(&t, scratch_write("n.bin", "\x01\x02\x03\xff", 4),
                             NG_TOKENS_AUTO, 65536),
                     NG_OK);
    ck_assert_int_eq(t.format, NG_TOKENS_NANOGPT);
    ck_assert_int_eq(ng_tokens_read(x, &t, 0, 2, &error), NG_OK);
    ck_assert_int_eq(x[0], 0x0201);
    ck_assert_int_eq(x[1], 0xff03);
    ng_tokens_close(&t);
    /* Known before the first step; and if the file changes after that. */
    ck_assert_int_eq(open_as(&t, scratch_path("n.bin"), NG_TOKENS_AUTO, 0xff03),
                     NG_BAD_FILE);
    ck_assert_ptr_nonnull(
        strstr(error.text, "n.bin: tokens: number 1 is 65283, the vocabulary"));
    ck_assert_int_eq(open_as(&t, scratch_path("n.bin"), NG_TOKENS_AUTO, 0xff04),
                     NG_OK);
    change = fopen(scratch_path("n.bin"), "r+b"); /* the same file */
    ck_assert_ptr_nonnull(change);
    ck_assert_int_eq(fseek(change, 2, SEEK_SET), 0);
    ck_assert_int_eq(fputc(4, change), 4);
    fclose(change);
    ck_assert_int_eq(ng_tokens_read(x, &t, 0, 2, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(
        strstr(error.text, "n.bin: tokens: number 1 is 65284, the vocabulary"));
    ng_tokens_close(&t);

    ck_assert_int_eq(
        open_as(&t, scratch_write("t.txt", "a\0\xff", 3), NG_TOKENS_AUTO, 256),
        NG_OK);
    ck_assert_int_eq(t.format, NG_TOKENS_BYTES);
    ck_assert_int_eq(ng_tokens_read(x, &t, 0, 3, &error), NG_OK);
    ck_assert_int_eq(x[1], 0);
    ck_assert_int_eq(x[2], 255);
    ng_tokens_close(&t);
    ng_tokens_close(&t);
    ng_tokens_close(NULL);
}
END_TEST

START_TEST(bad_files)
{
    ng_tokens t;

    ck_assert_int_eq(
        open_as(&t, llmc("a.bin", 20240520, 1, 6, 5), NG_TOKENS_AUTO, 65536),
        NG_BAD_FILE);
    ck_assert_ptr_nonnull(
        strstr(error.text, "a.bin: tokens: 6 by the header, 5 by the size"));
    ck_assert_int_eq(
        open_as(&t, llmc("b.bin", 20240520, 7, 5, 5), NG_TOKENS_LLMC, 65536),
        NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "b.bin: version:"));
    ck_assert_int_eq(
        open_as(&t, llmc("c.bin", 20240521, 1, 5, 5), NG_TOKENS_LLMC, 65536),
        NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "c.bin: magic:"));
    ck_assert_int_eq(
        open_as(&t, llmc("d.bin", 20240520, 1, 0, 0), NG_TOKENS_LLMC, 65536),
        NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "d.bin: tokens: there are none"));
    ck_assert_int_eq(
        open_as(&t, scratch_write("e.bin", "abc", 3), NG_TOKENS_AUTO, 65536),
        NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "e.bin: size: has half a token"));
    ck_assert_int_eq(
        open_as(&t, scratch_write("f", "ab", 2), NG_TOKENS_LLMC, 65536),
        NG_BAD_FILE);
    ck_assert_int_eq(open_as(&t, scratch_path("f"), NG_TOKENS_BYTES, 255),
                     NG_BAD_FILE);
    ck_assert_int_eq(
        open_as(&t, scratch_write("g", "", 0), NG_TOKENS_AUTO, 256),
        NG_BAD_FILE);
    ck_assert_int_eq(open_as(&t, scratch, NG_TOKENS_AUTO, 256), NG_BAD_FILE);
    ck_assert_int_eq(open_as(&t, scratch_path("none"), NG_TOKENS_AUTO, 256),
                     NG_BAD_FILE);
}
END_TEST

/* Each epoch visits `length` tokens a sequence, none of them twice, inside the
 * text with the tokens to be predicted. */
START_TEST(order)
{
    enum { N = 1003, LENGTH = 16, FURTHER = 2 };
    const int64_t per_epoch = ng_sequences(N, LENGTH, FURTHER);
    int64_t same = 0;

    ck_assert_int_eq(per_epoch, (N - FURTHER - LENGTH + 1) / LENGTH);
    for (int64_t epoch = 0; epoch < 5; epoch++) {
        bool seen[N] = {false};

        for (int64_t i = 0; i < per_epoch; i++) {
            const int64_t start =
                ng_sequence_start(3, N, LENGTH, FURTHER, epoch * per_epoch + i);

            ck_assert_int_ge(start, 0);
            ck_assert_int_le(start + LENGTH + FURTHER, N);
            for (int64_t j = start; j < start + LENGTH; j++) {
                ck_assert(!seen[j]);
                seen[j] = true;
            }
            same += start
                    == ng_sequence_start(4, N, LENGTH, FURTHER,
                                         epoch * per_epoch + i);
        }
    }
    ck_assert_int_lt(same, per_epoch); /* another seed, another order */
    ck_assert_int_eq(ng_sequences(LENGTH, LENGTH, 1), 0);
    ck_assert_int_eq(ng_sequences(2 * LENGTH, LENGTH, 1), 1);
    ck_assert_int_eq(ng_sequences(0, LENGTH, 1), 0);
}
END_TEST

START_TEST(schedules)
{
    ng_schedule s = {NG_SCHEDULE_COSINE, 110, 10, 0, 0.1};

    ck_assert(ng_schedule_share(&s, 1) == 0.1);
    ck_assert(ng_schedule_share(&s, 10) == 1.0);
    /* Seven operations of half an ulp of 1, and cos itself: 16 u in all. */
    for (int64_t t = 10; t <= 110; t++) {
        const double x = (double)(t - 10) / 100.0;
        const double want = 0.1 + 0.45 * (1.0 + cos(0x1.921fb54442d18p+1 * x));

        ck_assert(fabs(ng_schedule_share(&s, t) - want) <= 16 * 0x1p-53);
    }
    ck_assert(fabs(ng_schedule_share(&s, 110) - 0.1) <= 0x1p-53);
    ck_assert(ng_schedule_share(&s, 1000) == ng_schedule_share(&s, 110));
    s.kind = NG_SCHEDULE_LINEAR;
    ck_assert(ng_schedule_share(&s, 60) == 1.0 - (1.0 - 0.1) * 0.5);
    ck_assert(ng_schedule_share(&s, 110) == 1.0 - (1.0 - 0.1));
    s.kind = NG_SCHEDULE_WSD;
    s.decay = 20;
    ck_assert(ng_schedule_share(&s, 90) == 1.0);
    ck_assert(ng_schedule_share(&s, 100) == 1.0 - (1.0 - 0.1) * 0.5);
    s.kind = NG_SCHEDULE_CONSTANT;
    ck_assert(ng_schedule_share(&s, 90) == 1.0);
    s.warmup = 0;
    ck_assert(ng_schedule_share(&s, 1) == 1.0);
    s.kind = NG_SCHEDULE_COSINE;
    s.warmup = 110; /* nothing left to fall over */
    ck_assert(ng_schedule_share(&s, 111) == 1.0);
}
END_TEST

/* The probabilities after any two bytes add up to 1; text that repeats itself
 * costs little, and the weights are those of the held-out part. */
START_TEST(trigram)
{
    static char text[2000];
    ng_tokens t;
    ng_trigram *model;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "abcabd"[i % 6];
    ck_assert_int_eq(
        open_as(&t, scratch_write("t", text, sizeof text), NG_TOKENS_AUTO, 256),
        NG_OK);
    ck_assert_int_eq(ng_trigram_fit(&model, &t, t.n, &error), NG_OK);
    for (int a = 'a'; a <= 'e'; a++)
        for (int b = 'a'; b <= 'e'; b++) {
            double sum = 0.0;

            for (int c = 0; c < 256; c++)
                sum += exp(-ng_trigram_loss(model, (uint8_t)a, (uint8_t)b,
                                            (uint8_t)c));
            ck_assert_double_eq_tol(sum, 1.0, 1e-12); /* 1024 terms, FP64 */
        }
    /* after ab: c or d, log 2; after bc: a */
    ck_assert_double_eq_tol(ng_trigram_loss(model, 'a', 'b', 'c'), log(2.0),
                            0.1);
    ck_assert(ng_trigram_loss(model, 'b', 'c', 'a') < 0.1);
    ck_assert(ng_trigram_loss(model, 'b', 'c', 'd') > 3.0);
    ng_trigram_free(model);
    ck_assert_int_eq(ng_trigram_fit(&model, &t, 99, &error), NG_BAD_SHAPE);
    ng_tokens_close(&t);
    ck_assert_int_eq(
        open_as(&t, scratch_write("t.bin", text, 1000), NG_TOKENS_AUTO, 65536),
        NG_OK);
    ck_assert_int_eq(ng_trigram_fit(&model, &t, t.n, &error), NG_BAD_DTYPE);
    ng_tokens_close(&t);
}
END_TEST

START_TEST(keeping)
{
    ng_checkpoint_writer writer;
    char *path;

    for (int64_t step = 0; step < 50; step += 10) {
        ck_assert_int_eq(
            ng_checkpoint_begin(&writer, scratch_path("root"), step, &error),
            NG_OK);
        ck_assert_int_eq(ng_checkpoint_commit(&writer, NULL, &error), NG_OK);
        ck_assert_int_eq(
            ng_checkpoint_keep(scratch_path("root"), step, 2, &error), NG_OK);
    }
    ck_assert_int_eq(access(scratch_path("root/step-0000000020"), F_OK), -1);
    ck_assert_int_eq(access(scratch_path("root/step-0000000030"), F_OK), 0);
    ck_assert_int_eq(ng_checkpoint_latest(&path, scratch_path("root"), &error),
                     NG_OK);
    ck_assert_str_eq(path + strlen(path) - 2, "40");
    free(path);
    ck_assert_int_eq(ng_checkpoint_keep(scratch_path("root"), 40, 0, &error),
                     NG_OK);
    ck_assert_int_eq(access(scratch_path("root/step-0000000030"), F_OK), 0);
    ck_assert_int_eq(ng_checkpoint_keep(scratch_path("none"), 1, 1, &error),
                     NG_BAD_FILE);
    /* Gone on from an earlier one: what is written is kept, and the steps that
     * were given up are not. (It went as the lowest of three.) */
    ck_assert_int_eq(
        ng_checkpoint_begin(&writer, scratch_path("root"), 20, &error), NG_OK);
    ck_assert_int_eq(ng_checkpoint_commit(&writer, NULL, &error), NG_OK);
    ck_assert_int_eq(ng_checkpoint_keep(scratch_path("root"), 20, 2, &error),
                     NG_OK);
    ck_assert_int_eq(access(scratch_path("root/step-0000000030"), F_OK), -1);
    ck_assert_int_eq(access(scratch_path("root/step-0000000040"), F_OK), -1);
    for (int64_t step = 20; step < 30; step += 10) {
        char name[64];

        snprintf(name, sizeof name, "root/step-00000000%d/manifest.json",
                 (int)step);
        remove(scratch_path(name));
        *strrchr(name, '/') = '\0';
        rmdir(scratch_path(name));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("train_data");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, formats);
    tcase_add_test(tcase, bad_files);
    tcase_add_test(tcase, order);
    tcase_add_test(tcase, schedules);
    tcase_add_test(tcase, trigram);
    tcase_add_test(tcase, keeping);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
