/* SPDX-License-Identifier: Apache-2.0
 *
 * .npy: a magic, a version, a Python dict literal with three keys, and one
 * array's bytes. Source: numpy.lib.format, versions 1.0, 2.0 and 3.0.
 *
 *   descr                                    ng_dtype
 *   |u1 |i1 <u2 <i2 <u4 <i4 <u8 <i8          NG_U8 ... NG_I64
 *   |b1                                      NG_U8, the bytes as they are
 *   <f2 <f4 <f8                              NG_FP16 NG_FP32 NG_FP64
 *
 * Everything else is refused with the reason: big-endian, Fortran order (even
 * where it makes no difference), objects, structures. NumPy stores the BF16 and
 * FP8 of ml_dtypes as raw bytes ("<V2", "<V1") that name no type: save
 * x.view(numpy.uint16) instead, or use safetensors.
 */
#ifndef NG_FORMATS_FILES_NPY_H
#define NG_FORMATS_FILES_NPY_H

#include "formats/files/tensor_file.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NG_NPY_MAX_HEADER = 65535 };     /* bytes; the most of version 1.0 */

/* Read a whole file, taken to be hostile, as ng_safetensors_read does.
 *   out   overwritten, never freed: one dense tensor, owned, named after the
 *         file ("x" for dir/x.npy; "array" where that cannot be a name)
 * Returns NG_OK; NG_BAD_FILE, NG_NO_MEMORY or NG_BAD_POINTER with *out
 * untouched and one line in *error: PATH: FIELD: what is wrong. */
ng_status ng_npy_read(ng_tensor_file *out, const char *path, ng_error *error);

/* Write a tensor, gathered by its strides, as version 1.0; byte for byte what
 * numpy.save (2.x) writes. Its name is not stored. The file appears whole or
 * not at all (formats/files/atomic_write.h).
 * Returns NG_OK; NG_BAD_POINTER, NG_BAD_SHAPE, NG_BAD_DTYPE (a type that the
 * table above lacks) or NG_BAD_FILE or NG_NO_MEMORY, with an existing file
 * untouched, nothing left behind and one line in *error. */
ng_status ng_npy_write(const char *path, const ng_tensor *in, ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
