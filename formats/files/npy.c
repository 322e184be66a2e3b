/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/files/npy.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "formats/files/input_file.h"
#include "formats/files/npy_header.h"

enum {
    MAGIC_SIZE = 8,         /* the magic proper and two bytes of version */
    WRITTEN_SIZE = 128      /* where the data begins in a file we write */
};
static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

#define FAULT(file, field, ...)                                                \
    ng_file_fail(error, NG_BAD_FILE, (file)->path, NULL, field, __VA_ARGS__)

/* Read the version and the length: where the header is, and how long. */
static ng_status find_header(int64_t *at, uint32_t *length,
                             const ng_input_file *file, ng_error *error)
{
    unsigned char start[MAGIC_SIZE];
    uint16_t short_length;
    uint32_t long_length;

    if (file->size < MAGIC_SIZE)
        return FAULT(file, "magic", "takes 8 bytes, the file has %" PRId64,
                     file->size);
    ng_status status = ng_input_read(start, file, 0, sizeof start, error);
    if (status != NG_OK)
        return status;
    if (memcmp(start, magic, sizeof magic) != 0)
        return FAULT(file, "magic", "is not that of a .npy file");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return FAULT(file, "version", "%d.%d is not 1.0, 2.0 or 3.0", start[6],
                     start[7]);

    const bool is_short = start[6] == 1;
    const int size = is_short ? sizeof short_length : sizeof long_length;
    if (file->size < MAGIC_SIZE + size)
        return FAULT(file, "header length",
                     "takes %d bytes, the file has %" PRId64, size,
                     file->size - MAGIC_SIZE);
    status = is_short ? ng_input_read(&short_length, file, MAGIC_SIZE,
                                      sizeof short_length, error)
                      : ng_input_read(&long_length, file, MAGIC_SIZE,
                                      sizeof long_length, error);
    if (status != NG_OK)
        return status;
    *length = is_short ? short_length : long_length;
    *at = MAGIC_SIZE + size;
    if (*length > NG_NPY_MAX_HEADER)
        return FAULT(file, "header length", "%" PRIu32 " is more than %d",
                     *length, NG_NPY_MAX_HEADER);
    if (*length > file->size - *at)
        return FAULT(file, "header length",
                     "%" PRIu32 " is past the end of a file of %" PRId64
                     " bytes", *length, file->size);
    return NG_OK;
}

/* Find what a file's tensor is called: its name without folders and suffix. */
static void name_after(char *name, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    const char *dot = strrchr(base, '.');
    const size_t length = dot == NULL ? strlen(base) : (size_t)(dot - base);

    snprintf(name, NG_MAX_NAME, "%s", "array");
    if (length >= NG_MAX_NAME)
        return;
    char stem[NG_MAX_NAME];
    memcpy(stem, base, length);
    stem[length] = '\0';
    if (ng_tensor_name_fault(stem) == NULL)
        memcpy(name, stem, length + 1);
}

static ng_status load(ng_tensor_file *out, const ng_input_file *file,
                      const ng_npy_header *header, int64_t data_at,
                      ng_error *error)
{
    const ng_tensor tensor = ng_tensor_dense("", header->dtype, header->rank,
                                             header->shape, NULL);
    char name[NG_MAX_NAME];
    int64_t units = 0, bytes = 0;
    void *data;

    if (ng_tensor_extent(&units, &bytes, &tensor) != NG_OK
        || bytes != file->size - data_at)
        return FAULT(file, "data",
                     "%" PRId64 " bytes, but descr and shape take %" PRId64,
                     file->size - data_at, bytes);
    name_after(name, file->path);
    const ng_status status = ng_tensor_file_add_tensor(
        &data, out, name, header->dtype, header->rank, header->shape);
    if (status != NG_OK)
        return ng_file_fail(error, status, file->path, NULL, "data", "%s",
                            ng_status_text(status));
    return ng_input_read(data, file, data_at, (size_t)bytes, error);
}

