/* SPDX-License-Identifier: Apache-2.0
 *
 * study-optimizers: run the optimizer study and write its JSON, page and plots.
 * Not installed; `narrowgauge study` will be the public form of it.
 */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/cli/command_store.h"
#include "conformance/cli/progress.h"
#include "formats/files/atomic_write.h"
#include "reference/train/study.h"
#include "reports/optimizer_page.h"

enum { KEY_LOG = 256, KEY_CHECKPOINTS, KEY_PAGE_ONLY, KEY_NO_PAGE };

typedef struct arguments {
    const char *config, *text, *out, *log, *checkpoints;
    int64_t steps, seeds, threads;
    bool page_only, no_page, quiet;
} arguments;

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0,
     "What to run (configs/study-optimizers.json, which is the default)", 0},
    {"text", 't', "FILE", 0, "Train on this text", 0},
    {"steps", 'n', "N", 0, "Steps of a run", 0},
    {"seeds", 's', "N", 0, "Seeds of each recipe, 1 to 17", 0},
    {"threads", 'j', "N", 0, "Runs at a time (default: OpenMP's)", 0},
    {"out", 'o', "DIR", 0, "Where results go (default: reports)", 0},
    {"log", KEY_LOG, "DIR", 0, "A JSON Lines log of each run", 0},
    {"checkpoints", KEY_CHECKPOINTS, "DIR", 0,
     "The last checkpoint of each run", 0},
    {"page-only", KEY_PAGE_ONLY, NULL, 0,
     "Run nothing: page and plots from DIR/optimizers.json", 0},
    {"no-page", KEY_NO_PAGE, NULL, 0, "The JSON alone", 0},
    {"quiet", 'q', NULL, 0, "No progress", 0},
    {0}};

