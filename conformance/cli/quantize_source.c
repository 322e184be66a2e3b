/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/quantize_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/file_error.h"

static const char codes_suffix[] = ".codes";

/* Where a search looks, for its error lines. */
typedef struct search {
    const ng_tensor_file *file;
    const char *path;
    const ng_conversion *conversion;
    bool pow2;
    ng_error *error;
} search;

/* The pair "KEY.NAME" of the metadata, or null. */
static const char *pair_of(const search *s, const char *key, const char *name)
{
    char full[NG_MAX_NAME + 16];

    snprintf(full, sizeof full, "%s.%s", key, name);
    return ng_tensor_file_metadata(s->file, full);
}

static ng_status bad_pair(const search *s, const char *key, const char *name,
                          const char *what)
{
    char field[NG_MAX_NAME + 32];

    snprintf(field, sizeof field, "metadata %s.%s", key, name);
    return ng_file_fail(s->error, NG_BAD_FILE, s->path, name, field, "%s",
                        what);
}

/* See a dense tensor as a matrix: last axis by the rest. */
static ng_tensor flatten(const ng_tensor *tensor)
{
    const int rank = tensor->rank;
    int64_t shape[2] = {1, rank > 0 ? tensor->shape[rank - 1] : 1};

    for (int axis = 0; axis < rank - 1; axis++)
        shape[0] *= tensor->shape[axis];
    return ng_tensor_dense(tensor->name, tensor->dtype, 2, shape, tensor->data);
}

/* The shape that a quantized tensor had, from "shape.NAME" ("64x3x3"). */
static ng_status read_shape(ng_source *source, const search *s)
{
    const char *text = pair_of(s, "shape", source->name);
    int64_t product = 1;
    int rank = 0;

    source->rank = 2;
    source->shape[0] = source->rows;
    source->shape[1] = source->cols;
    if (text == NULL)
        return NG_OK;
    for (bool more = true; more; rank++) {
        char *end;

        errno = 0;
        const long long size = strtoll(text, &end, 10);
        if (end == text || errno != 0 || size < 0 || rank == NG_MAX_RANK
            || (*end != 'x' && *end != '\0')
            || __builtin_mul_overflow(product, (int64_t)size, &product))
            return bad_pair(s, "shape", source->name, "is no shape");
        source->shape[rank] = size;
        more = *end == 'x';
        text = end + 1;
    }
    source->rank = rank;
    if (source->shape[rank - 1] != source->cols
        || product != source->rows * source->cols)
        return bad_pair(s, "shape", source->name, "does not fit the codes");
    return NG_OK;
}

/* rows, cols of the pair, from the codes' shape and "cols.NAME". */
static ng_status read_extent(ng_source *source, const search *s)
{
    const ng_side side = s->conversion->from;
    const bool col = side.kind == NG_SIDE_FP8 && side.form == NG_FP8_COL;
    const int64_t *shape = source->codes.shape;
    const char *text = pair_of(s, "cols", source->name);
    char *end;

    source->rows = shape[col];
    source->cols = shape[!col];
    if (side.kind != NG_SIDE_MXFP4)
        return NG_OK;
    if (__builtin_mul_overflow(shape[1], (int64_t)2, &source->cols))
        return ng_file_fail(s->error, NG_BAD_FILE, s->path, source->codes.name,
                            "shape", "too large");
    if (text == NULL)
        return NG_OK;
    errno = 0;
    const long long cols = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || cols < 0
        || ng_ceil_div(cols, 2) != shape[1])
        return bad_pair(s, "cols", source->name,
                        "is not a width that these packed codes can have");
    source->cols = cols;
    return NG_OK;
}

