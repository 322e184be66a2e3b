/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of a training loop refuse, and what they do on a disk that is
 * full or fails: a status, one line that names file and field, and the file or
 * run as it was before.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* RTLD_NEXT */
#endif
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "conformance/checks/checkpoint_fixture.h"
#include "conformance/checks/failing_calls.h"
#include "conformance/checks/optimizer_fixture.h"
#include "reference/train/data.h"
#include "reference/train/study.h"
#include "reference/train/study_coding.h"
#include "reference/train/study_model.h"
#include "reference/train/study_run.h"
#include "reference/train/train_log.h"

static void expect_line(const char *path, const char *what)
{
    char line[512];

    snprintf(line, sizeof line, "%s/%s: %s", scratch, path, what);
    ck_assert_str_eq(error.text, line);
}

/* ---- logs ------------------------------------------------------------------ */

static const char lines[] = "{\"step\":1}\n{\"step\":2}\n";

static void expect_log(const char *want)
{
    size_t size;
    unsigned char *bytes = scratch_read(&size, scratch_path("log"));

    bytes[size] = '\0';
    ck_assert_str_eq((char *)bytes, want);
    free(bytes);
}

static void expect_log_refused(int64_t size, const char *what)
{
    ng_train_log log = {.descriptor = -7};

    ck_assert_int_eq(ng_train_log_open(&log, scratch_path("log"), size, &error),
                     NG_BAD_FILE);
    expect_line("log", what);
    ck_assert_int_eq(log.descriptor, -7);
}

/* A resumed run does not make the log that it misses, nor cut a line in two. */
START_TEST(trap_log_of_another_run)
{
    expect_log_refused(11, "open: No such file or directory");
    ck_assert_int_eq(scratch_count(), 0);
    scratch_write("log", lines, sizeof lines - 1);
    expect_log_refused(10, "log: no line ends at byte 10, where the checkpoint "
                           "knows one");
    expect_log_refused(33, "log: has 22 bytes, the checkpoint knows 33");
    expect_log(lines);
}
END_TEST

/* Two runs in one directory: the second changes nothing of the first. */
START_TEST(trap_log_of_two_runs)
{
    json_t *line = json_pack("{s:i}", "step", 1);
    ng_train_log log;

    ck_assert_int_eq(ng_train_log_open(&log, scratch_path("log"), 0, &error),
                     NG_OK);
    ck_assert_int_eq(ng_train_log_line(&log, line, &error), NG_OK);
    expect_log_refused(0, "lock: Device or resource busy: another process "
                          "writes it");
    expect_log("{\"step\":1}\n");
    ck_assert_int_eq(ng_train_log_close(&log, &error), NG_OK);
    ck_assert_int_eq(ng_train_log_open(&log, scratch_path("log"), 11, &error),
                     NG_OK);
    ck_assert_int_eq(ng_train_log_close(&log, &error), NG_OK);
    json_decref(line);
}
END_TEST

/* Neither waited for nor taken for a file. */
START_TEST(log_that_is_no_file)
{
    ck_assert_int_eq(mkfifo(scratch_path("log"), 0666), 0);
    expect_log_refused(0, "open: is not a regular file");
    ck_assert_int_eq(unlink(scratch_path("log")), 0);
    ck_assert_int_eq(mkdir(scratch_path("log"), 0777), 0);
    expect_log_refused(0, "open: Is a directory");
}
END_TEST

START_TEST(log_that_cannot_be_cut)
{
    scratch_write("log", lines, sizeof lines - 1);
    fail_call(FAIL_FTRUNCATE, 0);
    expect_log_refused(11, "cut: Input/output error");
    ck_assert(fail_calls_no_more());
    fail_call(FAIL_PREAD, 0);
    expect_log_refused(11, "read: Input/output error");
    ck_assert(fail_calls_no_more());
    expect_log(lines);
}
END_TEST

/* A line that does not fit is taken back whole; the next one that does follows
 * the one before. (Nothing is asserted under the limit.) */
