/* SPDX-License-Identifier: Apache-2.0
 *
 * Section 8 of the semantics: one weight, split and merged. Total functions on
 * bit patterns; dtype is NG_BF16 or NG_FP16, n_bits 0, 8 or 16.
 */
#ifndef NG_REFERENCE_OPTIM_REF_SPLITTING_H
#define NG_REFERENCE_OPTIM_REF_SPLITTING_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/optim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_ref_pair {
    uint16_t low;
    int16_t rho;
    bool saturated;     /* theta is finite, its low would be infinite */
} ng_ref_pair;

/* Split the FP32 number with these bits; split is ng_split. */
ng_ref_pair ng_ref_split_weight(uint32_t theta, ng_dtype dtype, int n_bits,
                                int split);

/* The bits of theta; pair.saturated is not read. */
uint32_t ng_ref_merge_weight(ng_ref_pair pair, ng_dtype dtype, int n_bits,
                             int split);

/* Whether split can have written the pair.
 *   ulp         iff split(merge(pair)) is the pair: since split of merge is the
 *               identity on all that split writes, these are exactly those. Not
 *               written are rho != 0 under Inf or NaN, rho < 0 under +-0, NaNs
 *               other than 0x7FFF, and in FP16 with 16 bits what FP32 cannot
 *               hold.
 *   flashoptim  always: rho is free under Inf and NaN */
bool ng_ref_pair_is_written(ng_ref_pair pair, ng_dtype dtype, int n_bits,
                            int split);

#ifdef __cplusplus
}
#endif

#endif
