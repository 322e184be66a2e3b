/* SPDX-License-Identifier: Apache-2.0
 *
 * Every field of the header is checked before anything is allocated for data;
 * then the ranges are checked against each other; only then are bytes read.
 */
#include "formats/files/safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "formats/files/file_error.h"
#include "formats/files/input_file.h"
#include "formats/files/safetensors_entry.h"

typedef struct reading {
    ng_input_file file;
    ng_error *error;
    json_t *root;               /* the header; owns scope.metadata */
    ng_safetensors_scope scope;
    int64_t data_at;            /* where in the file the data begins */
    ng_safetensors_entry *entries;      /* in the header's order */
    size_t n_entries;
} reading;

/* Fail over a field of the file or, where tensor is not null, of a tensor. */
#define FAULT(r, tensor, field, ...)                                           \
    ng_file_fail((r)->error, NG_BAD_FILE, (r)->file.path, tensor, field,       \
                 __VA_ARGS__)

static ng_status no_memory(const reading *r)
{
    return ng_file_fail(r->error, NG_NO_MEMORY, r->file.path, NULL, "header",
                        "out of memory");
}

static ng_status parse_header(reading *r, const char *text, size_t length)
{
    json_error_t fault;

    if (length == 0 || text[0] != '{')
        return FAULT(r, NULL, "header", "does not begin with '{'");
    r->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    if (r->root != NULL)
        return NG_OK;
    /* Jansson says nothing where an allocation failed while it was building. */
    if (fault.text[0] == '\0'
        || json_error_code(&fault) == json_error_out_of_memory)
        return no_memory(r);
    return FAULT(r, NULL, "header", "byte %d: %s", fault.position, fault.text);
}

static ng_status read_header(reading *r)
{
    uint64_t length;

    if (r->file.size < (int64_t)sizeof length)
        return FAULT(r, NULL, "header length",
                     "takes 8 bytes, the file has %" PRId64, r->file.size);
    ng_status status =
        ng_input_read(&length, &r->file, 0, sizeof length, r->error);
    if (status != NG_OK)
        return status;
    if (length > NG_SAFETENSORS_MAX_HEADER)
        return FAULT(r, NULL, "header length", "%" PRIu64 " is more than %d",
                     length, NG_SAFETENSORS_MAX_HEADER);
    r->data_at = (int64_t)(sizeof length + length);
    r->scope.data_size = r->file.size - r->data_at;
    if (r->scope.data_size < 0)
        return FAULT(r, NULL, "header length",
                     "%" PRIu64 " is past the end of a file of %" PRId64
                     " bytes", length, r->file.size);

    char *text = malloc(length > 0 ? (size_t)length : 1);
    if (text == NULL)
        return no_memory(r);
    status = ng_input_read(text, &r->file, sizeof length, (size_t)length,
                           r->error);
    if (status == NG_OK)
        status = parse_header(r, text, (size_t)length);
    free(text);
    return status;
}

static ng_status check_metadata(reading *r)
{
    json_t *metadata = json_object_get(r->root, "__metadata__");
    const char *name;
    json_t *value;

    if (metadata != NULL && !json_is_object(metadata))
        return FAULT(r, NULL, "__metadata__", "is not an object");
    json_object_foreach(metadata, name, value)
        if (!json_is_string(value))
            return FAULT(r, NULL, "__metadata__", "\"%.64s\" is not a string",
                         name);
    r->scope.metadata = metadata;
    return NG_OK;
}

static ng_status read_entries(reading *r)
{
    const char *name;
    json_t *value;

    r->entries = calloc(json_object_size(r->root) + 1, sizeof *r->entries);
    if (r->entries == NULL)
        return no_memory(r);
    json_object_foreach(r->root, name, value) {
        if (value == r->scope.metadata)
            continue;
        const ng_status status = ng_safetensors_read_entry(
            &r->entries[r->n_entries++], name, value, &r->scope, r->error);
        if (status != NG_OK)
            return status;
    }
    return NG_OK;
}

static int by_offsets(const void *a, const void *b)
{
    const ng_safetensors_entry *x = *(const ng_safetensors_entry *const *)a;
    const ng_safetensors_entry *y = *(const ng_safetensors_entry *const *)b;

    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->end > y->end) - (x->end < y->end);
}

/* The ranges, sorted, must follow one another from the first byte to the last:
 * the standard allows no holes, and an overlap would show one tensor's bytes
 * under two names. */
static ng_status check_tiling(const reading *r)
{
    const ng_safetensors_entry **sorted =
        calloc(r->n_entries + 1, sizeof *sorted);
    ng_status status = NG_OK;
    int64_t end = 0;

    if (sorted == NULL)
        return no_memory(r);
    for (size_t i = 0; i < r->n_entries; i++)
        sorted[i] = &r->entries[i];
    qsort(sorted, r->n_entries, sizeof *sorted, by_offsets);
    for (size_t i = 0; i < r->n_entries && status == NG_OK; i++) {
        const ng_safetensors_entry *next = sorted[i];

        if (next->begin > end)
            status = FAULT(r, next->tensor.name, "data_offsets",
                           "bytes %" PRId64 " to %" PRId64
                           " before it are no tensor's", end, next->begin);
        else if (next->begin < end)
            status = FAULT(r, next->tensor.name, "data_offsets",
                           "overlaps tensor \"%.64s\"",
                           sorted[i - 1]->tensor.name);
        end = next->end;
    }
    if (status == NG_OK && end != r->scope.data_size)
        status = FAULT(r, NULL, "data",
                       "%" PRId64 " bytes after the last tensor's",
                       r->scope.data_size - end);
    free(sorted);
    return status;
}

static ng_status load(ng_tensor_file *file, const reading *r)
{
    const char *name;
    json_t *value;
    ng_status status = NG_OK;

    json_object_foreach(r->scope.metadata, name, value)
        if (ng_tensor_file_add_metadata(file, name, json_string_value(value))
            != NG_OK)
            return no_memory(r);
    for (size_t i = 0; i < r->n_entries && status == NG_OK; i++) {
        const ng_safetensors_entry *entry = &r->entries[i];
        const ng_tensor *tensor = &entry->tensor;
        void *data;

        status = ng_tensor_file_add_tensor(&data, file, tensor->name,
                                           tensor->dtype, tensor->rank,
                                           tensor->shape);
        if (status != NG_OK)
            return ng_file_fail(r->error, status, r->file.path, tensor->name,
                                "data", "%s", ng_status_text(status));
        status = ng_input_read(data, &r->file, r->data_at + entry->begin,
                               (size_t)(entry->end - entry->begin), r->error);
    }
    return status;
}

ng_status ng_safetensors_read(ng_tensor_file *out, const char *path,
                              ng_error *error)
{
    reading r = {.error = error, .scope = {.path = path}};
    ng_tensor_file file = {0};

    if (out == NULL || path == NULL)
        return ng_fail(error, NG_BAD_POINTER, "safetensors: %s",
                       ng_status_text(NG_BAD_POINTER));
    ng_status status = ng_input_open(&r.file, path, error);
    if (status != NG_OK)
        return status;
    status = read_header(&r);
    if (status == NG_OK)
        status = check_metadata(&r);
    if (status == NG_OK)
        status = read_entries(&r);
    if (status == NG_OK)
        status = check_tiling(&r);
    if (status == NG_OK)
        status = load(&file, &r);

    free(r.entries);
    json_decref(r.root);
    ng_input_close(&r.file);
    if (status == NG_OK)
        *out = file;
    else
        ng_tensor_file_free(&file);
    return status;
}
