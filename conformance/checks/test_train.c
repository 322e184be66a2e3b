/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a training loop: the order of samples, the log; the study's
 * model and its gradients, its schedule, its statistics.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "conformance/checks/scratch.h"
#include "formats/files/checksum.h"
#include "reference/train/data.h"
#include "reference/train/study_model.h"
#include "reference/train/study_setting.h"
#include "reference/train/study_statistics.h"
#include "reference/train/train_log.h"

static ng_error error;

START_TEST(shuffle_is_a_permutation)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 16, 17, 1000, 4096, 4097};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            const int64_t n = sizes[s];
            bool *seen = calloc((size_t)n, sizeof *seen);

            ck_assert_ptr_nonnull(seen);
            for (int64_t i = 0; i < n; i++) {
                const int64_t x = ng_shuffled(5, epoch, n, i);

                ck_assert_int_ge(x, 0);
                ck_assert_int_lt(x, n);
                ck_assert(!seen[x]);
                seen[x] = true;
                ck_assert_int_eq(ng_sample(5, n, (int64_t)epoch * n + i), x);
            }
            free(seen);
        }
    /* far out, too */
    ck_assert_int_lt(ng_shuffled(5, 0, INT64_C(1) << 62, 12345),
                     INT64_C(1) << 62);
}
END_TEST

/* Seeds and epochs give other orders, and an order is not nearly the identity:
 * neighbours end up a third of the whole apart on average. */
START_TEST(shuffle_shuffles)
{
    const int64_t n = 3000;
    int64_t same[3] = {0}, apart = 0;

    for (int64_t i = 0; i < n; i++) {
        const int64_t x = ng_shuffled(1, 0, n, i);

        same[0] += x == i;
        same[1] += x == ng_shuffled(2, 0, n, i);
        same[2] += x == ng_shuffled(1, 1, n, i);
        apart += i > 0 ? llabs(x - ng_shuffled(1, 0, n, i - 1)) : 0;
    }
    /* each is Poisson of mean 1: above 10 once in 10^8 */
    for (int i = 0; i < 3; i++)
        ck_assert_int_le(same[i], 10);
    ck_assert_int_gt(apart, n * (n / 4));
    ck_assert_int_lt(apart, n * (n / 2));
}
END_TEST

START_TEST(reading_text)
{
    ng_text read;

    scratch_write("empty", "", 0);
    scratch_write("two", "a\0", 2);
    ck_assert_int_eq(ng_text_read(&read, scratch_path("empty"), &error),
                     NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "empty: text: is empty"));
    ck_assert_int_eq(ng_text_read(&read, scratch_path("none"), &error),
                     NG_BAD_FILE);
    ck_assert_int_eq(ng_text_read(&read, scratch_path("two"), &error), NG_OK);
    ck_assert_int_eq(read.n, 2);
    ck_assert_mem_eq(read.tokens, "a\0", 2);
    ng_text_free(&read);
    ng_text_free(NULL);
}
END_TEST

/* Of xxHash's own sanity test: XXH3_64bits of nothing; and a file's checksum is
 * that of its bytes. */
START_TEST(checksum)
{
    char digits[NG_CHECKSUM_TEXT];
    uint64_t sum;
    int64_t size;
    const size_t n = (3 << 20) + 7;
    unsigned char *bytes = malloc(n);

    ck_assert_ptr_nonnull(bytes);
    ng_checksum_text(digits, ng_checksum("", 0));
    ck_assert_str_eq(digits, "2d06800538d394c2");
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(i * i >> 7);
    ck_assert_int_eq(ng_checksum_file(&sum, &size,
                                      scratch_write("x", bytes, n), &error),
                     NG_OK);
    ck_assert_uint_eq(sum, ng_checksum(bytes, n));
    ck_assert_int_eq(size, (int64_t)n);
    free(bytes);
    ck_assert_int_eq(ng_checksum_file(&sum, &size, scratch, &error),
                     NG_BAD_FILE);
}
END_TEST

static void write_line(ng_train_log *log, int step)
{
    json_t *line = json_pack("{s:i, s:o}", "step", step, "loss",
                             ng_json_number(step == 2 ? NAN : 0.5));

    ck_assert_int_eq(ng_train_log_line(log, line, &error), NG_OK);
    json_decref(line);
}

/* What a killed run wrote after its checkpoint is cut off and written again. */
START_TEST(log_resumes)
{
    ng_train_log log;
    size_t size;
    const char *path = scratch_path("log");
    static const char want[] = "{\"step\":1,\"loss\":0.5}\n"
                               "{\"step\":2,\"loss\":\"nan\"}\n"
                               "{\"step\":3,\"loss\":0.5}\n";

    ck_assert_int_eq(ng_train_log_open(&log, path, 0, &error), NG_OK);
    write_line(&log, 1);
    const int64_t kept = log.size;
    write_line(&log, 7);
    ck_assert_int_eq(ng_train_log_close(&log, &error), NG_OK);
    ck_assert_int_eq(ng_train_log_open(&log, path, kept, &error), NG_OK);
    write_line(&log, 2);
    write_line(&log, 3);
    ck_assert_int_eq(ng_train_log_close(&log, &error), NG_OK);

    unsigned char *bytes = scratch_read(&size, path);

    ck_assert_uint_eq(size, sizeof want - 1);
    ck_assert_mem_eq(bytes, want, size);
    free(bytes);
    ck_assert_int_eq(ng_train_log_open(&log, path, 1000, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "log: has 68 bytes"));
    ck_assert_int_eq(ng_train_log_open(&log, scratch, 0, &error), NG_BAD_FILE);
    ck_assert_int_eq(ng_train_log_close(NULL, &error), NG_OK);
}
END_TEST

