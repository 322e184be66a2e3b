/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/quantize_arguments.h"

#include <string.h>

#include "conformance/cli/command_store.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/rules_option.h"

enum { KEY_SET = 256, KEY_SCALES, KEY_TO, KEY_PART, KEY_POW2, KEY_SEED };

static const struct argp_option options[] = {
    {"op", 'o', "OP", 0, "The operation (required)", 1},
    {"profile", 'p', "P", 0,
     "Its rules: a name of `narrowgauge ops --profiles` or a file (default ng)",
     1},
    {"set", KEY_SET, "RULE=VALUE", 0,
     "Change one rule, as `narrowgauge ops --rules` lists them (repeatable)",
     1},
    {"tensor", 't', "NAME", 0, "Only this tensor (repeatable)", 1},
    {"scales", KEY_SCALES, "TYPE", 0,
     "How scales are stored: ue8m0 (default for MXFP4 and MXFP8), ue8m0x4 (four a word), "
     "fp32 (default for FP8)",
     2},
    {"to", KEY_TO, "TYPE", 0,
     "What dequantize_* writes: fp32 (default), bf16 or fp16", 2},
    {"pow2", KEY_POW2, NULL, 0,
     "Declare the input's FP32 scales to be powers of two, as metadata "
     "pow2.NAME=yes does",
     2},
    {"part", KEY_PART, "codes|scales", 0,
     "Which of the two a .npy file is to hold", 2},
    {"seed", KEY_SEED, "N", 0, "Seed of stochastic rounding (default 1)", 2},
    {"json", 'j', NULL, 0, "Print the statistics as JSON, in full", 3},
    {"quiet", 'q', NULL, 0, "No progress", 3},
    {0}};

#define AT(member) offsetof(ng_quantize_arguments, member)
static const ng_store stores[] = {
    {'o', NG_STORE_TEXT, AT(operation), NULL, 0, 0},
    {'p', NG_STORE_TEXT, AT(profile), NULL, 0, 0},
    {KEY_POW2, NG_STORE_FLAG, AT(pow2), NULL, 0, 0},
    {KEY_SEED, NG_STORE_NUMBER, AT(plan.seed), "--seed", 0, INT64_MAX},
    {'j', NG_STORE_FLAG, AT(json), NULL, 0, 0},
    {'q', NG_STORE_FLAG, AT(quiet), NULL, 0, 0},
};

static ng_dtype dtype_of(struct argp_state *state, const char *option,
                         const char *name, const char *allowed)
{
    ng_dtype dtype = NG_FP32;

    if (strstr(allowed, name) == NULL || !ng_dtype_find(name, &dtype))
        ng_command_refuse(state, "%s: %s: not one of %s", option, name,
                          allowed);
    return dtype;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    ng_quantize_arguments *a = state->input;

    switch (key) {
    case 't':
        ng_command_list(a->name, &a->n_names, NG_MAX_QUANTIZE_NAMES, state,
                        "--tensor", value);
        break;
    case KEY_SET:
        ng_command_list(a->set, &a->n_set, NG_N_RULES, state, "--set", value);
        break;
    case KEY_SCALES:
        a->plan.scales =
            dtype_of(state, "--scales", value, "ue8m0 ue8m0x4 fp32");
        a->scales_given = true;
        break;
    case KEY_TO:
        a->plan.to = dtype_of(state, "--to", value, "fp32 bf16 fp16");
        a->to_given = true;
        break;
    case KEY_PART:
        if (strcmp(value, "codes") != 0 && strcmp(value, "scales") != 0)
            ng_command_refuse(state, "--part: %s: not codes or scales", value);
        a->part = value;
        break;
    case ARGP_KEY_ARG:
        if (a->out != NULL)
            ng_command_stray(state, value);
        *(a->in == NULL ? &a->in : &a->out) = value;
        break;
    case ARGP_KEY_END:
        if (a->operation == NULL)
            ng_command_refuse(state,
                              "--op: missing (narrowgauge ops lists them)");
        if (a->out == NULL)
            ng_command_refuse(state, "%s: missing",
                              a->in == NULL ? "IN" : "OUT");
        break;
    default:
        return ng_command_store(stores, (int)(sizeof stores / sizeof *stores),
                                key, value, state);
    }
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "IN OUT",
    "Run one operation of the reference over the tensors of a file, write the "
    "result to another, and print how far it is from the input."
    "\vIN and OUT are .safetensors or .npy files. quantize_* takes fp32, bf16 "
    "and "
    "fp16 tensors: a vector is one row; of more axes the last is the row and "
    "the "
    "others are rows. It writes NAME.codes and NAME.scales; the other "
    "operations "
    "take such pairs. Tensors of other types are skipped. OUT appears whole or "
    "not at all.\n\n"
    "SNR is 10 log10(sum x^2 / sum (y - x)^2) over the elements that are "
    "finite in "
    "and out. An error in ULP is |y - x| over the spacing, at x, of the "
    "output's "
    "element format under the block's scale; it passes 0.5 where an element "
    "saturates or is rounded twice.\n\n"
    "Examples:\n"
    "  narrowgauge quantize --op quantize_mxfp4 model.safetensors "
    "fp4.safetensors\n"
    "  narrowgauge quantize --op mxfp4_to_fp8_row fp4.safetensors "
    "fp8.safetensors\n"
    "  narrowgauge quantize --op quantize_fp8_row --set fp8.scale=pow2 \\\n"
    "      --scales ue8m0 x.npy x.safetensors",
    NULL,
    NULL,
    NULL};

