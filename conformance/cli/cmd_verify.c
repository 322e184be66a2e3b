/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conformance/checks/verify.h"
#include "conformance/checks/verify_json.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/ranks.h"
#include "conformance/cli/replay.h"
#include "conformance/cli/set_option.h"
#include "conformance/cli/subject_machine.h"
#include "conformance/cli/subject_option.h"
#include "conformance/subject/escape.h"
#include "formats/files/atomic_write.h"
#include "reports/verify_report.h"

enum { MAX_LISTED = 64, KEY_SHARD = 256, KEY_SAMPLE, KEY_REPLAY, KEY_ERRORS,
       KEY_JSON, KEY_JUNIT, KEY_REQUIRE, KEY_SET, KEY_STRATUM, KEY_SEED,
       KEY_EXEC, KEY_TIMEOUT, KEY_STOP, KEY_PLAIN, KEY_TOOLKIT };

typedef struct arguments {
    const char *subject, *execute, *profile, *report, *replay, *junit, *stratum, *toolkit;
    const char *operation[MAX_LISTED], *set[NG_MAX_SET];
    int n_operations, n_set;
    int level, max_errors;
    double timeout;
    uint64_t seed;
    int64_t shard, n_shards, sample, stop_after;
    bool json, quiet, plain, require_gpu, sharded;
} arguments;

static const struct argp_option options[] = {
    {"subject", 's', "S", 0,
     "What to verify: reference (default), another of `narrowgauge ops "
     "--subjects`, or the path of a plug-in: ./kernel.so", 1},
    {"subject-exec", KEY_EXEC, "CMD", 0,
     "Verify a program that answers calls on its standard input and output "
     "(docs/subjects.md)", 1},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0,
     "How long one call of a plug-in or a program may take (default 10)", 2},
    {"op", 'o', "OP", 0, "Only this operation (repeatable)", 1},
    {"profile", 'p', "P", 0,
     "Rules to hold it to: a name of `narrowgauge ops --profiles` or a file "
     "(default ng)", 1},
    {"set", KEY_SET, "NAME=VALUE", 0,
     "Pin a rule or an axis (rounding=up, x=bf16; repeatable)", 1},
    {"level", 'l', "0|1|2", 0,
     "0 under a minute (default); 1 all codes, all 16-bit inputs, all scale "
     "pairs; 2 all 2^32 FP32 inputs", 2},
    {"seed", KEY_SEED, "N", 0, "Seed of the random strata (default 1)", 2},
    {"stratum", KEY_STRATUM, "NAME", 0, "Only this stratum", 2},
    {"sample", KEY_SAMPLE, "N", 0,
     "Of a stratum of level 2 only N cases, drawn by the seed", 2},
    {"shard", KEY_SHARD, "I/N", 0,
     "Only the I-th of N parts; under mpirun the ranks share by themselves", 2},
    {"report", 'r', "DIR", 0,
     "Write the report there; a run that was stopped goes on from it", 3},
    {"junit", KEY_JUNIT, "FILE", 0, "Write JUnit XML", 3},
    {"toolkit", KEY_TOOLKIT, "TEXT", 0,
     "What built or runs the subject, for the report and the gate's baselines "
     "(of cuda: its CUDA runtime)", 3},
    {"json", KEY_JSON, NULL, 0, "Print the result as JSON", 3},
    {"errors", KEY_ERRORS, "N", 0,
     "Print at most N failures an operation (default 3)", 3},
    {"stop-after", KEY_STOP, "N", 0,
     "Leave an operation after N failing cases (a chunk of 32 is finished)", 3},
    {"no-diagnosis", KEY_PLAIN, NULL, 0,
     "Do not look for the mistake, nor for a smaller case", 3},
    {"replay", KEY_REPLAY, "LINE|FILE", 0,
     "Run the one case that a FAIL line names, or the small one in a file that "
     "--report wrote", 3},
    {"quiet", 'q', NULL, 0, "No progress", 3},
    {"require", KEY_REQUIRE, "gpu", 0, "Fail (1), not skip (77), without one", 3},
    {0}
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    switch (key) {
    case 's': a->subject = value; break;
    case 'p': a->profile = value; break;
    case 'r': a->report = value; break;
    case 'q': a->quiet = true; break;
    case 'l':
        a->level = (int)ng_command_number(state, "--level", value, 0, 2);
        break;
    case 'o':
        ng_command_list(a->operation, &a->n_operations, MAX_LISTED, state,
                        "--op", value);
        break;
    case KEY_SET:
        ng_set_option(a->set, &a->n_set, state, value);
        break;
    case KEY_SEED:
        a->seed = (uint64_t)ng_command_number(state, "--seed", value, 0,
                                              INT64_MAX);
        break;
    case KEY_SAMPLE:
        a->sample = ng_command_number(state, "--sample", value, 1, INT64_MAX);
        break;
    case KEY_SHARD:
        ng_command_shard(&a->shard, &a->n_shards, state, value);
        a->sharded = true;
        break;
    case KEY_REQUIRE:
        if (strcmp(value, "gpu") != 0)
            ng_command_refuse(state, "--require: %s: only gpu can be required",
                              value);
        a->require_gpu = true;
        break;
    case KEY_ERRORS:
        a->max_errors = (int)ng_command_number(state, "--errors", value, 0,
                                               NG_MAX_KEPT_FAILURES);
        break;
    case KEY_STOP:
        a->stop_after =
            ng_command_number(state, "--stop-after", value, 1, INT64_MAX);
        break;
    case KEY_PLAIN: a->plain = true; break;
    case KEY_EXEC: a->subject = a->execute = value; break;
    case KEY_TIMEOUT: a->timeout = ng_timeout_option(state, value); break;
    case KEY_STRATUM: a->stratum = value; break;
    case KEY_TOOLKIT: a->toolkit = value; break;
    case KEY_JUNIT: a->junit = value; break;
    case KEY_JSON: a->json = true; break;
    case KEY_REPLAY: a->replay = value; break;
    case ARGP_KEY_ARG:
        ng_command_stray(state, value);
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options, parse, NULL,
    "Hold a subject against the specification, bit for bit: every operation, in "
    "every variant, over stratified inputs. The reference is held against the "
    "MPFR oracle, any other subject against the reference."
    "\vExamples:\n"
    "  narrowgauge verify\n"
    "  narrowgauge verify --subject cuda-headers --profile cuda-headers\n"
    "  narrowgauge verify --subject ./kernel.so --op quantize_mxfp4\n"
    "  narrowgauge verify --subject-exec 'python3 kernel.py'\n"
    "  narrowgauge verify --op encode_e4m3 --level 2 --report proof\n"
    "  mpirun -n 4 narrowgauge verify --level 1\n\n"
    "Exit status: 0 no difference; 1 a difference, or a class of inputs claimed "
    "and never met; 2 usage; 3 the subject crashed, hung or refused; 4 the "
    "environment; 77 the subject cannot run here.",
    NULL, NULL, NULL};

