/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/files/tensor_path.h"

#include <string.h>

#include "formats/files/file_error.h"
#include "formats/files/npy.h"
#include "formats/files/safetensors.h"

static bool ends_in(const char *path, const char *suffix)
{
    const size_t n = strlen(path), m = strlen(suffix);

    return n >= m && strcmp(path + n - m, suffix) == 0;
}

static ng_status bad_pointer(ng_error *error)
{
    return ng_fail(error, NG_BAD_POINTER, "tensor file: %s",
                   ng_status_text(NG_BAD_POINTER));
}

static ng_status bad_suffix(const char *path, ng_error *error)
{
    return ng_file_fail(error, NG_BAD_FILE, path, NULL, "name",
                        "ends in neither .safetensors nor .npy");
}

ng_status ng_tensor_file_read(ng_tensor_file *out, const char *path,
                              ng_error *error)
{
    if (out == NULL || path == NULL)
        return bad_pointer(error);
    if (ends_in(path, ".safetensors"))
        return ng_safetensors_read(out, path, error);
    if (ends_in(path, ".npy"))
        return ng_npy_read(out, path, error);
    return bad_suffix(path, error);
}

ng_status ng_tensor_file_write(const char *path, const ng_tensor_file *in,
                               ng_error *error)
{
    if (path == NULL || in == NULL)
        return bad_pointer(error);
    if (ends_in(path, ".safetensors"))
        return ng_safetensors_write(path, in, error);
    if (!ends_in(path, ".npy"))
        return bad_suffix(path, error);
    if (in->n_tensors != 1)
        return ng_file_fail(error, NG_BAD_FILE, path, NULL, "tensors",
                            "%zu to write, a .npy file holds exactly one",
                            in->n_tensors);
    return ng_npy_write(path, &in->tensors[0], error);
}