START_TEST(log_on_a_full_disk)
{
    json_t *first = json_pack("{s:i}", "step", 1);
    json_t *long_one = json_pack("{s:s}", "words", "more than there is room "
                                 "for, by far and in every respect");
    json_t *last = json_pack("{s:i}", "step", 2);
    struct rlimit limit;
    ng_train_log log;
    ng_error full = {{0}};

    ck_assert_int_eq(ng_train_log_open(&log, scratch_path("log"), 0, &error),
                     NG_OK);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);

    const struct rlimit small = {30, limit.rlim_max};
    const int set = setrlimit(RLIMIT_FSIZE, &small);
    ng_status status[3];

    status[0] = ng_train_log_line(&log, first, &error);
    status[1] = ng_train_log_line(&log, long_one, &full);
    status[2] = ng_train_log_line(&log, last, &error);
    const int unset = setrlimit(RLIMIT_FSIZE, &limit);

    ck_assert(set == 0 && unset == 0);
    ck_assert(status[0] == NG_OK && status[1] == NG_BAD_FILE
              && status[2] == NG_OK);
    error = full;
    expect_line("log", "write: File too large");
    ck_assert_int_eq(log.size, 22);
    ck_assert_int_eq(ng_train_log_close(&log, &error), NG_OK);
    expect_log(lines);
    json_decref(first);
    json_decref(long_one);
    json_decref(last);
}
END_TEST

/* A log is not well until it is synced and closed; closed it is either way. */
START_TEST(log_that_cannot_be_closed)
{
    static const enum failing_call kinds[] = {FAIL_FSYNC, FAIL_CLOSE};
    static const char *const whats[] = {"sync: Input/output error",
                                        "close: Input/output error"};

    for (int i = 0; i < 2; i++) {
        const char *path = scratch_path("log");
        ng_train_log log;

        ck_assert_int_eq(ng_train_log_open(&log, path, 0, &error), NG_OK);
        const int descriptor = log.descriptor;
        fail_call(kinds[i], 0);
        ck_assert_int_eq(ng_train_log_close(&log, &error), NG_BAD_FILE);
        ck_assert(fail_calls_no_more());
        expect_line("log", whats[i]);
        ck_assert_int_eq(log.descriptor, -1);
        ck_assert_int_eq(fcntl(descriptor, F_GETFD), -1);
        ck_assert_int_eq(ng_train_log_close(&log, &error), NG_OK); /* idle */
    }
}
END_TEST

START_TEST(numbers_of_json)
{
    static const double x[] = {INFINITY, -INFINITY, NAN};
    static const char *const text[] = {"inf", "-inf", "nan"};

    for (int i = 0; i < 3; i++) {
        json_t *number = ng_json_number(x[i]);

        ck_assert_str_eq(json_string_value(number), text[i]);
        json_decref(number);
    }
}
END_TEST

/* ---- texts and runs -------------------------------------------------------- */

static const char words[] =
    "It was the best of times, it was the worst of times, it was the age of "
    "wisdom, it was the age of foolishness";
static ng_text text = {(uint8_t *)words, sizeof words};
static ng_study_setting setting = {.text = "THE-TEXT", .seeds = 1, .steps = 4,
                                   .batch = 3, .warmup = 2, .final_lr = 0.1,
                                   .evaluations = 1, .evaluated = 5};
static ng_study_task task = {.kind = NG_ADAMW, .hyper = fixture_hyper,
                             .recipes = {&ng_study_recipes[2]}, .n_recipes = 1};
static ng_study_job job = {&setting, &task, &ng_study_recipes[2], &text, 3};

static void expect_no_run(ng_status status, const char *line)
{
    ng_study_run *run = (ng_study_run *)(void *)&error;

    ck_assert_int_eq(ng_study_run_create(&run, &job, &error), status);
    ck_assert_str_eq(error.text, line);
    ck_assert_ptr_eq(run, (void *)&error);
}

