/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/own_kernels.h"
#include "conformance/cli/stop_signal.h"
#include "conformance/cli/study_pool.h"
#include "conformance/cli/train_progress.h"
#include "formats/files/atomic_write.h"
#include "formats/files/checksum.h"
#include "reference/train/checkpoint.h"
#include "reference/train/convergence.h"
#include "reference/train/train.h"
#include "reports/convergence_page.h"

enum {
    MAX_SET = 64,
    MAX_RECIPES = 8,
    MAX_SEEDS = 17,
    MAX_LIST = 1024,
    KEY_SET = 256,
    KEY_SHARD,
    KEY_TIMEOUT
};

typedef struct arguments {
    const char *config, *out, *recipes;
    const char *set[MAX_SET];
    int n_set;
    int64_t seeds, jobs, shard, n_shards;
    double timeout;
    bool json, quiet, sharded;
} arguments;

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0, "What to train (YAML; configs/ has some)", 0},
    {"recipes", 'r', "A,B,...", 0,
     "Recipes, or recipe files; the others are compared with the first "
     "(default bf16,fp8,mxfp4)",
     0},
    {"seeds", 's', "N", 0, "Seeds of each, 1 to 17 (default 3)", 0},
    {"out", 'o', "DIR", 0, "Where runs and results go", 0},
    {"jobs", 'J', "N", 0,
     "Runs side by side, a process each, 1 to 64 (default 1); they share the "
     "processors",
     0},
    {"shard", KEY_SHARD, "I/N", 0,
     "Train only every Nth run, from the Ith on, and write no results: for "
     "machines that share DIR",
     0},
    {"set", KEY_SET, "FIELD=VALUE", 0, "Set a field of the configuration", 0},
    {"timeout", KEY_TIMEOUT, "S", 0,
     "Seconds that a kernel of a recipe's own may take for a call (10)", 0},
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
    case 'J':
        a->jobs =
            ng_command_number(state, "--jobs", value, 1, NG_STUDY_MAX_JOBS);
        break;
    case KEY_SHARD:
        ng_command_shard(&a->shard, &a->n_shards, state, value);
        a->sharded = true;
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
    case KEY_TIMEOUT:
        a->timeout = ng_timeout_option(state, value);
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
    "What do recipes do to convergence? Train each of them with each seed and "
    "compare the losses. A study that was stopped or killed goes on where it "
    "was when it is started again; a run that is done is not repeated."
    "\vDIR gets a run's directory for each recipe and seed, convergence.json, "
    ".md, .gp and, where gnuplot is found, .svg.\n\n"
    "Example:\n"
    "  narrowgauge study --config configs/tiny-moe.yaml \\\n"
    "    --recipes bf16,fp8,mxfp4 --seeds 3 --jobs 9 --out study\n\n"
    "Exit status: 0 done; 2 usage or unreadable input; 3 a kernel of a recipe's "
    "own failed; 4 the environment, or stopped by a signal; 77 a recipe cannot "
    "run here.",
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

/* ---- a run -------------------------------------------------------------- */

typedef struct study {
    const arguments *arguments;
    char *names[MAX_RECIPES];
    int n_recipes;
} study;

/* Seeds first, so that a part of a study is a study with fewer seeds. */
static int64_t n_runs(const study *s)
{
    return s->n_recipes * s->arguments->seeds;
}

static int recipe_of(const study *s, int64_t run)
{
    return (int)(run % s->n_recipes);
}

static int64_t seed_of(const study *s, int64_t run)
{
    return run / s->n_recipes;
}

/* A run of it: begun, gone on with, or read if it is done. */
typedef struct job {
    ng_train_config config;
    ng_recipe recipe;
} job;

/* Keep a run for this process, as long as *lock is open: two that train it at
 * the same time would write into the same log. */
static int lock(int *lock, const job *j)
{
    const char *run = j->config.run;
    ng_error error = {{0}};
    const ng_status status = ng_train_make_directory(run, &error);

    if (status != NG_OK)
        return failed(status, &error);
    *lock = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return ng_complain(NG_EXIT_ENVIRONMENT, "study", "%s: %s", run,
                           strerror(errno));
    /* Not every file system locks a directory: only another's lock counts. */
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return NG_EXIT_OK;
    close(*lock);
    return ng_complain(NG_EXIT_ENVIRONMENT, "study",
                       "%s: another process trains it", run);
}

