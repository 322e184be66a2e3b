/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the semantics name FP32 operations, each rounded to nearest by itself,
 * the host's are used: one operation a statement, compiled without contraction
 * (-ffp-contract=off) and without fast-math, evaluated in FP32 itself.
 */
#ifndef NG_REFERENCE_OPTIM_REF_FP32_H
#define NG_REFERENCE_OPTIM_REF_FP32_H

#include <float.h>
#include <stdint.h>

#include "formats/fp32.h"

_Static_assert(FLT_EVAL_METHOD == 0,
               "float expressions must be evaluated in FP32");
_Static_assert(FLT_RADIX == 2 && FLT_MANT_DIG == 24 && FLT_MAX_EXP == 128,
               "float must be FP32");
#ifdef __FAST_MATH__
#error "the reference needs IEEE arithmetic: compile without -ffast-math"
#endif

/* The bits of a computed number: a NaN is canonical, whichever the host made
 * (x86 makes 0xFFC00000, or keeps an operand's). */
static inline uint32_t ng_ref_computed_bits(float x)
{
    return x != x ? NG_FP32_NAN : ng_fp32_bits(x);
}

#endif
