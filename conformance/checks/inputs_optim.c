/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/inputs_optim.h"

#include <string.h>

#include "conformance/subject/optim_functions.h"
#include "formats/fp32.h"

#define N(array) ((int64_t)(sizeof(array) / sizeof *(array)))

void ng_case_counts(ng_case *c)
{
    const int64_t n = NG_N_OPTIM_COUNTS;

    ng_case_output(c, "y.counts", NG_U64, 1, &n, false);
}

const ng_format *ng_case_scale_format(const ng_case *c, ng_dtype *dtype)
{
    const bool ng = c->call.rules.compand == NG_COMPAND_NG;

    *dtype = ng ? NG_UE6M10 : NG_FP16;
    return &ng_formats[ng ? NG_FORMAT_UE6M10 : NG_FORMAT_FP16];
}

void ng_case_number(ng_case *c, const char *name, double x)
{
    int64_t bits;

    memcpy(&bits, &x, sizeof bits);
    ng_case_attribute(c, name, bits);
}

uint32_t ng_case_special(ng_case *c)
{
    static const uint32_t bits[] = {
        0x00000000, 0x00000001, 0x00000002, 0x00007FFF, 0x00008000, 0x00008001,
        0x0000C000, 0x007FFFFF, 0x00800000, 0x00800001, 0x33000000, 0x33000001,
        0x33800000, 0x387FE000, 0x387FFFFF, 0x38800000, 0x3F7FFFFF, 0x3F800000,
        0x3F800001, 0x3F807FFF, 0x3F808000, 0x3F808001, 0x3F818000, 0x477FDFFF,
        0x477FE000, 0x477FEFFF, 0x477FF000, 0x477FF001, 0x47800000, 0x487FD000,
        0x487FE000, 0x487FEFFF, 0x487FF000, 0x48800000, 0x7F7F0000, 0x7F7F7F7F,
        0x7F7F7F80, 0x7F7F7FFF, 0x7F7F8000, 0x7F7F8001, 0x7F7FFFFF, 0x7F800000,
        0x7F800001, 0x7FC00000, 0x7FFFFFFF,
    };

    const uint32_t sign = ng_case_chance(c, 2) ? NG_FP32_SIGN : 0;

    return bits[ng_case_below(c, N(bits))] | sign;
}

int64_t ng_case_length(ng_case *c, int64_t index)
{
    static const int64_t length[] = {0, 1, 31, 32, 33, 2, 63, 64, 65, 95};

    return index < N(length) ? length[index] : 1 + ng_case_below(c, 200);
}
