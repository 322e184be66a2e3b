/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a tensor is from the one it was made from.
 */
#ifndef NG_CONFORMANCE_CLI_ERROR_STATISTICS_H
#define NG_CONFORMANCE_CLI_ERROR_STATISTICS_H

#include <jansson.h>

#include "conformance/cli/block_values.h"

enum {
    NG_SCALE_LOWEST = -149,
    NG_SCALE_HIGHEST = 127,
    NG_N_SCALE_EXPONENTS = NG_SCALE_HIGHEST - NG_SCALE_LOWEST + 1
};

typedef struct ng_error_statistics {
    int64_t elements;
    int64_t compared;      /* input and output both finite */
    double signal, noise;  /* sums of x^2 and (y - x)^2 over them */
    double max_error;      /* largest |y - x| */
    double max_ulp;        /* largest |y - x| / ulp (ng_block_ulp of the
                              output's format and scale, at x) */
    int64_t max_ulp_at[2]; /* row and column of it */
    int64_t scales, nan_scales, zero_scales;
    int64_t exponent[NG_N_SCALE_EXPONENTS]; /* scales by floor(log2) */
    ng_events events;                       /* as the operation counted them */
} ng_error_statistics;

/* Compare y with the x that it was made from; both [rows, cols]. The scales are
 * those of y, or of x where y has none. Sums run in double, row by row. */
void ng_error_statistics_take(ng_error_statistics *statistics,
                              const ng_block_values *y,
                              const ng_block_values *x);

/* Signal to noise in dB: infinite where nothing changed, NaN without signal. */
double ng_error_statistics_snr(const ng_error_statistics *statistics);

/* All of it, as an object. */
json_t *ng_error_statistics_json(const ng_error_statistics *statistics);

/* Draw the histogram of scale exponents from low to high in at most width
 * characters, a denser one for more scales; several exponents share one where
 * there are more than that. text holds width + 1 bytes. */
void ng_scale_histogram_draw(char *text, int width, int *low, int *high,
                             const ng_error_statistics *statistics);

/* The exponent below or at which half of the scales lie. */
int ng_scale_histogram_median(const ng_error_statistics *statistics);

#endif