START_TEST(runs_that_cannot_be)
{
    text.n = 18;                /* 1 to validate on, 17 to train on */

    ng_study_run *run;
    double loss;

    ck_assert_int_eq(ng_study_run_create(&run, &job, &error), NG_OK);
    ck_assert_int_eq(ng_study_run_step(&loss, run, &error), NG_OK);
    ck_assert(isfinite(loss) && isfinite(ng_study_run_evaluate(run)));
    ng_study_run_free(run);
    text.n = 17;
    expect_no_run(NG_BAD_SHAPE, "THE-TEXT: text: 17 bytes are too few");
    text.n = sizeof words;
    task.hyper.beta1 = 1.0;
    expect_no_run(NG_BAD_VALUE, "group: beta1: 1 is outside [0, 1)");
}
END_TEST

/* A step with numbers that will not do is no step. */
START_TEST(step_that_cannot_be)
{
    ng_study_run *run;
    double loss;

    ck_assert_int_eq(ng_study_run_create(&run, &job, &error), NG_OK);
    task.hyper.lr = NAN;
    ck_assert_int_eq(ng_study_run_step(&loss, run, &error), NG_BAD_VALUE);
    ck_assert_str_eq(error.text, "group 0: lr: nan is not finite in FP32");
    ck_assert_int_eq(ng_study_run_steps(run), 0);
    ck_assert_int_eq(ng_study_run_save(run, root(), &error), NG_BAD_VALUE);
    ck_assert_str_eq(error.text,
                     "optimizer: group.0.lr: nan is not finite in FP32");
    ck_assert_int_eq(scratch_count(), 0);
    ng_study_run_free(run);
}
END_TEST

static void expect_not_resumed(const char *path, const char *file,
                               const char *what)
{
    ng_study_run *run, *twin;

    ck_assert_int_eq(ng_study_run_create(&run, &job, &error), NG_OK);
    ck_assert_int_eq(ng_study_run_create(&twin, &job, &error), NG_OK);
    ck_assert_int_eq(ng_study_run_resume(run, scratch_path(path), &error),
                     NG_BAD_FILE);
    expect_line(file, what);
    ck_assert_int_eq(ng_study_run_steps(run), 0);
    fixture_expect_equal(ng_study_run_optimizer(run),
                         ng_study_run_optimizer(twin));
    ng_study_run_free(run);
    ng_study_run_free(twin);
}

/* Whatever the samples or the learning rates depend on must be the same. */
START_TEST(trap_resumed_as_another)
{
    static const char path[] = "root/step-0000000001";
    ng_study_run *run;
    double loss;

    expect_not_resumed(path, "root/step-0000000001/manifest.json",
                       "open: No such file or directory");
    ck_assert_int_eq(ng_study_run_create(&run, &job, &error), NG_OK);
    ck_assert_int_eq(ng_study_run_step(&loss, run, &error), NG_OK);
    ck_assert_int_eq(ng_study_run_save(run, root(), &error), NG_OK);
    ng_study_run_free(run);

#define ANOTHER(lvalue, value, name)                                         \
    do {                                                                     \
        const __typeof__(lvalue) was = lvalue;                               \
        lvalue = value;                                                      \
        expect_not_resumed(path, path, "state: \"" name "\" is not this "    \
                                       "run's");                             \
        lvalue = was;                                                        \
    } while (0)
    ANOTHER(task.kind, NG_ADAM, "optimizer");
    ANOTHER(job.recipe, &ng_study_recipes[4], "recipe");
    ANOTHER(job.seed, 4, "seed");
    ANOTHER(setting.batch, 4, "batch");
    ANOTHER(text.n, sizeof words - 1, "text");
    ANOTHER(setting.steps, 5, "steps");
    ANOTHER(setting.warmup, 1, "warmup");
    ANOTHER(setting.final_lr, 0.2, "final_lr");
    ANOTHER(task.hyper.lr, 0.02, "lr");

    /* The tensors are refused by the name of the shard they are in. */
    ng_checkpoint_writer writer;
    ng_checkpoint opened;
    ng_tensor_file tensors;

    ck_assert_int_eq(ng_checkpoint_open(&opened, scratch_path(path), &error),
                     NG_OK);
    ck_assert_int_eq(ng_checkpoint_load(&tensors, &opened, "optimizer", &error),
                     NG_OK);
    tensors.metadata[0].value[0] = '9';
    ck_assert_int_eq(ng_checkpoint_begin(&writer, root(), 1, &error), NG_OK);
    ck_assert_int_eq(ng_checkpoint_add(&writer, "optimizer", &tensors, &error),
                     NG_OK);
    ck_assert_int_eq(ng_checkpoint_commit(&writer, opened.state, &error),
                     NG_OK);
    expect_not_resumed(path, "root/step-0000000001/optimizer.safetensors",
                       "optimizer.version: \"9\", where this optimizer has 1");
    ng_tensor_file_free(&tensors);
    ng_checkpoint_close(&opened);
}
END_TEST