static ng_status check_scales(ng_source *source, const search *s)
{
    const bool fp8 = s->conversion->from.kind == NG_SIDE_FP8;
    ng_tensor *scales = &source->scales;
    int64_t codes[2], want[2];

    if (scales->dtype == NG_U8)
        scales->dtype = NG_UE8M0;
    if (scales->dtype == NG_U32)
        scales->dtype = NG_UE8M0X4;
    if (scales->dtype != NG_UE8M0 && scales->dtype != NG_UE8M0X4
        && !(fp8 && scales->dtype == NG_FP32))
        return ng_file_fail(s->error, NG_BAD_FILE, s->path, scales->name,
                            "dtype", "%s is no scale: want ue8m0, ue8m0x4%s",
                            ng_dtype_name(scales->dtype), fp8 ? ", fp32" : "");
    ng_side_shapes(codes, want, s->conversion->from, source->rows, source->cols,
                   scales->dtype);
    if (scales->rank != 2 || scales->shape[0] != want[0]
        || scales->shape[1] != want[1])
        return ng_file_fail(
            s->error, NG_BAD_FILE, s->path, scales->name, "shape",
            "want [%" PRId64 ", %" PRId64 "] for the "
            "codes [%" PRId64 ", %" PRId64 "]",
            want[0], want[1], source->codes.shape[0], source->codes.shape[1]);
    return NG_OK;
}

/* "form.NAME" is what tells the layouts of FP8 apart where shapes cannot. */
static ng_status check_form(const ng_source *source, const search *s)
{
    const char *form = pair_of(s, "form", source->name);
    const char *want = ng_side_form_name(s->conversion->from);
    char what[64];

    if (form == NULL || s->conversion->from.kind == NG_SIDE_MXFP4
        || strcmp(form, want) == 0)
        return NG_OK;
    snprintf(what, sizeof what, "is \"%.8s\", the operation takes \"%s\"", form,
             want);
    return bad_pair(s, "form", source->name, what);
}

/* Fill *source from a pair of tensors. */
static ng_status take_pair(ng_source *source, const ng_tensor *codes,
                           const ng_tensor *scales, const search *s)
{
    const char *pow2;

    source->codes = *codes;
    source->scales = *scales;
    source->has_scales = true;
    if (codes->rank != 2)
        return ng_file_fail(s->error, NG_BAD_FILE, s->path, codes->name,
                            "shape", "codes have two axes, these have %d",
                            codes->rank);
    source->codes.dtype = ng_side_codes(s->conversion->from);
    ng_status status = check_form(source, s);
    if (status == NG_OK)
        status = read_extent(source, s);
    if (status == NG_OK)
        status = check_scales(source, s);
    if (status == NG_OK)
        status = read_shape(source, s);
    if (status != NG_OK)
        return status;
    pow2 = pair_of(s, "pow2", source->name);
    if (pow2 != NULL && strcmp(pow2, "yes") != 0)
        return bad_pair(s, "pow2", source->name, "is not \"yes\"");
    source->pow2 = s->pow2 || pow2 != NULL;
    return NG_OK;
}

/* Fill *source from a tensor if the conversion takes it. A reason (why not, as
 * the end of a line) comes back in *reason where it does not. */
static ng_status take(ng_source *source, const char **reason,
                      const ng_tensor *tensor, const search *s)
{
    const size_t length = strlen(tensor->name);
    const size_t suffix = strlen(codes_suffix);
    const ng_dtype dtype = tensor->dtype;
    char name[NG_MAX_NAME + 8];

    *reason = NULL;
    *source = (ng_source){.rank = tensor->rank};
    snprintf(source->name, sizeof source->name, "%s", tensor->name);
    memcpy(source->shape, tensor->shape, sizeof source->shape);
    if (s->conversion->from.kind == NG_SIDE_MATRIX) {
        if (dtype != NG_FP32 && dtype != NG_BF16 && dtype != NG_FP16)
            *reason = "is not fp32, bf16 or fp16";
        source->codes = flatten(tensor);
        source->rows = source->codes.shape[0];
        source->cols = source->codes.shape[1];
        return NG_OK;
    }
    if (length <= suffix
        || strcmp(tensor->name + length - suffix, codes_suffix))
        *reason = "is not named NAME.codes";
    else if (dtype != NG_U8 && dtype != ng_side_codes(s->conversion->from))
        *reason = s->conversion->from.kind == NG_SIDE_MXFP4
                      ? "is neither e2m1x2 (F4) nor u8"
                      : "is neither e4m3 (F8_E4M3) nor u8";
    if (*reason != NULL)
        return NG_OK;
    source->name[length - suffix] = '\0';
    snprintf(name, sizeof name, "%s.scales", source->name);
    const ng_tensor *scales = ng_tensor_file_find(s->file, name);
    if (scales == NULL) {
        *reason = "has no .scales beside it";
        return NG_OK;
    }
    return take_pair(source, tensor, scales, s);
}