/* Whether its log is that of the whole run: then its checkpoints may be gone. */
static bool is_done(const job *j)
{
    char log[2 * NG_TRAIN_MAX_TEXT];
    json_t *read = NULL;
    bool done = false;

    snprintf(log, sizeof log, "%s/log.jsonl", j->config.run);
    if (ng_convergence_read(&read, log, NULL) == NG_OK) {
        const json_t *at = json_object_get(read, "evaluated_at");
        const json_t *last = json_array_get(at, json_array_size(at) - 1);
        const char *recipe = json_string_value(json_object_get(read, "recipe"));

        done = json_integer_value(last) == j->config.steps
               && json_integer_value(json_object_get(read, "seed"))
                      == j->config.seed
               && recipe != NULL && strcmp(recipe, j->recipe.name) == 0;
    }
    json_decref(read);
    return done;
}

/* A run that is there must be of this configuration, recipe and text: else the
 * study would report others' losses. One that says nothing of them is taken. */
static int check_log(const job *j)
{
    char path[2 * NG_TRAIN_MAX_TEXT], own[NG_CHECKSUM_TEXT], *text = NULL;
    ng_error error = {{0}};
    size_t room = 0;
    json_t *start = NULL;
    const char *has;
    FILE *log;
    ng_status status = NG_OK;
    bool same = true;

    snprintf(path, sizeof path, "%s/log.jsonl", j->config.run);
    log = fopen(path, "r");
    if (log == NULL)
        return NG_EXIT_OK;
    if (getline(&text, &room, log) > 0)
        start = json_loads(text, 0, NULL);
    fclose(log);
    free(text);
    has = json_string_value(json_object_get(start, "configuration"));
    if (has != NULL) {
        status = ng_train_configuration(own, &j->config, &j->recipe, &error);
        same = status != NG_OK || strcmp(own, has) == 0;
    }
    json_decref(start);
    if (status != NG_OK)
        return failed(status, &error);
    return same ? NG_EXIT_OK
                : ng_complain(NG_EXIT_USAGE, "study",
                              "%s: configuration: is not the one of this run; "
                              "give another --out",
                              path);
}

