/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights, states and steps of optimizers.
 */
#include <math.h>
#include <string.h>

#include "conformance/faults/fault.h"
#include "formats/fp32.h"
#include "formats/optim.h"

/* ---- weights ------------------------------------------------------------ */

typedef uint32_t upper(uint32_t bits);

/* BF16 and 16 bits: low by `half`, the correction what is left, in 16 bits. */
static ng_status splits(const ng_call *call, upper *half)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *x = ng_call_input(call, "x");
    uint16_t *low = ng_call_output(call, "y.low")->data;
    uint16_t *rho = ng_call_output(call, "y.correction")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++) {
        const uint32_t bits = ((const uint32_t *)x->data)[i];
        const uint32_t code = half(bits);

        if ((code & 0x7FFF) >= 0x7F80)
            continue;
        low[i] = (uint16_t)code;
        rho[i] = (uint16_t)bits;
    }
    return status;
}

static uint32_t to_even(uint32_t bits)
{
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

static uint32_t cut(uint32_t bits)
{
    return bits >> 16;
}

static ng_status split_to_even(const ng_call *call)
{
    return splits(call, to_even);
}

static ng_status split_cut(const ng_call *call)
{
    return splits(call, cut);
}

/* Low above, the correction's bits below. */
static ng_status merge_concatenates(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *low = ng_call_input(call, "x.low");
    const uint16_t *rho = ng_call_input(call, "x.correction")->data;
    uint32_t *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; status == NG_OK && i < low->shape[0]; i++) {
        y[i] = (uint32_t)((const uint16_t *)low->data)[i] << 16 | rho[i];
        if ((y[i] & 0x7FFFFFFF) > NG_FP32_INFINITY)
            y[i] = NG_FP32_NAN;
    }
    return status;
}

/* ---- states ------------------------------------------------------------- */

/* v is rounded to 0 where sqrt v is less than half a step. */
static ng_status variance_vanishes(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *x = ng_call_input(call, "x");
    const uint16_t *scale = ng_call_output(call, "y.scales")->data;
    uint8_t *code = ng_call_output(call, "y.codes")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++) {
        const uint16_t s = scale[i / NG_STATE_GROUP];
        const int field = s >> 10;
        const double value = field == 0 ? ldexp(s & 1023, -55)
                                        : ldexp(1024 + (s & 1023), field - 56);
        const double root = (double)sqrtf(((const float *)x->data)[i]);

        if (code[i] == 1 && root * 510 <= value)
            code[i] = 0;
    }
    return status;
}

/* A grid of half steps has no code for zero. */
static ng_status no_code_for_zero(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *x = ng_call_input(call, "x");
    int8_t *code = ng_call_output(call, "y.codes")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++)
        if (((const float *)x->data)[i] == 0)
            code[i] = 1;
    return status;
}

/* Or one, but it decodes to something. */
static ng_status zero_decodes_to_half_a_step(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *codes = ng_call_input(call, "x.codes");
    float *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; status == NG_OK && i < codes->shape[0]; i++)
        if (((const int8_t *)codes->data)[i] == 0)
            y[i] = 0x1p-20f;
    return status;
}

static ng_status other_coding(const ng_call *call)
{
    return fault_rule(call, NG_RULE_COMPAND, NG_COMPAND_FLASHOPTIM);
}

/* ---- steps -------------------------------------------------------------- */

static ng_status with_t(const ng_call *call, int64_t t)
{
    ng_call other = *call;

    for (int i = 0; i < other.n_attributes; i++)
        if (strcmp(other.attribute[i].name, "t") == 0)
            other.attribute[i].value = t;
    return fault_reference(&other);
}

static ng_status counted_from_zero(const ng_call *call)
{
    const int64_t t = ng_call_attribute(call, "t", 1);

    return with_t(call, t > 1 ? t - 1 : t);
}

static ng_status never_counted(const ng_call *call)
{
    return with_t(call, 1);
}

static ng_status counted_in_32_bits(const ng_call *call)
{
    const uint32_t t = (uint32_t)ng_call_attribute(call, "t", 1);

    return with_t(call, t > 0 ? t : 1);
}

static ng_status published_order(const ng_call *call)
{
    return fault_rule(call, NG_RULE_STEP, NG_STEP_FLASHOPTIM);
}

#define BITS "weight.split=ulp", "y.low=bf16", "y.correction=i16"
#define NG "state.compand=ng", "linear=0"

const fault faults_optim[] = {
    {"split-to-even",
     "weight splitting",
     "L-17",
     {"split_weights"},
     {BITS},
     split_to_even},
    {"split-cut",
     "weight splitting",
     "L-17",
     {"split_weights"},
     {BITS},
     split_cut},
    {"merge-without-the-sign",
     "weight splitting",
     "L-17",
     {"merge_weights"},
     {"weight.split=ulp", "x.low=bf16", "x.correction=i16"},
     merge_concatenates},
    {"variance-vanishes",
     "zero of a state",
     "L-18",
     {"compand_variance"},
     {NG},
     variance_vanishes},
    {"momentum-without-a-zero",
     "zero of a state",
     "L-18",
     {"compand_momentum"},
     {NG},
     no_code_for_zero},
    {"momentum-zero-is-something",
     "zero of a state",
     "L-18",
     {"expand_momentum"},
     {NG},
     zero_decodes_to_half_a_step},
    {"momentum-in-another-coding",
     "state coding",
     "",
     {"compand_momentum"},
     {NG},
     other_coding},
    {"step-counted-from-zero",
     "step count",
     "L-27",
     {"step_constants"},
     {"optim.step=ng"},
     counted_from_zero},
    {"step-never-counted",
     "step count",
     "L-27",
     {"step_constants"},
     {"optim.step=ng"},
     never_counted},
    {"step-counted-in-32-bits",
     "32-bit index",
     "L-23",
     {"step_constants"},
     {"optim.step=ng"},
     counted_in_32_bits},
    {"step-in-the-published-order",
     "order of a step",
     "",
     {"step_adamw"},
     {"optim.step=ng", "weight.split=ulp", "state.compand=ng"},
     published_order},
    {.name = NULL},
};