/* The model once more, in FP64 and from its description alone. */
static double loss_fp64(double *const *w, const uint8_t *target)
{
    double x[NG_STUDY_INPUT], h[NG_STUDY_HIDDEN], sum = 0.0, of_target = 0.0;

    for (int i = 0; i < NG_STUDY_INPUT; i++)
        x[i] = w[NG_STUDY_EMBED][target[i / NG_STUDY_EMBEDDING
                                        - NG_STUDY_CONTEXT]
                                     * NG_STUDY_EMBEDDING
                                 + i % NG_STUDY_EMBEDDING];
    for (int j = 0; j < NG_STUDY_HIDDEN; j++) {
        double a = w[NG_STUDY_B1][j];

        for (int i = 0; i < NG_STUDY_INPUT; i++)
            a += x[i] * w[NG_STUDY_W1][i * NG_STUDY_HIDDEN + j];
        h[j] = a / (1.0 + exp(-a));
    }
    for (int j = 0; j < NG_STUDY_BYTES; j++) {
        double z = w[NG_STUDY_B2][j];

        for (int i = 0; i < NG_STUDY_HIDDEN; i++)
            z += h[i] * w[NG_STUDY_W2][i * NG_STUDY_BYTES + j];
        sum += exp(z);
        if (j == *target)
            of_target = z;
    }
    return log(sum) - of_target;
}

static double mean_fp64(double *const *w, const uint8_t *tokens,
                        const int64_t *positions, int n)
{
    double sum = 0.0;

    for (int i = 0; i < n; i++)
        sum += loss_fp64(w, tokens + positions[i]);
    return sum / n;
}

/* Central differences of step d have an error of d^2/6 times a third derivative
 * and of 2^-52 loss/d: with d = 2^-14 below 1e-8 and 1e-11. FP32 backward adds
 * up to 256 products a sum in three layers, each within 2^-24 of the sum of
 * magnitudes: some 1e-5 of the largest gradient of the tensor, which the bound
 * below is. */
START_TEST(gradients)
{
    enum { N = 3 };
    static const char words[] =
        "a sentence with enough bytes for some contexts";
    static const int64_t positions[N] = {16, 30, 45};
    const uint8_t *tokens = (const uint8_t *)words;
    float *w[NG_STUDY_N_TENSORS], *grad[NG_STUDY_N_TENSORS];
    double *exact[NG_STUDY_N_TENSORS];
    ng_study_model *model = ng_study_model_create();

    for (int t = 0; t < NG_STUDY_N_TENSORS; t++) {
        const size_t n = (size_t)ng_study_tensors[t].n;

        w[t] = malloc(n * sizeof **w);
        grad[t] = malloc(n * sizeof **grad);
        exact[t] = malloc(n * sizeof **exact);
        ng_study_start(w[t], t, 1);
        /* from 0 or nearly so, where much would be 0, to somewhere */
        for (size_t i = 0; i < n; i++) {
            w[t][i] += t == NG_STUDY_EMBED ? 0.0f
                                           : 0x1p-9f * (float)(i % 101) - 0.1f;
            exact[t][i] = (double)w[t][i];
        }
    }

    const double loss = ng_study_loss(model, grad, (const float *const *)w,
                                      tokens, positions, N);
    const double want = mean_fp64(exact, tokens, positions, N);

    ck_assert_msg(fabs(loss - want) <= 1e-5 * want, "%.9g, not %.9g", loss,
                  want);
    ck_assert(loss == ng_study_loss(model, NULL, (const float *const *)w,
                                    tokens, positions, N));
    for (int t = 0; t < NG_STUDY_N_TENSORS; t++) {
        const double d = 0x1p-14;
        float largest = 0.0f;
        int nonzero = 0;

        for (int64_t i = 0; i < ng_study_tensors[t].n; i++)
            largest = fmaxf(largest, fabsf(grad[t][i]));
        for (int64_t k = 0; k < 61; k++) {
            /* of the embedding, rows that are there */
            const int64_t i =
                t == NG_STUDY_EMBED
                    ? tokens[k % 46] * NG_STUDY_EMBEDDING + k % 16
                    : k * 7919 % ng_study_tensors[t].n;
            const double at = exact[t][i];

            exact[t][i] = at + d;
            const double above = mean_fp64(exact, tokens, positions, N);
            exact[t][i] = at - d;
            const double below = mean_fp64(exact, tokens, positions, N);
            exact[t][i] = at;

            const double slope = (above - below) / (2.0 * d);

            nonzero += slope != 0.0;
            ck_assert_msg(fabs((double)grad[t][i] - slope)
                              <= 2e-5 * (double)largest,
                          "%s[%d]: %.9g, not %.9g", ng_study_tensors[t].name,
                          (int)i, (double)grad[t][i], slope);
        }
        ck_assert_int_gt(nonzero, 30);
    }
    for (int t = 0; t < NG_STUDY_N_TENSORS; t++) {
        free(w[t]);
        free(grad[t]);
        free(exact[t]);
    }
    ng_study_model_free(model);
}
END_TEST

