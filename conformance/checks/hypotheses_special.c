/* SPDX-License-Identifier: Apache-2.0
 *
 * Zeros, subnormals, NaN, infinities, and numbers past the largest.
 */
#include <math.h>
#include <string.h>

#include "conformance/checks/recoding.h"
#include "formats/fp32.h"
#include "reference/convert/ref_decode.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- numbers changed on the way in -------------------------------------- */

typedef uint64_t change(ng_dtype, uint64_t);

/* In the inputs named, up to a null. */
static ng_status names_read_as(const ng_call *call,
                               const ng_specification *right,
                               const char *const *names, change *as)
{
    ng_status status = NG_NOT_COVERED;
    bool any = false;
    ng_changed c;

    ng_changed_begin(&c, call);
    for (int i = 0; names[i] != NULL; i++)
        any |= ng_changed_units(&c, names[i], as);
    if (any)
        status = ng_specified(right, &c.call);
    ng_changed_end(&c);
    return status;
}

static ng_status read_as(const ng_call *call, const ng_specification *right,
                         change *as)
{
    static const char *const all[] = {"x",        "x.codes",  "a.codes",
                                      "b.codes",  "x.scales", "a.scales",
                                      "b.scales", NULL};

    return names_read_as(call, right, all, as);
}

static bool is_number(ng_dtype dtype)
{
    return dtype == NG_FP32 || dtype == NG_BF16 || dtype == NG_FP16
           || dtype == NG_E4M3;
}

static uint64_t sign_of(ng_dtype dtype, uint64_t bits)
{
    return bits & ng_format_sign(ng_format_of(dtype));
}

/* A class of numbers, and what is read in its place. */
static bool is_subnormal(ng_dtype dtype, uint64_t bits)
{
    const ng_format *f = ng_format_of(dtype);
    const uint64_t magnitude = bits & ~(uint64_t)ng_format_sign(f);

    return is_number(dtype) && magnitude > 0
           && magnitude < UINT64_C(1) << f->fraction_bits;
}

static bool is_nan(ng_dtype dtype, uint64_t bits)
{
    return is_number(dtype) && isnan(ng_value_of(dtype, (uint32_t)bits));
}

static bool is_infinite(ng_dtype dtype, uint64_t bits)
{
    return is_number(dtype) && isinf(ng_value_of(dtype, (uint32_t)bits));
}

#define READ(name, dtype, bits, is, instead)                                  \
    static uint64_t name##_unit(ng_dtype dtype, uint64_t bits)                \
    {                                                                         \
        return is ? (uint64_t)(instead) : bits;                               \
    }                                                                         \
    static ng_status name(const ng_call *call, const ng_specification *right) \
    {                                                                         \
        return read_as(call, right, name##_unit);                             \
    }

READ(subnormals_as_zero, d, b, is_subnormal(d, b), sign_of(d, b))
READ(subnormals_as_plus_zero, d, b, is_subnormal(d, b), 0)
READ(nan_as_zero, d, b, is_nan(d, b), 0)
READ(nan_as_largest, d, b, is_nan(d, b), ng_format_of(d)->max_finite)
READ(infinity_as_largest, d, b, is_infinite(d, b),
     sign_of(d, b) | ng_format_of(d)->max_finite)
READ(neither_as_zero, d, b, is_nan(d, b) || is_infinite(d, b), 0)
READ(minus_zero_as_plus, d, b, is_number(d) && b == sign_of(d, b), 0)

/* Of one operand of a product alone. */
static ng_status nan_of_a_as_zero(const ng_call *call,
                                  const ng_specification *right)
{
    static const char *const names[] = {"a.codes", NULL};

    return names_read_as(call, right, names, nan_as_zero_unit);
}

static ng_status nan_of_b_as_zero(const ng_call *call,
                                  const ng_specification *right)
{
    static const char *const names[] = {"b.codes", NULL};

    return names_read_as(call, right, names, nan_as_zero_unit);
}

static ng_status nan_codes_as_zero(const ng_call *call,
                                   const ng_specification *right)
{
    static const char *const names[] = {"a.codes", "b.codes", "x.codes", NULL};

    return names_read_as(call, right, names, nan_as_zero_unit);
}

/* ---- a clamp before the rounding ---------------------------------------- */

static ng_status clamped(const ng_call *call, const ng_specification *right,
                         bool infinities)
{
    ng_status status = NG_NOT_COVERED;
    bool any = false;
    ng_changed c;

    if (strncmp(call->operation, "encode_", 7) != 0)
        return NG_NOT_COVERED;
    const ng_format *f = ng_format_of_codec(call);
    const float largest = ng_ref_decode(f, f->max_finite, &ng_default_rules);

    ng_changed_begin(&c, call);
    const ng_tensor *x = ng_changed_input(&c, "x");
    float *value = x != NULL ? x->data : NULL;

    for (int64_t i = 0; x != NULL && i < x->shape[0]; i++)
        if (fabsf(value[i]) > largest && (infinities || isfinite(value[i]))) {
            value[i] = copysignf(largest, value[i]);
            any = true;
        }
    if (any)
        status = ng_specified(right, &c.call);
    ng_changed_end(&c);
    return status;
}

static ng_status clamped_finite(const ng_call *call,
                                const ng_specification *right)
{
    return clamped(call, right, false);
}

static ng_status clamped_all(const ng_call *call, const ng_specification *right)
{
    return clamped(call, right, true);
}

/* ---- codes changed on the way out --------------------------------------- */

static ng_status written_as(const ng_call *call, const ng_specification *right,
                            change *as)
{
    const ng_tensor *t = ng_call_output(call, "y");
    ng_elements y;

    if (right->bounds != NULL)
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);

    if (status != NG_OK)
        return status;
    if (ng_elements_of(&y, call, "y")) {
        const ng_dtype dtype =
            y.codes->dtype == NG_E2M1X2 ? NG_E2M1 : y.codes->dtype;

        for (int64_t r = 0; r < y.rows; r++)
            for (int64_t c = 0; c < y.cols; c++)
                ng_elements_put(&y, r, c,
                                (uint32_t)as(dtype, ng_elements_get(&y, r, c)));
        return NG_OK;
    }
    if (t == NULL || t->rank != 1)
        return NG_NOT_COVERED;
    for (int64_t i = 0; i < t->shape[0]; i++)
        ng_unit_put(t, &i, as(t->dtype, ng_unit_get(t, &i)));
    return NG_OK;
}

