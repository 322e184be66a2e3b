/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/dtype.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
} facts[NG_N_DTYPES] = {
    [NG_U8] = {"u8", 1},           [NG_I8] = {"i8", 1},
    [NG_U16] = {"u16", 2},         [NG_I16] = {"i16", 2},
    [NG_U32] = {"u32", 4},         [NG_I32] = {"i32", 4},
    [NG_U64] = {"u64", 8},         [NG_I64] = {"i64", 8},
    [NG_FP16] = {"fp16", 2},       [NG_BF16] = {"bf16", 2},
    [NG_FP32] = {"fp32", 4},       [NG_FP64] = {"fp64", 8},
    [NG_E2M1] = {"e2m1", 1},       [NG_E2M1X2] = {"e2m1x2", 1},
    [NG_E4M3] = {"e4m3", 1},       [NG_UE8M0] = {"ue8m0", 1},
    [NG_UE8M0X4] = {"ue8m0x4", 4}, [NG_UE6M10] = {"ue6m10", 2},
};

size_t ng_dtype_size(ng_dtype dtype)
{
    return (unsigned)dtype < NG_N_DTYPES ? facts[dtype].size : 0;
}

const char *ng_dtype_name(ng_dtype dtype)
{
    return (unsigned)dtype < NG_N_DTYPES ? facts[dtype].name : "unknown";
}

bool ng_dtype_find(const char *name, ng_dtype *dtype)
{
    for (int i = 0; i < NG_N_DTYPES; i++)
        if (strcmp(name, facts[i].name) == 0) {
            *dtype = (ng_dtype)i;
            return true;
        }
    return false;
}
