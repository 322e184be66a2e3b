/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a training loop when memory runs out: allocation n of a call
 * fails, for every n that it makes. The line names what was at hand and says
 * "memory", outputs are untouched and nothing is left on disk. Where JSON is
 * read, allocations of jansson, which cannot tell them from bad text, are left
 * alone; where it is made they fail like the others.
 */
#include <check.h>
#include <math.h>

#include "conformance/checks/checkpoint_fixture.h"
#include "conformance/checks/failing_memory.h"
#include "conformance/checks/optimizer_fixture.h"
#include "reference/train/data.h"
#include "reference/train/study.h"
#include "reference/train/study_coding.h"
#include "reference/train/study_losses.h"
#include "reference/train/study_result.h"
#include "reference/train/study_run.h"
#include "reference/train/train_log.h"

#ifdef FAILING_MEMORY
static const char words[] =
    "It was the best of times, it was the worst of times, it was the age of "
    "wisdom, it was the age of foolishness";
static const ng_text text = {(uint8_t *)words, sizeof words};

static ng_study_setting setting = {.seeds = 1, .steps = 2, .batch = 3,
                                   .warmup = 1, .final_lr = 0.1,
                                   .evaluations = 1, .evaluated = 5,
                                   .n_tasks = 1};
static const ng_study_task task = {.kind = NG_ADAMW, .hyper = fixture_hyper,
                                   .recipes = {&ng_study_recipes[2]},
                                   .n_recipes = 1};
static const ng_study_job job = {&setting, &task, &ng_study_recipes[2], &text, 1};

static ng_study_run *run;       /* before its step 1 */
static ng_optimizer *optimizer; /* FP32, after a step */
static ng_tensor_file tensors;
static ng_checkpoint checkpoint;
static ng_train_log log_file;
static json_t *line;
static char log_path[300], text_path[300], step_path[300];

static void set_up(void)
{
    json_set_alloc_funcs(malloc, free);
    scratch_make();
    snprintf(log_path, sizeof log_path, "%s/log", scratch);
    snprintf(text_path, sizeof text_path, "%s/text", scratch);
    snprintf(step_path, sizeof step_path, "%s/root/step-0000000000", scratch);
    scratch_write("text", words, sizeof words);
    strcpy(setting.text, text_path);
    setting.tasks[0] = task;
    setting.tasks[0].kind = NG_SGD;
    setting.tasks[0].recipes[0] = &ng_study_recipes[0];
    setting.tasks[0].n_recipes = 1;
    ck_assert_int_eq(ng_study_run_create(&run, &job, &error), NG_OK);
    ck_assert_int_eq(ng_study_run_save(run, root(), &error), NG_OK);
    ck_assert_int_eq(ng_checkpoint_open(&checkpoint, step_path, &error),
                     NG_OK);
    optimizer = fixture_make(NG_ADAMW, &storages[0], false);
    fixture_step(optimizer, 0);
    tensors = (ng_tensor_file){0};
    ck_assert_int_eq(ng_optimizer_to_tensors(&tensors, optimizer, &error),
                     NG_OK);
    ck_assert_int_eq(ng_train_log_open(&log_file, log_path, 0, &error), NG_OK);
    line = json_pack("{s:i}", "step", 1);
}

static void clear(void)
{
    json_decref(line);
    ck_assert_int_eq(ng_train_log_close(&log_file, &error), NG_OK);
    ng_checkpoint_close(&checkpoint);
    ng_tensor_file_free(&tensors);
    ng_optimizer_free(optimizer);
    ng_study_run_free(run);
    tear_down();
}

/* ---- the calls; nothing is asserted in them, for Check allocates ----------- */

static bool touched;            /* an output, by a call that failed */

static ng_status begin(void)
{
    ng_checkpoint_writer writer;
    const ng_status status = ng_checkpoint_begin(&writer, root(), 7, &error);

    touched = status != NG_OK && (writer.partial != NULL || writer.files != NULL
                                  || writer.root != NULL);
    ng_checkpoint_abandon(&writer);
    return status;
}

