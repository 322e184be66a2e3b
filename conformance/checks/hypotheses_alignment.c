/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks brought under one larger scale: codes must be shifted by the binades
 * between the two. Done on the exponent field alone, a code that leaves the
 * normal numbers goes wrong (docs/cases.md, L-29). (What is cut there instead of
 * rounded is a truncation like any other, and tried as such.)
 */
#include <math.h>

#include "conformance/checks/recoding.h"
#include "formats/fp32.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

typedef uint32_t shifted(uint32_t code, int64_t k);

/* The field less k; below 1 it is 0, the significand stays as it was. */
static uint32_t field_subtracted(uint32_t code, int64_t k)
{
    const int64_t field = (code >> 3 & 15) - k;

    return (code >> 3 & 15) == 0
               ? code & 0x80
               : (code & 0x80) | (uint32_t)(field < 1 ? 0 : field) << 3
                     | (code & 7);
}

/* What leaves the normal numbers becomes zero. */
static uint32_t field_flushed(uint32_t code, int64_t k)
{
    const int64_t field = (code >> 3 & 15) - k;

    return field < 1 ? code & 0x80
                     : (code & 0x80) | (uint32_t)field << 3 | (code & 7);
}

static bool is_power(double s)
{
    int k;

    return isfinite(s) && s > 0 && frexp(s, &k) == 0.5;
}

static ng_status aligned(const ng_call *call, const ng_specification *right,
                         shifted *shift)
{
    ng_elements x, y;

    if (right->bounds != NULL || !ng_elements_of(&x, call, "x")
        || !ng_elements_of(&y, call, "y") || x.scales == NULL
        || y.scales == NULL || y.codes->dtype != NG_E4M3)
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);
    const int headroom = x.codes->dtype == NG_E2M1X2 ? call->rules.headroom : 0;

    for (int64_t r = 0; status == NG_OK && r < x.rows; r++)
        for (int64_t c = 0; c < x.cols; c++) {
            const ng_block from = ng_elements_block_at(&x, r, c);
            const ng_block to = ng_elements_block_at(&y, r, c);
            const double e =
                ng_value_of(x.scales->dtype, ng_elements_scale(&x, &from));
            const double s =
                ng_value_of(y.scales->dtype, ng_elements_scale(&y, &to));
            uint32_t code = ng_elements_get(&x, r, c);

            if (!is_power(e) || !is_power(s))
                continue;
            if (x.codes->dtype == NG_E2M1X2) /* exact: the top of the window */
                code = ng_code_of_quotient(&ng_formats[NG_FORMAT_E4M3],
                                           ng_value_of(NG_E2M1, code),
                                           ldexp(1, -headroom), NG_TIE_EVEN);
            ng_elements_put(&y, r, c,
                            shift(code, ilogb(s) + headroom - ilogb(e)));
        }
    return status;
}

#define ALIGNED(name)                                         \
    static ng_status by_##name(const ng_call *call,           \
                               const ng_specification *right) \
    {                                                         \
        return aligned(call, right, name);                    \
    }

ALIGNED(field_subtracted)
ALIGNED(field_flushed)

/* The largest of all four scales of a word, also of those that do not exist. */
static ng_status by_whole_words(const ng_call *call,
                                const ng_specification *right)
{
    ng_elements x, y;

    if (right->bounds != NULL || !ng_elements_of(&x, call, "x")
        || !ng_elements_of(&y, call, "y") || x.scales == NULL
        || x.scales->dtype != NG_UE8M0X4 || y.scales == NULL
        || y.scales->dtype != NG_FP32 || y.flipped)
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);

    for (int64_t i = 0, n_blocks = ng_elements_blocks(&y);
         status == NG_OK && i < n_blocks; i++) {
        const ng_block b = ng_elements_block(&y, i);
        const int64_t n = ng_ceil_div(b.col_end - b.col, NG_MXFP4_BLOCK);
        const uint32_t word = (uint32_t)ng_unit_get(
            x.scales, (const int64_t[2]){b.row, b.col / NG_FP8_BLOCK});
        uint32_t largest = 0;
        bool any = n == 4;

        for (int j = 0; j < 4; j++) {
            const uint32_t byte = word >> 8 * j & 0xFF;

            any = any || (j < n && byte == 0xFF);
            if (byte != 0xFF && byte > largest)
                largest = byte;
        }
        if (any) /* whole, or it holds a NaN */
            continue;
        const double s = ldexp(1, (int)largest - 127 - call->rules.headroom);

        ng_elements_put_scale(&y, &b, ng_fp32_bits((float)s));
        for (int64_t c = b.col; c < b.col_end; c++) {
            const uint32_t byte = word >> 8 * ((c - b.col) / 32) & 0xFF;
            const double v = ng_value_of(NG_E2M1, ng_elements_get(&x, b.row, c))
                             * ldexp(1, (int)byte - 127);

            ng_elements_put(&y, b.row, c,
                            ng_code_of_quotient(&ng_formats[NG_FORMAT_E4M3], v,
                                                s, NG_TIE_EVEN));
        }
    }
    return status;
}

static const ng_hypothesis list[] = {
    {NG_KIND_ALIGNMENT,
     "the exponent field is lowered and the significand kept, also where the"
     " field would pass 0",
     by_field_subtracted},
    {NG_KIND_ALIGNMENT, "codes that leave the normal numbers become zero",
     by_field_flushed},
    {NG_KIND_PADDING, "the absent bytes of a last word of scales are read",
     by_whole_words},
};

const ng_hypotheses ng_alignment_hypotheses = {list, N(list)};
