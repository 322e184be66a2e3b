/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights cut in two, and states in eight bits. Only for BF16 weights under
 * rule ulp and for states under rule ng, where the integers are at hand.
 */
#include <math.h>
#include <string.h>

#include "conformance/checks/recoding.h"
#include "formats/fp32.h"
#include "formats/optim.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

static bool is(const ng_call *call, const char *operation)
{
    return strcmp(call->operation, operation) == 0;
}

/* ---- weights ------------------------------------------------------------ */

/* The n bits of a correction: 8, 16, or 0 where there is none. */
static int bits_of(const ng_tensor *correction)
{
    return correction == NULL ? 0 : 8 * (int)ng_dtype_size(correction->dtype);
}

/* The magnitude of theta with n bits more than BF16, rounded to even. */
static uint32_t widened(uint32_t magnitude, int n)
{
    const int cut = 16 - n;

    return cut == 0
               ? magnitude
               : (magnitude + (1u << (cut - 1)) - 1 + (magnitude >> cut & 1u))
                     >> cut;
}

static uint32_t to_even(uint32_t x, int n)
{
    return (x + (1u << (n - 1)) - 1 + (x >> n & 1u)) >> n;
}

static uint32_t upper_half(uint32_t x, int n)
{
    return x >> n;
}

static ng_status split(const ng_call *call, const ng_specification *right,
                       uint32_t (*low_of)(uint32_t x, int n))
{
    const ng_tensor *x = ng_call_input(call, "x");
    const ng_tensor *low = ng_call_output(call, "y.low");
    const ng_tensor *rho = ng_call_output(call, "y.correction");
    const int n = bits_of(rho);

    if (!is(call, "split_weights") || low->dtype != NG_BF16 || n == 0
        || call->rules.split != NG_SPLIT_ULP)
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++) {
        const uint32_t theta = (uint32_t)ng_unit_get(x, &i);
        const uint32_t wide = widened(theta & 0x7FFFFFFF, n);
        const uint32_t code = low_of(wide, n);

        if (code > 0x7F7F) /* no finite weight, or none that is kept */
            continue;
        ng_unit_put(low, &i, theta >> 31 << 15 | code);
        ng_unit_put(rho, &i, wide - (code << n));
    }
    return status;
}

static ng_status split_to_even(const ng_call *call,
                               const ng_specification *right)
{
    return split(call, right, to_even);
}

static ng_status split_cut(const ng_call *call, const ng_specification *right)
{
    return split(call, right, upper_half);
}

/* The correction is read without its sign. */
static ng_status merged_unsigned(const ng_call *call,
                                 const ng_specification *right)
{
    const ng_tensor *low = ng_call_input(call, "x.low");
    const ng_tensor *rho = ng_call_input(call, "x.correction");
    const int n = bits_of(rho);

    if (!is(call, "merge_weights") || low == NULL || low->dtype != NG_BF16
        || n == 0 || call->rules.split != NG_SPLIT_ULP)
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);
    uint32_t *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; status == NG_OK && i < low->shape[0]; i++) {
        y[i] = (((uint32_t)ng_unit_get(low, &i) << n)
                + (uint32_t)ng_unit_get(rho, &i))
               << (16 - n);
        if ((y[i] & 0x7FFFFFFF) > NG_FP32_INFINITY)
            y[i] = NG_FP32_NAN;
    }
    return status;
}

/* ---- states ------------------------------------------------------------- */

/* A variance that rounds to 0 is 0. */
static ng_status variance_flushed(const ng_call *call,
                                  const ng_specification *right)
{
    const ng_tensor *x = ng_call_input(call, "x");

    if (!is(call, "compand_variance") || call->rules.compand != NG_COMPAND_NG
        || ng_call_attribute(call, "linear", 0) != 0)
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);
    const ng_tensor *scales = ng_call_output(call, "y.scales");
    uint8_t *code = ng_call_output(call, "y.codes")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++) {
        const int64_t group = i / NG_STATE_GROUP;
        const double s =
            ng_value_of(NG_UE6M10, (uint32_t)ng_unit_get(scales, &group));
        const double r =
            (double)sqrtf(ng_fp32_from_bits((uint32_t)ng_unit_get(x, &i)));

        if (code[i] == 1 && 2 * 255 * r <= s)
            code[i] = 0;
    }
    return status;
}

static const ng_hypothesis list[] = {
    {NG_KIND_SPLIT, "the low half is rounded to even, the correction wraps",
     split_to_even},
    {NG_KIND_SPLIT, "the low half is the upper bits, cut", split_cut},
    {NG_KIND_SPLIT, "the correction is added without its sign",
     merged_unsigned},
    {NG_KIND_STATE_ZERO, "a variance that is not zero is coded as zero",
     variance_flushed},
};

const ng_hypotheses ng_optim_hypotheses = {list, N(list)};
