/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a view of formats/optim.h can be what it says, and where its elements
 * lie. Returned are NG_BAD_SHAPE (n negative, or the bytes past INT64_MAX),
 * NG_BAD_DTYPE, NG_BAD_LAYOUT (bits, kind or coding that do not exist or fit),
 * NG_BAD_POINTER (null where n > 0), NG_BAD_RULES.
 */
#ifndef NG_REFERENCE_OPTIM_REF_OPTIM_VIEWS_H
#define NG_REFERENCE_OPTIM_REF_OPTIM_VIEWS_H

#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"
#include "reference/optim/ref_splitting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rules, ng_default_rules if none are given; never null. */
const ng_rules *ng_ref_optim_rules(const ng_optim_options *options);

ng_status ng_ref_check_optim(int64_t n, const ng_optim_options *options);
ng_status ng_ref_check_weights(const ng_weights *weights, int64_t n);
ng_status ng_ref_check_state(const ng_state *state, int64_t n); /* not null */
ng_status ng_ref_check_gradient(const ng_gradient *gradient, int64_t n);

/* The pair of weight i; rho 0 where there is no correction. Not NG_FP32. */
ng_ref_pair ng_ref_load_pair(const ng_weights *weights, int64_t i);
void ng_ref_store_pair(const ng_weights *weights, int64_t i, ng_ref_pair pair);

/* Weight i, merged, as FP32 bits; split and stored. Returns whether it was
 * saturated. FP32 weights are moved. */
uint32_t ng_ref_load_weight(const ng_weights *weights, int64_t i, int split);
bool ng_ref_store_weight(const ng_weights *weights, int64_t i, uint32_t theta,
                         int split);

/* Gradient i as FP32, times its scale where there is one. */
float ng_ref_load_gradient(const ng_gradient *gradient, int64_t i);

#ifdef __cplusplus
}
#endif

#endif
