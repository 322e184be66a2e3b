/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints that a training run refuses, of other runs and forged ones; a disk
 * that fails; and those that are taken.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "conformance/checks/failing_calls.h"
#include "conformance/checks/failing_memory.h"
#include "conformance/checks/train_refusals.h"
#include "formats/files/tensor_file.h"
#include "reference/train/checkpoint.h"
#include "reference/train/checkpoint_files.h"

/* Step 2 of `run` written anew as another, after a change of its state, its
 * routers' biases or its parameters. All checksums are right. */
static void forge(const char *name,
                  void (*change)(json_t *state, ng_tensor_file *router,
                                 ng_tensor_file *parameters))
{
    ng_tensor_file router = {.n_tensors = 0}, parameters = {.n_tensors = 0};
    ng_checkpoint checkpoint;
    ng_checkpoint_writer writer;

    ck_assert_int_eq(ng_checkpoint_open(&checkpoint,
                                        scratch_path("run/step-0000000002"),
                                        &error),
                     NG_OK);
    ck_assert_int_eq(ng_checkpoint_load(&router, &checkpoint, "router", &error),
                     NG_OK);
    ck_assert_int_eq(ng_checkpoint_load(&parameters, &checkpoint,
                                        "parameters-00000", &error),
                     NG_OK);
    change(checkpoint.state, &router, &parameters);
    ck_assert_int_eq(
        ng_checkpoint_begin(&writer, scratch_path(name), 2, &error), NG_OK);
    ck_assert_int_eq(
        ng_checkpoint_add(&writer, "parameters-00000", &parameters, &error),
        NG_OK);
    ck_assert_int_eq(ng_checkpoint_add(&writer, "router", &router, &error),
                     NG_OK);
    ck_assert_int_eq(ng_checkpoint_commit(&writer, checkpoint.state, &error),
                     NG_OK);
    ng_tensor_file_free(&router);
    ng_tensor_file_free(&parameters);
    ng_checkpoint_close(&checkpoint);
}

static void nothing(json_t *state, ng_tensor_file *router,
                    ng_tensor_file *parameters)
{
    (void)state;
    (void)router;
    (void)parameters;
}

static void many_skipped(json_t *state, ng_tensor_file *router,
                         ng_tensor_file *parameters)
{
    nothing(state, router, parameters);
    json_object_set_new(state, "skipped", json_integer(3));
}

static void log_before_its_start(json_t *state, ng_tensor_file *router,
                                 ng_tensor_file *parameters)
{
    nothing(state, router, parameters);
    json_object_set_new(state, "log", json_integer(-1));
}

static void another_model(json_t *state, ng_tensor_file *router,
                          ng_tensor_file *parameters)
{
    nothing(state, router, parameters);
    json_object_set_new(json_object_get(state, "identity"), "model.hidden",
                        json_integer(32));
}

static void no_identity(json_t *state, ng_tensor_file *router,
                        ng_tensor_file *parameters)
{
    nothing(state, router, parameters);
    json_object_del(state, "identity");
}

static void short_bias(json_t *state, ng_tensor_file *router,
                       ng_tensor_file *parameters)
{
    nothing(state, router, parameters);
    router->tensors[0].shape[0]--;
}

static void endless_bias(json_t *state, ng_tensor_file *router,
                         ng_tensor_file *parameters)
{
    nothing(state, router, parameters);
    ((float *)router->tensors[0].data)[1] = INFINITY;
}

static void renamed(json_t *state, ng_tensor_file *router,
                    ng_tensor_file *parameters)
{
    char *name = parameters->tensors[0].name;

    nothing(state, router, parameters);
    name[0] = name[0] == 'x' ? 'y' : 'x';
}

static const struct {
    void (*change)(json_t *state, ng_tensor_file *router,
                   ng_tensor_file *parameters);
    ng_status status;
    const char *words;
} forgeries[] = {
    {many_skipped, NG_BAD_FILE, "state: log or skipped is no such number"},
    {log_before_its_start, NG_BAD_FILE,
     "state: log or skipped is no such number"},
    {another_model, NG_BAD_FILE,
     "model.hidden: the checkpoint has 32, this run 16"},
    {no_identity, NG_BAD_FILE, ": the checkpoint has none, this run "},
    {short_bias, NG_BAD_FILE, "tensor \"router.bias\": shape: is not F32 [3]"},
    {endless_bias, NG_BAD_VALUE, "router bias 1: not finite"},
    {renamed, NG_BAD_FILE, "forged/step-0000000002"},
};

START_TEST(forged)
{
    const ng_train_config config = config_with(NULL);
    char from[300];
    ng_train *train = NULL;

    ck_assert_msg(run(&config, NULL, 2, NULL) == NG_OK, "%s", error.text);
    snprintf(from, sizeof from, "%s/forged", scratch);
    forge("forged", forgeries[_i].change);
    expect(start(&train, &config, from), forgeries[_i].status,
           forgeries[_i].words);
    ck_assert_ptr_null(train);
}
END_TEST

