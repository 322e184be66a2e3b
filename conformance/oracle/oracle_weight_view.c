/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_weight.h"

void ng_oracle_load_weight(mpfr_ptr theta, const ng_weights *x, int64_t i,
                           int split)
{
    ng_oracle_pair pair = {0};

    if (x->dtype == NG_FP32) {
        ng_oracle_from_fp32(theta, ((const uint32_t *)x->low)[i]);
        return;
    }
    pair.low = ((const uint16_t *)x->low)[i];
    if (x->correction_bits == 8)
        pair.rho = ((const int8_t *)x->correction)[i];
    else if (x->correction_bits == 16)
        pair.rho = ((const int16_t *)x->correction)[i];
    ng_oracle_merge(theta, pair, x->dtype, x->correction_bits, split);
}

void ng_oracle_store_weight(const ng_weights *y, int64_t i, mpfr_srcptr theta,
                            int split, ng_optim_counts *counts)
{
    if (y->dtype == NG_FP32) {
        ((uint32_t *)y->low)[i] = ng_oracle_to_fp32(theta);
        return;
    }

    const ng_oracle_pair pair =
        ng_oracle_split(theta, y->dtype, y->correction_bits, split);

    ((uint16_t *)y->low)[i] = (uint16_t)pair.low;
    if (y->correction_bits == 8)
        ((int8_t *)y->correction)[i] = (int8_t)pair.rho;
    else if (y->correction_bits == 16)
        ((int16_t *)y->correction)[i] = (int16_t)pair.rho;
    counts->weights_saturated += pair.saturated;
}

ng_status ng_oracle_check_weights(const ng_weights *x, int64_t n)
{
    const int bits = x->correction_bits;

    if (n < 0)
        return NG_BAD_SHAPE;
    if (x->dtype != NG_FP32 && x->dtype != NG_BF16 && x->dtype != NG_FP16)
        return NG_BAD_DTYPE;
    if (bits != 0 && ((bits != 8 && bits != 16) || x->dtype == NG_FP32))
        return NG_BAD_LAYOUT;
    if (n > 0 && (x->low == NULL || (bits != 0 && x->correction == NULL)))
        return NG_BAD_POINTER;
    return NG_OK;
}

const ng_rules *ng_oracle_optim_rules(const ng_optim_options *options)
{
    return options != NULL && options->rules != NULL ? options->rules
                                                     : &ng_default_rules;
}

void ng_oracle_count_optim(const ng_optim_options *options,
                           const ng_optim_counts *counts)
{
    if (options != NULL && options->counts != NULL)
        ng_optim_counts_add(options->counts, counts);
}