/* ---- studies ----------------------------------------------------------------- */

static int64_t told, total;

static void listen(void *context, const char *what, int64_t done, int64_t all)
{
    (void)context, (void)what;
    told = done;
    total = all;
}

static ng_status study(json_t **out, const char *log, const char *checkpoints)
{
    const ng_study_options options = {.log = log, .checkpoints = checkpoints,
                                      .threads = 1, .progress = listen};

    strcpy(setting.text, scratch_path("text"));
    if (access(setting.text, F_OK) != 0)
        scratch_write("text", words, sizeof words);
    setting.n_tasks = 1;
    setting.tasks[0] = task;
    *out = NULL;
    return ng_study_optimizers(out, &setting, &options, &error);
}

static void expect_no_study(const char *log, const char *checkpoints,
                            const char *line)
{
    json_t *out;

    ck_assert_int_eq(study(&out, log, checkpoints), NG_BAD_FILE);
    ck_assert_str_eq(error.text, line);
    ck_assert_ptr_null(out);
}

START_TEST(studies_that_cannot_be)
{
    static char longest[4096];
    char line[512];

    memset(longest, 'd', sizeof longest - 10);
    ck_assert(strlen(longest) < 4096);
    snprintf(line, sizeof line, "adamw-flash-1: %s/none/adamw-flash-1.jsonl: "
             "open: No such file or directory", scratch);
    expect_no_study(scratch_path("none"), NULL, line);
    snprintf(line, sizeof line, "adamw-flash-1: %s/none/adamw-flash-1: "
             "directory: No such file or directory", scratch);
    expect_no_study(NULL, scratch_path("none"), line);

    /* A path that does not fit is no other path. */
    json_t *out;

    ck_assert_int_eq(study(&out, longest, NULL), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "ddd: name: too long"));
    ck_assert_int_eq(study(&out, NULL, longest), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "ddd: name: too long"));
    ck_assert_int_eq(scratch_count(), 1);

    task.hyper.eps = 0.0;
    ck_assert_int_eq(study(&out, NULL, NULL), NG_BAD_VALUE);
    ck_assert_str_eq(error.text, "adamw-flash-1: group: eps: 0 is not positive "
                                 "in FP32");
}
END_TEST

/* The log's disk fills up: the run ends there, with the name of the log. */
START_TEST(study_on_a_full_disk)
{
    struct rlimit limit;
    json_t *out;
    char line[512];

    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(study(&out, NULL, NULL), NG_OK);
    json_decref(out);

    const struct rlimit small = {80, limit.rlim_max};
    const int set = setrlimit(RLIMIT_FSIZE, &small);
    const ng_status status = study(&out, scratch, NULL);
    const int unset = setrlimit(RLIMIT_FSIZE, &limit);

    ck_assert(set == 0 && unset == 0);
    ck_assert_int_eq(status, NG_BAD_FILE);
    snprintf(line, sizeof line, "adamw-flash-1: %s/adamw-flash-1.jsonl: write: "
             "File too large", scratch);
    ck_assert_str_eq(error.text, line);
    ck_assert_ptr_null(out);
}
END_TEST

