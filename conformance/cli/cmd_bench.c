/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "conformance/cli/bench_cuda.h"
#include "conformance/cli/bench_projection.h"
#include "conformance/cli/bench_report.h"
#include "conformance/cli/bench_verify.h"
#include "conformance/cli/command_store.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/progress.h"

enum {
    MAX_LISTED = 64,
    MAX_REPEAT = 1000,
    KEY_SIZE = 256,
    REFERENCE_SIZE = 1 << 20,
    ORACLE_SIZE = 1 << 18
};

typedef struct arguments {
    const char *backend;
    const char *operation[MAX_LISTED];
    int n_operations;
    int64_t repeat, size;
    bool json, quiet;
} arguments;

static const struct argp_option options[] = {
    {"op", 'o', "OP", 0, "Only this operation (repeatable)", 0},
    {"backend", 'b', "B", 0,
     "reference (default), oracle, cuda-headers; cuda where it was built", 0},
    {"repeat", 'n', "N", 0, "Timed runs of each operation (default 5)", 0},
    {"size", KEY_SIZE, "N", 0,
     "Values an operation works on (default 1048576; the oracle 262144); on "
     "cuda, the largest shape that is timed (default: all)",
     0},
    {"json", 'j', NULL, 0,
     "Print JSON: an array of rows, as reports/gpu/bench.json has them", 0},
    {"quiet", 'q', NULL, 0, "No progress", 0},
    {0}};