static ng_status write_one(void)
{
    ng_checkpoint_writer writer;
    ng_status status = ng_checkpoint_begin(&writer, root(), 7, &error);

    if (status != NG_OK)
        return status;
    status = ng_checkpoint_add(&writer, "a", &tensors, &error);
    if (status == NG_OK)
        return ng_checkpoint_commit(&writer, line, &error);
    ng_checkpoint_abandon(&writer);
    return status;
}

static ng_status latest_path(void)
{
    char *path = NULL;
    const ng_status status = ng_checkpoint_latest(&path, root(), &error);

    touched = status != NG_OK && path != NULL;
    free(path);
    return status;
}

static ng_status open_one(void)
{
    ng_checkpoint opened = {.step = 77};
    const ng_status status = ng_checkpoint_open(&opened, step_path, &error);

    touched = status != NG_OK && opened.step != 77;
    if (status == NG_OK)
        ng_checkpoint_close(&opened);
    return status;
}

static ng_status load_one(void)
{
    ng_tensor_file back = {0};
    const ng_status status =
        ng_checkpoint_load(&back, &checkpoint, "optimizer", &error);

    touched = status != NG_OK && back.tensors != NULL;
    ng_tensor_file_free(&back);
    return status;
}

static ng_status read_text(void)
{
    ng_text read = {0};
    const ng_status status = ng_text_read(&read, text_path, &error);

    touched = status != NG_OK && read.tokens != NULL;
    ng_text_free(&read);
    return status;
}

static ng_status write_line(void)
{
    const int64_t size = log_file.size;
    const ng_status status = ng_train_log_line(&log_file, line, &error);

    touched = status != NG_OK && log_file.size != size;
    return status;
}

static ng_status create_run(void)
{
    ng_study_run *made = NULL;
    const ng_status status = ng_study_run_create(&made, &job, &error);

    touched = status != NG_OK && made != NULL;
    ng_study_run_free(made);
    return status;
}

/* Gradients that were made stay: each time fewer are. */
static ng_status step_run(void)
{
    double loss;
    const int64_t step = ng_study_run_steps(run);
    const ng_status status = ng_study_run_step(&loss, run, &error);

    touched = status != NG_OK && ng_study_run_steps(run) != step;
    return status;
}

static ng_status save_run(void)
{
    return ng_study_run_save(run, scratch_path("root/of"), &error);
}

static ng_status resume_run(void)
{
    return ng_study_run_resume(run, step_path, &error);
}

static ng_status measure(void)
{
    json_t *rows = json_array();

    if (rows == NULL)
        return ng_fail(&error, NG_NO_MEMORY, "memory");

    const ng_status status =
        ng_study_measure_coding(rows, optimizer, 1, 1e-8, &error);

    json_decref(rows);
    return status;
}

static ng_status list_losses(void)
{
    json_t *rows = json_array();

    if (rows == NULL)
        return ng_fail(&error, NG_NO_MEMORY, "memory");

    const ng_status status = ng_study_list_losses(rows, &error);

    json_decref(rows);
    return status;
}

static ng_status whole_study(void)
{
    const ng_study_options options = {.threads = 1};
    json_t *out = NULL;
    const ng_status status =
        ng_study_optimizers(&out, &setting, &options, &error);

    touched = status != NG_OK && out != NULL;
    json_decref(out);
    return status;
}

static const struct call {
    const char *name;
    ng_status (*perform)(void);
    bool reads;                 /* JSON */
    int least;                  /* allocations */
    int stride;                 /* past the first 20; 0: every one fails */
} calls[] = {
    {"begin", begin, false, 4, 0},
    {"write", write_one, false, 60, 3},
    {"latest", latest_path, false, 2, 0},
    {"open", open_one, true, 6, 0},
    {"load", load_one, true, 25, 0},
    {"text", read_text, false, 1, 0},
    {"log line", write_line, false, 2, 0},
    {"create", create_run, false, 40, 0},
    {"step", step_run, false, 3, 0},
    {"save", save_run, false, 100, 7},
    {"resume", resume_run, true, 30, 0},
    {"measure", measure, false, 100, 0},
    {"study", whole_study, false, 100, 7},
    {"losses", list_losses, false, 100, 87},
};
enum { N_CALLS = sizeof calls / sizeof *calls };

