/* SPDX-License-Identifier: Apache-2.0
 *
 * What a training run refuses: configurations that cannot be, texts too short or
 * cut off meanwhile, checkpoints of other runs and forged ones, a disk and ranks
 * that fail. A status, one line with file and field, and the last checkpoint as
 * it was. And what it takes at the ends of its range.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <check.h>
#include <inttypes.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/failing_calls.h"
#include "conformance/checks/failing_memory.h"
#include "conformance/checks/scratch.h"
#include "formats/files/tensor_file.h"
#include "reference/model/recipe.h"
#include "reference/train/checkpoint.h"
#include "reference/train/checkpoint_files.h"
#include "reference/train/convergence.h"
#include "reference/train/train.h"
#include "reference/train/train_config.h"
#include "reference/train/train_parts.h"
#include "reference/train/trigram.h"

static const char yaml[] = "run: none\n"
                           "seed: 7\n"
                           "steps: 4\n"
                           "model:\n"
                           "  vocabulary: 256\n"
                           "  hidden: 16\n"
                           "  layers: 2\n"
                           "  length: 16\n"
                           "  attention: mla\n"
                           "  heads: 2\n"
                           "  q_rank: 8\n"
                           "  kv_rank: 8\n"
                           "  nope_dim: 4\n"
                           "  rope_dim: 4\n"
                           "  v_dim: 4\n"
                           "  ffn: 16\n"
                           "  dense_layers: 1\n"
                           "  experts: 3\n"
                           "  shared_experts: 1\n"
                           "  top_k: 2\n"
                           "  expert_ffn: 8\n"
                           "data: {train: none, validation_share: 0.1}\n"
                           "batch: {sequence: 8, sequences: 1, shards: 2}\n"
                           "optimizer: {lr: 0.003}\n"
                           "schedule: {warmup: 2}\n"
                           "evaluation: {every: 2, sequences: 3}\n"
                           "checkpoint: {every: 2, keep: 3, shard_mib: 1}\n";

static ng_recipe recipe;
static ng_error error;

static void write_yaml(const char *more)
{
    char all[4096];

    snprintf(all, sizeof all, "%s%s", yaml, more);
    scratch_write("c.yaml", all, strlen(all));
}

static void set_up(void)
{
    char text[3000];

    scratch_make();
    for (size_t i = 0; i < sizeof text; i++) /* some structure, some not */
        text[i] = "the rain in spain falls "[i * i / 7 % 24];
    scratch_write("text", text, sizeof text);
    scratch_write("short", text, 50);
    scratch_write("other", text + 1000, 1000);
    write_yaml("");
    ck_assert_int_eq(ng_recipe_open(&recipe, "bf16", &error), NG_OK);
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
}

static void clear(void)
{
    ng_recipe_free(&recipe);
    scratch_remove();
}

static void expect(ng_status got, ng_status want, const char *words)
{
    ck_assert_msg(got == want, "want \"%s\", got \"%s\": %s",
                  ng_status_text(want), ng_status_text(got), error.text);
    ck_assert_msg(strstr(error.text, words) != NULL, "want \"%s\", got \"%s\"",
                  words, error.text);
    ck_assert_ptr_null(strchr(error.text, '\n'));
}

/* The configuration of `run` over the text, and what `set` (or null) changes. */
static ng_status read_config(ng_train_config *config, const char *set)
{
    char in[600], out[600];
    const char *assignments[3] = {in, out, set};

    snprintf(in, sizeof in, "data.train=%s", scratch_path("text"));
    snprintf(out, sizeof out, "run=%s", scratch_path("run"));
    return ng_train_config_read(config, scratch_path("c.yaml"), assignments,
                                set != NULL ? 3 : 2, &error);
}

static ng_train_config config_with(const char *set)
{
    ng_train_config config;

    ck_assert_msg(read_config(&config, set) == NG_OK, "%s", error.text);
    return config;
}

static ng_status start(ng_train **train, const ng_train_config *config,
                       const char *resume)
{
    const ng_train_options options = {.backend = ng_backend_reference(),
                                      .comm = ng_comm_self(),
                                      .resume = resume};

    return ng_train_create(train, config, &recipe, &options, &error);
}

/* From its start, or `resume`, to step `until`; the loss of an evaluation. */
static ng_status run(const ng_train_config *config, const char *resume,
                     int64_t until, double *loss)
{
    ng_train *train = NULL;
    ng_status status = start(&train, config, resume);

    if (status == NG_OK)
        status = ng_train_run(NULL, train, until, &error);
    if (status == NG_OK && loss != NULL)
        status = ng_train_evaluate(loss, train, &error);
    ng_train_free(train);
    return status;
}

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

/* ---- checkpoints --------------------------------------------------------- */

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
    Suite *suite = suite_create("train, refusals");
    TCase *tcase = tcase_create("refusals");

    tcase_add_checked_fixture(tcase, set_up, clear);
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, configurations, 0,
                        (int)(sizeof settings / sizeof *settings));
    tcase_add_test(tcase, too_large);
    tcase_add_test(tcase, texts);
    tcase_add_test(tcase, text_cut_off);
    tcase_add_test(tcase, unreadable_tokens);
    tcase_add_loop_test(tcase, forged, 0,
                        (int)(sizeof forgeries / sizeof *forgeries));
    tcase_add_test(tcase, resumed);
    tcase_add_test(tcase, several_shards);
    tcase_add_test(tcase, kept_in_the_way);
    tcase_add_test(tcase, failing_disk);
    tcase_add_test(tcase, trap_new_directories_last);
    tcase_add_test(tcase, samples);
    tcase_add_test(tcase, ranks);
    tcase_add_test(tcase, logs);
#ifdef FAILING_MEMORY
    tcase_add_test(tcase, trigram_memory);
    tcase_add_test(tcase, memory);
#endif
    suite_add_tcase(suite, tcase);
    return scratch_run(suite);
}
