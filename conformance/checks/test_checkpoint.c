/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints: resumed bit for bit, refused by name when damaged, whole or not
 * there when their writer is killed.
 */
#include <check.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conformance/checks/checkpoint_fixture.h"
#include "conformance/checks/optimizer_fixture.h"
#include "reference/train/study_run.h"

static ng_status save(const ng_optimizer *optimizer, int64_t step)
{
    ng_tensor_file tensors = {0};

    ck_assert_int_eq(ng_optimizer_to_tensors(&tensors, optimizer, &error),
                     NG_OK);

    const ng_status status = write_tensors(&tensors, step);

    ng_tensor_file_free(&tensors);
    return status;
}

/* Load the latest; returns its step. */
static int64_t load(ng_optimizer *optimizer)
{
    ng_checkpoint checkpoint;
    ng_tensor_file tensors;
    char *path = latest();

    ck_assert_int_eq(ng_checkpoint_open(&checkpoint, path, &error), NG_OK);
    ck_assert_str_eq(json_string_value(json_object_get(checkpoint.state,
                                                       "note")), "any");
    ck_assert_int_eq(ng_checkpoint_load(&tensors, &checkpoint, "optimizer",
                                        &error), NG_OK);
    ck_assert_int_eq(ng_optimizer_from_tensors(optimizer, &tensors, path,
                                               &error), NG_OK);

    const int64_t step = checkpoint.step;

    ng_tensor_file_free(&tensors);
    ng_checkpoint_close(&checkpoint);
    free(path);
    return step;
}

/* Stop before step `stop`, load into an optimizer of other values and another
 * learning rate, go on: at the end there is no difference. */
static void expect_resumed(ng_optimizer_kind kind, const storage *how,
                           int64_t stop)
{
    enum { STEPS = 5 };
    ng_optimizer *whole = fixture_make(kind, how, false);
    ng_optimizer *first = fixture_make(kind, how, false);
    ng_optimizer *second = fixture_make(kind, how, true);

    ng_optimizer_hyper(second, 0)->lr = 7.0;
    for (int64_t step = 0; step < STEPS; step++)
        fixture_step(whole, step);
    for (int64_t step = 0; step < stop; step++)
        fixture_step(first, step);
    ck_assert_int_eq(save(first, stop), NG_OK);
    ck_assert_int_eq(load(second), stop);
    fixture_expect_equal(first, second);
    for (int64_t group = 0; group < 3; group++)
        ck_assert_uint_eq(ng_optimizer_steps(second, group), (uint64_t)stop);
    for (int64_t step = stop; step < STEPS; step++)
        fixture_step(second, step);
    fixture_expect_equal(whole, second);
    ng_optimizer_free(whole);
    ng_optimizer_free(first);
    ng_optimizer_free(second);
    tear_down();
    scratch_make();
}

START_TEST(resume_is_bit_identical)
{
    static const ng_optimizer_kind kinds[] = {NG_SGD, NG_ADAMW, NG_LION};
    static const int64_t stops[] = {0, 1, 4};

    for (size_t k = 0; k < 3; k++)
        for (int s = 0; s < N_STORAGES; s++)
            for (size_t i = 0; i < 3; i++)
                expect_resumed(kinds[k], &storages[s], stops[i]);
}
END_TEST

/* The same of the study's loop, data and learning rate included. */
static void expect_run_resumed(const ng_study_job *job, int64_t stop)
{
    enum { STEPS = 3 };
    ng_study_run *whole, *first, *second;
    double a = 0.0, b = 0.0;

    ck_assert_int_eq(ng_study_run_create(&whole, job, &error), NG_OK);
    ck_assert_int_eq(ng_study_run_create(&first, job, &error), NG_OK);
    ck_assert_int_eq(ng_study_run_create(&second, job, &error), NG_OK);
    for (int64_t step = 0; step < STEPS; step++)
        ck_assert_int_eq(ng_study_run_step(&a, whole, &error), NG_OK);
    for (int64_t step = 0; step < stop; step++)
        ck_assert_int_eq(ng_study_run_step(&b, first, &error), NG_OK);
    ck_assert_int_eq(ng_study_run_save(first, root(), &error), NG_OK);

    char *path = latest();

    ck_assert_int_eq(ng_study_run_resume(second, path, &error), NG_OK);
    free(path);
    ck_assert_int_eq(ng_study_run_steps(second), stop);
    for (int64_t step = stop; step < STEPS; step++)
        ck_assert_int_eq(ng_study_run_step(&b, second, &error), NG_OK);
    ck_assert(a == b);
    fixture_expect_equal(ng_study_run_optimizer(whole),
                         ng_study_run_optimizer(second));
    ng_study_run_free(whole);
    ng_study_run_free(first);
    ng_study_run_free(second);
    tear_down();
    scratch_make();
}

