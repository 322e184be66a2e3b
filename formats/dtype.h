/* SPDX-License-Identifier: Apache-2.0
 *
 * Element types of tensors: what one stored unit is. Facts only.
 */
#ifndef NG_FORMATS_DTYPE_H
#define NG_FORMATS_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ng_dtype {
    NG_U8, NG_I8, NG_U16, NG_I16, NG_U32, NG_I32, NG_U64, NG_I64,
    NG_FP16, NG_BF16, NG_FP32, NG_FP64,
    NG_E2M1,            /* one code a byte, in its low nibble */
    NG_E2M1X2,          /* two codes a byte, the even element low */
    NG_E4M3,
    NG_UE8M0,
    NG_UE8M0X4,         /* four scales in a 32-bit word, the first lowest */
    NG_UE6M10,
    NG_N_DTYPES
} ng_dtype;

/* Bytes of one stored unit: 1 for NG_E2M1X2 (two elements), 4 for NG_UE8M0X4. */
size_t ng_dtype_size(ng_dtype dtype);

/* The name in command lines and reports: "bf16", "e2m1x2" ... Never null. */
const char *ng_dtype_name(ng_dtype dtype);

/* Find a type by that name. Returns false, *dtype untouched, if there is none. */
bool ng_dtype_find(const char *name, ng_dtype *dtype);

#ifdef __cplusplus
}
#endif

#endif