/* Untouched it is as good as the run's own; and nowhere is no checkpoint. */
START_TEST(resumed)
{
    const ng_train_config config = config_with(NULL);
    double loss[2];
    char from[300];

    ck_assert_int_eq(run(&config, NULL, 2, &loss[0]), NG_OK);
    snprintf(from, sizeof from, "%s/copy", scratch);
    forge("copy", nothing);
    ck_assert_int_eq(run(&config, from, 2, &loss[1]), NG_OK);
    ck_assert_double_eq(loss[0], loss[1]);
    expect(run(&config, scratch_path("nowhere"), 4, NULL), NG_BAD_FILE,
           "/nowhere: resume: there is no checkpoint");
    expect(run(&config, scratch_path("text"), 4, NULL), NG_BAD_FILE, "/text: ");
}
END_TEST

/* Parameters over 1 MiB are several shards, and one run again. */
START_TEST(several_shards)
{
    ng_train_config config = config_with("model.vocabulary=8192");
    double whole, part;

    config.model.hidden = 32;
    ck_assert_msg(run(&config, NULL, 3, &whole) == NG_OK, "%s", error.text);
    ck_assert_int_eq(access(scratch_path("run/step-0000000002/"
                                         "parameters-00001.safetensors"),
                            F_OK),
                     0);
    ck_assert_msg(run(&config, scratch_path("run/step-0000000002"), 3, &part)
                      == NG_OK,
                  "%s", error.text);
    ck_assert_double_eq(part, whole);
}
END_TEST

/* A checkpoint that cannot be taken away stays, by name. */
START_TEST(kept_in_the_way)
{
    const ng_train_config config = config_with(NULL);
    char name[2][64], path[2][400], full[200], want[900];

    ck_assert_int_eq(run(&config, NULL, 4, NULL), NG_OK);
    ng_checkpoint_step_names(name[0], name[1], sizeof name[0], 2);
    for (int i = 0; i < 2; i++)
        snprintf(path[i], sizeof path[i], "%s/run/%s", scratch, name[i]);
    ck_assert_int_eq(mkdir(path[1], 0777), 0);
    snprintf(full, sizeof full, "run/%s/full", name[1]);
    scratch_write(full, "x", 1);
    snprintf(want, sizeof want, "%s: remove: ", path[0]);
    expect(ng_checkpoint_keep(scratch_path("run"), 4, 1, &error), NG_BAD_FILE,
           want);
    ck_assert_int_eq(access(path[0], F_OK), 0);
#ifdef FAILING_MEMORY
    for (int n = 0; n < 3; n++) {
        ng_status status;

        fail_at(n);
        status = ng_checkpoint_keep(scratch_path("run"), 4, 1, &error);
        fail_no_more();
        ck_assert_int_ne(status, NG_OK);
        ck_assert_int_eq(access(path[0], F_OK), 0);
    }
#endif
}
END_TEST

/* Every sync of a run in turn fails: the run ends there, and what was whole
 * before leads to the same end. */
START_TEST(failing_disk)
{
    const ng_train_config config = config_with(NULL);
    double want, loss;
    char from[300];
    int failures = 0;

    ck_assert_int_eq(run(&config, NULL, 4, &want), NG_OK);
    snprintf(from, sizeof from, "%s/run/step-0000000002", scratch);
    for (int n = 0;; n++) {
        ng_status status;

        fail_call(FAIL_FSYNC, n);
        status = run(&config, from, 4, NULL);
        if (!fail_calls_no_more())
            break;
        if (status == NG_OK) /* of a shard's directory, which is synced again */
            continue;
        failures++;
        expect(status, NG_BAD_FILE, "/run");
    }
    ck_assert_int_gt(failures, 3);
    ck_assert_int_eq(run(&config, from, 4, &loss), NG_OK);
    ck_assert_double_eq(loss, want);
}
END_TEST

/* A loss of power must not take the directory with the checkpoints in it: each
 * name that is made is synced where it stands, here two. */
START_TEST(trap_new_directories_last)
{
    fail_call(FAIL_FSYNC, 1); /* the second one, which changes nothing */
    ck_assert_int_eq(ng_train_make_directory(scratch_path("a/b"), &error),
                     NG_OK);
    ck_assert(fail_calls_no_more());
    ck_assert_int_eq(access(scratch_path("a/b"), F_OK), 0);
    ck_assert_int_eq(rmdir(scratch_path("a/b")), 0);
    ck_assert_int_eq(rmdir(scratch_path("a")), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("checkpoints");

    tcase_add_loop_test(tcase, forged, 0,
                        (int)(sizeof forgeries / sizeof *forgeries));
    tcase_add_test(tcase, resumed);
    tcase_add_test(tcase, several_shards);
    tcase_add_test(tcase, kept_in_the_way);
    tcase_add_test(tcase, failing_disk);
    tcase_add_test(tcase, trap_new_directories_last);
    return run_refusals(tcase);
}
