/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/own_kernels.h"
#include "conformance/cli/ranks.h"
#include "conformance/cli/stop_signal.h"
#include "conformance/cli/subject_option.h"
#include "conformance/cli/train_progress.h"
#include "reference/train/train.h"
#include "reference/train/train_log.h"

enum {
    MAX_SET = 64,
    KEY_RESUME = 256,
    KEY_EXPLAIN,
    KEY_SET,
    KEY_SAMPLE,
    KEY_RANKS,
    KEY_TIMEOUT,
    KEY_FIELDS
};

typedef struct arguments {
    const char *config, *recipe, *backend, *resume, *prompt;
    const char *set[MAX_SET];
    int n_set;
    int64_t steps, ranks;
    double timeout;
    bool explain, sample, fields, json, quiet;
} arguments;

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0, "What to train (YAML; configs/ has some)", 0},
    {"recipe", 'r', "R", 0, "bf16, fp8, mxfp4, or a recipe file", 0},
    {"backend", 'b', "B", 0, "reference (default)", 0},
    {"resume", KEY_RESUME, "DIR", 0,
     "Go on from a run's last checkpoint, or from a checkpoint", 0},
    {"steps", 'n', "N", 0, "Stop after step N; schedules stay as they are", 0},
    {"set", KEY_SET, "FIELD=VALUE", 0, "Set a field of the configuration", 0},
    {"sample", KEY_SAMPLE, "TEXT", 0,
     "Train nothing: print how the model goes on with TEXT", 0},
    {"explain", KEY_EXPLAIN, NULL, 0,
     "Train nothing: print the flow of a layer, parameters and memory", 0},
    {"ranks", KEY_RANKS, "N", 0, "Ranks that --explain counts with", 0},
    {"timeout", KEY_TIMEOUT, "S", 0,
     "Seconds that a kernel of the recipe's own may take for a call (10)", 0},
    {"fields", KEY_FIELDS, NULL, 0, "List the fields of a configuration", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {"quiet", 'q', NULL, 0, "No progress", 0},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    switch (key) {
    case 'c':
        a->config = value;
        break;
    case 'r':
        a->recipe = value;
        break;
    case 'b':
        a->backend = value;
        break;
    case 'n':
        a->steps = ng_command_number(state, "--steps", value, 1, 1000000000);
        break;
    case 'j':
        a->json = true;
        break;
    case 'q':
        a->quiet = true;
        break;
    case KEY_RESUME:
        a->resume = value;
        break;
    case KEY_EXPLAIN:
        a->explain = true;
        break;
    case KEY_FIELDS:
        a->fields = true;
        break;
    case KEY_SAMPLE:
        a->sample = true;
        a->prompt = value;
        break;
    case KEY_RANKS:
        a->ranks = ng_command_number(state, "--ranks", value, 1, 1000000);
        break;
    case KEY_TIMEOUT:
        a->timeout = ng_timeout_option(state, value);
        break;
    case KEY_SET:
        ng_command_list(a->set, &a->n_set, MAX_SET, state, "--set", value);
        break;
    case ARGP_KEY_ARG:
        ng_command_stray(state, value);
    case ARGP_KEY_END:
        if (a->config == NULL && !a->fields)
            ng_command_refuse(state, "--config: is missing");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Train a mixture-of-experts model: the run that a configuration describes, "
    "in a directory of its own with a log (log.jsonl) and checkpoints. SIGINT "
    "and SIGTERM end it after the step under way, with a checkpoint; a run "
    "that "
    "was killed goes on from its last one, bit for bit. Under mpirun the ranks "
    "share data and experts; no bit depends on how many there are."
    "\vExamples:\n"
    "  configs/prepare_text.sh text.txt\n"
    "  narrowgauge train --config configs/tiny-moe.yaml --recipe mxfp4\n"
    "  narrowgauge train --config configs/tiny-moe.yaml --recipe mxfp4 \\\n"
    "    --resume runs/tiny-moe\n"
    "  narrowgauge train --config configs/tiny-moe.yaml --recipe mxfp4 \\\n"
    "    --resume runs/tiny-moe --sample 'The file '\n"
    "  narrowgauge train --config configs/deepseek-v3.yaml --explain\n"
    "  mpirun -n 2 narrowgauge train --config configs/tiny-moe.yaml \\\n"
    "    --set run=runs/two\n\n"
    "Exit status: 0 done, or stopped with a checkpoint; 1 the loss is not "
    "finite; 2 usage or unreadable input; 3 a kernel of the recipe's own "
    "failed; 4 the environment; 77 the backend or the recipe cannot run here.",
    NULL,
    NULL,
    NULL};

/* What a command works with. */
typedef struct job {
    const arguments *arguments;
    ng_train_config config;
    ng_recipe recipe;
    ng_ranks ranks;
    const ng_comm *comm;
    ng_backend backend;
    ng_own_subjects own;
    ng_train *train;
    ng_train_printer printer;
} job;

static int failed(ng_status status, const ng_error *error)
{
    return ng_complain_status("train", status, error);
}

static int list_fields(bool json)
{
    static const char *const kinds[] = {"whole", "number", "flag", "choice",
                                        "text"};
    json_t *list = json_array();

    for (int i = 0; i < ng_train_schema.n_fields; i++) {
        const ng_yaml_field *f = &ng_train_schema.fields[i];

        if (json)
            json_array_append_new(
                list, json_pack("{s:s, s:s, s:s, s:b}", "name", f->name, "type",
                                kinds[f->kind], "meaning", f->meaning,
                                "required", f->required));
        else {
            printf("%-27s %-7s %s%s", f->name, kinds[f->kind], f->meaning,
                   f->required ? " (required)" : "");
            for (int c = 0; f->kind == NG_YAML_CHOICE && f->choices[c] != NULL;
                 c++)
                printf("%s%s",
                       c == 0 ? f->meaning[0] == '\0' ? "" : ": " : ", ",
                       f->choices[c]);
            putchar('\n');
        }
    }
    if (json)
        return ng_print_json(list);
    json_decref(list);
    return NG_EXIT_OK;
}

/* Bytes of a parameter between steps, as formats/optim.h has them. Its gradient
 * is the model's: the optimizer holds one parameter's at a time. */
static double optimizer_bytes(const ng_train_config *config)
{
    const ng_optimizer_kind kind = (ng_optimizer_kind)config->optimizer;
    const bool sgd = kind == NG_SGD || kind == NG_SGDW;
    const int states = kind == NG_ADAM || kind == NG_ADAMW       ? 2
                       : sgd && (float)config->hyper.momentum == 0.0f ? 0
                                                                 : 1;

    return config->states == NG_TRAIN_FLASH
               ? 2.0 + 1.0 + states * (1.0 + 2.0 / NG_STATE_GROUP)
               : 4.0 + states * 4.0;
}

static int explain(const job *j)
{
    const arguments *a = j->arguments;
    ng_error error = {{0}};
    const ng_explain_setting setting = {
        .ranks = a->ranks > 0 ? a->ranks : j->comm->size,
        .sequences = j->config.sequences,
        .length = j->config.sequence,
        .optimizer_bytes = optimizer_bytes(&j->config),
        .json = a->json};
    ng_status status;

    if (j->comm->rank != 0)
        return NG_EXIT_OK;
    status = ng_model_explain(stdout, &j->config.model, &j->recipe, &setting,
                              &error);
    return status == NG_OK ? NG_EXIT_OK : failed(status, &error);
}

static int sample(job *j)
{
    const arguments *a = j->arguments;
    ng_error error = {{0}};
    char *text = NULL;
    const ng_status status = ng_train_sample(&text, j->train, a->prompt,
                                             j->config.sample_tokens, &error);

    if (status != NG_OK)
        return failed(status, &error);
    if (j->comm->rank == 0 && a->json)
        ng_print_json(json_pack("{s:I, s:s}", "step",
                                (json_int_t)ng_train_step_of(j->train), "text",
                                text));
    else if (j->comm->rank == 0)
        printf("%s\n", text);
    free(text);
    return NG_EXIT_OK;
}

/* The last word: rank 0's alone. loss is that of an evaluation, of step `at`; at
 * -1: of none in this run, and nothing is said against it. */
static int sum_up(const job *j, double loss, int64_t at, bool stopped)
{
    const int64_t step = ng_train_step_of(j->train);
    const double trigram = ng_train_trigram(j->train);
    const bool finite = at < 0 || isfinite(loss);
    const int exit_status = finite ? NG_EXIT_OK : NG_EXIT_DIFFERENCE;

    if (j->comm->rank != 0)
        return exit_status;
    if (j->arguments->json)
        return ng_print_json(json_pack(
                   "{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:I, s:b}", "run",
                   j->config.run, "recipe", j->recipe.name, "backend",
                   j->backend.name, "step", (json_int_t)step, "steps",
                   (json_int_t)j->config.steps, "evaluation",
                   ng_json_number(loss), "trigram", ng_json_number(trigram),
                   "skipped", (json_int_t)ng_train_skipped(j->train), "stopped",
                   stopped))
                       == NG_EXIT_OK
                   ? exit_status
                   : NG_EXIT_ENVIRONMENT;
    printf("%s: step %lld of %lld", j->config.run, (long long)step,
           (long long)j->config.steps);
    if (at >= 0)
        printf(", validation loss %.4f", loss);
    if (at >= 0 && at < step)
        printf(" at step %lld", (long long)at);
    if (at >= 0 && isfinite(trigram))
        printf(" (a trigram model: %.4f)", trigram);
    printf(", %lld steps skipped\n", (long long)ng_train_skipped(j->train));
    if (stopped || step < j->config.steps)
        printf("to go on: --resume %s\n", j->config.run);
    if (!finite)
        ng_complain(exit_status, "train", "%s: the loss is not finite",
                    j->config.run);
    return exit_status;
}

/* Who stops a run wants it to end: it is not evaluated once more. */
static int train(job *j)
{
    const arguments *a = j->arguments;
    ng_error error = {{0}};
    bool stopped = false;
    int64_t at = -1;
    double loss;
    ng_status status = ng_train_run(
        &stopped, j->train, a->steps > 0 ? a->steps : j->config.steps, &error);

    ng_train_printer_end(&j->printer); /* before anything else is said */
    loss = ng_train_last_evaluation(j->train, &at);
    if (status == NG_OK && !stopped && at != ng_train_step_of(j->train)) {
        at = ng_train_step_of(j->train);
        status = ng_train_evaluate(&loss, j->train, &error);
    }
    return status == NG_OK ? sum_up(j, loss, at, stopped)
                           : failed(status, &error);
}

/* The backend, with the kernels that recipes name. */
static void take_reference(job *j)
{
    j->backend = *ng_backend_reference();
    j->backend.own = ng_own_subjects_begin(&j->own, j->arguments->timeout);
}

static int open_backend(job *j)
{
    const char *name = j->arguments->backend;

    if (strcmp(name, "reference") == 0) {
        take_reference(j);
        return NG_EXIT_OK;
    }
    if (strcmp(name, "cuda") == 0)
        return ng_complain(NG_EXIT_CANNOT_RUN, "train",
                           "--backend: %s: not in this build", name);
    return ng_complain(NG_EXIT_USAGE, "train", "--backend: %s: no such backend",
                       name);
}

/* All ranks read the same files and come to the same end: one of them speaks.
 */
static int read_all(job *j)
{
    const arguments *a = j->arguments;
    ng_error error = {{0}};
    ng_status status =
        ng_train_config_read(&j->config, a->config, a->set, a->n_set, &error);

    if (status == NG_OK)
        status = ng_recipe_open(
            &j->recipe, a->recipe != NULL ? a->recipe : j->config.recipe,
            &error);
    if (status == NG_OK)
        return j->comm->rank == 0 ? open_backend(j)
               : strcmp(a->backend, "reference") == 0
                   ? (take_reference(j), NG_EXIT_OK)
                   : NG_EXIT_USAGE;
    return j->comm->rank == 0 ? failed(status, &error) : NG_EXIT_USAGE;
}

static int run(job *j)
{
    const arguments *a = j->arguments;
    ng_error error = {{0}};
    int exit_status = ng_ranks_worst(&j->ranks, read_all(j));

    if (exit_status != NG_EXIT_OK)
        return exit_status;
    if (a->explain)
        return explain(j);
    if (a->sample && a->resume == NULL)
        return j->comm->rank == 0 ? ng_complain(NG_EXIT_USAGE, "train",
                                                "--sample: needs --resume")
                                  : NG_EXIT_USAGE;
    ng_train_printer_begin(&j->printer, a->quiet || a->sample);
    ng_stop_catch();

    const ng_train_options train_options = {.backend = &j->backend,
                                            .comm = j->comm,
                                            .resume = a->resume,
                                            .read_only = a->sample,
                                            .stop = &ng_stop,
                                            .progress = ng_train_print,
                                            .context = &j->printer};
    const ng_status status = ng_train_create(&j->train, &j->config, &j->recipe,
                                             &train_options, &error);

    if (status != NG_OK)
        return failed(status, &error);
    exit_status = a->sample ? sample(j) : train(j);
    /* The others wait for a rank that gave up. */
    if (exit_status >= NG_EXIT_USAGE && j->comm->size > 1)
        j->comm->abort(j->comm->context, exit_status);
    ng_train_free(j->train);
    return exit_status;
}

int ng_cmd_train(int argc, char **argv)
{
    static job j;
    arguments a = {.backend = "reference", .timeout = NG_DEFAULT_TIMEOUT};
    ng_error error = {{0}};
    int exit_status;

    ng_command_parse(&argp, argc, argv, &a);
    if (a.fields)
        return list_fields(a.json);
    j.arguments = &a;
    if (ng_ranks_begin(&j.ranks, &error) != NG_OK)
        return ng_complain(NG_EXIT_ENVIRONMENT, "train", "%s", error.text);
    j.comm = ng_ranks_comm(&j.ranks);
    exit_status = j.comm == NULL ? ng_complain(NG_EXIT_ENVIRONMENT, "train",
                                               "narrowgauge-mpi.so: is too old")
                                 : run(&j);
    ng_recipe_free(&j.recipe);
    ng_own_subjects_end(&j.own);
    return ng_ranks_end(&j.ranks, exit_status);
}