static int usage(const char *what, const char *value, const char *why)
{
    return ng_complain(NG_EXIT_USAGE, "quantize", "%s: %s: %s", what, value,
                       why);
}

static bool ends_in(const char *path, const char *suffix)
{
    const size_t n = strlen(path), m = strlen(suffix);

    return n >= m && strcmp(path + n - m, suffix) == 0;
}

bool ng_is_npy(const char *path)
{
    return ends_in(path, ".npy");
}

/* Profile, then --set; the rules end in a->plan. */
static int read_rules(ng_quantize_arguments *a)
{
    ng_error error;
    ng_status status = ng_profile_load(&a->plan.profile, a->profile, &error);

    for (int i = 0; status == NG_OK && i < a->n_set; i++)
        status = ng_rules_apply(&a->plan.profile.rules, a->set[i], &error);
    if (status != NG_OK)
        return ng_complain(ng_exit_status(status, NULL), "quantize", "%s",
                           error.text);
    return NG_EXIT_OK;
}

/* What the operation and the kinds of file allow. */
static int check(ng_quantize_arguments *a)
{
    const ng_conversion *conversion = ng_conversion_find(a->operation);

    if (conversion == NULL || conversion->transposes)
        return usage(
            "--op", a->operation,
            "no such operation on tensors "
            "(quantize_*, dequantize_*, mxfp4_to_fp8_*, "
            "fp8_row_to_fp8_col, fp8_row_to_mxfp4, fp8_tile_to_mxfp4)");
    a->plan.conversion = conversion;
    if (!a->scales_given)
        a->plan.scales =
            conversion->to.kind == NG_SIDE_FP8 ? NG_FP32 : NG_UE8M0;
    if (ng_side_is_mx(conversion->to) && a->plan.scales == NG_FP32)
        return usage("--scales", "fp32", "MX scales are ue8m0 or ue8m0x4");
    if (conversion->to.kind == NG_SIDE_MATRIX && a->scales_given)
        return usage("--scales", a->operation, "writes none");
    if (conversion->to.kind != NG_SIDE_MATRIX && a->to_given)
        return usage("--to", a->operation, "only dequantize_* reads it");
    if (!ng_is_npy(a->out) && !ends_in(a->out, ".safetensors"))
        return usage(a->out, "name", "ends in neither .safetensors nor .npy");
    if (ng_is_npy(a->in) && conversion->from.kind != NG_SIDE_MATRIX)
        return usage(a->in, "tensors",
                     "a .npy file holds one; this operation "
                     "takes codes and scales");
    const bool one_of_two =
        ng_is_npy(a->out) && conversion->to.kind != NG_SIDE_MATRIX;
    if (one_of_two && a->part == NULL)
        return usage(a->out, "tensors",
                     "a .npy file holds one; this operation "
                     "gives codes and scales: choose with --part, or write "
                     ".safetensors");
    if (!one_of_two && a->part != NULL)
        return usage("--part", a->part,
                     "only for codes and scales into a .npy "
                     "file");
    return NG_EXIT_OK;
}

int ng_quantize_parse(ng_quantize_arguments *arguments, int argc, char **argv)
{
    arguments->profile = "ng";
    arguments->plan.to = NG_FP32;
    arguments->plan.seed = 1;
    ng_command_parse(&argp, argc, argv, arguments);
    const int status = check(arguments);
    return status == NG_EXIT_OK ? read_rules(arguments) : status;
}