START_TEST(run_resumes)
{
    static const char words[] =
        "It was the best of times, it was the worst of times, it was the age "
        "of wisdom, it was the age of foolishness";
    ng_text text = {(uint8_t *)words, sizeof words};
    const ng_study_setting setting = {.steps = 4, .batch = 3, .warmup = 2,
                                      .final_lr = 0.1, .evaluations = 1,
                                      .evaluated = 5};
    const ng_study_task task = {.kind = NG_ADAMW, .hyper = fixture_hyper};

    /* flash at each of three steps, the others at one */
    for (int i = 0; i < NG_N_STUDY_RECIPES; i++)
        for (int64_t stop = 0; stop < 3; stop++) {
            const ng_study_recipe *recipe = &ng_study_recipes[i];
            const ng_study_job job = {&setting, &task, recipe, &text, 3};

            if (i % 3 == stop || strcmp(recipe->name, "flash") == 0)
                expect_run_resumed(&job, stop);
        }
}
END_TEST

/* Another seed's checkpoint is not this run's. */
START_TEST(run_refuses_another)
{
    static const char words[] = "the quick brown fox jumps over the lazy dog.";
    ng_text text = {(uint8_t *)words, sizeof words};
    const ng_study_setting setting = {.steps = 4, .batch = 3, .warmup = 2,
                                      .evaluations = 1, .evaluated = 5};
    const ng_study_task task = {.kind = NG_LION, .hyper = fixture_hyper};
    ng_study_job job = {&setting, &task, &ng_study_recipes[0], &text, 1};
    ng_study_run *one, *two;

    ck_assert_int_eq(ng_study_run_create(&one, &job, &error), NG_OK);
    job.seed = 2;
    ck_assert_int_eq(ng_study_run_create(&two, &job, &error), NG_OK);
    ck_assert_int_eq(ng_study_run_save(one, root(), &error), NG_OK);

    char *path = latest();

    ck_assert_int_eq(ng_study_run_resume(two, path, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "state: \"seed\" is not this run's"));
    free(path);
    ng_study_run_free(one);
    ng_study_run_free(two);
}
END_TEST

/* A checkpoint of a small optimizer, step 3; its two files. */
static char shard[1024], manifest[1024];

static void make_one(void)
{
    ng_optimizer *optimizer = fixture_make(NG_ADAMW, flash, false);

    fixture_step(optimizer, 0);
    ck_assert_int_eq(save(optimizer, 3), NG_OK);
    ng_optimizer_free(optimizer);
    snprintf(shard, sizeof shard, "%s/step-0000000003/optimizer.safetensors",
             root());
    snprintf(manifest, sizeof manifest, "%s/step-0000000003/manifest.json",
             root());
}

static void expect_refused(const char *name)
{
    ng_checkpoint checkpoint;
    char *path = latest();

    error.text[0] = '\0';
    ck_assert_int_eq(ng_checkpoint_open(&checkpoint, path, &error),
                     NG_BAD_FILE);
    ck_assert_msg(strstr(error.text, name) != NULL, "\"%s\" does not name %s",
                  error.text, name);
    free(path);
}

/* Flip a bit of about n bytes, spread over the file; cut it at as many places;
 * lengthen it; take it away. Whole again, it is taken. */
static void damage(const char *path, size_t n)
{
    const char *name = strrchr(path, '/') + 1;
    ng_checkpoint checkpoint;
    size_t size;
    unsigned char *bytes = scratch_read(&size, path);
    const size_t step = size / n + 1;

    for (size_t i = 0; i < size; i += step) {
        bytes[i] ^= (unsigned char)(1u << (i / step % 8));
        overwrite(path, bytes, size);
        expect_refused(name);
        bytes[i] ^= (unsigned char)(1u << (i / step % 8));
        overwrite(path, bytes, i);
        expect_refused(name);
    }
    bytes[size] = '\n';
    overwrite(path, bytes, size + 1);
    expect_refused(name);
    ck_assert_int_eq(unlink(path), 0);
    expect_refused(name);
    overwrite(path, bytes, size);
    free(bytes);

    char *whole = latest();

    ck_assert_int_eq(ng_checkpoint_open(&checkpoint, whole, &error), NG_OK);
    ng_checkpoint_close(&checkpoint);
    free(whole);
}

START_TEST(damaged_shard)
{
    make_one();
    damage(shard, 400);
}
END_TEST