/* A run whose weights become NaN ends early: what it did not do is NaN in the
 * report, and the progress reaches its total all the same. */
START_TEST(run_that_diverges)
{
    json_t *out;

    setting.steps = 60;
    setting.warmup = 0;
    setting.evaluations = 6;
    task.kind = NG_SGD;
    task.hyper.lr = 1e30;
    ck_assert_int_eq(study(&out, NULL, NULL), NG_OK);

    const json_t *run = json_array_get(json_object_get(out, "runs"), 0);
    const json_t *valid = json_object_get(run, "valid");
    const json_t *taken = json_object_get(run, "steps");

    ck_assert(json_is_true(json_object_get(run, "diverged")));
    ck_assert_uint_eq(json_array_size(valid), 7);
    ck_assert_str_eq(json_string_value(json_array_get(valid, 6)), "nan");
    ck_assert_int_eq(json_integer_value(taken), 10);
    ck_assert_int_eq(told, 7);
    ck_assert_int_eq(total, 7);
    json_decref(out);
}
END_TEST

/* States that are coded already cannot be measured; of none there are no rows. */
START_TEST(measured_states)
{
    ng_optimizer *coded = fixture_make(NG_ADAMW, flash, false);
    ng_optimizer *none = fixture_empty(NG_ADAMW, flash);
    ng_optimizer *lion = fixture_make(NG_LION, &storages[0], false);
    json_t *rows = json_array();

    ck_assert_int_eq(ng_study_measure_coding(rows, coded, 1, 1e-8, &error),
                     NG_BAD_DTYPE);
    ck_assert_str_eq(error.text, "coding: bad element type");
    ck_assert_int_eq(ng_study_measure_coding(rows, none, 1, 1e-8, &error),
                     NG_OK);
    ck_assert_uint_eq(json_array_size(rows), 0);
    fixture_step(lion, 0);
    ck_assert_int_eq(ng_study_measure_coding(rows, lion, 1, 1e-8, &error),
                     NG_OK);
    ck_assert_uint_eq(json_array_size(rows), 4);    /* momentum, four ways */
    for (size_t i = 0; i < 4; i++)
        ck_assert_str_eq(json_string_value(json_object_get(
                             json_array_get(rows, i), "state")), "momentum");
    json_decref(rows);
    ng_optimizer_free(coded);
    ng_optimizer_free(none);
    ng_optimizer_free(lion);
}
END_TEST

/* ---- configurations ----------------------------------------------------------- */

static void expect_setting(const char *member, const char *value,
                           const char *what)
{
    static const char whole[] =
        "{\"text\": [], \"seeds\": 2, \"steps\": 10, \"batch\": 4, "
        "\"warmup\": 2, \"final_lr\": 0.1, \"evaluations\": 2, "
        "\"evaluated\": 8, \"optimizers\": [{\"optimizer\": \"lion\", "
        "\"recipes\": [\"fp32\"], \"lr\": 0.1}]}";
    json_t *object = json_loads(whole, 0, NULL);
    ng_study_setting read = {.seeds = 77};

    json_object_set_new(object, member,
                        json_loads(value, JSON_DECODE_ANY, NULL));

    char *bytes = json_dumps(object, 0);
    const ng_status status = ng_study_setting_read(
        &read, scratch_write("c.json", bytes, strlen(bytes)), &error);

    free(bytes);
    json_decref(object);
    if (what == NULL) {
        ck_assert_int_eq(status, NG_OK);
        setting = read;
        return;
    }
    ck_assert_int_eq(status, NG_BAD_FILE);
    expect_line("c.json", what);
    ck_assert_int_eq(read.seeds, 77);
}

