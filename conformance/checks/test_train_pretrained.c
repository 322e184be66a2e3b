/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that begins with others' weights: those of another run, in files and
 * under names of their own, give its losses bit for bit, on any number of ranks;
 * what does not fit is one line and exit status 2.
 */
#define _XOPEN_SOURCE 700
#include <check.h>
#include <stdlib.h>
#include <sys/wait.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/model_ranks.h"
#include "conformance/checks/scratch.h"
#include "formats/files/safetensors.h"
#include "reference/model/recipe.h"
#include "reference/train/train.h"

static const char yaml[] =
    "run: none\n"
    "seed: 7\n"
    "steps: 3\n"
    "model: {vocabulary: 256, hidden: 32, layers: 2, length: 16,\n"
    "  attention: mla, heads: 2, q_rank: 16, kv_rank: 16, nope_dim: 8,\n"
    "  rope_dim: 8, v_dim: 8, ffn: 32, dense_layers: 1, experts: 5,\n"
    "  shared_experts: 1, top_k: 2, expert_ffn: 16, bias_speed: 0.01,\n"
    "  mtp_depth: 1}\n"
    "data: {train: none, validation_share: 0.1}\n"
    "batch: {sequence: 8, sequences: 2, shards: 2}\n"
    "optimizer: {lr: 0.01}\n"
    "evaluation: {every: 0, sequences: 5}\n";

static ng_recipe recipe;
static ng_error error;

static void set_up(void)
{
    char text[3000];

#ifdef _OPENMP
    omp_set_num_threads(1); /* for so small a model more only wait */
#endif
    scratch_make();
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "the rain in spain falls "[i * i / 7 % 24];
    scratch_write("text", text, sizeof text);
    scratch_write("c.yaml", yaml, sizeof yaml - 1);
    ck_assert_int_eq(ng_recipe_open(&recipe, "mxfp4", &error), NG_OK);
}

static void clear(void)
{
    ng_recipe_free(&recipe);
    scratch_remove();
}

/* The configuration, with other first weights if they are drawn; files: a
 * pattern in the scratch directory, or null. */
static ng_train_config config_of(const char *run, const char *files)
{
    ng_train_config config;
    char text[4][700];
    const char *const set[] = {text[0], text[1], "model.init_std=0.2", text[2],
                               text[3]};

    snprintf(text[0], sizeof text[0], "data.train=%s/text", scratch);
    snprintf(text[1], sizeof text[1], "run=%s/%s", scratch, run);
    snprintf(text[2], sizeof text[2], "pretrained.files=%s/%s", scratch,
             files != NULL ? files : "");
    snprintf(text[3], sizeof text[3], "pretrained.names=%s/map.names", scratch);
    ck_assert_msg(ng_train_config_read(&config, scratch_path("c.yaml"), set,
                                       files != NULL ? 5 : 2, &error)
                      == NG_OK,
                  "%s", error.text);
    return config;
}

/* ---- weights under other names ------------------------------------------- */

/* What spoils the files or the map. */
enum fault { FINE, MISSING, SHAPE, DTYPE, UNKNOWN, NO_LINE, N_FAULTS };

typedef struct writing {
    ng_tensor_file file[2];
    FILE *map;
    int n; /* tensors so far */
    enum fault fault;
} writing;

/* Rows first .. first + rows - 1 of theta as a tensor with a number for a name,
 * in either file in turn. */
static void add(writing *w, const char *name, const float *theta, int rank,
                int64_t rows, int64_t cols, bool last)
{
    const bool here = strcmp(name, "layers.1.router") == 0;
    const int64_t shape[2] = {
        rank == 1 ? cols : rows + (here && w->fault == SHAPE), cols};
    const size_t n = (size_t)(rank == 1 ? cols : shape[0] * cols);
    const bool bad_type = here && w->fault == DTYPE;
    char tensor[32];
    void *data;

    snprintf(tensor, sizeof tensor, "tensor-%d", w->n);
    fprintf(w->map, " %s%s", tensor, last ? "\n" : "");
    w->n++;
    if (here && w->fault == MISSING)
        return;
    ck_assert_int_eq(
        ng_tensor_file_add_tensor(&data, &w->file[w->n % 2], tensor,
                                  bad_type ? NG_U8 : NG_FP32, rank, shape),
        NG_OK);
    memset(data, 0, n * (bad_type ? 1 : sizeof *theta));
    if (!bad_type)
        memcpy(data, theta, (size_t)(rows * cols) * sizeof *theta);
}

