/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_optim_views.h"

#include <stddef.h>

#include "reference/convert/ref_decode.h"
#include "reference/convert/ref_elements.h"
#include "reference/optim/ref_fp32.h"

const ng_rules *ng_ref_optim_rules(const ng_optim_options *options)
{
    return options != NULL && options->rules != NULL ? options->rules
                                                     : &ng_default_rules;
}

/* Four bytes an element is the most that any array of a call takes. */
ng_status ng_ref_check_optim(int64_t n, const ng_optim_options *options)
{
    if (n < 0 || n > INT64_MAX / 4)
        return NG_BAD_SHAPE;
    return ng_rules_valid(ng_ref_optim_rules(options)) ? NG_OK : NG_BAD_RULES;
}

static bool is_float(ng_dtype dtype)
{
    return dtype == NG_FP32 || dtype == NG_BF16 || dtype == NG_FP16;
}

ng_status ng_ref_check_weights(const ng_weights *weights, int64_t n)
{
    if (weights == NULL)
        return NG_BAD_POINTER;

    const int bits = weights->correction_bits;

    if (!is_float(weights->dtype))
        return NG_BAD_DTYPE;
    if (bits != 0 && (weights->dtype == NG_FP32 || (bits != 8 && bits != 16)))
        return NG_BAD_LAYOUT;
    if (n > 0
        && (weights->low == NULL || (bits != 0 && weights->correction == NULL)))
        return NG_BAD_POINTER;
    return NG_OK;
}

ng_status ng_ref_check_state(const ng_state *state, int64_t n)
{
    if ((unsigned)state->kind >= NG_N_STATE_KINDS
        || (unsigned)state->coding >= NG_N_STATE_CODINGS)
        return NG_BAD_LAYOUT;
    if (n > 0
        && (state->data == NULL
            || (state->coding != NG_STATE_FP32 && state->scales == NULL)))
        return NG_BAD_POINTER;
    return NG_OK;
}

ng_status ng_ref_check_gradient(const ng_gradient *gradient, int64_t n)
{
    if (gradient == NULL)
        return NG_BAD_POINTER;
    if (!is_float(gradient->dtype))
        return NG_BAD_DTYPE;
    return n > 0 && gradient->data == NULL ? NG_BAD_POINTER : NG_OK;
}

ng_ref_pair ng_ref_load_pair(const ng_weights *weights, int64_t i)
{
    ng_ref_pair pair = {.low = ((const uint16_t *)weights->low)[i]};

    if (weights->correction_bits == 8)
        pair.rho = ((const int8_t *)weights->correction)[i];
    else if (weights->correction_bits == 16)
        pair.rho = ((const int16_t *)weights->correction)[i];
    return pair;
}

void ng_ref_store_pair(const ng_weights *weights, int64_t i, ng_ref_pair pair)
{
    ((uint16_t *)weights->low)[i] = pair.low;
    if (weights->correction_bits == 8)
        ((int8_t *)weights->correction)[i] = (int8_t)pair.rho;
    else if (weights->correction_bits == 16)
        ((int16_t *)weights->correction)[i] = pair.rho;
}

uint32_t ng_ref_load_weight(const ng_weights *weights, int64_t i, int split)
{
    if (weights->dtype == NG_FP32)
        return ng_fp32_bits(((const float *)weights->low)[i]);
    return ng_ref_merge_weight(ng_ref_load_pair(weights, i), weights->dtype,
                               weights->correction_bits, split);
}

bool ng_ref_store_weight(const ng_weights *weights, int64_t i, uint32_t theta,
                         int split)
{
    if (weights->dtype == NG_FP32) {
        ((float *)weights->low)[i] = ng_fp32_from_bits(theta);
        return false;
    }

    const ng_ref_pair pair = ng_ref_split_weight(
        theta, weights->dtype, weights->correction_bits, split);

    ng_ref_store_pair(weights, i, pair);
    return pair.saturated;
}

float ng_ref_load_gradient(const ng_gradient *gradient, int64_t i)
{
    float g;

    if (gradient->dtype == NG_FP32)
        g = ((const float *)gradient->data)[i];
    else
        g = ng_ref_decode(ng_ref_format(gradient->dtype),
                          ((const uint16_t *)gradient->data)[i],
                          &ng_default_rules);
    if (gradient->scale != NULL)
        g = g * *gradient->scale;
    return g;
}
