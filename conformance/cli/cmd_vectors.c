/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "conformance/checks/vectors.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/set_option.h"
#include "formats/files/npy.h"
#include "formats/files/safetensors.h"
#include "formats/version.h"

enum {
    KEY_SET = 256,
    KEY_SEED,
    KEY_NPY,
    KEY_JSON,
    KEY_STRATUM,
    MAX_PATH = 4096
};

typedef struct arguments {
    const char *operation, *profile, *out, *stratum;
    const char *set[NG_MAX_SET];
    int n_set, level;
    uint64_t seed;
    bool npy, json;
} arguments;

static const struct argp_option options[] = {
    {"op", 'o', "OP", 0, "The operation", 1},
    {"out", 'd', "DIR", 0, "Where to write; made if it is not there", 1},
    {"profile", 'p', "P", 0,
     "Rules of the expected outputs: a name of `narrowgauge ops --profiles` or "
     "a "
     "file (default ng)",
     1},
    {"set", KEY_SET, "NAME=VALUE", 0,
     "Pin a rule or an axis (rounding=nearest-even, x=bf16; repeatable); "
     "otherwise every variant gets its files",
     1},
    {"level", 'l', "0|1", 0, "As many cases as verify has there (default 0)",
     2},
    {"seed", KEY_SEED, "N", 0, "Seed of the random strata (default 1)", 2},
    {"stratum", KEY_STRATUM, "NAME", 0, "Only this stratum", 2},
    {"npy", KEY_NPY, NULL, 0, "Write every tensor as .npy too", 3},
    {"json", KEY_JSON, NULL, 0, "Print the manifest", 3},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    switch (key) {
    case 'o':
        a->operation = value;
        break;
    case 'd':
        a->out = value;
        break;
    case 'p':
        a->profile = value;
        break;
    case 'l':
        a->level = (int)ng_command_number(state, "--level", value, 0, 1);
        break;
    case KEY_SET:
        ng_set_option(a->set, &a->n_set, state, value);
        break;
    case KEY_SEED:
        a->seed =
            (uint64_t)ng_command_number(state, "--seed", value, 0, INT64_MAX);
        break;
    case KEY_STRATUM:
        a->stratum = value;
        break;
    case KEY_NPY:
        a->npy = true;
        break;
    case KEY_JSON:
        a->json = true;
        break;
    case ARGP_KEY_ARG:
        ng_command_stray(state, value);
    case ARGP_KEY_END:
        if (a->operation == NULL || a->out == NULL)
            ng_command_refuse(state, "--op and --out are needed");
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
    "Write the inputs that verify would try, and what they must give, as "
    "files: "
    "for implementations in Python, Triton, JAX or anything else. `narrowgauge "
    "compare` judges what comes back; docs/vectors.md describes the files."
    "\vExample:\n"
    "  narrowgauge vectors --op quantize_mxfp4 --set rounding=nearest-even \\\n"
    "    --set mxfp4.scale=floor --set x=fp32 --set scales=ue8m0 --out v\n"
    "  python3 docs/example_numpy.py v/000.inputs.safetensors "
    "back.safetensors\n"
    "  narrowgauge compare --expected v/000.expected.safetensors \\\n"
    "    --actual back.safetensors\n\n"
    "Exit status: 0 written; 2 usage; 4 the disk or the memory is full.",
    NULL,
    NULL,
    NULL};

static ng_status make_folder(const char *path, ng_error *error)
{
    struct stat info;

    if (mkdir(path, 0777) == 0
        || (errno == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
        return NG_OK;
    return ng_fail(error, NG_BAD_FILE, "%s: folder: %s", path, strerror(errno));
}

/* What NumPy has no type for goes as whole numbers of the same size. */
static ng_dtype numpy_type(ng_dtype dtype)
{
    if (dtype < NG_FP16 || dtype == NG_FP16 || dtype == NG_FP32
        || dtype == NG_FP64)
        return dtype;
    switch (ng_dtype_size(dtype)) {
    case 1:
        return NG_U8;
    case 2:
        return NG_U16;
    default:
        return NG_U32;
    }
}

/* Every tensor of a file as FOLDER/CASE.TENSOR.npy. */
static ng_status write_npy(const char *folder, const ng_tensor_file *file,
                           ng_error *error)
{
    ng_status status = NG_OK;

    for (size_t i = 0; i < file->n_tensors && status == NG_OK; i++) {
        ng_tensor t = file->tensors[i];
        char path[2 * MAX_PATH], *slash;

        t.dtype = numpy_type(t.dtype);
        snprintf(path, sizeof path, "%s/%s.npy", folder, t.name);
        slash = strrchr(path, '/');
        *slash = '.';
        status = ng_npy_write(path, &t, error);
    }
    return status;
}

static ng_status write_variant(const arguments *a, int number,
                               const ng_tensor_file *inputs,
                               const ng_tensor_file *expected, ng_error *error)
{
    char path[MAX_PATH];
    ng_status status;

    snprintf(path, sizeof path, "%s/%03d.inputs.safetensors", a->out, number);
    status = ng_safetensors_write(path, inputs, error);
    if (status != NG_OK)
        return status;
    snprintf(path, sizeof path, "%s/%03d.expected.safetensors", a->out, number);
    status = ng_safetensors_write(path, expected, error);
    if (status != NG_OK || !a->npy)
        return status;
    for (int i = 0; i < 2 && status == NG_OK; i++) {
        snprintf(path, sizeof path, "%s/%03d.%s", a->out, number,
                 i == 0 ? "inputs" : "expected");
        status = make_folder(path, error);
        if (status == NG_OK)
            status = write_npy(path, i == 0 ? inputs : expected, error);
    }
    return status;
}

static json_t *counts_json(const ng_vectors_counts *c)
{
    json_t *events = json_object();

    for (int e = 0; e < NG_N_EVENTS; e++)
        json_object_set_new(events, ng_event_name((ng_event)e),
                            json_integer((json_int_t)c->events.count[e]));
    return json_pack("{s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "cases",
                     (json_int_t)c->cases, "elements", (json_int_t)c->elements,
                     "events", events, "zero_blocks",
                     (json_int_t)c->zero_blocks, "nan_blocks",
                     (json_int_t)c->nan_blocks, "infinite_blocks",
                     (json_int_t)c->infinite_blocks, "extreme_scales",
                     (json_int_t)c->extreme_scales, "ragged_cases",
                     (json_int_t)c->ragged_cases, "empty_groups",
                     (json_int_t)c->empty_groups);
}

/* One variant: its files, and its entry in the manifest. */
static ng_status one_variant(json_t *variants, ng_vectors_counts *sum,
                             const ng_operation *operation,
                             const ng_variant *variant,
                             const ng_verify_plan *plan, const arguments *a,
                             ng_error *error)
{
    ng_tensor_file inputs = {0}, expected = {0};
    ng_vectors_counts counts = {0};
    const int number = (int)json_array_size(variants);
    char text[192], name[64];
    ng_status status;

    status = ng_vectors_variant(&inputs, &expected, &counts, operation, variant,
                                plan);
    if (status != NG_OK)
        ng_fail(error, status, "%s: %s", operation->name,
                ng_status_text(status));
    else
        status = write_variant(a, number, &inputs, &expected, error);
    ng_tensor_file_free(&inputs);
    ng_tensor_file_free(&expected);
    ng_variant_print(text, sizeof text, variant);
    snprintf(name, sizeof name, "%03d", number);
    json_array_append_new(variants,
                          json_pack("{s:s, s:s, s:o}", "files", name, "variant",
                                    text, "counts", counts_json(&counts)));
    sum->cases += counts.cases;
    sum->elements += counts.elements;
    ng_events_add(&sum->events, &counts.events);
    sum->zero_blocks += counts.zero_blocks;
    sum->nan_blocks += counts.nan_blocks;
    sum->infinite_blocks += counts.infinite_blocks;
    sum->extreme_scales += counts.extreme_scales;
    sum->ragged_cases += counts.ragged_cases;
    sum->empty_groups += counts.empty_groups;
    return status;
}

static ng_status write_manifest(const json_t *manifest, const char *folder,
                                ng_error *error)
{
    char path[MAX_PATH];
    ng_atomic_file file = {0};

    snprintf(path, sizeof path, "%s/manifest.json", folder);
    const ng_status status = ng_atomic_begin(&file, path, error);

    if (status != NG_OK)
        return status;
    json_dumpf(manifest, file.stream, JSON_INDENT(1));
    fputc('\n', file.stream);
    return ng_atomic_commit(&file, error);
}

static int run(const ng_operation *operation, const ng_verify_plan *plan,
               const arguments *a)
{
    json_t *variants = json_array();
    ng_vectors_counts sum = {0};
    ng_error error = {""};
    ng_variant variant;
    ng_status status = make_folder(a->out, &error);

    for (int64_t v = 0; status == NG_OK
                        && ng_variant_at(&variant, operation->axes,
                                         operation->n_axes, plan->profile, v);
         v++)
        if (ng_verify_wants(operation, &variant, plan))
            status = one_variant(variants, &sum, operation, &variant, plan, a,
                                 &error);

    json_t *manifest =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:o, s:o}", "format",
                  NG_VECTORS_FORMAT, "version", ng_version_text(), "operation",
                  operation->name, "profile", plan->profile->name, "level",
                  plan->level, "seed", (json_int_t)plan->seed, "counts",
                  counts_json(&sum), "variants", json_incref(variants));

    if (status == NG_OK)
        status = write_manifest(manifest, a->out, &error);
    if (status != NG_OK) {
        json_decref(manifest);
        json_decref(variants);
        return ng_complain(ng_exit_status(status, &error), "vectors", "%s",
                           error.text);
    }
    const size_t n = json_array_size(variants);

    json_decref(variants);
    if (a->json)
        return ng_print_json(manifest);
    json_decref(manifest);
    printf("%s: %zu variant%s, %" PRId64 " cases, %" PRId64 " elements in %s\n",
           operation->name, n, n == 1 ? "" : "s", sum.cases, sum.elements,
           a->out);
    for (int e = 0; e < NG_N_EVENTS; e++)
        printf("%s%" PRIu64 " %s", e > 0 ? ", " : "met: ", sum.events.count[e],
               ng_event_name((ng_event)e));
    printf("\n     %" PRId64 " zero, %" PRId64 " NaN, %" PRId64
           " infinite blocks, %" PRId64 " extreme scales, %" PRId64
           " ragged cases, %" PRId64 " empty groups\n",
           sum.zero_blocks, sum.nan_blocks, sum.infinite_blocks,
           sum.extreme_scales, sum.ragged_cases, sum.empty_groups);
    return NG_EXIT_OK;
}

static bool has_stratum(const ng_operation *operation, const char *name)
{
    for (const ng_stratum *s = operation->strata; s->name != NULL; s++)
        if (strcmp(s->name, name) == 0)
            return true;
    return false;
}

int ng_cmd_vectors(int argc, char **argv)
{
    arguments a = {.profile = "ng", .seed = 1};
    const ng_operation *operation;
    ng_profile profile;
    ng_error error;
    int status;

    ng_command_parse(&argp, argc, argv, &a);
    if (ng_profile_load(&profile, a.profile, &error) != NG_OK)
        return ng_complain(NG_EXIT_USAGE, "vectors", "%s", error.text);
    operation = ng_operation_find(a.operation);
    if (operation == NULL)
        return ng_complain(NG_EXIT_USAGE, "vectors",
                           "--op: %s: no such operation (narrowgauge ops lists "
                           "them)",
                           a.operation);
    if (a.stratum != NULL && !has_stratum(operation, a.stratum))
        return ng_complain(NG_EXIT_USAGE, "vectors",
                           "--stratum: %s: %s has no such stratum", a.stratum,
                           a.operation);
    ng_verify_plan plan = {.profile = &profile,
                           .expected = &ng_subject_reference,
                           .level = a.level,
                           .seed = a.seed,
                           .n_shards = 1,
                           .stratum = a.stratum};

    status = ng_set_apply(&profile, &plan, "vectors", a.set, a.n_set);
    return status != NG_EXIT_OK ? status : run(operation, &plan, &a);
}
