/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of the optimizer's operations. A stratum reads the operation's name
 * and the variant. Tensors and attributes: conformance/subject/optim_functions.h.
 */
#ifndef NG_CONFORMANCE_CHECKS_INPUTS_OPTIM_H
#define NG_CONFORMANCE_CHECKS_INPUTS_OPTIM_H

#include "conformance/checks/operation.h"
#include "formats/format.h"

/* inputs_split.c, inputs_merge.c; axes "low" and "correction". */
extern const ng_stratum ng_split_strata[];
extern const ng_stratum ng_merge_strata[];

/* inputs_compand.c, inputs_expand.c; rule compand, axis "linear". */
extern const ng_stratum ng_compand_strata[];
extern const ng_stratum ng_expand_strata[];

/* inputs_step.c; rule compand, axes "theta", "grad" and "coded". */
extern const ng_stratum ng_step_strata[];

/* inputs_step_constants.c */
extern const ng_stratum ng_step_constants_strata[];

/* Declare y.counts. */
void ng_case_counts(ng_case *c);

/* The format of scales under the case's rules, and its dtype. */
const ng_format *ng_case_scale_format(const ng_case *c, ng_dtype *dtype);

/* Attach a hyper-parameter's FP64 bits. */
void ng_case_number(ng_case *c, const char *name, double x);

/* Any of the FP32 numbers that something treats by itself: zeros, subnormals,
 * ends of binades and formats, infinities and NaNs, of either sign. */
uint32_t ng_case_special(ng_case *c);

/* A length at, beside and between multiples of 32, 0 too. */
int64_t ng_case_length(ng_case *c, int64_t index);

#endif
