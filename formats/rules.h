/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules in which implementations differ, as data. Every operation takes a
 * set of them and reads the ones that concern it. A *profile* is a named set:
 * one text file, a rule a line (formats/profiles/, embedded in the library).
 * A profile pins the rules that its file names; the others keep their default
 * and stay free for a caller, or a check, to vary.
 *
 * To add a rule: a value list here, a field in ng_rules, a row in rules.c, and
 * its meaning in docs/semantics.md. Values that only peers have come last; no
 * check runs them but under a profile that pins them.
 */
#ifndef NG_FORMATS_RULES_H
#define NG_FORMATS_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which neighbour a value between two codes goes to. */
typedef enum ng_rounding {
    NG_NEAREST_EVEN,        /* the nearer; a tie to the even code (default) */
    NG_NEAREST_AWAY,        /* the nearer; a tie away from zero */
    NG_TOWARD_ZERO,
    NG_UP,                  /* toward +infinity */
    NG_DOWN,                /* toward -infinity */
    NG_STOCHASTIC,          /* away from zero iff floor(2^32 t) + r >= 2^32 */
    NG_N_ROUNDINGS,         /* of the specification; peers have one more */
    NG_NEAREST_ZERO = NG_N_ROUNDINGS    /* the nearer; a tie toward zero */
} ng_rounding;

/* What becomes of a value that, once rounded, passes the largest finite. */
typedef enum ng_overflow {
    NG_SATURATE,            /* the largest finite, its sign kept; Inf too */
    NG_IEEE,                /* Inf, or NaN where there is none; but a finite
                               value rounded toward zero stops at the largest */
    NG_N_OVERFLOWS
} ng_overflow;

/* The E2M1 code of a NaN, which the format cannot hold. */
typedef enum ng_e2m1_nan {
    NG_E2M1_NAN_ZERO,       /* 0x0 (default; the caller's error, flagged) */
    NG_E2M1_NAN_MAX,        /* 0x7, +6 whatever the sign */
    NG_E2M1_NAN_MINUS_ZERO, /* a zero of the other sign: 0x8, of -NaN 0x0 */
    NG_E2M1_NAN_THREE,      /* 0x3, of -NaN 0xB */
    NG_N_E2M1_NANS
} ng_e2m1_nan;

/* The sign of an E2M1 zero. */
typedef enum ng_e2m1_zero {
    NG_E2M1_ZERO_SIGNED,    /* that of the number (default) */
    NG_E2M1_ZERO_PLUS,      /* always + */
    NG_E2M1_ZERO_KEPT_IF_ROUNDED,   /* + of an FP32 zero, which is all up to
                               2^-150; that of a number which rounds to 0 */
    NG_N_E2M1_ZEROS
} ng_e2m1_zero;

/* How a number just below half of E2M1's least step is rounded. */
typedef enum ng_e2m1_half {
    NG_E2M1_HALF_EXACT,     /* as any other (default) */
    NG_E2M1_HALF_ADDED,     /* as floor(RN32(steps + 1/2)): from 1/2 - 2^-25
                               steps on it is one step, whatever the rounding */
    NG_N_E2M1_HALVES
} ng_e2m1_half;

/* The NaN that a change of format writes. */
typedef enum ng_nan {
    NG_NAN_CANONICAL,       /* sign 0, every other bit 1 (default) */
    NG_NAN_BF16_WIDENED,    /* decoding BF16 keeps its 16 bits above zeros, and
                               UE8M0's NaN goes by way of BF16's */
    NG_NAN_QUIET,           /* the sign kept and the first fraction bit alone
                               (all of them in E4M3); decoding BF16 keeps its
                               16 bits above zeros */
    NG_N_NANS
} ng_nan;

/* What UE8M0 makes of a number; docs/semantics.md section 13. */
typedef enum ng_ue8m0 {
    NG_UE8M0_MAGNITUDE,     /* |x|, below 2^-127 code 0 (default) */
    NG_UE8M0_ML_DTYPES,     /* only x > 0, else NaN; below 2^-127 code 0, between
                               it and 2^-126 up; a tie is up */
    NG_N_UE8M0S
} ng_ue8m0;

/* The scale of an MX block from its amax, the value of two rules: mxfp4.scale,
 * and mxfp8.scale, where 8, 448 and three fraction bits stand for 2, 6 and one;
 * semantics section 3. */
typedef enum ng_mx_scale {
    NG_MX_FLOOR,            /* floor(log2 amax) - 2 (OCP MX v1.0) */
    NG_MX_CEIL,             /* ceil(log2 amax) - 2 */
    NG_MX_EVEN,             /* floor after rounding amax to one fraction bit */
    NG_MX_RCEIL,            /* the smallest e with amax <= 6 * 2^e */
    NG_N_MX_SCALES,         /* of the specification; then what peers have */
    NG_MX_EVEN_FP32 = NG_N_MX_SCALES,   /* even, amax rounded in FP32:
                               from 1.75 * 2^127 on it is an infinity */
    NG_MX_RCEIL_FP32,       /* rceil of RN32(amax * RN32(1 / 6)) */
    NG_MX_RCEIL_LOG2,       /* ceil of RN32(log2 RN32(amax / 6)) */
    NG_MX_FLOOR_LOG2        /* floor of RN32(log2 amax), less 2 */
} ng_mx_scale;

