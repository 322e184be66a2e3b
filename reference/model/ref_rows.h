/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of arrays as FP32 numbers, in and out, and loops over rows. Every
 * operation of the reference backend computes in FP32 on what comes out here
 * and rounds once when it goes back. Private to the reference backend; the
 * optimizer study takes the two conversions of BF16.
 */
#ifndef NG_REFERENCE_MODEL_REF_ROWS_H
#define NG_REFERENCE_MODEL_REF_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/bf16.h"
#include "formats/fp32.h"
#include "reference/backend.h"

/* RNE to BF16 by the bits: half of the 16 dropped bits' range, less one where
 * the last kept bit is even, carries into the kept ones iff the nearer, or on a
 * tie the even, neighbour is the upper. NaN is canonical, overflow Inf. */
static inline uint16_t ng_ref_to_bf16(float x)
{
    const uint32_t bits = ng_fp32_bits(x);
    const uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;

    return (uint16_t)((bits & ~NG_FP32_SIGN) > NG_FP32_INFINITY ? NG_BF16_NAN
                                                                : rounded);
}

static inline float ng_ref_of_bf16(uint16_t bits)
{
    return ng_fp32_from_bits((uint32_t)bits << 16);
}

/* Row of a matrix (batch 0) as FP32 [cols]: the array itself where it is FP32,
 * else written to scratch [cols]. FP32, BF16, FP8 (RN32(code * scale)), MXFP4.
 * A NaN that is decoded from a code is canonical; others keep their bits. */
const float *ng_ref_row(const ng_array *array, int64_t row, float *scratch);

/* Write a row: FP32, or BF16 rounded to nearest even. A NaN is canonical. */
void ng_ref_store_row(const ng_array *array, int64_t row, const float *x);

/* Whether an array's carrier is one of these. */
bool ng_ref_is_numbers(const ng_array *array); /* FP32 or BF16 */
bool ng_ref_is_rows(const ng_array *array);    /* those, FP8 or MXFP4 */

/* Do one row; no two write the same memory. scratch is this thread's. */
typedef void ng_ref_row_job(const void *job, int64_t row, float *scratch);

/* Call work(job, i, scratch) for i in 0 .. n - 1 on OpenMP's threads, in any
 * order, with n_scratch floats each. Returns NG_OK or NG_NO_MEMORY (some rows
 * may then have been done). */
ng_status ng_ref_each_row(ng_ref_row_job *work, const void *job, int64_t n,
                          int64_t n_scratch);

#endif
