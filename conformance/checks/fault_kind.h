/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of mistake that the diagnosis can name. Their names are what
 * reports say and what the catalogue of planted faults (conformance/faults)
 * expects; in brackets the cases of docs/cases.md.
 */
#ifndef NG_CONFORMANCE_CHECKS_FAULT_KIND_H
#define NG_CONFORMANCE_CHECKS_FAULT_KIND_H

#include "formats/rules.h"

typedef enum ng_fault_kind {
    NG_KIND_NONE,            /* not named */
    NG_KIND_TIES,            /* exact ties go the other way [L-01 L-02 L-06] */
    NG_KIND_TRUNCATION,      /* cut instead of rounded [L-02 L-20] */
    NG_KIND_DIRECTION,       /* rounded up, down, or by chance */
    NG_KIND_DOUBLE_ROUNDING, /* by way of a narrower or a rounded number */
    NG_KIND_OVERFLOW,        /* saturates, or does not, past the top [L-03] */
    NG_KIND_SUBNORMAL,       /* flushed, or read as normal [L-04 L-20] */
    NG_KIND_ZERO_SIGN,       /* a zero loses its sign [L-04] */
    NG_KIND_NAN,             /* what a NaN or an infinity becomes [L-11] */
    NG_KIND_SCALE_RULE,      /* another rule for the scale [L-07] */
    NG_KIND_LOG2,            /* an exponent by log2 or frexp [L-08] */
    NG_KIND_AMAX,            /* amax narrowed, or of other elements */
    NG_KIND_SCALE_END,     /* the smallest, the largest, the NaN scale [L-05] */
    NG_KIND_ZERO_BLOCK,    /* a block of zeros [L-09] */
    NG_KIND_PACKED_SCALES, /* four scales in a word [L-10] */
    NG_KIND_NIBBLES,       /* even and odd element swapped [L-12] */
    NG_KIND_TILE_INDEX,    /* another block's scale [L-13] */
    NG_KIND_PADDING,       /* padding read, or not cleared [L-14] */
    NG_KIND_SCALES_TURNED, /* scale grid not transposed, or twice [L-15] */
    NG_KIND_HEADROOM,      /* the window of an alignment [L-16] */
    NG_KIND_ALIGNMENT,     /* aligned by the exponent field [L-29] */
    NG_KIND_SPLIT,         /* weight and correction [L-17] */
    NG_KIND_STATE_ZERO,    /* a coded state's zero [L-18] */
    NG_KIND_STATE_CODING,  /* the coding of states, otherwise */
    NG_KIND_NOISE,         /* stochastic rounding's noise [L-19] */
    NG_KIND_EMPTY_GROUP,   /* a group without rows [L-21] */
    NG_KIND_PAST_GROUPS,   /* rows past the last group [L-22] */
    NG_KIND_RAGGED_TAIL,   /* a last block shorter than its size */
    NG_KIND_INDEX_32,      /* an index cut to 32 bits [L-23] */
    NG_KIND_UNSTABLE,      /* two runs differ [L-26] */
    NG_KIND_STEP_COUNT,    /* bias corrections of another step [L-27] */
    NG_KIND_STEP_ORDER,    /* another order of a step's operations */
    NG_KIND_ACCUMULATION,  /* how products are added */
    NG_KIND_NOT_REFUSED,   /* malformed input, answered all the same [L-10] */
    NG_KIND_UNWRITTEN,     /* outputs left as they were */
    NG_KIND_OUTSIDE,       /* bytes written that belong to nobody */
    NG_N_KINDS
} ng_fault_kind;

/* "tie direction" ...; "" for NG_KIND_NONE. */
const char *ng_fault_kind_name(ng_fault_kind kind);

/* The kind of a rule followed in another value than the one asked for. */
ng_fault_kind ng_fault_kind_of_rule(ng_rule rule, int asked, int value);

#endif