static bool is_minus_zero(ng_dtype dtype, uint64_t bits)
{
    return bits != 0 && bits == sign_of(dtype, bits);
}

static bool is_subnormal_code(ng_dtype dtype, uint64_t bits)
{
    return ng_format_of(dtype)->has_subnormals
           && (dtype == NG_E2M1 ? (bits & 7) == 1 : is_subnormal(dtype, bits));
}

#define WRITTEN(name, dtype, bits, is, instead)                               \
    static uint64_t name##_code(ng_dtype dtype, uint64_t bits)                \
    {                                                                         \
        return is ? (uint64_t)(instead) : bits;                               \
    }                                                                         \
    static ng_status name(const ng_call *call, const ng_specification *right) \
    {                                                                         \
        return written_as(call, right, name##_code);                          \
    }

WRITTEN(zeros_positive, d, b, is_minus_zero(d, b), 0)
WRITTEN(subnormals_flushed, d, b, is_subnormal_code(d, b), sign_of(d, b))
WRITTEN(subnormals_flushed_positive, d, b, is_subnormal_code(d, b), 0)

/* What is rounded to zero loses its sign, a zero keeps it. */
static uint32_t recode_to_zero(const ng_element *e)
{
    /* 0x80 of UE8M0 and 0x8000 of UE6M10, which have no sign, are numbers. */
    return e->v != 0 && e->format->is_signed
                   && e->right == ng_format_sign(e->format)
               ? 0
               : e->right;
}

static ng_status rounded_zeros_positive(const ng_call *call,
                                        const ng_specification *right)
{
    return ng_recode(call, right, recode_to_zero);
}

/* ---- decoders ----------------------------------------------------------- */

/* The exponent field 0 read like any other. */
static ng_status subnormals_as_normal(const ng_call *call,
                                      const ng_specification *right)
{
    const ng_tensor *x = ng_call_input(call, "x");

    if (strncmp(call->operation, "decode_", 7) != 0)
        return NG_NOT_COVERED;
    const ng_format *f = ng_format_of_codec(call);
    const ng_status status = ng_specified(right, call);
    float *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++) {
        const uint32_t code = (uint32_t)ng_unit_get(x, &i);
        const uint32_t magnitude = code & ~ng_format_sign(f);

        if (magnitude != 0 && magnitude < 1u << f->fraction_bits)
            y[i] = (float)copysign(
                ldexp(1 + ldexp(magnitude, -f->fraction_bits), -f->bias),
                code != magnitude ? -1.0 : 1.0);
    }
    return status;
}

/* UE8M0's byte shifted into FP32's exponent field. */
static ng_status byte_in_the_field(const ng_call *call,
                                   const ng_specification *right)
{
    const ng_tensor *x = ng_call_input(call, "x");

    if (strcmp(call->operation, "decode_ue8m0") != 0)
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);
    float *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++)
        y[i] = ng_fp32_from_bits((uint32_t)ng_unit_get(x, &i) << 23);
    return status;
}

static const ng_hypothesis list[] = {
    {NG_KIND_ZERO_SIGN, "every zero is written as +0", zeros_positive},
    {NG_KIND_ZERO_SIGN, "what is rounded to zero loses its sign",
     rounded_zeros_positive},
    {NG_KIND_ZERO_SIGN, "-0 is read as +0", minus_zero_as_plus},
    {NG_KIND_SUBNORMAL, "subnormal numbers are read as zero",
     subnormals_as_zero},
    {NG_KIND_SUBNORMAL, "subnormal numbers are read as +0",
     subnormals_as_plus_zero},
    {NG_KIND_SUBNORMAL, "subnormal results are written as zero",
     subnormals_flushed},
    {NG_KIND_SUBNORMAL, "subnormal results are written as +0",
     subnormals_flushed_positive},
    {NG_KIND_SUBNORMAL, "the exponent field 0 is read like any other",
     subnormals_as_normal},
    {NG_KIND_SCALE_END, "the byte is moved into FP32's exponent field",
     byte_in_the_field},
    {NG_KIND_NAN, "a NaN is read as 0", nan_as_zero},
    {NG_KIND_NAN, "a code that is NaN is read as 0", nan_codes_as_zero},
    {NG_KIND_NAN, "a code of a that is NaN is read as 0", nan_of_a_as_zero},
    {NG_KIND_NAN, "a code of b that is NaN is read as 0", nan_of_b_as_zero},
    {NG_KIND_NAN, "a NaN is read as the largest number", nan_as_largest},
    {NG_KIND_NAN, "a NaN or an infinity is read as 0", neither_as_zero},
    {NG_KIND_NAN, "an infinity is read as the largest number",
     infinity_as_largest},
    {NG_KIND_OVERFLOW, "numbers are clamped to the largest before rounding",
     clamped_finite},
    {NG_KIND_OVERFLOW,
     "numbers and infinities are clamped to the largest before rounding",
     clamped_all},
};

const ng_hypotheses ng_special_hypotheses = {list, N(list)};
