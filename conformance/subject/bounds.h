/* SPDX-License-Identifier: Apache-2.0
 *
 * What a bounded output may be: for each of its units the exact value of the
 * expression and how far from it a right answer may lie. The oracle fills these
 * (ng_subject.bounds); conformance/checks/judge.h compares.
 */
#ifndef NG_CONFORMANCE_SUBJECT_BOUNDS_H
#define NG_CONFORMANCE_SUBJECT_BOUNDS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Of one output (FP32, BF16 or FP16): a number for each unit, in row-major
 * order of its shape, whatever its strides. The caller allocates both arrays
 * and fills `bound` with NG_UNWRITTEN, which stays where the operation writes
 * nothing. Both null: an exact output.
 *   exact  the exact value, rounded to FP64 (what that loses belongs into the
 *          bound); a NaN where the answer is the canonical NaN; an infinity
 *          where it is that infinity
 *   bound  0: the answer is `exact` itself, bit for bit, the sign of a zero
 *          included; infinity: nothing is claimed (an intermediate result may
 *          have overflowed); else the largest |answer - exact|. Where a value
 *          so allowed passes the type's largest finite, infinity is right too;
 *          the sign of a zero is free. */
typedef struct ng_bounds {
    double *exact, *bound;
} ng_bounds;

#define NG_UNWRITTEN (-1.0)

#ifdef __cplusplus
}
#endif

#endif