static void add_parameter(writing *w, const ng_train *train,
                          const ng_model_parameter *p, int64_t number)
{
    const int64_t rows = p->rank == 1 ? 1 : p->shape[0];
    const int64_t cols = p->n / rows;
    const size_t length = strlen(p->name);
    float *theta = malloc((size_t)p->n * sizeof *theta);

    ck_assert_ptr_nonnull(theta);
    ck_assert_int_eq(
        ng_optimizer_export(theta, ng_train_optimizer(train), number, &error),
        NG_OK);
    if (w->fault == NO_LINE && strcmp(p->name, "layers.1.router") == 0) {
        free(theta);
        return;
    }
    fputs(p->name, w->map);
    if (length > 7 && strcmp(p->name + length - 7, "gate_up") == 0) {
        add(w, p->name, theta, 2, rows / 2, cols, false);
        add(w, p->name, theta + p->n / 2, 2, rows / 2, cols, true);
    } else
        add(w, p->name, theta, p->rank, rows, cols, true);
    free(theta);
}

/* The weights of a run, one rank's, in <stem>-0.safetensors and -1. */
static void export(ng_train *train, const char *stem, enum fault fault)
{
    static const char *const layers[] = {"layers.1", "mtp.0"};
    ng_model *model = ng_train_model(train);
    writing w = {.map = fopen(scratch_path("map.names"), "w"), .fault = fault};
    float bias[2 * 5];

    ck_assert_ptr_nonnull(w.map);
    ck_assert_int_eq(ng_model_n_state(model), 10);
    for (int64_t p = 0; p < ng_model_n_parameters(model); p++)
        add_parameter(&w, train, ng_model_parameter_of(model, p), p);
    ng_model_get_state(bias, model);
    for (int i = 0; i < 2; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s.router_bias", layers[i]);
        fputs(name, w.map);
        add(&w, name, bias + 5 * i, 1, 1, 5, true);
    }
    if (fault == UNKNOWN)
        fputs("layers.1.rooter tensor-1\n", w.map);
    ck_assert_int_eq(fclose(w.map), 0);
    for (int i = 0; i < 2; i++) {
        char path[600];

        snprintf(path, sizeof path, "%s/%s-%d.safetensors", scratch, stem, i);
        ck_assert_msg(ng_safetensors_write(path, &w.file[i], &error) == NG_OK,
                      "%s", error.text);
        ng_tensor_file_free(&w.file[i]);
    }
}

/* ---- runs ---------------------------------------------------------------- */

static void keep_first(void *context, const ng_train_progress *progress)
{
    if (progress->step == 1)
        *(double *)context = progress->loss;
}

typedef struct part {
    const ng_train_config *config;
    int64_t until;
    ng_status status;
    ng_error error;
    double first, evaluated; /* loss of step 1; after the last one */
} part;

static void do_part(void *argument, const ng_comm *comm)
{
    part *p = argument;
    const ng_train_options options = {.backend = ng_backend_reference(),
                                      .comm = comm,
                                      .progress = keep_first,
                                      .context = &p->first};
    ng_train *train = NULL;

#ifdef _OPENMP
    omp_set_num_threads(1); /* a thread's own number */
#endif
    p->status =
        ng_train_create(&train, p->config, &recipe, &options, &p->error);
    if (p->status == NG_OK && p->until > 0)
        p->status = ng_train_run(NULL, train, p->until, &p->error);
    if (p->status == NG_OK)
        p->status = ng_train_evaluate(&p->evaluated, train, &p->error);
    ng_train_free(train);
}

static part run_on(int ranks, const ng_train_config *config, int64_t until)
{
    part parts[MAX_RANKS] = {{.config = NULL}};
    void *arguments[MAX_RANKS];

    for (int r = 0; r < ranks; r++) {
        parts[r] = (part){.config = config, .until = until};
        arguments[r] = &parts[r];
    }
    run_ranks(ranks, do_part, arguments);
    for (int r = 0; r < ranks; r++)
        ck_assert_msg(parts[r].status == NG_OK, "%s", parts[r].error.text);
    return parts[0];
}

/* Train two steps; write the weights before them as "begin", those after as
 * "end". Returns the losses. */
static part donate(enum fault fault)
{
    const ng_train_config config = config_of("donor", NULL);
    part p = {.config = &config};
    const ng_train_options options = {.backend = ng_backend_reference(),
                                      .comm = ng_comm_self(),
                                      .progress = keep_first,
                                      .context = &p.first};
    ng_train *train = NULL;

    ck_assert_msg(ng_train_create(&train, &config, &recipe, &options, &error)
                      == NG_OK,
                  "%s", error.text);
    export(train, "begin", FINE);
    ck_assert_int_eq(ng_train_run(NULL, train, 2, &error), NG_OK);
    export(train, "end", fault);
    ck_assert_int_eq(ng_train_evaluate(&p.evaluated, train, &error), NG_OK);
    ng_train_free(train);
    return p;
}

