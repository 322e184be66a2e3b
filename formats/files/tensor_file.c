/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/files/tensor_file.h"

#include <stdlib.h>
#include <string.h>

#include "formats/text.h"

/* Files hold little-endian units and sizes of 63 bits; memory is the same
 * here, and nothing in formats/files/ swaps bytes. */
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a little-endian host is assumed"
#endif
_Static_assert(sizeof(size_t) == 8, "a 64-bit host is assumed");

void ng_tensor_file_free(ng_tensor_file *file)
{
    if (file == NULL)
        return;
    for (size_t i = 0; i < file->n_tensors; i++)
        free(file->tensors[i].data);
    for (size_t i = 0; i < file->n_metadata; i++) {
        free(file->metadata[i].name);
        free(file->metadata[i].value);
    }
    free(file->tensors);
    free(file->metadata);
    *file = (ng_tensor_file){0};
}

/* Room for one more of n items: the room doubles when n is a power of two, and
 * so follows from n alone. Returns null, the old array kept, on failure. */
static void *grow(void *items, size_t n, size_t size)
{
    if (n != 0 && (n & (n - 1)) != 0)
        return items;
    return realloc(items, (n == 0 ? 1 : 2 * n) * size);
}

ng_status ng_tensor_file_add_tensor(void **data, ng_tensor_file *file,
                                    const char *name, ng_dtype dtype, int rank,
                                    const int64_t *shape)
{
    int64_t units, bytes;

    if (ng_tensor_name_fault(name) != NULL)
        return NG_BAD_FILE;
    if (ng_dtype_size(dtype) == 0)
        return NG_BAD_DTYPE;
    if (!ng_tensor_shape_fits(dtype, rank, shape))
        return NG_BAD_SHAPE;

    ng_tensor tensor = ng_tensor_dense(name, dtype, rank, shape, NULL);
    if (ng_tensor_extent(&units, &bytes, &tensor) != NG_OK)
        return NG_BAD_SHAPE;
    ng_tensor *tensors = grow(file->tensors, file->n_tensors, sizeof *tensors);
    if (tensors == NULL)
        return NG_NO_MEMORY;
    file->tensors = tensors;
    tensor.data = calloc(bytes > 0 ? (size_t)bytes : 1, 1);
    if (tensor.data == NULL)
        return NG_NO_MEMORY;
    tensors[file->n_tensors++] = tensor;
    if (data != NULL)
        *data = tensor.data;
    return NG_OK;
}

ng_status ng_tensor_file_add_metadata(ng_tensor_file *file, const char *name,
                                      const char *value)
{
    ng_metadata *metadata =
        grow(file->metadata, file->n_metadata, sizeof *metadata);

    if (metadata == NULL)
        return NG_NO_MEMORY;
    file->metadata = metadata;

    const ng_metadata pair = {strdup(name), strdup(value)};
    if (pair.name == NULL || pair.value == NULL) {
        free(pair.name);
        free(pair.value);
        return NG_NO_MEMORY;
    }
    metadata[file->n_metadata++] = pair;
    return NG_OK;
}

ng_tensor *ng_tensor_file_find(const ng_tensor_file *file, const char *name)
{
    for (size_t i = 0; i < file->n_tensors; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}

const char *ng_tensor_file_metadata(const ng_tensor_file *file,
                                    const char *name)
{
    for (size_t i = 0; i < file->n_metadata; i++)
        if (strcmp(file->metadata[i].name, name) == 0)
            return file->metadata[i].value;
    return NULL;
}

const char *ng_tensor_name_fault(const char *name)
{
    const size_t length = strnlen(name, NG_MAX_NAME);

    if (length == 0)
        return "is empty";
    if (length == NG_MAX_NAME)
        return "is longer than 127 bytes";
    if (!ng_is_utf8(name))
        return "is not UTF-8";
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)name[i];
        const unsigned char next = (unsigned char)name[i + 1];

        /* U+0080 to U+009F steer terminals as well. */
        if (byte < 0x20 || byte == 0x7F || (byte == 0xC2 && next < 0xA0))
            return "has a control character";
    }
    return NULL;
}
_Static_assert(NG_MAX_NAME == 128, "as ng_tensor_name_fault says");

bool ng_tensor_shape_fits(ng_dtype dtype, int rank, const int64_t *shape)
{
    int64_t bytes = (int64_t)ng_dtype_size(dtype);

    if (rank < 0 || rank > NG_MAX_RANK)
        return false;
    for (int axis = 0; axis < rank; axis++) {
        const int64_t size = shape[axis];

        if (size < 0
            || __builtin_mul_overflow(bytes, size > 0 ? size : 1, &bytes))
            return false;
    }
    return true;
}

ng_status ng_tensor_write_data(ng_atomic_file *file, const ng_tensor *tensor,
                               ng_error *error)
{
    const int64_t size = (int64_t)ng_dtype_size(tensor->dtype);
    int64_t index[NG_MAX_RANK] = {0};
    int64_t run = 1;        /* units that lie together in memory */
    int outer = tensor->rank;

    for (int axis = 0; axis < tensor->rank; axis++)
        if (tensor->shape[axis] == 0)
            return NG_OK;
    while (outer > 0 && (tensor->shape[outer - 1] == 1
                         || tensor->stride[outer - 1] == run))
        run *= tensor->shape[--outer];

    for (;;) {
        int64_t offset = 0;

        for (int axis = 0; axis < outer; axis++)
            offset += index[axis] * tensor->stride[axis];
        const ng_status status =
            ng_atomic_write(file, (const char *)tensor->data + offset * size,
                            (size_t)(run * size), error);
        if (status != NG_OK)
            return status;

        int axis = outer - 1;
        while (axis >= 0 && ++index[axis] == tensor->shape[axis])
            index[axis--] = 0;
        if (axis < 0)
            return NG_OK;
    }
}