ng_status ng_npy_read(ng_tensor_file *out, const char *path, ng_error *error)
{
    ng_input_file file;
    ng_tensor_file read = {0};
    ng_npy_header header;
    int64_t at = 0;
    uint32_t length = 0;
    char *text = NULL;

    if (out == NULL || path == NULL)
        return ng_fail(error, NG_BAD_POINTER, "npy: %s",
                       ng_status_text(NG_BAD_POINTER));
    ng_status status = ng_input_open(&file, path, error);
    if (status != NG_OK)
        return status;
    status = find_header(&at, &length, &file, error);
    if (status == NG_OK && (text = malloc((size_t)length + 1)) == NULL)
        status = ng_file_fail(error, NG_NO_MEMORY, path, NULL, "header",
                              "out of memory");
    if (status == NG_OK)
        status = ng_input_read(text, &file, at, length, error);
    if (status == NG_OK)
        status = ng_npy_parse_header(&header, text, length, path, error);
    if (status == NG_OK)
        status = load(&read, &file, &header, at + length, error);

    free(text);
    ng_input_close(&file);
    if (status == NG_OK)
        *out = read;
    else
        ng_tensor_file_free(&read);
    return status;
}

/* Print what stands before the data: the dict, spaces and the end of the line.
 * NumPy leaves room for a first axis of 21 digits and then goes on to the next
 * multiple of 64, which at NG_MAX_RANK is always 128: 10 bytes, 55 of dict, 21
 * for the first axis and at most 27 for three others, since a shape that fits
 * has sizes whose product is below 2^63. */
static void print_header(char text[WRITTEN_SIZE], const ng_tensor *tensor)
{
    const uint16_t length = WRITTEN_SIZE - MAGIC_SIZE - sizeof length;
    int n = MAGIC_SIZE + sizeof length;

    memset(text, ' ', WRITTEN_SIZE);
    memcpy(text, magic, sizeof magic);
    text[6] = 1;
    text[7] = 0;
    memcpy(text + MAGIC_SIZE, &length, sizeof length);
    n += snprintf(text + n, (size_t)(WRITTEN_SIZE - n),
                  "{'descr': '%s', 'fortran_order': False, 'shape': (",
                  ng_npy_descr(tensor->dtype));
    for (int axis = 0; axis < tensor->rank; axis++)
        n += snprintf(text + n, (size_t)(WRITTEN_SIZE - n), "%s%" PRId64,
                      axis == 0 ? "" : ", ", tensor->shape[axis]);
    n += snprintf(text + n, (size_t)(WRITTEN_SIZE - n), "%s), }",
                  tensor->rank == 1 ? "," : "");
    text[n] = ' ';              /* over snprintf's terminator */
    text[WRITTEN_SIZE - 1] = '\n';
}
_Static_assert(NG_MAX_RANK == 4, "as print_header counts");

ng_status ng_npy_write(const char *path, const ng_tensor *in, ng_error *error)
{
    char header[WRITTEN_SIZE];
    ng_atomic_file file;

    if (path == NULL || in == NULL || in->data == NULL)
        return ng_fail(error, NG_BAD_POINTER, "npy: %s",
                       ng_status_text(NG_BAD_POINTER));
    if (ng_npy_descr(in->dtype) == NULL)
        return ng_file_fail(error, NG_BAD_DTYPE, path, NULL, "descr",
                            "there is none for %s; write safetensors instead",
                            ng_dtype_name(in->dtype));
    if (!ng_tensor_shape_fits(in->dtype, in->rank, in->shape))
        return ng_file_fail(error, NG_BAD_SHAPE, path, NULL, "shape",
                            "a rank or size out of range");

    print_header(header, in);
    ng_status status = ng_atomic_begin(&file, path, error);
    if (status != NG_OK)
        return status;
    status = ng_atomic_write(&file, header, sizeof header, error);
    if (status == NG_OK)
        status = ng_tensor_write_data(&file, in, error);
    if (status == NG_OK)
        return ng_atomic_commit(&file, error);
    ng_atomic_abandon(&file);
    return status;
}