/* ---- tests --------------------------------------------------------------- */

START_TEST(same_losses)
{
    const part donor = donate(FINE);
    const ng_train_config begin = config_of("begin", "begin-*.safetensors");
    const ng_train_config many = config_of("many", "begin-*.safetensors");
    const ng_train_config end = config_of("end", "end-?.safetensors");
    ng_train_config drawn = config_of("drawn", NULL);
    const part again = run_on(1, &begin, 2);
    part others;

    drawn.model.init_std = begin.model.init_std;
    ck_assert_double_eq(again.first, donor.first);
    ck_assert_double_eq(again.evaluated, donor.evaluated);
    others = run_on(2, &many, 2);
    ck_assert_double_eq(others.first, donor.first);
    ck_assert_double_eq(others.evaluated, donor.evaluated);
    /* the routers' biases have moved by then */
    ck_assert_double_eq(run_on(1, &end, 0).evaluated, donor.evaluated);
    /* and without the files the losses are others */
    ck_assert_double_ne(run_on(1, &drawn, 1).first, donor.first);
}
END_TEST

/* Run the program: one line that says it, exit status 2. */
static void refused(const char *program, const char *files, const char *words)
{
    char command[4000], line[1024] = "", more[16];
    FILE *out;
    int status;

    snprintf(command, sizeof command,
             "'%s' train --config '%s/c.yaml' --quiet --set 'run=%s/x' "
             "--set 'data.train=%s/text' --set 'pretrained.files=%s/%s' "
             "--set 'pretrained.names=%s/map.names' 2>&1",
             program, scratch, scratch, scratch, scratch, files, scratch);
    out = popen(command, "r");
    ck_assert_ptr_nonnull(out);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, out));
    ck_assert_msg(fgets(more, sizeof more, out) == NULL, "%s%s", line, more);
    status = pclose(out);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 2, "%d: %s",
                  status, line);
    ck_assert_msg(strstr(line, words) != NULL, "%s: %s", words, line);
    ck_assert_msg(strstr(line, scratch) != NULL, "no file: %s", line);
}

START_TEST(what_does_not_fit)
{
    static const char *const words[N_FAULTS] = {
        [MISSING] = ": layers.1.router: no tensor \"tensor-",
        [SHAPE] = ": its shape does not fit 5 x 32",
        [DTYPE] = "\": dtype: u8",
        [UNKNOWN] = ": layers.1.rooter: no parameter has this name",
        [NO_LINE] = "map.names: no line for layers.1.router"};
    const char *program = getenv("NARROWGAUGE");
    const ng_train_config config = config_of("x", "end-*.safetensors");
    const ng_train_options options = {.backend = ng_backend_reference(),
                                      .comm = ng_comm_self()};
    ng_train *train = NULL;

    (void)donate((enum fault)_i);
    ck_assert_int_eq(
        ng_train_create(&train, &config, &recipe, &options, &error),
        NG_BAD_FILE);
    ck_assert_msg(strstr(error.text, words[_i]) != NULL, "%s", error.text);
    ck_assert_ptr_null(train);
    if (program != NULL)
        refused(program, "end-*.safetensors", words[_i]);
    if (program != NULL && _i == FINE + 1)
        refused(program, "none-*", ": pretrained.files: there is no such file");
}
END_TEST

/* The map without files, and files without the map. */
START_TEST(one_needs_the_other)
{
    const char *const only[2] = {"pretrained.files=x", "pretrained.names=x"};
    ng_train_config config;

    ck_assert_int_eq(ng_train_config_read(&config, scratch_path("c.yaml"),
                                          &only[_i], 1, &error),
                     NG_BAD_VALUE);
    ck_assert_msg(strstr(error.text, "c.yaml: pretrained.") != NULL
                      && strstr(error.text, "need each other") != NULL,
                  "%s", error.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("train, pretrained");
    TCase *tcase = tcase_create("pretrained");

    tcase_add_checked_fixture(tcase, set_up, clear);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, same_losses);
    tcase_add_loop_test(tcase, what_does_not_fit, FINE + 1, N_FAULTS);
    tcase_add_loop_test(tcase, one_needs_the_other, 0, 2);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
