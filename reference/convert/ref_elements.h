/* SPDX-License-Identifier: Apache-2.0
 *
 * Where elements lie, and their bits as exact numbers.
 */
#ifndef NG_REFERENCE_CONVERT_REF_ELEMENTS_H
#define NG_REFERENCE_CONVERT_REF_ELEMENTS_H

#include <stdint.h>

#include "formats/layout.h"
#include "reference/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The scalar format of a matrix of FP16, BF16 or FP32. */
const ng_format *ng_ref_format(ng_dtype dtype);

/* The value of element (r, c) of such a matrix. */
ng_exact ng_ref_load(const ng_matrix *matrix, int64_t r, int64_t c);

/* Write the code of element (r, c) of such a matrix. */
void ng_ref_store(const ng_matrix *matrix, int64_t r, int64_t c, uint32_t code);

/* Element c of a line of packed nibbles, the even ones low. */
uint8_t ng_ref_load_nibble(const uint8_t *line, int64_t c);

/* Write it. Elements of a line are written in ascending order: an even one
 * clears the high nibble of its byte, which so ends as 0 where it is spare. */
void ng_ref_store_nibble(uint8_t *line, int64_t c, uint8_t code);

/* The byte of element (r, c) of an FP8 tensor of any form. */
uint8_t *ng_ref_fp8_byte(const ng_fp8 *tensor, int64_t r, int64_t c);

/* The value of that element's code, its scale left aside. */
ng_exact ng_ref_load_fp8(const ng_fp8 *tensor, int64_t r, int64_t c);

#ifdef __cplusplus
}
#endif

#endif
