/* SPDX-License-Identifier: Apache-2.0
 *
 * The bounded class: outputs whose order of accumulation, or whose
 * transcendental, is free. A unit is right if it lies within the bound that the
 * oracle derived for it, and the largest error is reported as a share of that.
 */
#ifndef NG_CONFORMANCE_CHECKS_JUDGE_H
#define NG_CONFORMANCE_CHECKS_JUDGE_H

#include "conformance/checks/case.h"
#include "conformance/checks/operation.h"
#include "conformance/subject/bounds.h"
#include "conformance/subject/subject.h"

/* What judging met. */
typedef struct ng_judgement {
    int64_t bounded;   /* units held to a bound */
    int64_t unclaimed; /* units of which the oracle claims nothing */
    double share;      /* the largest error over its bound; of a unit
                          that had to be exact and is not, infinity */
} ng_judgement;

void ng_judgement_add(ng_judgement *sum, const ng_judgement *more);

/* The first unit that is wrong. */
typedef struct ng_excess {
    int64_t count;      /* wrong units in all */
    const char *tensor; /* null: none */
    int64_t index[NG_MAX_RANK];
    uint64_t got; /* its bits */
    double value, exact, bound;
} ng_excess;

/* Bounds for the outputs of a call: arrays for those that the operation says
 * are bounded in this variant. Returns false without memory. */
bool ng_bounds_make(ng_bounds bounds[NG_MAX_TENSORS], const ng_case *c,
                    const ng_operation *operation);
void ng_bounds_free(ng_bounds bounds[NG_MAX_TENSORS]);

/* Hold one output against its bounds; *excess is left alone if all is right or
 * an earlier output has filled it, but for its count. */
void ng_bounds_judge(ng_excess *excess, ng_judgement *judged,
                     const ng_tensor *output, const ng_bounds *bounds);

/* The number that the bits of an FP32, BF16 or FP16 unit stand for. */
double ng_float_value(ng_dtype dtype, uint64_t bits);

/* Whether one unit of an output, given by its bits, lies within its bound. */
bool ng_bounds_hold(ng_dtype dtype, uint64_t bits, const ng_bounds *bounds,
                    int64_t unit);

/* How many of the units that the bounds say are written differ between two runs
 * of one call, and the first of those, as bits, by the order of its index. */
int64_t ng_bounds_part(ng_difference *first, const ng_tensor *one,
                       const ng_tensor *other, const ng_bounds *bounds);

/* Copy the units that the bounds say are written from one output to another of
 * the same shape and strides: what is left to compare are exact outputs, gaps
 * and guards. */
void ng_bounds_copy(const ng_tensor *to, const ng_tensor *from,
                    const ng_bounds *bounds);

/* Add every bounded output of `made` to the inputs of call as "made.NAME": the
 * exact outputs of such an operation are functions of the values that the
 * subject itself made (SwiGLU, then quantise). */
void ng_bounds_give(ng_call *call, const ng_call *made,
                    const ng_bounds bounds[NG_MAX_TENSORS]);

#endif
