/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantising with power-of-two scales, fast enough to train with on a CPU.
 * reference/convert/ is the definition, in exact integers, at some 60 ns an
 * element. This is the same function written for speed; a test holds it to that
 * one bit for bit, codes, scales and events, over all BF16 inputs and all
 * scales. Why FP32 suffices:
 *   - v * 2^-k is exact, or so small (below 2^-126 where the code's smallest
 *     step is 2^-9) that it rounds to zero whatever became of it;
 *   - at and above the smallest normal, nearest-even is one integer addition on
 *     the bits (as in ng_ref_to_bf16); below it, one addition of the power of
 *     two whose ulp is the format's step.
 * Private to the reference backend.
 */
#ifndef NG_REFERENCE_MODEL_REF_CODES_H
#define NG_REFERENCE_MODEL_REF_CODES_H

#include <stdint.h>

#include "formats/events.h"

/* What codes are worth; NaN for E4M3 0x7F and 0xFF, and UE8M0 0xFF. Filled by
 * ng_ref_codes_begin from reference/convert/. */
extern float ng_ref_e4m3_values[256];
extern float ng_ref_e2m1_values[16];
extern float ng_ref_ue8m0_values[256];

/* The E4M3 code of a code's value divided by 2^shift, RNE; shift 0 .. 31 (at 19
 * everything is zero). NaN stays as it is: 0x7F. */
typedef struct ng_ref_coded {
    uint8_t code;
    uint8_t events; /* bits 1 << NG_EVENT_... */
} ng_ref_coded;

enum { NG_REF_MAX_SHIFT = 31 };
extern ng_ref_coded ng_ref_e4m3_shifted[NG_REF_MAX_SHIFT + 1][256];

/* The E4M3 code of an E2M1 code times 2^(6 - shift), RNE. */
extern ng_ref_coded ng_ref_e2m1_aligned[NG_REF_MAX_SHIFT + 1][16];

/* Fill the tables; once, any number of calls from one thread. */
void ng_ref_codes_begin(void);

/* The largest magnitude of x [n] as FP32 bits; above NG_FP32_INFINITY - 1 if
 * one is a NaN or an infinity. */
uint32_t ng_ref_largest_bits(const float *x, int64_t n);

/* Section 4's pow2 scale of such an amax: 1 of 0, NaN where it is not finite.
 */
float ng_ref_pow2_scale(uint32_t amax);
/* Section 3's floor scale byte: 0xFF where it is not finite. */
uint8_t ng_ref_floor_scale(uint32_t amax);

/* E4M3 codes of x[i] / scale, for ng_ref_pow2_scale of these x (0x7F under
 * NaN); n is at most 128. */
void ng_ref_encode_e4m3_block(uint8_t *codes, const float *x, int64_t n,
                              float scale, ng_events *events);

/* Packed E2M1 codes of x[i] / 2^(byte - 127), n of them, at most 32, the first
 * in a low nibble. */
void ng_ref_encode_e2m1_block(uint8_t *codes, const float *x, int64_t n,
                              uint8_t scale, ng_events *events);

#endif
