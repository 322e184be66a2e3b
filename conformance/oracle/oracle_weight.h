/* SPDX-License-Identifier: Apache-2.0
 *
 * Semantics section 8 on one weight, over exact reals. theta has 24 bits
 * (oracle_ieee.h); dtype is NG_BF16 or NG_FP16, n 0, 8 or 16.
 */
#ifndef NG_CONFORMANCE_ORACLE_WEIGHT_H
#define NG_CONFORMANCE_ORACLE_WEIGHT_H

#include <mpfr.h>
#include <stdbool.h>

#include "formats/optim.h"
#include "formats/status.h"

typedef struct ng_oracle_pair {
    uint32_t low;
    long rho;
    bool saturated; /* theta is finite, its low would be (or is) infinite */
} ng_oracle_pair;

ng_oracle_pair ng_oracle_split(mpfr_srcptr theta, ng_dtype dtype, int n,
                               int split);
void ng_oracle_merge(mpfr_ptr theta, ng_oracle_pair pair, ng_dtype dtype, int n,
                     int split);

/* Weight i of a view: merged, or split and stored, counting it if it was
 * saturated. NG_FP32 weights are the numbers themselves; a NaN becomes the
 * canonical one, so operations that move bits do it without these. */
void ng_oracle_load_weight(mpfr_ptr theta, const ng_weights *x, int64_t i,
                           int split);
void ng_oracle_store_weight(const ng_weights *y, int64_t i, mpfr_srcptr theta,
                            int split, ng_optim_counts *counts);

/* Whether the view can be what it says, and the rules that are meant. */
ng_status ng_oracle_check_weights(const ng_weights *x, int64_t n);
const ng_rules *ng_oracle_optim_rules(const ng_optim_options *options);

/* Add counts to those of the caller, if he keeps any. */
void ng_oracle_count_optim(const ng_optim_options *options,
                           const ng_optim_counts *counts);

#endif
