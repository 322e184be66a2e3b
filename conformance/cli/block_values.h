/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers that a tensor of any kind stands for, as doubles: every code
 * times its scale is exact in one.
 */
#ifndef NG_CONFORMANCE_CLI_BLOCK_VALUES_H
#define NG_CONFORMANCE_CLI_BLOCK_VALUES_H

#include "conformance/cli/conversion.h"

/* A dense tensor [rows, cols] read element by element. */
typedef struct ng_block_values {
    ng_side side;
    int64_t rows, cols; /* logical, before any transposition */
    const void *codes;  /* of a matrix its numbers */
    ng_dtype codes_dtype;
    int64_t codes_ld;
    const void *scales; /* null for a matrix */
    ng_dtype scales_dtype;
    int64_t scale_lines, scale_count;
    int64_t scales_ld;
    double code_value[256]; /* of every one-byte code */
    double ue8m0_value[256];
} ng_block_values;

/* codes and scales as a call has them; scales is null for a matrix. */
void ng_block_values_open(ng_block_values *values, ng_side side, int64_t rows,
                          int64_t cols, const ng_tensor *codes,
                          const ng_tensor *scales);

/* The value of element (r, c): code * scale. */
double ng_block_value(const ng_block_values *values, int64_t r, int64_t c);

/* The scale over it; 1 in a matrix. */
double ng_block_scale_value(const ng_block_values *values, int64_t r,
                            int64_t c);

/* Scale j of line i of the plane. */
double ng_block_scale_at(const ng_block_values *values, int64_t i, int64_t j);

/* The spacing of the element format's values at |x| under that scale: one ULP.
 * Beyond the largest binade it is that binade's, in the subnormal range that
 * range's. x and scale are finite. */
double ng_block_ulp(const ng_block_values *values, double x, double scale);

#endif
