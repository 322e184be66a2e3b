/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/stop_signal.h"
#include "conformance/cli/train_progress.h"
#include "formats/files/atomic_write.h"
#include "reference/train/checkpoint.h"
#include "reference/train/convergence.h"
#include "reference/train/train.h"
#include "reports/convergence_page.h"

enum { MAX_SET = 64, MAX_RECIPES = 8, MAX_SEEDS = 17, KEY_SET = 256 };

typedef struct arguments {
    const char *config, *out;
    char *recipes;
    const char *set[MAX_SET];
    int n_set;
    int64_t seeds;
    bool json, quiet;
} arguments;

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0, "What to train (YAML; configs/ has some)", 0},
    {"recipes", 'r', "A,B,...", 0,
     "Recipes; the others are compared with the first (default "
     "bf16,fp8,mxfp4)",
     0},
    {"seeds", 's', "N", 0, "Seeds of each, 1 to 17 (default 3)", 0},
    {"out", 'o', "DIR", 0, "Where runs and results go", 0},
    {"set", KEY_SET, "FIELD=VALUE", 0, "Set a field of the configuration", 0},
    {"json", 'j', NULL, 0, "Print the results as JSON", 0},
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
        a->recipes = value;
        break;
    case 's':
        a->seeds = ng_command_number(state, "--seeds", value, 1, MAX_SEEDS);
        break;
    case 'o':
        a->out = value;
        break;
    case 'j':
        a->json = true;
        break;
    case 'q':
        a->quiet = true;
        break;
    case KEY_SET:
        ng_command_list(a->set, &a->n_set, MAX_SET, state, "--set", value);
        break;
    case ARGP_KEY_ARG:
        ng_command_stray(state, value);
    case ARGP_KEY_END:
        if (a->config == NULL)
            ng_command_refuse(state, "--config: is missing");
        if (a->out == NULL)
            ng_command_refuse(state, "--out: is missing");
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
    "What do recipes do to convergence? Train each of them with each seed, one "
    "after the other, and compare the losses. A study that was stopped or "
    "killed goes on where it was when it is started again."
    "\vDIR gets a run's directory for each recipe and seed, convergence.json, "
    ".md, .gp and, where gnuplot is found, .svg.\n\n"
    "Example:\n"
    "  narrowgauge study --config configs/tiny-moe.yaml --recipes "
    "bf16,fp8,mxfp4 --seeds 3 --out study\n\n"
    "Exit status: 0 done; 2 usage or unreadable input; 4 the environment, or "
    "stopped by a signal; 77 a recipe cannot run here.",
    NULL,
    NULL,
    NULL};

static int failed(ng_status status, const ng_error *error)
{
    return ng_complain_status("study", status, error);
}

/* Cut the list at its commas. Returns how many, or -1 for too many. */
static int split(char *list, char *names[MAX_RECIPES])
{
    int n = 0;
    char *rest = NULL;

    for (char *name = strtok_r(list, ",", &rest); name != NULL;
         name = strtok_r(NULL, ",", &rest)) {
        if (n == MAX_RECIPES)
            return -1;
        names[n++] = name;
    }
    return n;
}

/* A run of the study: begun, gone on with, or read if it is done. */
typedef struct job {
    const arguments *arguments;
    ng_train_config config;
    ng_recipe recipe;
} job;

/* Train it to its end; NG_EXIT_ENVIRONMENT if a signal came first. */
static int train(job *j)
{
    ng_train_printer printer;
    ng_error error = {{0}};
    ng_train *run = NULL;
    char *checkpoint = NULL;
    bool stopped = false;
    struct stat facts;
    ng_status status = NG_OK;

    if (stat(j->config.run, &facts) == 0)
        status = ng_checkpoint_latest(&checkpoint, j->config.run, &error);
    ng_train_printer_begin(&printer, j->arguments->quiet);

    const ng_train_options train_options = {.backend = ng_backend_reference(),
                                            .comm = ng_comm_self(),
                                            .resume = checkpoint,
                                            .stop = &ng_stop,
                                            .progress = ng_train_print,
                                            .context = &printer};

    if (status == NG_OK)
        status = ng_train_create(&run, &j->config, &j->recipe, &train_options,
                                 &error);
    if (status == NG_OK)
        status = ng_train_run(&stopped, run, j->config.steps, &error);
    ng_train_printer_end(&printer);
    ng_train_free(run);
    free(checkpoint);
    if (status != NG_OK)
        return failed(status, &error);
    return stopped ? ng_complain(NG_EXIT_ENVIRONMENT, "study",
                                 "%s: stopped; start the study again to go on",
                                 j->config.run)
                   : NG_EXIT_OK;
}

