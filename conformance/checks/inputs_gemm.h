/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of the grouped GEMMs; one table of strata serves all of those over
 * blocks, one those over plain BF16.
 */
#ifndef NG_CONFORMANCE_CHECKS_INPUTS_GEMM_H
#define NG_CONFORMANCE_CHECKS_INPUTS_GEMM_H

#include "conformance/checks/operation.h"

enum { NG_GEMM_MAX_GROUPS = 8, NG_GEMM_GROUP_SIZES = 10 };

/* Ragged rows: groups, and rows past the last of them. */
typedef struct ng_gemm_rows {
    int64_t n_groups, sizes[NG_GEMM_MAX_GROUPS];
    int64_t used, past;
} ng_gemm_rows;

/* The rows of a case of a ragged stratum: of case 0 the groups `first`, empty
 * ones first, among and last; of case 2 two empty groups; of any other up to
 * five of `some` sizes. */
ng_gemm_rows ng_gemm_draw_rows(ng_case *c, int64_t index,
                               const int64_t first[static NG_GEMM_MAX_GROUPS],
                               const int64_t some[static NG_GEMM_GROUP_SIZES]);

extern const ng_stratum ng_gemm_strata[];
extern const ng_stratum ng_gemm_bf16_strata[];

#endif