#define AT(member) offsetof(arguments, member)
static const ng_store stores[] = {
    {'b', NG_STORE_TEXT, AT(backend), NULL, 0, 0},
    {'n', NG_STORE_NUMBER, AT(repeat), "--repeat", 1, MAX_REPEAT},
    {KEY_SIZE, NG_STORE_NUMBER, AT(size), "--size", 1, INT64_C(1) << 32},
    {'j', NG_STORE_FLAG, AT(json), NULL, 0, 0},
    {'q', NG_STORE_FLAG, AT(quiet), NULL, 0, 0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    if (key != 'o')
        return ng_command_store(stores, (int)(sizeof stores / sizeof *stores),
                                key, value, state);
    ng_command_list(a->operation, &a->n_operations, MAX_LISTED, state, "--op",
                    value);
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Time operations. Each is verified first, on the buffers that are timed "
    "and "
    "on hard cases; what differs is not timed. Then it is run once to warm up "
    "and N times by the clock."
    "\vBytes are those of the inputs and the outputs, each counted once; the "
    "copy "
    "rate is memcpy's of 64 MiB by one thread in the same run, bytes read and "
    "written. Inputs are normally distributed numbers, 1024 columns. The backend "
    "cuda has shapes of its own, and the copy is the device's: of as many bytes, "
    "the buffers rotated past L2 alike.\n\n"
    "Examples:\n"
    "  narrowgauge bench\n"
    "  narrowgauge bench --op quantize_mxfp4 --size 4194304 --repeat 11\n"
    "  narrowgauge bench --backend oracle --op encode_e4m3\n\n"
    "Exit status: 0 timed; 1 an operation differs; 2 usage; 4 the environment; "
    "77 the backend is not in this build.",
    NULL,
    NULL,
    NULL};

static bool listed(const arguments *a, const char *name)
{
    for (int i = 0; i < a->n_operations; i++)
        if (strcmp(a->operation[i], name) == 0)
            return true;
    return a->n_operations == 0;
}

/* The backend, or null with *status saying why. */
static const ng_subject *find_backend(const char *name, int *status)
{
    static const char *const elsewhere[] = {"cuda", "cuda-host", "cuda-headers",
                                            "oracle"};
    const ng_subject *subject = ng_subject_find(name);

    for (size_t i = 0;
         subject == NULL && i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(name, elsewhere[i]) == 0) {
            *status = ng_complain(NG_EXIT_CANNOT_RUN, "bench",
                                  "--backend: %s: not in this build", name);
            return NULL;
        }
    if (subject == NULL)
        *status = ng_complain(NG_EXIT_USAGE, "bench",
                              "--backend: %s: no such backend (narrowgauge ops "
                              "--subjects lists them)",
                              name);
    if (subject != NULL && subject->open != NULL) {
        ng_error error = {""};
        const ng_status opened = subject->open(&error);

        if (opened != NG_OK) {
            *status = ng_complain(opened == NG_NO_DEVICE ? NG_EXIT_CANNOT_RUN
                                                         : NG_EXIT_ENVIRONMENT,
                                  "bench", "--backend: %s: %s", name,
                                  error.text);
            return NULL;
        }
    }
    return subject;
}

/* What the backend is held against: the oracle, and that by the reference. */
static const ng_subject *counterpart(const ng_subject *subject)
{
    return subject == &ng_subject_reference ? ng_subject_find("oracle")
                                            : &ng_subject_reference;
}

static int time_it(ng_bench_row *row, ng_bench_case *bench,
                   const ng_bench_setting *setting)
{
    static double seconds[MAX_REPEAT];

    for (int i = 0; i < setting->repeat; i++) {
        const double start = ng_seconds_now();
        const ng_status status = setting->subject->run(&bench->call);

        seconds[i] = ng_seconds_now() - start;
        if (status != NG_OK)
            return ng_complain(NG_EXIT_SUBJECT, "bench", "%s: %s",
                               row->operation, ng_status_text(status));
    }
    row->seconds = ng_spread_of(seconds, setting->repeat);
    row->values = bench->values;
    row->bytes = bench->bytes;
    memcpy(row->shape, bench->shape, sizeof row->shape);
    return NG_EXIT_OK;
}

/* Verify, then time, one operation; row->values stays 0 if it is not offered.
 */
static int run_operation(ng_bench_row *row, const ng_operation *operation,
                         const ng_bench_setting *setting,
                         const ng_profile *profile, int64_t size)
{
    ng_bench_case bench;
    char line[1024] = "";
    int exit_status = NG_EXIT_OK;
    ng_status status =
        ng_bench_case_begin(&bench, operation->name, &profile->rules, size);

    *row = (ng_bench_row){.operation = operation->name};
    if (status == NG_OK && !setting->subject->covers(&bench.call))
        status = NG_NOT_COVERED;
    if (status == NG_OK)
        status = ng_bench_verify(line, sizeof line, &bench, operation,
                                 setting->subject, setting->against, profile);
    if (status == NG_OK && line[0] != '\0')
        exit_status = ng_complain(NG_EXIT_DIFFERENCE, "bench",
                                  "%s: not timed: %s", operation->name, line);
    else if (status == NG_OK)
        exit_status = time_it(row, &bench, setting);
    else if (status != NG_NOT_COVERED)
        exit_status = ng_complain(
            status == NG_NO_MEMORY ? NG_EXIT_ENVIRONMENT : NG_EXIT_SUBJECT,
            "bench", "%s: %s", operation->name, ng_status_text(status));
    ng_bench_case_end(&bench);
    return exit_status;
}

/* Run all that were asked for; returns the first failure, or what stopped. */
static int run_all(const arguments *a, const ng_bench_setting *setting,
                   const ng_profile *profile, json_t *list)
{
    const ng_operation *operation;
    ng_progress progress;
    ng_bench_row row;
    int exit_status = NG_EXIT_OK, total = 0, timed = 0;

    while (ng_operation_at(total) != NULL)
        total++;
    ng_progress_begin(&progress, a->quiet || a->json, "operations");
    for (int i = 0; (operation = ng_operation_at(i)) != NULL; i++) {
        if (!listed(a, operation->name))
            continue;
        if (i > 0)
            ng_progress_update(&progress, operation->name, i, total);
        const int status =
            run_operation(&row, operation, setting, profile, a->size);
        ng_progress_end(&progress);
        if (status == NG_EXIT_ENVIRONMENT)
            return status;
        if (exit_status == NG_EXIT_OK)
            exit_status = status;
        if (status != NG_EXIT_OK || row.values == 0)
            continue;
        timed++;
        if (list != NULL)
            json_array_append_new(list, ng_bench_row_json(&row, setting));
        else
            ng_bench_print_row(&row, setting);
        fflush(stdout);
    }
    if (timed == 0 && exit_status == NG_EXIT_OK)
        return ng_complain(NG_EXIT_CANNOT_RUN, "bench",
                           "--backend: %s: does not "
                           "offer what was asked for",
                           setting->subject->name);
    return exit_status;
}

/* The rules that the backend follows, if a profile bears its name. */
static int load_profile(ng_profile *profile, const ng_subject *subject)
{
    ng_error error;

    for (int i = 0; ng_profile_name(i) != NULL; i++)
        if (strcmp(ng_profile_name(i), subject->name) == 0
            && ng_profile_load(profile, subject->name, &error) == NG_OK)
            return NG_EXIT_OK;
    if (ng_profile_load(profile, "ng", &error) == NG_OK)
        return NG_EXIT_OK;
    return ng_complain(NG_EXIT_ENVIRONMENT, "bench", "%s", error.text);
}

#ifdef HAVE_NVCC
static bool cuda_listed(const void *context, const char *operation)
{
    return listed(context, operation);
}

/* Two operations that a kernel does in one pass have a row, and no name of
 * their own elsewhere. */
static bool is_timed(const char *operation)
{
    const ng_cuda_bench_row *row;

    for (int i = 0; (row = ng_cuda_bench_row_at(i)) != NULL; i++)
        if (strcmp(row->operation, operation) == 0)
            return true;
    return false;
}

/* Kernels have shapes of their own, and memory. */
static int run_cuda(const arguments *a)
{
    json_t *list = a->json ? json_array() : NULL;
    int status = ng_bench_cuda(cuda_listed, a, (int)a->repeat, a->size, list);

    if (list != NULL && ng_print_json(list) != NG_EXIT_OK)
        status = NG_EXIT_ENVIRONMENT;
    return status;
}
#else
static bool is_timed(const char *operation)
{
    (void)operation;
    return false;
}
#endif

int ng_cmd_bench(int argc, char **argv)
{
    arguments a = {.backend = "reference", .repeat = 5};
    ng_bench_setting setting = {.subject = NULL};
    ng_profile profile;
    int status = NG_EXIT_OK;

    ng_command_parse(&argp, argc, argv, &a);
    for (int i = 0; i < a.n_operations; i++)
        if (ng_operation_find(a.operation[i]) == NULL
            && !is_timed(a.operation[i]))
            return ng_complain(NG_EXIT_USAGE, "bench",
                               "--op: %s: no such "
                               "operation (narrowgauge ops lists them)",
                               a.operation[i]);
    setting.subject = find_backend(a.backend, &status);
#ifdef HAVE_NVCC
    if (setting.subject == &ng_subject_cuda)
        return run_cuda(&a);
#endif
    if (setting.subject == NULL
        || (status = load_profile(&profile, setting.subject)) != NG_EXIT_OK)
        return status;
    const bool oracle = strcmp(setting.subject->name, "oracle") == 0;
    setting.against = counterpart(setting.subject);
    setting.repeat = (int)a.repeat;
    if (a.size == 0)
        a.size = oracle ? ORACLE_SIZE : REFERENCE_SIZE;
    if (ng_machine_measure(&setting.machine) != 0)
        return ng_complain(NG_EXIT_ENVIRONMENT, "bench", "out of memory");
    json_t *list = a.json ? json_array() : NULL;
    if (list == NULL)
        ng_bench_print_header(&setting);
    status = run_all(&a, &setting, &profile, list);
    if (oracle && listed(&a, "encode_e4m3") && status == NG_EXIT_OK)
        status = ng_bench_project(setting.subject, list);
    if (list != NULL && ng_print_json(list) != NG_EXIT_OK)
        return NG_EXIT_ENVIRONMENT;
    return status;
}