START_TEST(settings)
{
    scratch_write("c.json", "[1]", 3);
    ck_assert_int_eq(ng_study_setting_read(&setting, scratch_path("c.json"),
                                           &error), NG_BAD_FILE);
    expect_line("c.json", "configuration: is not an object");
    expect_setting("text", "[3]", "text: entry 1 is no text");
    expect_setting("final_lr", "1.5",
                   "final_lr: is not a number in 0 .. 1");
#define OPTIMIZER(rest, what) \
    expect_setting("optimizers", "[{\"optimizer\": \"adamw\", " rest "}]", what)
    OPTIMIZER("\"recipes\": [], \"lr\": 1",
              "recipes: is not an array of 1 to 6 names");
    OPTIMIZER("\"recipes\": \"fp32\"",
              "recipes: is not an array of 1 to 6 names");
    OPTIMIZER("\"recipes\": [3]", "recipes: entry 1 is no recipe");
    OPTIMIZER("\"nesterov\": 1",
              "optimizers: \"nesterov\": unknown, or of a wrong type");
    expect_setting("optimizers", "[{\"optimizer\": \"sgd\", \"recipes\": "
                   "[\"fp32\"], \"lr\": 1, \"momentum\": 0.9, \"nesterov\": "
                   "true}]", NULL);
    ck_assert(setting.tasks[0].hyper.nesterov);
}
END_TEST

/* What no optimizer would take is refused here, not when its turn comes. */
START_TEST(trap_setting_that_no_run_takes)
{
    OPTIMIZER("\"recipes\": [\"fp32\"], \"lr\": 1",
              "optimizers: adamw: eps: 0 is not positive in FP32");
    OPTIMIZER("\"recipes\": [\"fp32\"], \"eps\": 1e-8, \"beta1\": 1",
              "optimizers: adamw: beta1: 1 is outside [0, 1)");
}
END_TEST

/* Two runs of one name would write one log and one root. */
START_TEST(trap_runs_of_one_name)
{
    OPTIMIZER("\"recipes\": [\"fp32\", \"flash\", \"fp32\"], \"eps\": 1",
              "recipes: \"fp32\" is there twice");
    expect_setting("optimizers",
                   "[{\"optimizer\": \"lion\", \"recipes\": [\"fp32\"]},"
                   " {\"optimizer\": \"sgd\", \"recipes\": [\"fp32\"]},"
                   " {\"optimizer\": \"lion\", \"recipes\": [\"flash\"]}]",
                   "optimizers: \"lion\" is there twice");
}
END_TEST

/* A pattern's first match may be a directory; the first file counts. */
START_TEST(trap_directory_before_the_text)
{
    char patterns[600], want[300];

    ck_assert_int_eq(mkdir(scratch_path("t1"), 0777), 0);
    scratch_write("t2", words, sizeof words);
    scratch_write("t3", words, sizeof words);
    snprintf(patterns, sizeof patterns, "[\"%s/t*\", \"%s/t3\"]", scratch,
             scratch);
    expect_setting("text", patterns, NULL);
    snprintf(want, sizeof want, "%s/t2", scratch);
    ck_assert_str_eq(setting.text, want);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("train_refusals");
    TCase *tcase = tcase_create("train_refusals");

    tcase_add_checked_fixture(tcase, scratch_make, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, trap_log_of_another_run);
    tcase_add_test(tcase, trap_log_of_two_runs);
    tcase_add_test(tcase, log_that_is_no_file);
    tcase_add_test(tcase, log_that_cannot_be_cut);
    tcase_add_test(tcase, log_on_a_full_disk);
    tcase_add_test(tcase, log_that_cannot_be_closed);
    tcase_add_test(tcase, numbers_of_json);
    tcase_add_test(tcase, runs_that_cannot_be);
    tcase_add_test(tcase, step_that_cannot_be);
    tcase_add_test(tcase, trap_resumed_as_another);
    tcase_add_test(tcase, studies_that_cannot_be);
    tcase_add_test(tcase, study_on_a_full_disk);
    tcase_add_test(tcase, run_that_diverges);
    tcase_add_test(tcase, measured_states);
    tcase_add_test(tcase, settings);
    tcase_add_test(tcase, trap_setting_that_no_run_takes);
    tcase_add_test(tcase, trap_runs_of_one_name);
    tcase_add_test(tcase, trap_directory_before_the_text);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
