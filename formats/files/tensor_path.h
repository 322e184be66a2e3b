/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor files by the suffix of their name: .safetensors or .npy.
 */
#ifndef NG_FORMATS_FILES_TENSOR_PATH_H
#define NG_FORMATS_FILES_TENSOR_PATH_H

#include "formats/files/tensor_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read the file at path: ng_safetensors_read or ng_npy_read, whose contract
 * holds. NG_BAD_FILE too for another suffix; the case of letters counts. */
ng_status ng_tensor_file_read(ng_tensor_file *out, const char *path,
                              ng_error *error);

/* Write *in to path: ng_safetensors_write or ng_npy_write. A .npy file holds
 * exactly one tensor, and neither its name nor metadata: the latter are left
 * out, another count is NG_BAD_FILE, and so is another suffix. */
ng_status ng_tensor_file_write(const char *path, const ng_tensor_file *in,
                               ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