START_TEST(damaged_manifest)
{
    make_one();
    damage(manifest, 1000000);      /* every byte */
}
END_TEST

/* A manifest whose checksum fits but whose words do not. */
static void expect_forged(const char *change, const char *field)
{
    size_t size;
    unsigned char *whole = scratch_read(&size, manifest);

    forge(manifest, change);
    expect_refused(field);
    overwrite(manifest, whole, size);
    free(whole);
}

START_TEST(forged_manifest)
{
    make_one();
    expect_forged("{\"schema\": \"other\"}", "schema");
    expect_forged("{\"schema\": 3}", "schema");
    expect_forged("{\"step\": -1}", "step");
    expect_forged("{\"step\": \"3\"}", "step");
    expect_forged("{\"files\": {}}", "files");
    expect_forged("{\"files\": [3]}", "files");
    expect_forged("{\"files\": [{\"name\": \"optimizer.safetensors\"}]}",
                  "files");
    expect_forged("{\"files\": [{\"name\": \"../manifest.json\", \"bytes\": 1, "
                  "\"xxh3\": \"\"}]}", "files");
    expect_forged("{\"files\": [{\"name\": \"optimizer.safetensors\", "
                  "\"bytes\": 1, \"xxh3\": \"\"}]}", "optimizer.safetensors");
}
END_TEST

START_TEST(latest_is_the_highest)
{
    ng_optimizer *optimizer = fixture_make(NG_LION, flash, false);
    char *path;

    ck_assert_int_eq(ng_checkpoint_latest(&path, root(), &error), NG_OK);
    ck_assert_ptr_null(path);
    ck_assert_int_eq(save(optimizer, 9), NG_OK);
    ck_assert_int_eq(save(optimizer, 10), NG_OK);
    ck_assert_int_eq(save(optimizer, 0), NG_OK);
    ck_assert_int_eq(mkdir(scratch_path("root/step-99"), 0777), 0);
    ck_assert_int_eq(mkdir(scratch_path("root/step-00000000x9"), 0777), 0);
    path = latest();
    ck_assert_ptr_nonnull(strstr(path, "/step-0000000010"));
    free(path);
    ck_assert_int_eq(save(optimizer, -1), NG_BAD_VALUE);
    ck_assert_int_eq(save(optimizer, INT64_C(10000000000)), NG_BAD_VALUE);
    ng_optimizer_free(optimizer);
}
END_TEST

START_TEST(same_step_is_replaced)
{
    ng_optimizer *optimizer = fixture_make(NG_LION, flash, false);
    ng_optimizer *back = fixture_make(NG_LION, flash, true);

    ck_assert_int_eq(save(optimizer, 1), NG_OK);
    fixture_step(optimizer, 0);
    ck_assert_int_eq(save(optimizer, 1), NG_OK);
    ck_assert_int_eq(load(back), 1);
    fixture_expect_equal(optimizer, back);
    ck_assert_int_eq(root_count(), 1);
    ng_optimizer_free(optimizer);
    ng_optimizer_free(back);
}
END_TEST

/* What a killed writer left is no checkpoint; the next one clears it away. */
START_TEST(stopped_half_way)
{
    ng_optimizer *optimizer = fixture_make(NG_ADAMW, flash, false);
    ng_tensor_file tensors = {0};
    ng_checkpoint_writer writer;
    char *path;

    ck_assert_int_eq(ng_optimizer_to_tensors(&tensors, optimizer, &error),
                     NG_OK);
    ck_assert_int_eq(save(optimizer, 1), NG_OK);
    ck_assert_int_eq(ng_checkpoint_begin(&writer, root(), 2, &error), NG_OK);
    ck_assert_int_eq(ng_checkpoint_add(&writer, "optimizer", &tensors, &error),
                     NG_OK);
    ck_assert_int_eq(ng_checkpoint_add(&writer, "optimizer", &tensors, &error),
                     NG_BAD_VALUE);
    ck_assert_int_eq(ng_checkpoint_add(&writer, "../x", &tensors, &error),
                     NG_BAD_VALUE);
    ck_assert_int_eq(root_count(), 2);
    path = latest();
    ck_assert_ptr_nonnull(strstr(path, "step-0000000001"));
    free(path);

    /* Here it dies; another process begins anew. */
    ck_assert_int_eq(save(optimizer, 3), NG_OK);
    ck_assert_int_eq(root_count(), 2);
    ng_checkpoint_abandon(&writer);
    ck_assert_int_eq(root_count(), 2);
    ng_checkpoint_abandon(&writer);         /* idle by now */
    ng_tensor_file_free(&tensors);
    ng_optimizer_free(optimizer);
}
END_TEST

