/* SPDX-License-Identifier: Apache-2.0
 *
 * Scale j of line i of a plane, in any of its three types.
 */
#ifndef NG_REFERENCE_CONVERT_REF_SCALES_H
#define NG_REFERENCE_CONVERT_REF_SCALES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/layout.h"
#include "reference/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bits as stored: an FP32 number, or a UE8M0 code, packed or not. */
uint32_t ng_ref_load_scale_bits(const ng_scales *scales, int64_t i, int64_t j);

/* Write them. The scales of a line are written in ascending order, by one
 * thread: the first of a packed word sets its other bytes to 0x00, and so the
 * bytes past the last scale. */
void ng_ref_store_scale_bits(const ng_scales *scales, int64_t i, int64_t j,
                             uint32_t bits);

/* The scale's value. */
ng_exact ng_ref_load_scale(const ng_scales *scales, int64_t i, int64_t j);

/* Write a NaN (the canonical one) or a value that the plane's type holds
 * exactly, an infinity too (of a peer's rules; 0xFF in UE8M0); order as above. */
void ng_ref_store_scale(const ng_scales *scales, int64_t i, int64_t j,
                        ng_exact scale);

/* 2^k. */
ng_exact ng_ref_power_of_two(int k);

/* Whether a scale is a power of two above zero; then *k is its exponent. */
bool ng_ref_is_power_of_two(ng_exact scale, int *k);

#ifdef __cplusplus
}
#endif

#endif