static int add_run(json_t *runs, job *j, const char *recipe, int64_t seed)
{
    const arguments *a = j->arguments;
    char log[2 * NG_TRAIN_MAX_TEXT];
    ng_error error = {{0}};
    json_t *run = NULL;
    int exit_status;
    ng_status status =
        ng_train_config_read(&j->config, a->config, a->set, a->n_set, &error);

    if (status == NG_OK)
        status = ng_recipe_open(&j->recipe, recipe, &error);
    if (status != NG_OK)
        return failed(status, &error);
    j->config.seed += seed;
    if ((size_t)snprintf(j->config.run, sizeof j->config.run, "%s/%s-%" PRId64,
                         a->out, j->recipe.name, j->config.seed)
        >= sizeof j->config.run)
        return ng_complain(NG_EXIT_USAGE, "study", "--out: %s: too long",
                           a->out);
    if (j->config.steps
            % (j->config.evaluate_every > 0 ? j->config.evaluate_every
                                            : j->config.steps + 1)
        != 0)
        return ng_complain(NG_EXIT_USAGE, "study",
                           "%s: evaluation.every: does not divide steps, so "
                           "that the end is not evaluated",
                           a->config);
    if (!a->quiet)
        fprintf(stderr, "%s\n", j->config.run);
    exit_status = train(j);
    ng_recipe_free(&j->recipe);
    if (exit_status != NG_EXIT_OK)
        return exit_status;
    snprintf(log, sizeof log, "%s/log.jsonl", j->config.run);
    status = ng_convergence_read(&run, log, &error);
    if (status != NG_OK)
        return failed(status, &error);
    json_array_append_new(runs, run);
    return NG_EXIT_OK;
}

static int write_results(const arguments *a, json_t *report)
{
    char path[4096];
    bool plotted;
    ng_atomic_file file;
    ng_error error = {{0}};
    ng_status status;

    if (report == NULL)
        return ng_complain(NG_EXIT_ENVIRONMENT, "study", "out of memory");
    snprintf(path, sizeof path, "%s/convergence.json", a->out);
    status = ng_atomic_begin(&file, path, &error);
    if (status == NG_OK) {
        json_dumpf(report, file.stream, JSON_INDENT(1));
        fputc('\n', file.stream);
        status = ng_atomic_commit(&file, &error);
    }
    if (status == NG_OK)
        status = ng_convergence_page_write(&plotted, report, a->out, &error);
    if (status != NG_OK) {
        json_decref(report);
        return failed(status, &error);
    }
    if (a->json)
        return ng_print_json(report);
    json_decref(report);
    printf("%s/convergence.md%s\n", a->out,
           plotted ? "" : " (no plot: gnuplot failed or is not here)");
    return NG_EXIT_OK;
}

static int run_all(const arguments *a, char *const *names, int n)
{
    job j = {.arguments = a};
    json_t *runs = json_array();
    int exit_status = NG_EXIT_OK;

    ng_stop_catch();
    for (int i = 0; i < n; i++)
        for (int64_t seed = 0; seed < a->seeds && exit_status == NG_EXIT_OK;
             seed++)
            exit_status = add_run(runs, &j, names[i], seed);
    if (exit_status == NG_EXIT_OK)
        exit_status =
            write_results(a, ng_convergence_report(runs, n, a->seeds));
    json_decref(runs);
    return exit_status;
}

int ng_cmd_study(int argc, char **argv)
{
    char standard[] = "bf16,fp8,mxfp4";
    char *names[MAX_RECIPES];
    arguments a = {.recipes = standard, .seeds = 3};

    ng_command_parse(&argp, argc, argv, &a);

    const int n = split(a.recipes, names);

    if (n < 1)
        return ng_complain(NG_EXIT_USAGE, "study",
                           "--recipes: 1 to %d names with commas between them",
                           MAX_RECIPES);
    return run_all(&a, names, n);
}