static void say(const char *text)
{
    ng_complain(NG_EXIT_USAGE, "verify", "%s", text);
}

/* What the subject is held against. */
static int choose_expected(ng_verify_plan *plan, const arguments *a)
{
    plan->expected = ng_subject_find(strcmp(a->subject, "reference") == 0
                                         ? "oracle" : "reference");
    plan->oracle = ng_subject_find("oracle");
    if (plan->oracle != NULL && plan->oracle->bounds == NULL)
        plan->oracle = NULL;
    if (plan->expected == NULL) {
        say("this build has no MPFR oracle to hold the reference against; "
            "install libmpfr-dev and configure again");
        return NG_EXIT_CANNOT_RUN;
    }
    return NG_EXIT_OK;
}

static bool stratum_exists(const char *name, const ng_operation *const *list,
                           int n)
{
    for (int i = 0; i < n; i++)
        for (const ng_stratum *s = list[i]->strata; s->name != NULL; s++)
            if (strcmp(s->name, name) == 0)
                return true;
    return false;
}

static int choose_operations(const ng_operation **list, int *n,
                             const arguments *a)
{
    const ng_operation *operation;

    *n = 0;
    for (int i = 0; a->n_operations == 0
                    && (operation = ng_operation_at(i)) != NULL; i++)
        list[(*n)++] = operation;
    for (int i = 0; i < a->n_operations; i++) {
        operation = ng_operation_find(a->operation[i]);
        if (operation == NULL) {
            ng_complain(NG_EXIT_USAGE, "verify",
                        "--op: %s: no such operation (narrowgauge ops lists "
                        "them)", a->operation[i]);
            return NG_EXIT_USAGE;
        }
        list[(*n)++] = operation;
    }
    if (a->stratum != NULL && !stratum_exists(a->stratum, list, *n)) {
        ng_complain(NG_EXIT_USAGE, "verify",
                    "--stratum: %s: no such stratum", a->stratum);
        return NG_EXIT_USAGE;
    }
    return NG_EXIT_OK;
}

