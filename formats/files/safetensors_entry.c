/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/files/safetensors_entry.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "formats/files/safetensors_dtype.h"
#include "formats/files/tensor_file.h"

/* The entry being read, and where to say what is wrong with it. */
typedef struct context {
    const char *name;
    const json_t *object;
    const ng_safetensors_scope *scope;
    ng_error *error;
} context;

#define FAULT(in, field, ...)                                                  \
    ng_file_fail((in)->error, NG_BAD_FILE, (in)->scope->path, (in)->name,      \
                 field, __VA_ARGS__)

/* The type that the metadata gives a tensor: its pair's value, or null. */
static const char *metadata_dtype(const context *in)
{
    char name[sizeof NG_SAFETENSORS_DTYPE_PREFIX + NG_MAX_NAME];

    snprintf(name, sizeof name, NG_SAFETENSORS_DTYPE_PREFIX "%s", in->name);
    return json_string_value(json_object_get(in->scope->metadata, name));
}

/* *is_f4 tells the one dtype whose shape counts half bytes. */
static ng_status read_dtype(ng_dtype *dtype, bool *is_f4, const context *in)
{
    const char *name = json_string_value(json_object_get(in->object, "dtype"));
    const char *given = metadata_dtype(in);

    if (name == NULL)
        return FAULT(in, "dtype", "missing, or not a string");
    if (!ng_safetensors_find_dtype(dtype, name))
        return FAULT(in, "dtype",
                     "\"%.32s\" is not a type that this program reads", name);
    *is_f4 = strcmp(name, "F4") == 0;
    if (given == NULL)
        return NG_OK;

    if (!ng_dtype_find(given, dtype))
        return FAULT(in, "dtype",
                     "the metadata says \"%.32s\", which is no type", given);
    const char *carrier = ng_safetensors_carrier(ng_dtype_size(*dtype));
    if (strcmp(name, carrier) != 0)
        return FAULT(in, "dtype",
                     "the metadata says %s, which is stored as %s, not as %s",
                     given, carrier, name);
    return NG_OK;
}

/* Make *tensor the dense tensor of that type and the entry's shape. */
static ng_status read_shape(ng_tensor *tensor, ng_dtype dtype, bool is_f4,
                            const context *in)
{
    const json_t *field = json_object_get(in->object, "shape");
    int64_t shape[NG_MAX_RANK] = {0};

    if (!json_is_array(field))
        return FAULT(in, "shape", "missing, or not an array");
    if (json_array_size(field) > NG_MAX_RANK)
        return FAULT(in, "shape", "has %zu axes, more than %d",
                     json_array_size(field), NG_MAX_RANK);
    const int rank = (int)json_array_size(field);
    for (int axis = 0; axis < rank; axis++) {
        const json_t *size = json_array_get(field, (size_t)axis);

        if (!json_is_integer(size))
            return FAULT(in, "shape", "axis %d is not a whole number", axis);
        shape[axis] = json_integer_value(size);
        if (shape[axis] < 0)
            return FAULT(in, "shape", "axis %d is negative", axis);
    }
    if (is_f4 && (rank == 0 || shape[rank - 1] % 2 != 0))
        return FAULT(in, "shape",
                     "F4 needs a last axis of even size, two elements a byte");
    if (is_f4)
        shape[rank - 1] /= 2;
    if (!ng_tensor_shape_fits(dtype, rank, shape))
        return FAULT(in, "shape", "is past 2^63 - 1 bytes");
    *tensor = ng_tensor_dense(in->name, dtype, rank, shape, NULL);
    return NG_OK;
}

static ng_status read_offsets(ng_safetensors_entry *entry, const context *in)
{
    const json_t *field = json_object_get(in->object, "data_offsets");
    const json_t *begin = json_array_get(field, 0);
    const json_t *end = json_array_get(field, 1);
    int64_t units = 0, bytes = 0;

    if (json_array_size(field) != 2 || !json_is_integer(begin)
        || !json_is_integer(end))
        return FAULT(in, "data_offsets",
                     "missing, or not two whole numbers");
    entry->begin = json_integer_value(begin);
    entry->end = json_integer_value(end);
    if (entry->begin < 0 || entry->end < entry->begin)
        return FAULT(in, "data_offsets",
                     "%" PRId64 " to %" PRId64 " is no range", entry->begin,
                     entry->end);
    if (entry->end > in->scope->data_size)
        return FAULT(in, "data_offsets",
                     "end %" PRId64 " is past the %" PRId64 " bytes of data",
                     entry->end, in->scope->data_size);
    if (ng_tensor_extent(&units, &bytes, &entry->tensor) != NG_OK
        || bytes != entry->end - entry->begin)
        return FAULT(in, "data_offsets",
                     "%" PRId64 " bytes, but dtype and shape take %" PRId64,
                     entry->end - entry->begin, bytes);
    return NG_OK;
}

ng_status ng_safetensors_read_entry(ng_safetensors_entry *entry,
                                    const char *name, json_t *object,
                                    const ng_safetensors_scope *scope,
                                    ng_error *error)
{
    const context in = {name, object, scope, error};
    const char *fault = ng_tensor_name_fault(name);
    const char *key;
    json_t *value;
    ng_dtype dtype = NG_U8;
    bool is_f4 = false;

    if (fault != NULL)
        return FAULT(&in, "name", "%s", fault);
    if (!json_is_object(object))
        return FAULT(&in, "entry", "is not an object");
    json_object_foreach(object, key, value)
        if (strcmp(key, "dtype") != 0 && strcmp(key, "shape") != 0
            && strcmp(key, "data_offsets") != 0)
            return FAULT(&in, "entry", "\"%.32s\" is no field of it", key);

    ng_status status = read_dtype(&dtype, &is_f4, &in);
    if (status == NG_OK)
        status = read_shape(&entry->tensor, dtype, is_f4, &in);
    if (status == NG_OK)
        status = read_offsets(entry, &in);
    return status;
}
