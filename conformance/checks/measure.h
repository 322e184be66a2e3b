/* SPDX-License-Identifier: Apache-2.0
 *
 * What a subject gave, in numbers that pages plot and the gate compares: a
 * digest of its bits, the errors of bounded outputs, the errors of quantisers
 * by magnitude, the scales they chose. Every field is a sum of integers or a
 * largest integer, so that threads, shards, ranks and a run that was stopped
 * and resumed give the same, in whatever order.
 */
#ifndef NG_CONFORMANCE_CHECKS_MEASURE_H
#define NG_CONFORMANCE_CHECKS_MEASURE_H

#include <jansson.h>

#include "conformance/checks/case.h"
#include "conformance/subject/bounds.h"

enum {
    /* Errors in ULPs: eight bins of 1/8, then [1, 2), [2, 4) ... and the last
     * for 2^15 and more. */
    NG_ULP_BINS = 24,
    /* Powers of two from 2^-160 to 2^159; what lies outside is counted at the
     * ends. */
    NG_LOWEST_BINADE = -160,
    NG_N_BINADES = 320
};

/* Relative errors |y - x| / |x| of the elements of one binade, in units of
 * 2^-20, each rounded to nearest and at most 2. */
typedef struct ng_binade_error {
    uint64_t n, sum, most;
} ng_binade_error;

typedef struct ng_measurement {
    uint64_t inputs, outputs; /* sums, modulo 2^64, of one hash a case */
    uint64_t ulp[NG_ULP_BINS];
    ng_binade_error error[NG_N_BINADES]; /* of |x|, over its scale if it has
                                            one */
    uint64_t scale[NG_N_BINADES], zero_scales, nan_scales;
} ng_measurement;

/* Measure one answered case into *m, which is all zero.
 *   c        the case, with its inputs
 *   got      its call with the outputs as the subject left them
 *   outputs  the storage of these, gaps included
 *   bounds   [n_outputs] of bounded outputs; where there are none, null arrays
 *   plot     whether quantisers' errors count (a nearest rounding)
 * Errors are those of dense calls of encoders and quantisers, scales those of
 * dense calls, packed words left out. A call that failed has its status
 * digested and nothing more. */
void ng_measure(ng_measurement *m, const ng_case *c, const ng_call *got,
                const ng_outputs *outputs, ng_status status,
                const ng_bounds bounds[NG_MAX_TENSORS], bool plot);

void ng_measurement_add(ng_measurement *sum, const ng_measurement *more);

/* The members "inputs", "outputs", "ulp", "error", "scales" of
 * reports/schema/verify.schema.json. Null without memory. */
json_t *ng_measurement_json(const ng_measurement *m);

/* The other way; what is missing or of another type counts as zero. */
void ng_measurement_of_json(ng_measurement *m, const json_t *object);

/* A digest as text of 16 hexadecimal digits, and back (0 if it is none). */
json_t *ng_digest_json(uint64_t digest);
uint64_t ng_digest_of_json(const json_t *value);

#endif