/* The least amax that a block, MXFP4, MXFP8 or FP8, is taken to have. */
typedef enum ng_block_least {
    NG_BLOCK_LEAST_NONE,    /* (default) */
    NG_BLOCK_LEAST_1E_4,    /* RN32(1e-4) */
    NG_BLOCK_LEAST_1E_12,   /* RN32(1e-12) */
    NG_N_BLOCK_LEASTS
} ng_block_least;

/* What the elements of a block of scale byte 0, 2^-127, are divided by. */
typedef enum ng_mxfp4_byte_0 {
    NG_MXFP4_BYTE_0_EXACT,  /* 2^-127 (default) */
    NG_MXFP4_BYTE_0_NORMAL, /* 2^-126 */
    NG_MXFP4_BYTE_0_ONE,    /* 1 */
    NG_N_MXFP4_BYTE_0S
} ng_mxfp4_byte_0;

/* The scale of an FP8 block from its amax; semantics section 4. */
typedef enum ng_fp8_scale {
    NG_FP8_FP32,            /* max(RN32(amax / 448), 2^-126) */
    NG_FP8_POW2,            /* the smallest 2^k >= amax / 448, k >= -126 */
    NG_N_FP8_SCALES,        /* of the specification; then what peers have */
    NG_FP8_FP32_PRODUCT = NG_N_FP8_SCALES,  /* max(RN32(amax * RN32(1 / 448)),
                               2^-126) */
    NG_FP8_FP32_INVERSE,    /* RN32(1 / RN32(448 / amax)) */
    NG_FP8_POW2_INVERSE     /* 1 / 2^floor(log2 RN32(448 / amax)) */
} ng_fp8_scale;

/* What the elements of an FP8 block meet; semantics section 13. */
typedef enum ng_fp8_multiplier {
    NG_FP8_MULTIPLIER_NONE, /* they are divided by the stored scale, rounded
                               once (default) */
    NG_FP8_MULTIPLIER_OF_SCALE, /* RN32(1 / scale); the product is rounded to
                               FP32 and then to E4M3 */
    NG_FP8_MULTIPLIER_OF_AMAX,  /* RN32(448 / amax), likewise */
    NG_FP8_MULTIPLIER_OF_RECIPROCAL,    /* RN32(448 * RN32(1 / amax)) */
    NG_N_FP8_MULTIPLIERS
} ng_fp8_multiplier;

/* How an FP8 code meets the larger scale of its new block; section 6. */
typedef enum ng_fp8_align {
    NG_FP8_ALIGN_ROUNDED,   /* RNE of code * 2^(e - E) (default) */
    NG_FP8_ALIGN_FIELD,     /* E - e is taken from the code's exponent field */
    NG_N_FP8_ALIGNS
} ng_fp8_align;

/* A NaN or an infinity among the values of a block. */
typedef enum ng_block_nan {
    NG_BLOCK_NAN_PROPAGATE, /* the whole block is NaN; MXFP4's codes are 0,
                               others E4M3's NaN (default) */
    NG_BLOCK_NAN_CODED,     /* the same; MXFP4's codes are E2M1's NaN */
    NG_BLOCK_NAN_INFINITY_LARGEST,  /* an infinity alone: scale 2^127, each
                               element by itself; a NaN: as coded */
    NG_BLOCK_NAN_LARGEST,   /* scale 2^127, each element by itself */
    NG_BLOCK_NAN_ARITHMETIC,    /* FP8 only, as the next two: a NaN makes the
                               block NaN, an infinity alone makes numbers zeros
                               under an infinite scale, itself a NaN */
    NG_BLOCK_NAN_UNSEEN,    /* a NaN is coded by itself and is not in amax; an
                               infinity as in arithmetic */
    NG_BLOCK_NAN_INFINITY_ONE,  /* a NaN likewise; an infinity makes the scale 1,
                               each element by itself */
    NG_BLOCK_NAN_UNSEEN_LARGEST,    /* MXFP8 only: a NaN likewise; an infinity
                               makes the scale 2^127, each element by itself */
    NG_N_BLOCK_NANS
} ng_block_nan;

/* How a weight and its correction make up theta; semantics section 8. */
typedef enum ng_split {
    NG_SPLIT_ULP,           /* the code of theta with n more fraction bits, cut
                               in two, integers only (default) */
    NG_SPLIT_FLASHOPTIM,    /* the error over half an ulp, times 127 or 32767,
                               in FP32 */
    NG_N_SPLITS
} ng_split;