/* Train it to its end; NG_EXIT_ENVIRONMENT if a signal came first. */
static int train(const job *j, const arguments *a)
{
    ng_backend backend = *ng_backend_reference();
    ng_own_subjects own;
    ng_train_printer printer;
    ng_error error = {{0}};
    ng_train *run = NULL;
    char *checkpoint = NULL;
    bool stopped = false;
    ng_status status = ng_checkpoint_latest(&checkpoint, j->config.run, &error);

    if (status == NG_OK && checkpoint == NULL && is_done(j))
        return NG_EXIT_OK;
    backend.own = ng_own_subjects_begin(&own, a->timeout);
    ng_train_printer_begin(&printer, a->quiet);

    const ng_train_options train_options = {.backend = &backend,
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
    ng_own_subjects_end(&own);
    free(checkpoint);
    if (status != NG_OK)
        return failed(status, &error);
    return stopped ? ng_complain(NG_EXIT_ENVIRONMENT, "study",
                                 "%s: stopped; start the study again to go on",
                                 j->config.run)
                   : NG_EXIT_OK;
}

/* The configuration and the recipe of a run; nothing to free on failure. */
static int open_job(job *j, const study *s, int64_t run)
{
    const arguments *a = s->arguments;
    ng_train_config *config = &j->config;
    ng_error error = {{0}};
    ng_status status =
        ng_train_config_read(config, a->config, a->set, a->n_set, &error);

    if (status != NG_OK)
        return failed(status, &error);
    config->seed += seed_of(s, run);
    if (config->steps
            % (config->evaluate_every > 0 ? config->evaluate_every
                                          : config->steps + 1)
        != 0)
        return ng_complain(NG_EXIT_USAGE, "study",
                           "%s: evaluation.every: does not divide steps, so "
                           "that the end is not evaluated",
                           a->config);
    status = ng_recipe_open(&j->recipe, s->names[recipe_of(s, run)], &error);
    if (status != NG_OK)
        return failed(status, &error);
    if ((size_t)snprintf(config->run, sizeof config->run, "%s/%s-%" PRId64,
                         a->out, j->recipe.name, config->seed)
        < sizeof config->run)
        return NG_EXIT_OK;
    ng_recipe_free(&j->recipe);
    return ng_complain(NG_EXIT_USAGE, "study", "--out: %s: too long", a->out);
}

static int train_run(const study *s, int64_t run)
{
    job j;
    int descriptor = -1, exit_status = open_job(&j, s, run);

    if (exit_status != NG_EXIT_OK)
        return exit_status;
    if (!s->arguments->quiet)
        fprintf(stderr, "%s\n", j.config.run);
    exit_status = lock(&descriptor, &j);
    if (exit_status == NG_EXIT_OK) {
        exit_status = check_log(&j);
        if (exit_status == NG_EXIT_OK)
            exit_status = train(&j, s->arguments);
        close(descriptor);
    }
    ng_recipe_free(&j.recipe);
    return exit_status;
}

static int read_run(json_t *runs, const study *s, int64_t run)
{
    char log[2 * NG_TRAIN_MAX_TEXT];
    ng_error error = {{0}};
    json_t *read = NULL;
    job j;
    ng_status status;
    const int exit_status = open_job(&j, s, run);

    if (exit_status != NG_EXIT_OK)
        return exit_status;
    snprintf(log, sizeof log, "%s/log.jsonl", j.config.run);
    ng_recipe_free(&j.recipe);
    status = ng_convergence_read(&read, log, &error);
    if (status != NG_OK)
        return failed(status, &error);
    json_array_append_new(runs, read);
    return NG_EXIT_OK;
}

/* ---- all of them -------------------------------------------------------- */

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

static void name_run(char *text, size_t size, int64_t run, void *context)
{
    const study *s = context;

    snprintf(text, size, "%s, seed %" PRId64 " of %" PRId64,
             s->names[recipe_of(s, run)], seed_of(s, run) + 1,
             s->arguments->seeds);
}

/* Side by side first. Then, or at once, one after the other: those that are done
 * are seen to be. */
static int train_all(study *s, int argc, char *const *argv)
{
    const arguments *a = s->arguments;
    const ng_study_pool pool = {.argc = argc,
                                .argv = argv,
                                .n_runs = n_runs(s),
                                .shard = a->shard,
                                .n_shards = a->n_shards,
                                .at_once = a->jobs,
                                .quiet = a->quiet,
                                .name = name_run,
                                .context = s};
    int exit_status = a->jobs > 1 ? ng_study_pool_run(&pool) : NG_EXIT_OK;

    for (int64_t run = a->shard;
         run < pool.n_runs && exit_status == NG_EXIT_OK && a->jobs == 1;
         run += a->n_shards)
        exit_status = train_run(s, run);
    return exit_status;
}

/* The report has the recipes one after the other. */
static int report(const study *s)
{
    json_t *runs = json_array();
    int exit_status = NG_EXIT_OK;

    for (int recipe = 0; recipe < s->n_recipes; recipe++)
        for (int64_t seed = 0;
             seed < s->arguments->seeds && exit_status == NG_EXIT_OK; seed++)
            exit_status = read_run(runs, s, seed * s->n_recipes + recipe);
    if (exit_status == NG_EXIT_OK)
        exit_status = write_results(
            s->arguments,
            ng_convergence_report(runs, s->n_recipes, s->arguments->seeds));
    json_decref(runs);
    return exit_status;
}

/* A run's directory has its recipe's name: no two recipes may have the same (one
 * given twice is itself). One that cannot be opened is told of by its run. */
static int check_names(const study *s)
{
    char names[MAX_RECIPES][NG_RECIPE_MAX_NAME] = {""};

    for (int i = 0; i < s->n_recipes; i++) {
        ng_recipe recipe;

        if (ng_recipe_open(&recipe, s->names[i], NULL) != NG_OK)
            continue;
        snprintf(names[i], sizeof names[i], "%s", recipe.name);
        ng_recipe_free(&recipe);
        for (int j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0
                && strcmp(s->names[i], s->names[j]) != 0)
                return ng_complain(NG_EXIT_USAGE, "study",
                                   "--recipes: %s and %s are both named %s",
                                   s->names[j], s->names[i], names[i]);
    }
    return NG_EXIT_OK;
}

int ng_cmd_study(int argc, char **argv)
{
    char recipes[MAX_LIST];
    arguments a = {
        .recipes = "bf16,fp8,mxfp4", .seeds = 3, .jobs = 1, .n_shards = 1,
        .timeout = NG_DEFAULT_TIMEOUT};
    study s = {.arguments = &a};
    int exit_status;

    ng_command_parse(&argp, argc, argv, &a);
    /* Cut in a copy: runs side by side are started with these arguments. */
    s.n_recipes = (size_t)snprintf(recipes, sizeof recipes, "%s", a.recipes)
                          < sizeof recipes
                      ? split(recipes, s.names)
                      : -1;
    if (s.n_recipes < 1)
        return ng_complain(NG_EXIT_USAGE, "study",
                           "--recipes: 1 to %d names with commas between them",
                           MAX_RECIPES);
    exit_status = check_names(&s);
    if (exit_status != NG_EXIT_OK)
        return exit_status;
    ng_stop_catch();
    exit_status = train_all(&s, argc, argv);
    return exit_status == NG_EXIT_OK && !a.sharded ? report(&s) : exit_status;
}
