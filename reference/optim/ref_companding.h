/* SPDX-License-Identifier: Apache-2.0
 *
 * Section 9 of the semantics: one group of an optimizer state, coded and
 * decoded. `compand` is ng_compand; coding is companded or linear.
 */
#ifndef NG_REFERENCE_OPTIM_REF_COMPANDING_H
#define NG_REFERENCE_OPTIM_REF_COMPANDING_H

#include <stdint.h>

#include "formats/optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Code a group of n numbers, 1 <= n <= 32: write n bytes of codes (int8 in
 * two's complement, or uint8) and the scale; count the group in *counts. */
void ng_ref_compand_group(uint8_t *codes, uint16_t *scale, const float *x,
                          int n, ng_state_kind kind, ng_state_coding coding,
                          int compand, ng_group_counts *counts);

/* The FP32 bits that a code byte stands for under a scale. */
uint32_t ng_ref_expand_code(uint8_t code, uint16_t scale, ng_state_kind kind,
                            ng_state_coding coding, int compand);

/* Both under compand = flashoptim. */
void ng_ref_compand_group_flashoptim(uint8_t *codes, uint16_t *scale,
                                     const float *x, int n, ng_state_kind kind,
                                     ng_state_coding coding,
                                     ng_group_counts *counts);
uint32_t ng_ref_expand_code_flashoptim(uint8_t code, uint16_t scale,
                                       ng_state_kind kind,
                                       ng_state_coding coding);

#ifdef __cplusplus
}
#endif

#endif
