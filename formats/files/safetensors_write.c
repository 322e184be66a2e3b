/* SPDX-License-Identifier: Apache-2.0
 *
 * The header is built whole in memory, everything checked, before a file is
 * begun. Jansson keeps keys in the order of their arrival, so that the bytes
 * follow from the input alone.
 */
#include "formats/files/safetensors.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "formats/files/safetensors_dtype.h"
#include "formats/text.h"

typedef struct writing {
    const char *path;
    const ng_tensor_file *in;
    ng_error *error;
    json_t *root;
    json_t *metadata;           /* owned by root once it is in it */
    int64_t data_size;          /* of the tensors described so far */
} writing;

#define FAULT(w, status, tensor, field, ...)                                   \
    ng_file_fail((w)->error, status, (w)->path, tensor, field, __VA_ARGS__)

static ng_status no_memory(const writing *w)
{
    return FAULT(w, NG_NO_MEMORY, NULL, "header", "out of memory");
}

static ng_status copy_metadata(writing *w)
{
    for (size_t i = 0; i < w->in->n_metadata; i++) {
        const ng_metadata *pair = &w->in->metadata[i];

        if (!ng_is_utf8(pair->name) || !ng_is_utf8(pair->value))
            return FAULT(w, NG_BAD_FILE, NULL, "__metadata__",
                         "\"%.64s\" is not UTF-8", pair->name);
        if (json_object_get(w->metadata, pair->name) != NULL)
            return FAULT(w, NG_BAD_FILE, NULL, "__metadata__",
                         "\"%.64s\" is there twice", pair->name);
        if (json_object_set_new(w->metadata, pair->name,
                                json_string(pair->value)) != 0)
            return no_memory(w);
    }
    return NG_OK;
}

static ng_status check_tensor(const writing *w, const ng_tensor *tensor)
{
    const char *fault = ng_tensor_name_fault(tensor->name);

    if (fault == NULL && strcmp(tensor->name, "__metadata__") == 0)
        fault = "means the metadata";
    if (fault == NULL && json_object_get(w->root, tensor->name) != NULL)
        fault = "is another tensor's too";
    if (fault != NULL)
        return FAULT(w, NG_BAD_FILE, tensor->name, "name", "%s", fault);
    if (ng_dtype_size(tensor->dtype) == 0)
        return FAULT(w, NG_BAD_DTYPE, tensor->name, "dtype", "%d is no type",
                     (int)tensor->dtype);
    if (!ng_tensor_shape_fits(tensor->dtype, tensor->rank, tensor->shape))
        return FAULT(w, NG_BAD_SHAPE, tensor->name, "shape",
                     "a rank or size out of range");
    if (tensor->data == NULL)
        return FAULT(w, NG_BAD_POINTER, tensor->name, "data", "is null");
    return NG_OK;
}

/* Find the dtype to write, and add the pair that restores a type which has no
 * name in the standard. */
static ng_status choose_dtype(const char **dtype, const writing *w,
                              const ng_tensor *tensor)
{
    const char *standard = ng_safetensors_dtype_name(tensor->dtype);
    const char *own = ng_dtype_name(tensor->dtype);
    char pair[sizeof NG_SAFETENSORS_DTYPE_PREFIX + NG_MAX_NAME];

    snprintf(pair, sizeof pair, NG_SAFETENSORS_DTYPE_PREFIX "%s",
             tensor->name);
    const json_t *asked = json_object_get(w->metadata, pair);
    if (asked != NULL && strcmp(json_string_value(asked), own) != 0)
        return FAULT(w, NG_BAD_DTYPE, tensor->name, "dtype",
                     "%s, but the metadata says \"%.32s\"", own,
                     json_string_value(asked));
    if (asked == NULL && standard != NULL) {
        *dtype = standard;
        return NG_OK;
    }
    if (asked == NULL
        && json_object_set_new(w->metadata, pair, json_string(own)) != 0)
        return no_memory(w);
    *dtype = ng_safetensors_carrier(ng_dtype_size(tensor->dtype));
    return NG_OK;
}

/* The shape as the file counts it, or null if memory is short. */
static json_t *file_shape(const ng_tensor *tensor, bool is_f4)
{
    json_t *shape = json_array();

    for (int axis = 0; axis < tensor->rank; axis++) {
        const int64_t units = tensor->shape[axis];
        const bool doubled = is_f4 && axis == tensor->rank - 1;

        if (json_array_append_new(shape,
                                  json_integer(doubled ? 2 * units : units))
            != 0) {
            json_decref(shape);
            return NULL;
        }
    }
    return shape;
}