/* Write checkpoints without end, until killed. */
static void write_forever(const ng_tensor_file *tensors)
{
    for (int64_t step = 2;; step = step == 2 ? 3 : 2)
        if (write_tensors(tensors, step) != NG_OK)
            _exit(1);
}

START_TEST(killed_at_any_moment)
{
    ng_optimizer *optimizer = fixture_make(NG_ADAMW, flash, false);
    ng_optimizer *back = fixture_make(NG_ADAMW, flash, true);
    ng_tensor_file tensors = {0};

    ck_assert_int_eq(ng_optimizer_to_tensors(&tensors, optimizer, &error),
                     NG_OK);
    ck_assert_int_eq(save(optimizer, 1), NG_OK);
    for (uint64_t i = 0; i < 60; i++) {
        const long nanoseconds = (long)(ng_ref_philox(8, 0, i) % 8000000);
        const struct timespec pause = {0, nanoseconds};
        int status;
        const pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0)
            write_forever(&tensors);
        nanosleep(&pause, NULL);
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        ck_assert_int_ge(load(back), 1);
        fixture_expect_equal(optimizer, back);
    }
    ck_assert_int_eq(save(optimizer, 4), NG_OK);
    ck_assert_int_le(root_count(), 4);      /* steps 1 to 4 and no more */
    ng_tensor_file_free(&tensors);
    ng_optimizer_free(optimizer);
    ng_optimizer_free(back);
}
END_TEST

/* Where the disk is full the older checkpoint stays, and nothing else. (Nothing
 * is asserted meanwhile: Check writes to a file, too.) */
START_TEST(no_space)
{
    ng_optimizer *optimizer = fixture_make(NG_ADAMW, flash, false);
    ng_tensor_file tensors = {0};
    struct rlimit limit;

    ck_assert_int_eq(ng_optimizer_to_tensors(&tensors, optimizer, &error),
                     NG_OK);
    ck_assert_int_eq(save(optimizer, 1), NG_OK);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);

    const struct rlimit small = {1000, limit.rlim_max};
    const int set = setrlimit(RLIMIT_FSIZE, &small);
    const ng_status status = write_tensors(&tensors, 2);
    const int unset = setrlimit(RLIMIT_FSIZE, &limit);

    ck_assert(set == 0 && unset == 0);
    ck_assert_int_eq(status, NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "File too large"));
    ck_assert_int_eq(root_count(), 1);
    ng_tensor_file_free(&tensors);
    ng_optimizer_free(optimizer);
}
END_TEST

/* All files of a checkpoint of an AdamW of 2^16 parameters and some. */
static int64_t size_of(const storage *how)
{
    ng_optimizer *optimizer = fixture_empty(NG_ADAMW, how);
    ng_checkpoint checkpoint;

    fixture_add(optimizer, 0, "a", 2, 512, 256, false);
    fixture_add(optimizer, 0, "b", 2, 256, 512, false);
    fixture_add(optimizer, 2, "c", 1, 512, 1, false);
    fixture_step(optimizer, 0);
    ck_assert_int_eq(save(optimizer, 5), NG_OK);

    char *path = latest();

    ck_assert_int_eq(ng_checkpoint_open(&checkpoint, path, &error), NG_OK);

    const int64_t bytes = checkpoint.bytes;

    ng_checkpoint_close(&checkpoint);
    free(path);
    ng_optimizer_free(optimizer);
    return bytes;
}

START_TEST(size)
{
    const int64_t fp32 = size_of(&storages[0]);
    const int64_t coded = size_of(flash);

    ck_assert_int_gt(fp32, INT64_C(12) * (2 * 131072 + 512));
    ck_assert_msg(100 * coded <= 43 * fp32, "%" PRId64 " of %" PRId64, coded,
                  fp32);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *tcase = tcase_create("checkpoint");

    tcase_add_checked_fixture(tcase, scratch_make, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, resume_is_bit_identical);
    tcase_add_test(tcase, run_resumes);
    tcase_add_test(tcase, run_refuses_another);
    tcase_add_test(tcase, damaged_shard);
    tcase_add_test(tcase, damaged_manifest);
    tcase_add_test(tcase, forged_manifest);
    tcase_add_test(tcase, latest_is_the_highest);
    tcase_add_test(tcase, same_step_is_replaced);
    tcase_add_test(tcase, stopped_half_way);
    tcase_add_test(tcase, killed_at_any_moment);
    tcase_add_test(tcase, no_space);
    tcase_add_test(tcase, size);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
