/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors: 8 bytes of length (little-endian), that many bytes of JSON, then
 * the tensors' bytes, which the JSON's offsets tile without gap or overlap.
 * Source: the format section of safetensors' README, version 0.8.
 *
 *   file's dtype                     ng_dtype
 *   U8 I8 U16 I16 U32 I32 U64 I64    the same
 *   BOOL                             NG_U8, the bytes as they are; written U8
 *   F16 BF16 F32 F64                 NG_FP16 NG_BF16 NG_FP32 NG_FP64
 *   F8_E4M3 F8_E8M0                  NG_E4M3 NG_UE8M0
 *   F4                               NG_E2M1X2; the file's last axis counts
 *                                    elements, ours bytes: it must be even.
 *                                    The even element is the low nibble.
 * Any other dtype is refused.
 *
 * A pair `dtype.NAME` in __metadata__ gives the tensor NAME a type that the
 * standard lacks, or that its reader lacks (NumPy has no F4 and no FP8). Such a
 * tensor is U8, U16, U32 or U64 in the file, one integer a stored unit, and the
 * value is its ng_dtype_name ("e2m1x2").
 *   reading   the tensor gets that type. Refused: a name that is no type, or a
 *             file's dtype other than the unsigned one of that size. Pairs are
 *             kept, so that writing what was read gives the same form again;
 *             one whose NAME is no tensor's means nothing.
 *   writing   NG_E2M1, NG_UE6M10 and NG_UE8M0X4 are always written so, the pair
 *             being added where the metadata has none. Any other type is where
 *             the pair is there (so NG_E2M1X2 is F4 by itself, U8 if asked). A
 *             pair that contradicts its tensor's type is refused.
 */
#ifndef NG_FORMATS_FILES_SAFETENSORS_H
#define NG_FORMATS_FILES_SAFETENSORS_H

#include "formats/files/tensor_file.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NG_SAFETENSORS_MAX_HEADER = 100000000 };     /* bytes, the standard's */

/* Read a whole file, taken to be hostile: every count, size and offset is
 * checked before it is used, and no more is allocated for data than the file
 * has bytes. Tensors and metadata come in the header's order, dense.
 *   out   overwritten, never freed; the caller frees it (ng_tensor_file_free)
 * Returns NG_OK; NG_BAD_FILE (the system's error, a fault of the format, a name
 * past NG_MAX_NAME or with control characters, a rank past NG_MAX_RANK),
 * NG_NO_MEMORY or NG_BAD_POINTER, with *out untouched and one line in *error:
 * PATH: tensor "NAME": FIELD: what is wrong. */
ng_status ng_safetensors_read(ng_tensor_file *out, const char *path,
                              ng_error *error);

/* Write the tensors in their order, gathered by their strides. The same input
 * gives the same bytes; the data begins at a multiple of 8. The file appears
 * whole or not at all (formats/files/atomic_write.h).
 * Returns NG_OK; NG_BAD_POINTER (data is null), NG_BAD_SHAPE, NG_BAD_DTYPE, or
 * NG_BAD_FILE (the system's error; a name that reading refuses or that two
 * have; text that is not UTF-8; a header past the cap) or NG_NO_MEMORY, with an
 * existing file untouched, nothing left behind and one line in *error. */
ng_status ng_safetensors_write(const char *path, const ng_tensor_file *in,
                               ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
