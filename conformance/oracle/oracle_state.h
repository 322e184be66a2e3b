/* SPDX-License-Identifier: Apache-2.0
 *
 * Semantics section 9 on one group of an optimizer state, over exact reals.
 * Numbers have 24 bits (oracle_ieee.h).
 */
#ifndef NG_CONFORMANCE_ORACLE_STATE_H
#define NG_CONFORMANCE_ORACLE_STATE_H

#include <mpfr.h>
#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"

/* Code n numbers (at most 32) with one scale and count the group; coding is not
 * NG_STATE_FP32. Codes are bytes, a negative int8 in two's complement. */
void ng_oracle_code_group(uint8_t *codes, uint16_t *scale, const mpfr_t *x,
                          int n, ng_state_kind kind, ng_state_coding coding,
                          int compand, ng_group_counts *counts);

/* y = the number that a code byte stands for under a scale. */
void ng_oracle_decode_code(mpfr_ptr y, uint8_t code, uint16_t scale,
                           ng_state_kind kind, ng_state_coding coding,
                           int compand);

/* The two rules, which ng_oracle_code_group and ng_oracle_decode_code choose
 * between. */
void ng_oracle_code_group_ng(uint8_t *codes, uint16_t *scale, const mpfr_t *x,
                             int n, ng_state_kind kind, ng_state_coding coding,
                             ng_group_counts *counts);
void ng_oracle_decode_code_ng(mpfr_ptr y, uint8_t code, uint16_t scale,
                              ng_state_kind kind, ng_state_coding coding);
void ng_oracle_code_group_flashoptim(uint8_t *codes, uint16_t *scale,
                                     const mpfr_t *x, int n, ng_state_kind kind,
                                     ng_state_coding coding,
                                     ng_group_counts *counts);
void ng_oracle_decode_code_flashoptim(mpfr_ptr y, uint8_t code, uint16_t scale,
                                      ng_state_kind kind,
                                      ng_state_coding coding);

/* Elements first .. first + n - 1 of a view, which are one group unless the
 * state is NG_STATE_FP32. Stored NaNs are canonical. */
void ng_oracle_load_group(mpfr_t *y, const ng_state *x, int64_t first, int n,
                          int compand);
void ng_oracle_store_group(const ng_state *y, int64_t first, const mpfr_t *x,
                           int n, int compand, ng_optim_counts *counts);

/* How many of `left` elements make the next group. */
int ng_oracle_group_size(int64_t left);

/* Whether the view can be what it says. */
ng_status ng_oracle_check_state(const ng_state *x, int64_t n);

#endif
