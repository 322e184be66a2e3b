/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/quantize_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conformance/cli/rules_option.h"
#include "conformance/subject/subject.h"
#include "formats/files/file_error.h"
#include "formats/version.h"

/* Storage and views of one conversion's result. */
typedef struct result {
    ng_tensor codes, scales;
    bool has_scales;
    bool pow2; /* FP32 scales that are powers of two */
} result;

static ng_status add_pair(ng_tensor_file *out, const char *key,
                          const char *name, const char *value)
{
    char full[NG_MAX_NAME + 32];

    snprintf(full, sizeof full, "%s.%s", key, name);
    return ng_tensor_file_add_metadata(out, full, value);
}

static ng_status add_tensor(ng_tensor *view, ng_tensor_file *out,
                            const char *name, const char *suffix,
                            ng_dtype dtype, int rank, const int64_t *shape)
{
    char full[NG_MAX_NAME + 16];
    void *data;

    snprintf(full, sizeof full, "%s%s", name, suffix);
    const ng_status status =
        ng_tensor_file_add_tensor(&data, out, full, dtype, rank, shape);
    if (status == NG_OK)
        *view = ng_tensor_dense(full, dtype, rank, shape, data);
    return status;
}

static bool gives_pow2(const ng_source *source, const ng_quantize_plan *plan)
{
    const ng_side from = plan->conversion->from;
    const bool rule = plan->profile.rules.fp8_scale == NG_FP8_POW2;

    if (from.kind == NG_SIDE_MATRIX)
        return rule;
    if (ng_side_is_mx(from) || source->scales.dtype != NG_FP32
        || source->pow2)
        return true;
    return rule
           && strcmp(plan->conversion->operation, "fp8_row_to_fp8_col") == 0;
}

static ng_status add_matrix(result *r, ng_tensor_file *out,
                            const ng_source *source,
                            const ng_quantize_plan *plan)
{
    const int64_t flat[2] = {source->rows, source->cols};
    ng_tensor stored;
    const ng_status status = add_tensor(&stored, out, source->name, "",
                                        plan->to, source->rank, source->shape);

    if (status == NG_OK)
        r->codes = ng_tensor_dense("y", plan->to, 2, flat, stored.data);
    return status;
}

/* Codes and scales, and the pairs that say how to read them. */
static ng_status add_blocks(result *r, ng_tensor_file *out,
                            const ng_source *source,
                            const ng_quantize_plan *plan)
{
    const ng_side to = plan->conversion->to;
    const char *name = source->name;
    int64_t codes[2], scales[2];
    char text[NG_MAX_NAME + 16];

    ng_side_shapes(codes, scales, to, source->rows, source->cols, plan->scales);
    ng_status status =
        add_tensor(&r->codes, out, name, ".codes", ng_side_codes(to), 2, codes);
    if (status == NG_OK)
        status = add_tensor(&r->scales, out, name, ".scales", plan->scales, 2,
                            scales);
    r->has_scales = true;
    r->pow2 = gives_pow2(source, plan);
    if (status == NG_OK && to.kind == NG_SIDE_MXFP4) {
        /* Written as U8: readers of F4 are few. */
        snprintf(text, sizeof text, "%s.codes", name);
        status = add_pair(out, "dtype", text, ng_dtype_name(NG_E2M1X2));
        snprintf(text, sizeof text, "%" PRId64, source->cols);
        if (status == NG_OK)
            status = add_pair(out, "cols", name, text);
    }
    if (status == NG_OK && to.kind != NG_SIDE_MXFP4)
        status = add_pair(out, "form", name, ng_side_form_name(to));
    if (status == NG_OK && plan->scales == NG_FP32 && r->pow2)
        status = add_pair(out, "pow2", name, "yes");
    if (status == NG_OK && source->rank != 2 && source->rank > 0) {
        size_t used = 0;

        for (int axis = 0; axis < source->rank; axis++)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64,
                                 axis > 0 ? "x" : "", source->shape[axis]);
        status = add_pair(out, "shape", name, text);
    }
    return status;
}