START_TEST(schedule)
{
    const ng_study_setting s = {.steps = 110, .warmup = 10, .final_lr = 0.25};

    ck_assert(ng_study_lr(&s, 2.0, 1) == 2.0 * (1.0 / 10.0));
    ck_assert(ng_study_lr(&s, 2.0, 10) == 2.0);
    ck_assert(ng_study_lr(&s, 2.0, 60) == 2.0 * (1.0 - 0.75 * 0.5));
    ck_assert(ng_study_lr(&s, 2.0, 110) == 0.5);
}
END_TEST

START_TEST(statistics)
{
    static const double x[] = {1.0, 2.0, 3.0, 6.0};
    const ng_mean m = ng_student_mean(x, 4);

    /* sd^2 = 14/3; half = 3.182 * 2.160246899 / 2 */
    ck_assert(m.mean == 3.0);
    ck_assert(fabs(m.sd - 2.160246899) < 1e-9);
    ck_assert(fabs(m.high - 6.436952817) < 1e-8);
    ck_assert(fabs(m.low + 0.436952817) < 1e-8);
    ck_assert(ng_student_mean(x, 1).low == -INFINITY);
    ck_assert(isnan(ng_student_mean(x, 0).mean));
}
END_TEST

static void expect_setting(const char *member, const char *value,
                           const char *fault)
{
    static const char whole[] =
        "{\"text\": [], \"seeds\": 2, \"steps\": 10, \"batch\": 4, "
        "\"warmup\": 2, \"final_lr\": 0.1, \"evaluations\": 2, "
        "\"evaluated\": 8, \"optimizers\": [{\"optimizer\": \"lion\", "
        "\"recipes\": [\"fp32\"], \"lr\": 0.1}]}";
    json_t *object = json_loads(whole, 0, NULL);
    ng_study_setting setting;

    if (member != NULL && value == NULL)
        json_object_del(object, member);
    else if (member != NULL)
        json_object_set_new(object, member,
                            json_loads(value, JSON_DECODE_ANY, NULL));

    char *text = json_dumps(object, 0);
    const ng_status status = ng_study_setting_read(
        &setting, scratch_write("c.json", text, strlen(text)), &error);

    free(text);
    json_decref(object);
    if (fault == NULL) {
        ck_assert_int_eq(status, NG_OK);
        ck_assert_str_eq(setting.text, "");
        ck_assert_int_eq(setting.n_tasks, 1);
        return;
    }
    ck_assert_int_eq(status, NG_BAD_FILE);
    ck_assert_msg(strstr(error.text, fault) != NULL, "%s", error.text);
}

START_TEST(settings)
{
    ng_study_setting setting;

    expect_setting(NULL, NULL, NULL);
    expect_setting("steps", NULL, "lacks a member");
    expect_setting("steps", "0", "steps: is not a number in 1");
    expect_setting("steps", "1.5", "steps: is not a whole number");
    expect_setting("seeds", "18", "seeds: is not");
    expect_setting("seeds", "\"two\"", "seeds: is not");
    expect_setting("sedes", "2", "sedes: is no member");
    expect_setting("text", "\"x\"", "text: is not an array");
    expect_setting("optimizers", "[]", "optimizers: is not");
    expect_setting("optimizers", "[3]", "optimizers: has an entry");
    expect_setting("optimizers", "[{\"optimizer\": \"sgd\"}]", "lacks");
    expect_setting("optimizers", "[{\"optimizer\": \"sgd\", \"recipes\": "
                   "[\"none\"]}]", "recipes: entry 1");
    expect_setting("optimizers", "[{\"beta3\": 0.9}]", "\"beta3\": unknown");
    expect_setting("optimizers", "[{\"beta1\": -1}]", "beta1: is not");
    scratch_write("c.json", "{\"a\": 1,}", 9);
    ck_assert_int_eq(ng_study_setting_read(&setting, scratch_path("c.json"),
                                           &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "JSON: line 1"));
    ck_assert_int_eq(ng_study_setting_read(&setting, scratch_path("none"),
                                           &error), NG_BAD_FILE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("train");
    TCase *tcase = tcase_create("train");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, shuffle_is_a_permutation);
    tcase_add_test(tcase, shuffle_shuffles);
    tcase_add_test(tcase, reading_text);
    tcase_add_test(tcase, checksum);
    tcase_add_test(tcase, log_resumes);
    tcase_add_test(tcase, gradients);
    tcase_add_test(tcase, schedule);
    tcase_add_test(tcase, statistics);
    tcase_add_test(tcase, settings);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
