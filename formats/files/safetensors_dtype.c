/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/files/safetensors_dtype.h"

#include <string.h>

/* Where two names stand for one type, the first is written. */
static const struct {
    const char *name;
    ng_dtype dtype;
} standard[] = {
    {"U8", NG_U8},         {"I8", NG_I8},
    {"U16", NG_U16},       {"I16", NG_I16},
    {"U32", NG_U32},       {"I32", NG_I32},
    {"U64", NG_U64},       {"I64", NG_I64},
    {"F16", NG_FP16},      {"BF16", NG_BF16},
    {"F32", NG_FP32},      {"F64", NG_FP64},
    {"F8_E4M3", NG_E4M3},  {"F8_E8M0", NG_UE8M0},
    {"F4", NG_E2M1X2},     {"BOOL", NG_U8},
};
enum { N_STANDARD = sizeof standard / sizeof *standard };

bool ng_safetensors_find_dtype(ng_dtype *dtype, const char *name)
{
    for (int i = 0; i < N_STANDARD; i++)
        if (strcmp(standard[i].name, name) == 0) {
            *dtype = standard[i].dtype;
            return true;
        }
    return false;
}

const char *ng_safetensors_dtype_name(ng_dtype dtype)
{
    for (int i = 0; i < N_STANDARD; i++)
        if (standard[i].dtype == dtype)
            return standard[i].name;
    return NULL;
}

const char *ng_safetensors_carrier(size_t size)
{
    return size == 1 ? "U8" : size == 2 ? "U16" : size == 4 ? "U32" : "U64";
}