static void progress(void *context, const char *operation, int64_t done,
                     int64_t total)
{
    ng_progress_update(context, operation, done, total);
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Bring the ranks' results together at rank 0; null at the others. */
static json_t *collect(json_t *run, const ng_ranks *ranks)
{
    char *text = json_dumps(run, JSON_COMPACT);
    char **texts = NULL;
    bool all = true;

    json_decref(run);
    run = NULL;
    if (text != NULL && ng_ranks_gather(ranks, text, &texts) && texts != NULL)
        for (int i = 0; i < ranks->size; i++) {
            json_t *part = json_loads(texts[i], 0, NULL);

            all = all && part != NULL;
            if (i == 0) {
                run = part;
            } else {
                if (all)
                    ng_verify_json_merge(run, part);
                json_decref(part);
            }
            free(texts[i]);
        }
    if (!all) { /* what is left must not pass for the whole */
        json_decref(run);
        run = NULL;
    }
    free(texts);
    free(text);
    return run;
}

/* Print and write what was found. Returns the exit status. */
static int deliver(json_t *run, const arguments *a)
{
    ng_error error;
    ng_status status = NG_OK;

    if (a->json) {
        json_dumpf(run, stdout, JSON_INDENT(2));
        putchar('\n');
    } else {
        ng_verify_report_print(stdout, run, a->max_errors, a->report);
    }
    if (a->report != NULL)
        status = ng_verify_report_write(a->report, run, &error);
    if (status == NG_OK && a->junit != NULL)
        status = ng_verify_report_junit(a->junit, run, &error);
    if (status != NG_OK) {
        say(error.text);
        return NG_EXIT_ENVIRONMENT;
    }
    return ng_verify_json_subject_failed(run)       ? NG_EXIT_SUBJECT
           : ng_verify_json_environment_failed(run) ? NG_EXIT_ENVIRONMENT
           : ng_verify_json_passed(run)             ? NG_EXIT_OK
                                                    : NG_EXIT_DIFFERENCE;
}

/* A plug-in that could not be loaded has a report too: no operation, and why. */
static int deliver_verdict(const ng_verify_plan *base,
                           const ng_chosen_subject *chosen, const arguments *a,
                           int exit_status)
{
    char name[512];
    const ng_subject nobody = {.name = name};
    ng_verify_plan plan = *base;

    ng_escape(name, sizeof name, a->subject, strlen(a->subject));
    plan.subject = &nobody;
    json_t *run = ng_verify_json(NULL, 0, &plan, 0);

    json_object_update_new(run, ng_subject_machine("", true, a->toolkit));
    json_object_set_new(run, "verdict",
                        json_pack("{s:s, s:s}", "kind",
                                  ng_verdict_name(chosen->verdict.kind), "text",
                                  chosen->verdict.text));
    if (run != NULL && deliver(run, a) == NG_EXIT_ENVIRONMENT)
        exit_status = NG_EXIT_ENVIRONMENT;
    json_decref(run);
    return exit_status;
}

/* Whether a file can be written there: asked before the work, not after it. */
static ng_status can_write(const char *path, ng_error *error)
{
    ng_atomic_file file = {0};
    const ng_status status = ng_atomic_begin(&file, path, error);

    if (status == NG_OK)
        ng_atomic_abandon(&file);
    return status;
}

static int run_plan(ng_verify_plan *plan, const ng_operation *const *list, int n,
                    const arguments *a)
{
    const double start = seconds_now();
    char state_path[4096], small_cases[4096];
    ng_operation_result *result = calloc((size_t)n, sizeof *result);
    ng_error error = {""};
    ng_ranks ranks;
    ng_progress bar;
    int exit_status = NG_EXIT_OK;

    if (result == NULL || ng_ranks_begin(&ranks, &error) != NG_OK) {
        say(result == NULL ? "out of memory" : error.text);
        free(result);
        return NG_EXIT_ENVIRONMENT;
    }
    for (int i = 0; i < n; i++)         /* also where nothing comes to run */
        result[i].operation = list[i];
    if (ranks.size > 1 && a->sharded) {
        if (ranks.rank == 0)
            say("--shard: the ranks of mpirun share the work by themselves");
        free(result);
        return ng_ranks_end(&ranks, NG_EXIT_USAGE);
    }
    if (ranks.size > 1) {
        plan->shard = ranks.rank;
        plan->n_shards = ranks.size;
    }
    if (a->report != NULL) {
        snprintf(state_path, sizeof state_path,
                 "%s/progress-%" PRId64 "-of-%" PRId64 ".jsonl", a->report,
                 plan->shard + 1, plan->n_shards);
        plan->state_path = plan->level >= 1 ? state_path : NULL;
        snprintf(small_cases, sizeof small_cases, "%s/shrunk", a->report);
        if (plan->n_shards > 1)
            snprintf(small_cases, sizeof small_cases,
                     "%s/shrunk-%" PRId64 "-of-%" PRId64, a->report,
                     plan->shard + 1, plan->n_shards);
        plan->small_cases = small_cases;
    }
    ng_progress_begin(&bar, a->quiet || ranks.rank != 0, "cases");
    plan->progress = progress;
    plan->context = &bar;

    ng_status status = a->report != NULL
                           ? ng_verify_report_folder(a->report, &error)
                           : NG_OK;
    const bool unwritable = status == NG_OK && a->junit != NULL
                            && ranks.rank == 0
                            && can_write(a->junit, &error) != NG_OK;
    if (unwritable)
        status = NG_BAD_FILE;
    if (status == NG_OK)
        status = ng_verify(result, list, n, plan, &error);
    ng_progress_end(&bar);
    json_t *run = ng_verify_json(result, n, plan, seconds_now() - start);

    if (run != NULL)
        json_object_update_new(run, ng_subject_machine(a->subject,
                                                       plan->host != NULL,
                                                       a->toolkit));
    if (status != NG_OK || run == NULL) {
        say(status != NG_OK ? error.text : "out of memory");
        exit_status = unwritable
                          ? NG_EXIT_ENVIRONMENT
                          : ng_exit_status(status != NG_OK ? status
                                                           : NG_NO_MEMORY,
                                           &error);
    }
    /* Where any rank failed there is no result: the others' parts of the work
     * must not pass for the whole. */
    if (ng_ranks_worst(&ranks, exit_status) == NG_EXIT_OK) {
        run = collect(run, &ranks);
        if (run != NULL)
            exit_status = deliver(run, a);
        else if (ranks.rank == 0)
            exit_status = NG_EXIT_ENVIRONMENT;
    }
    json_decref(run);
    free(result);
    return ng_ranks_end(&ranks, exit_status);
}

int ng_cmd_verify(int argc, char **argv)
{
    arguments a = {.subject = "reference", .seed = 1,
                   .n_shards = 1, .max_errors = 3,
                   .timeout = NG_DEFAULT_TIMEOUT};
    const ng_operation *list[256];
    ng_profile profile;
    ng_chosen_subject chosen;
    ng_error error;
    int n, status;

    ng_command_parse(&argp, argc, argv, &a);
    if (ng_profile_load(&profile, a.profile != NULL ? a.profile : "ng", &error) != NG_OK) {
        say(error.text);
        return NG_EXIT_USAGE;
    }
    ng_verify_plan plan = {
        .profile = &profile, .level = a.level, .seed = a.seed, .shard = a.shard,
        .n_shards = a.n_shards, .sample = a.sample, .stop_after = a.stop_after,
        .unexplained = a.plain, .stratum = a.stratum};

    if ((status = ng_set_apply(&profile, &plan, "verify", a.set, a.n_set)) != NG_EXIT_OK
        || (status = choose_operations(list, &n, &a)) != NG_EXIT_OK)
        return status;
    status = a.execute != NULL
                 ? ng_subject_execute(&chosen, "verify", a.execute, a.timeout)
                 : ng_subject_choose(&chosen, "verify", a.subject, a.timeout);
    const int expected = choose_expected(&plan, &a);

    if (status == NG_EXIT_OK)
        status = expected;
    else if (chosen.verdict.kind != NG_VERDICT_NONE)
        status = deliver_verdict(&plan, &chosen, &a, status);
    plan.subject = chosen.subject;
    plan.host = chosen.host;
    if (status == NG_EXIT_OK)
        status = a.replay != NULL ? ng_replay(&plan, a.replay, a.profile)
                                  : run_plan(&plan, list, n, &a);
    else if (status == NG_EXIT_CANNOT_RUN && a.require_gpu
             && strcmp(a.subject, "reference") != 0
             && strcmp(a.subject, "oracle") != 0)
        status = NG_EXIT_DIFFERENCE;
    ng_subject_release(&chosen);
    return status;
}