/* Take away what a success left, and a partial directory that there was no memory
 * to take away. */
static void clear_success(void)
{
    ck_assert_int_eq(ng_checkpoint_sweep(root(), &error), NG_OK);
    ng_checkpoint_remove(scratch_path("root/step-0000000007"));
    ng_checkpoint_remove(scratch_path("root/of/step-0000000000"));
    ng_checkpoint_remove(scratch_path("root/of"));
}

static void expect_call(const struct call *call, int n)
{
    touched = false;
    strcpy(error.text, "untouched");
    json_set_alloc_funcs(call->reads ? sure_malloc : malloc, free);
    fail_at(n);
    const ng_status status = call->perform();
    const bool did_fail = fail_no_more();
    json_set_alloc_funcs(malloc, free);

    if (status == NG_OK) {              /* stdio can do without its buffer */
        clear_success();
        return;
    }
    ck_assert_msg(did_fail, "%s: %s", call->name, error.text);
    ck_assert_msg(status == NG_NO_MEMORY || status == NG_BAD_FILE,
                  "%s, allocation %d: %s", call->name, n,
                  ng_status_text(status));
    ck_assert_msg(strstr(error.text, "memory") != NULL,
                  "%s, allocation %d: %s", call->name, n, error.text);
    ck_assert_msg(!touched, "%s, allocation %d", call->name, n);
    rmdir(scratch_path("root/of"));     /* a root may be made and stay */
    ck_assert_msg(root_count() == 1 && scratch_count() == 3,
                  "%s, allocation %d: something is left", call->name, n);
}

START_TEST(every_allocation)
{
    int n = 0;

    /* OpenMP ends the program where it cannot start its threads: now it can. */
    if (calls[_i].perform == whole_study)
        expect_call(&calls[_i], -1);
    for (;; n += n < 20 || calls[_i].stride == 0 ? 1 : calls[_i].stride) {
        expect_call(&calls[_i], n);
        if (!memory_failed)
            break;
        /* A study ends with the list of losses, which is a call of its own. */
        if (calls[_i].perform == whole_study
            && strncmp(error.text, "losses", 6) == 0)
            break;
    }
    ck_assert_msg(n >= calls[_i].least, "%s: %d", calls[_i].name, n);
}
END_TEST

/* The report of two made-up runs: whole, or none. */
START_TEST(report)
{
    double curve[2] = {5.5, 5.0};
    json_t *coding = json_pack("[{s:i}]", "step", 1);
    ng_study_result results[2] = {{.job = job, .valid = curve, .train = curve},
                                  {.job = job, .valid = curve, .train = curve,
                                   .coding = coding}};
    const ng_study_setting *s = &setting;
    char *want = NULL;
    int n = 0;

    setting.seeds = 2;
    results[0].bytes.parameters = results[1].bytes.parameters = 1;
    for (n = -1;; n++) {
        fail_at(n);
        json_t *made = ng_study_report(s, &text, results, 2);
        const bool did_fail = fail_no_more();

        if (made != NULL) {
            char *got = json_dumps(made, JSON_INDENT(1));

            if (want == NULL)
                want = got;
            else {
                ck_assert_str_eq(got, want);
                free(got);
            }
            json_decref(made);
        }
        ck_assert((made == NULL) == did_fail);
        if (n >= 0 && !did_fail)
            break;
    }
    ck_assert_int_gt(n, 100);
    free(want);
    json_decref(coding);
    setting.seeds = 1;
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("train_no_memory");
    TCase *tcase = tcase_create("train_no_memory");

#ifdef FAILING_MEMORY
    tcase_add_checked_fixture(tcase, set_up, clear);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, every_allocation, 0, N_CALLS);
    tcase_add_test(tcase, report);
#endif
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