static ng_status run(const result *r, const ng_source *source, uint64_t stream,
                     const ng_quantize_plan *plan, ng_events *events)
{
    ng_call call = {
        .operation = plan->conversion->operation,
        .rules = plan->profile.rules,
        .random = {.seed = plan->seed, .stream = stream},
        .n_attributes = 2,
        .attribute = {{"cols", source->cols}, {"pow2", source->pow2}},
        .events = events};

    ng_call_add_input(&call, &source->codes,
                      source->has_scales ? &source->scales : NULL);
    ng_call_add_output(&call, &r->codes, r->has_scales ? &r->scales : NULL);
    return ng_subject_reference.run(&call);
}

/* Why the operation refused, and what to do about it. */
static ng_status explain(ng_status status, const ng_source *source,
                         const ng_quantize_plan *plan, const char *path,
                         ng_error *error)
{
    const char *hint = "";

    if (status == NG_BAD_RULES && plan->conversion->to.kind == NG_SIDE_FP8)
        hint = plan->profile.rules.rounding != NG_NEAREST_EVEN
                   ? " (this rounding needs power-of-two scales, or is not "
                     "offered)"
                   : " (ue8m0 scales need --set fp8.scale=pow2)";
    if (status == NG_BAD_SCALE)
        hint = ", though they are declared to be";
    return ng_file_fail(error, status, path, source->name,
                        status == NG_BAD_SCALE ? "scales" : "rules", "%s: %s%s",
                        plan->conversion->operation, ng_status_text(status),
                        hint);
}

static void measure(ng_error_statistics *statistics, const result *r,
                    const ng_source *source, const ng_quantize_plan *plan)
{
    ng_block_values x, y;

    ng_block_values_open(&x, plan->conversion->from, source->rows, source->cols,
                         &source->codes,
                         source->has_scales ? &source->scales : NULL);
    ng_block_values_open(&y, plan->conversion->to, source->rows, source->cols,
                         &r->codes, r->has_scales ? &r->scales : NULL);
    ng_error_statistics_take(statistics, &y, &x);
}

ng_status ng_quantize_run(ng_tensor_file *out, ng_error_statistics *statistics,
                          const ng_source *source, uint64_t stream,
                          const ng_quantize_plan *plan, const char *path,
                          ng_error *error)
{
    result r = {.has_scales = false};
    ng_status status = plan->conversion->to.kind == NG_SIDE_MATRIX
                           ? add_matrix(&r, out, source, plan)
                           : add_blocks(&r, out, source, plan);

    if (status != NG_OK)
        return ng_file_fail(error, status, path, source->name, "result", "%s",
                            status == NG_BAD_FILE ? "its name would be too long"
                                                  : ng_status_text(status));
    memset(statistics, 0, sizeof *statistics);
    status = run(&r, source, stream, plan, &statistics->events);
    if (status != NG_OK)
        return explain(status, source, plan, path, error);
    measure(statistics, &r, source, plan);
    return NG_OK;
}

ng_status ng_quantize_sign(ng_tensor_file *out, const ng_quantize_plan *plan)
{
    char profile[160], rules[1024], version[128], seed[32];

    snprintf(profile, sizeof profile, "%s %s", plan->profile.name,
             plan->profile.version);
    ng_rules_text(rules, sizeof rules, &plan->profile.rules, true);
    snprintf(version, sizeof version, "narrowgauge %s", ng_version_text());
    snprintf(seed, sizeof seed, "%" PRIu64, plan->seed);
    const bool random = plan->profile.rules.rounding == NG_STOCHASTIC;
    const struct {
        const char *name, *value;
    } pairs[] = {
        {"operation", plan->conversion->operation},
        {"profile", profile},
        {"rules", rules},
        {"version", version},
        {"seed", random ? seed : NULL},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const ng_status status = pairs[i].value == NULL
                                     ? NG_OK
                                     : ng_tensor_file_add_metadata(
                                         out, pairs[i].name, pairs[i].value);

        if (status != NG_OK)
            return status;
    }
    return NG_OK;
}