/* How a state becomes 8-bit codes and a scale; semantics section 9. */
typedef enum ng_compand {
    NG_COMPAND_NG,          /* UE6M10 scale; codes exact, by the stored scale;
                               loud NaN; v > 0 never codes to 0 (default) */
    NG_COMPAND_FLASHOPTIM,  /* FP16 scale; FP32 arithmetic, by the unrounded
                               scale; a NaN codes to 0 */
    NG_N_COMPANDS
} ng_compand;

/* The order of operations of an optimizer step; semantics section 9. */
typedef enum ng_step {
    NG_STEP_NG,             /* constants in FP64, bias corrections folded into
                               al and ka; Lion's sign(NaN) is NaN (default) */
    NG_STEP_FLASHOPTIM,     /* constants in FP32, m/bc1 and v/bc2 an element;
                               Lion's sign(NaN) is 0 */
    NG_N_STEPS
} ng_step;

/* How an FP8 GEMM adds the products of one block of 128; semantics section 11. */
typedef enum ng_gemm {
    NG_GEMM_EXACT,          /* the exact sum, rounded once to FP32 (default; a
                               stranger's order is free, within a bound) */
    NG_GEMM_HOPPER_WGMMA,   /* Hopper's tensor core, 32 products at a time from
                               zero: every bit is determined */
    NG_N_GEMMS
} ng_gemm;

enum { NG_MAX_HEADROOM = 8, NG_DEFAULT_HEADROOM = 6 };

typedef struct ng_rules {
    int rounding;           /* ng_rounding */
    int overflow;           /* ng_overflow; E2M1 and UE6M10 only saturate */
    int e2m1_nan;           /* ng_e2m1_nan */
    int e2m1_zero;          /* ng_e2m1_zero */
    int e2m1_half;          /* ng_e2m1_half */
    int nan;                /* ng_nan */
    int ue8m0;              /* ng_ue8m0 */
    int mxfp4_scale;        /* ng_mx_scale */
    int mxfp8_scale;        /* ng_mx_scale */
    int mxfp4_byte_0;       /* ng_mxfp4_byte_0; MXFP8 reads it too */
    int fp8_scale;          /* ng_fp8_scale */
    int fp8_multiplier;     /* ng_fp8_multiplier */
    int fp8_align;          /* ng_fp8_align */
    int block_least;        /* ng_block_least */
    int block_nan;          /* ng_block_nan */
    int headroom;           /* 0 .. 8: the largest MXFP4 scale of an FP8 block
                               becomes 2^(E - headroom); semantics section 5 */
    int split;              /* ng_split */
    int compand;            /* ng_compand */
    int step;               /* ng_step */
    int gemm;               /* ng_gemm */
} ng_rules;

/* The rules by number, for tables, command lines and diagnosis. */
typedef enum ng_rule {
    NG_RULE_ROUNDING, NG_RULE_OVERFLOW, NG_RULE_E2M1_NAN,
    NG_RULE_E2M1_ZERO, NG_RULE_E2M1_HALF, NG_RULE_NAN, NG_RULE_UE8M0,
    NG_RULE_MXFP4_SCALE, NG_RULE_MXFP8_SCALE, NG_RULE_MXFP4_BYTE_0,
    NG_RULE_FP8_SCALE, NG_RULE_FP8_MULTIPLIER, NG_RULE_FP8_ALIGN,
    NG_RULE_BLOCK_LEAST, NG_RULE_BLOCK_NAN,
    NG_RULE_HEADROOM,
    NG_RULE_SPLIT, NG_RULE_COMPAND, NG_RULE_STEP,
    NG_RULE_GEMM,
    NG_N_RULES
} ng_rule;

/* The default rules: semantics.md as it stands (profile ng). */
extern const ng_rules ng_default_rules;

/* "rounding", "mxfp4.scale" ...; how many values a rule has; the name of one
 * ("nearest-even", "floor", for the headroom its number); what it means.
 * Names are never null for a valid rule and value. */
const char *ng_rule_name(ng_rule rule);
int ng_rule_n_values(ng_rule rule);
int ng_rule_n_own(ng_rule rule);        /* the first so many are no peer's */
const char *ng_rule_value_name(ng_rule rule, int value);
const char *ng_rule_meaning(ng_rule rule);

/* Read or change a rule by number. */
int ng_rules_get(const ng_rules *rules, ng_rule rule);
void ng_rules_set(ng_rules *rules, ng_rule rule, int value);

/* Find a rule, and a value of a rule, by name. Return false if there is none. */
bool ng_rule_find(const char *name, ng_rule *rule);
bool ng_rule_value_find(ng_rule rule, const char *name, int *value);

/* Whether every field holds a value that exists. */
bool ng_rules_valid(const ng_rules *rules);

/* Whether it holds, too, none that only a peer's conversions have: kernels offer
 * no others. */
bool ng_rules_for_kernels(const ng_rules *rules);

/* Whether a value of fp8.scale makes powers of two. */
bool ng_fp8_scale_is_pow2(int fp8_scale);

#ifdef __cplusplus
}
#endif

#endif