static bool is_scales(const ng_tensor *tensor, const search *s)
{
    const char *dot = strrchr(tensor->name, '.');

    return s->conversion->from.kind != NG_SIDE_MATRIX && dot != NULL
           && strcmp(dot, ".scales") == 0;
}

static bool wanted(const char *name, const char *const *names, int n_names)
{
    for (int i = 0; i < n_names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return n_names == 0;
}

static void skip(ng_sources *sources, const ng_tensor *tensor,
                 const char *reason)
{
    const int room = sizeof sources->skipped / sizeof *sources->skipped;

    if (sources->n_skipped < room)
        snprintf(sources->skipped[sources->n_skipped], sizeof *sources->skipped,
                 "tensor \"%s\" (%s) %s", tensor->name,
                 ng_dtype_name(tensor->dtype), reason);
    sources->n_skipped++;
}

static ng_status find_all(ng_sources *sources, const search *s,
                          const char *const *names, int n_names)
{
    for (size_t i = 0; i < s->file->n_tensors; i++) {
        const ng_tensor *tensor = &s->file->tensors[i];
        ng_source *source = &sources->list[sources->n];
        const char *reason;
        const ng_status status = take(source, &reason, tensor, s);

        if (!wanted(source->name, names, n_names))
            continue;
        if (status != NG_OK)
            return status;
        if (reason == NULL)
            sources->n++;
        else if (n_names > 0)
            return ng_file_fail(s->error, NG_BAD_FILE, s->path, tensor->name,
                                "dtype", "%s %s", ng_dtype_name(tensor->dtype),
                                reason);
        else if (!is_scales(tensor, s))
            skip(sources, tensor, reason);
    }
    for (int i = 0; i < n_names; i++) {
        bool found = false;

        for (int j = 0; j < sources->n; j++)
            found |= strcmp(sources->list[j].name, names[i]) == 0;
        if (!found)
            return ng_file_fail(s->error, NG_BAD_FILE, s->path, NULL, "tensors",
                                "none is named \"%s\"", names[i]);
    }
    return NG_OK;
}

ng_status ng_sources_find(ng_sources *sources, const ng_tensor_file *file,
                          const char *path, const ng_conversion *conversion,
                          const char *const *names, int n_names, bool pow2,
                          ng_error *error)
{
    const search s = {file, path, conversion, pow2, error};

    *sources = (ng_sources){
        .list = calloc(file->n_tensors + 1, sizeof *sources->list)};
    if (sources->list == NULL)
        return ng_fail(error, NG_NO_MEMORY, "%s: out of memory", path);
    ng_status status = find_all(sources, &s, names, n_names);
    if (status == NG_OK && sources->n == 0)
        status = ng_file_fail(
            error, NG_BAD_FILE, path, NULL, "tensors",
            conversion->from.kind == NG_SIDE_MATRIX
                ? "none is fp32, bf16 or fp16, which %s takes"
                : "no pair NAME.codes and NAME.scales that %s takes",
            conversion->operation);
    if (status != NG_OK)
        ng_sources_free(sources);
    return status;
}

void ng_sources_free(ng_sources *sources)
{
    free(sources->list);
    sources->list = NULL;
}
