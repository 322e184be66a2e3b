/* SPDX-License-Identifier: Apache-2.0
 *
 * How an element may become its code: a tie goes elsewhere, a rounding too
 * many. (Cutting, and ties away from zero, are values of a rule and tried as
 * such; the last two stand here for operations whose rule is fixed.)
 */
#include <math.h>

#include "conformance/checks/recoding.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

/* Elements past the largest code keep what is right: that is another matter. */
static bool overflows(const ng_element *e)
{
    const double largest =
        ng_value_of(e->format == &ng_formats[NG_FORMAT_E2M1]    ? NG_E2M1
                    : e->format == &ng_formats[NG_FORMAT_E4M3]  ? NG_E4M3
                    : e->format == &ng_formats[NG_FORMAT_BF16]  ? NG_BF16
                    : e->format == &ng_formats[NG_FORMAT_FP16]  ? NG_FP16
                    : e->format == &ng_formats[NG_FORMAT_UE8M0] ? NG_UE8M0
                                                                : NG_UE6M10,
                    e->format->max_finite);

    return fabs(e->v) > largest * e->s;
}

/* Likewise where v is below all codes of a format that has no zero. */
static bool is_below(const ng_element *e)
{
    return e->format == &ng_formats[NG_FORMAT_UE8M0] && e->v < 0x1p-127;
}

static uint32_t nearest(const ng_element *e, double v, double s, ng_tie tie)
{
    return overflows(e) || is_below(e)
               ? e->right
               : ng_code_of_quotient(e->format, v, s, tie);
}

#define TIES(name, tie)                                                       \
    static uint32_t recode_##name(const ng_element *e)                        \
    {                                                                         \
        return nearest(e, e->v, e->s, tie);                                   \
    }                                                                         \
    static ng_status name(const ng_call *call, const ng_specification *right) \
    {                                                                         \
        return ng_recode(call, right, recode_##name);                         \
    }

TIES(to_odd, NG_TIE_ODD)
TIES(to_zero, NG_TIE_TO_ZERO)
TIES(half_up, NG_TIE_UP)
TIES(half_down, NG_TIE_DOWN)
TIES(away, NG_TIE_AWAY)
TIES(cut, NG_CUT)

/* A rounding to a wider format first, then the right one. */
static double first(const ng_element *e, ng_format_id format, double x)
{
    (void)e;
    return ng_rounded_to(format, x);
}

#define TWICE(name, quotient)                                                 \
    static uint32_t recode_##name(const ng_element *e)                        \
    {                                                                         \
        return nearest(e, quotient, 1, NG_TIE_EVEN);                          \
    }                                                                         \
    static ng_status name(const ng_call *call, const ng_specification *right) \
    {                                                                         \
        return ng_recode(call, right, recode_##name);                         \
    }

TWICE(quotient, first(e, NG_FORMAT_FP32, e->v / e->s))
TWICE(reciprocal,
      first(e, NG_FORMAT_FP32, e->v *first(e, NG_FORMAT_FP32, 1 / e->s)))
TWICE(by_bf16, first(e, NG_FORMAT_BF16, e->v / e->s))
TWICE(by_fp16, first(e, NG_FORMAT_FP16, e->v / e->s))
TWICE(narrowed, first(e, NG_FORMAT_BF16, e->v) / e->s)

static const ng_hypothesis list[] = {
    {NG_KIND_TIES, "ties go to the odd code", to_odd},
    {NG_KIND_TIES, "ties go toward zero", to_zero},
    {NG_KIND_TIES, "ties go up: half is added and the rest cut off", half_up},
    {NG_KIND_TIES, "ties go down", half_down},
    {NG_KIND_TIES, "ties go away from zero", away},
    {NG_KIND_TRUNCATION, "cuts off instead of rounding", cut},
    {NG_KIND_DOUBLE_ROUNDING, "the quotient is rounded to FP32 before the code",
     quotient},
    {NG_KIND_DOUBLE_ROUNDING,
     "multiplies by the rounded reciprocal of the scale", reciprocal},
    {NG_KIND_DOUBLE_ROUNDING, "the quotient is rounded to BF16 before the code",
     by_bf16},
    {NG_KIND_DOUBLE_ROUNDING, "the quotient is rounded to FP16 before the code",
     by_fp16},
    {NG_KIND_DOUBLE_ROUNDING, "the number is rounded to BF16 first", narrowed},
};

const ng_hypotheses ng_rounding_hypotheses = {list, N(list)};
