/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of IEEE 754: the exact result, rounded once to nearest even, with
 * gradual underflow and overflow to infinity. A variable of 24 bits is an FP32
 * number and one of 53 bits an FP64 number; the format of a result is that of
 * y. Operands may be any FP32 or FP64 numbers, infinities and NaN included, and
 * y may be one of them. Signs of zero are IEEE's.
 */
#ifndef NG_CONFORMANCE_ORACLE_IEEE_H
#define NG_CONFORMANCE_ORACLE_IEEE_H

#include <mpfr.h>
#include <stdint.h>

enum { NG_ORACLE_FP32_BITS = 24, NG_ORACLE_FP64_BITS = 53 };

void ng_oracle_add(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b);
void ng_oracle_sub(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b);
void ng_oracle_mul(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b);
void ng_oracle_div(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b);
void ng_oracle_sqrt(mpfr_ptr y, mpfr_srcptr a);

/* y = a * 2^k, and y = x for any x that MPFR holds, rounded once. */
void ng_oracle_scale(mpfr_ptr y, mpfr_srcptr a, long k);
void ng_oracle_round_to(mpfr_ptr y, mpfr_srcptr x);

/* FP32 bits and back; any bits in, and a NaN comes out as 0x7FFFFFFF. */
void ng_oracle_from_fp32(mpfr_ptr y, uint32_t bits);
uint32_t ng_oracle_to_fp32(mpfr_srcptr x);

#endif