static ng_status describe_tensor(writing *w, const ng_tensor *tensor)
{
    const char *dtype = "";
    int64_t units = 0, bytes = 0;
    ng_status status = check_tensor(w, tensor);

    if (status == NG_OK)
        status = choose_dtype(&dtype, w, tensor);
    if (status != NG_OK)
        return status;

    const bool is_f4 = strcmp(dtype, "F4") == 0;
    if (is_f4 && (tensor->rank == 0
                  || tensor->shape[tensor->rank - 1] > INT64_MAX / 2))
        return FAULT(w, NG_BAD_SHAPE, tensor->name, "shape",
                     "F4 needs a last axis to count two elements a byte");
    const int64_t begin = w->data_size;
    if (ng_tensor_extent(&units, &bytes, tensor) != NG_OK
        || __builtin_add_overflow(begin, bytes, &w->data_size))
        return FAULT(w, NG_BAD_SHAPE, tensor->name, "shape",
                     "the file is past 2^63 - 1 bytes");

    /* json_pack consumes the shape, null or not, in every case. */
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype, "shape",
                              file_shape(tensor, is_f4), "data_offsets",
                              (json_int_t)begin, (json_int_t)w->data_size);
    if (json_object_set_new(w->root, tensor->name, entry) != 0)
        return no_memory(w);
    return NG_OK;
}

/* The metadata comes first in the header and may gain pairs from any tensor: it
 * goes in at once, and out again if it stayed empty. */
static ng_status describe(writing *w)
{
    w->root = json_object();
    w->metadata = json_object();
    if (json_object_set_new(w->root, "__metadata__", w->metadata) != 0)
        return no_memory(w);

    ng_status status = copy_metadata(w);
    for (size_t i = 0; i < w->in->n_tensors && status == NG_OK; i++)
        status = describe_tensor(w, &w->in->tensors[i]);
    if (status == NG_OK && json_object_size(w->metadata) == 0)
        json_object_del(w->root, "__metadata__");
    return status;
}

/* Print the header and pad it with spaces, as the standard allows, so that the
 * data after it and the 8 bytes before begins at a multiple of 8. */
static ng_status print_header(char **text, uint64_t *length, const writing *w)
{
    const size_t printed = json_dumpb(w->root, NULL, 0, JSON_COMPACT);
    const size_t padded = (printed + 7) / 8 * 8;

    if (printed == 0)
        return no_memory(w);
    if (padded > NG_SAFETENSORS_MAX_HEADER)
        return FAULT(w, NG_BAD_FILE, NULL, "header length",
                     "%zu is more than %d", padded, NG_SAFETENSORS_MAX_HEADER);
    char *header = malloc(padded);
    if (header == NULL)
        return no_memory(w);
    memset(header, ' ', padded);
    if (json_dumpb(w->root, header, printed, JSON_COMPACT) != printed) {
        free(header);
        return no_memory(w);
    }
    *text = header;
    *length = padded;
    return NG_OK;
}

static ng_status write_file(const writing *w, const char *header,
                            uint64_t length)
{
    ng_atomic_file file;
    ng_status status = ng_atomic_begin(&file, w->path, w->error);

    if (status != NG_OK)
        return status;
    status = ng_atomic_write(&file, &length, sizeof length, w->error);
    if (status == NG_OK)
        status = ng_atomic_write(&file, header, (size_t)length, w->error);
    for (size_t i = 0; i < w->in->n_tensors && status == NG_OK; i++)
        status = ng_tensor_write_data(&file, &w->in->tensors[i], w->error);
    if (status == NG_OK)
        return ng_atomic_commit(&file, w->error);
    ng_atomic_abandon(&file);
    return status;
}

ng_status ng_safetensors_write(const char *path, const ng_tensor_file *in,
                               ng_error *error)
{
    writing w = {.path = path, .in = in, .error = error};
    char *header = NULL;
    uint64_t length = 0;

    if (path == NULL || in == NULL)
        return ng_fail(error, NG_BAD_POINTER, "safetensors: %s",
                       ng_status_text(NG_BAD_POINTER));
    ng_status status = describe(&w);
    if (status == NG_OK)
        status = print_header(&header, &length, &w);
    if (status == NG_OK)
        status = write_file(&w, header, length);
    free(header);
    json_decref(w.root);
    return status;
}