#define AT(member) offsetof(arguments, member)
static const ng_store stores[] = {
    {'c', NG_STORE_TEXT, AT(config), NULL, 0, 0},
    {'t', NG_STORE_TEXT, AT(text), NULL, 0, 0},
    {'n', NG_STORE_NUMBER, AT(steps), "--steps", 1, 1000000000},
    {'s', NG_STORE_NUMBER, AT(seeds), "--seeds", 1, NG_STUDY_MAX_SEEDS},
    {'j', NG_STORE_NUMBER, AT(threads), "--threads", 1, 4096},
    {'o', NG_STORE_TEXT, AT(out), NULL, 0, 0},
    {KEY_LOG, NG_STORE_TEXT, AT(log), NULL, 0, 0},
    {KEY_CHECKPOINTS, NG_STORE_TEXT, AT(checkpoints), NULL, 0, 0},
    {KEY_PAGE_ONLY, NG_STORE_FLAG, AT(page_only), NULL, 0, 0},
    {KEY_NO_PAGE, NG_STORE_FLAG, AT(no_page), NULL, 0, 0},
    {'q', NG_STORE_FLAG, AT(quiet), NULL, 0, 0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    return ng_command_store(stores, (int)(sizeof stores / sizeof *stores), key,
                            value, state);
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Train a small language model with each optimizer, recipe and seed of a "
    "configuration, side by side, and write DIR/optimizers.json, .md, .gp and, "
    "where gnuplot is found, optimizers-NAME.svg."
    "\vExamples:\n"
    "  study-optimizers --seeds 2 --steps 200 --out /tmp/study\n"
    "  study-optimizers --threads 32 --out reports\n"
    "  study-optimizers --page-only --out reports\n\n"
    "Exit status: 0 done; 2 usage or unreadable input; 4 the environment.",
    NULL,
    NULL,
    NULL};

static int complain(int exit_status, const char *text)
{
    fprintf(stderr, "study-optimizers: %s\n", text);
    return exit_status;
}

/* The exit status for an error of the library's. */
static int failed(ng_status status, const ng_error *error)
{
    return complain(status == NG_NO_MEMORY ? NG_EXIT_ENVIRONMENT
                                           : NG_EXIT_USAGE,
                    error->text);
}

static bool make_directory(const char *path)
{
    return path == NULL || mkdir(path, 0777) == 0 || errno == EEXIST;
}

static int read_setting(ng_study_setting *setting, const arguments *a)
{
    ng_error error = {{0}};
    const ng_status status = ng_study_setting_read(setting, a->config, &error);

    if (status != NG_OK)
        return failed(status, &error);
    if (a->steps > 0)
        setting->steps = a->steps;
    if (a->seeds > 0)
        setting->seeds = a->seeds;
    if (a->text != NULL && strlen(a->text) < sizeof setting->text)
        strcpy(setting->text, a->text);
    else if (a->text != NULL)
        return complain(NG_EXIT_USAGE, "--text: too long a name");
    if (setting->text[0] == '\0')
        return complain(NG_EXIT_USAGE,
                        "--text: none of the configuration's texts is here");
    return NG_EXIT_OK;
}

static void show_progress(void *context, const char *what, int64_t done,
                          int64_t total)
{
    ng_progress_update(context, what, done, total);
}

static int run(json_t **study, const arguments *a)
{
    static ng_study_setting setting;
    ng_progress progress;
    ng_error error = {{0}};
    int exit_status = read_setting(&setting, a);

    if (exit_status != NG_EXIT_OK)
        return exit_status;
    ng_progress_begin(&progress, a->quiet, "steps");

    const ng_study_options study_options = {.log = a->log,
                                            .checkpoints = a->checkpoints,
                                            .threads = (int)a->threads,
                                            .progress = show_progress,
                                            .context = &progress};
    const ng_status status =
        ng_study_optimizers(study, &setting, &study_options, &error);

    ng_progress_end(&progress);
    return status == NG_OK ? NG_EXIT_OK : failed(status, &error);
}

static int write_json(const json_t *study, const char *path)
{
    ng_atomic_file file;
    ng_error error = {{0}};
    ng_status status = ng_atomic_begin(&file, path, &error);

    if (status == NG_OK) {
        if (json_dumpf(study, file.stream, JSON_INDENT(1)) == 0
            && fputc('\n', file.stream) != EOF)
            status = ng_atomic_commit(&file, &error);
        else {
            ng_atomic_abandon(&file);
            status = ng_fail(&error, NG_BAD_FILE, "%s: write: failed", path);
        }
    }
    return status == NG_OK ? NG_EXIT_OK
                           : complain(NG_EXIT_ENVIRONMENT, error.text);
}

static int write_page(const json_t *study, const arguments *a)
{
    bool plotted;
    ng_error error = {{0}};

    if (ng_optimizer_page_write(&plotted, study, a->out, &error) != NG_OK)
        return complain(NG_EXIT_ENVIRONMENT, error.text);
    if (!plotted)
        fprintf(stderr,
                "study-optimizers: no plots: gnuplot failed or is not "
                "here (gnuplot optimizers.gp in %s makes them)\n",
                a->out);
    return NG_EXIT_OK;
}

int main(int argc, char **argv)
{
    arguments a = {.config = "configs/study-optimizers.json", .out = "reports"};
    char path[4096];
    json_t *study = NULL;
    json_error_t fault;
    int exit_status = NG_EXIT_OK;

    ng_command_parse(&argp, argc, argv, &a);
    if ((size_t)snprintf(path, sizeof path, "%s/optimizers.json", a.out)
        >= sizeof path)
        return complain(NG_EXIT_USAGE, "--out: too long a name");
    if (!make_directory(a.out) || !make_directory(a.log)
        || !make_directory(a.checkpoints))
        return complain(NG_EXIT_ENVIRONMENT, strerror(errno));
    /* Before any thread makes an object. */
    json_object_seed(0);
    if (a.page_only) {
        study = json_load_file(path, 0, &fault);
        if (study == NULL)
            return complain(NG_EXIT_USAGE, fault.text);
    } else
        exit_status = run(&study, &a);
    if (exit_status == NG_EXIT_OK && !a.page_only)
        exit_status = write_json(study, path);
    if (exit_status == NG_EXIT_OK && !a.no_page)
        exit_status = write_page(study, &a);
    json_decref(study);
    return exit_status;
}
