/* SPDX-License-Identifier: Apache-2.0
 *
 * Split weights, companded optimizer states and the numbers of a step: facts
 * and typed views, which own nothing. No rounding. Sizes are 64-bit and count
 * elements; a tensor of any rank is its elements in row-major order.
 * Semantics: docs/semantics.md sections 8 and 9.
 */
#ifndef NG_FORMATS_OPTIM_H
#define NG_FORMATS_OPTIM_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/dtype.h"
#include "formats/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    NG_STATE_GROUP = 32,        /* consecutive elements that share one scale */
    NG_MOMENTUM_MAX_CODE = 127, /* int8; -128 is never written */
    NG_VARIANCE_MAX_CODE = 255  /* uint8 */
};

/* Weights theta [n]. dtype NG_FP32: whole numbers, correction_bits 0. dtype
 * NG_BF16 or NG_FP16: `low` holds their codes and `correction` the signed
 * rounding errors rho, in two's complement; with 0 bits there is no correction
 * and low is all. What a pair is worth depends on rules->split. */
typedef struct ng_weights {
    ng_dtype dtype;             /* NG_FP32, NG_BF16 or NG_FP16 */
    int correction_bits;        /* 0, 8 or 16 */
    void *low;                  /* float, or uint16_t codes [n] */
    void *correction;           /* int8_t or int16_t [n]; null with 0 bits */
} ng_weights;

/* What a state is: momentum has a sign, variance (the mean of squares) none. */
typedef enum ng_state_kind {
    NG_MOMENTUM,
    NG_VARIANCE,
    NG_N_STATE_KINDS
} ng_state_kind;

typedef enum ng_state_coding {
    NG_STATE_FP32,              /* the numbers themselves; no scales */
    NG_STATE_COMPANDED,         /* momentum through 2n/(1+|n|), variance through
                                   its square root */
    NG_STATE_LINEAR,            /* for the ablation: the number itself */
    NG_N_STATE_CODINGS
} ng_state_coding;

/* A state [n]: FP32 numbers, or one 8-bit code an element and one 16-bit scale
 * for each group of 32 consecutive elements (the last group may be short).
 * Scales are UE6M10 under rules->compand ng, FP16 under flashoptim. */
typedef struct ng_state {
    ng_state_kind kind;
    ng_state_coding coding;
    void *data;                 /* float, int8_t (momentum), uint8_t [n] */
    uint16_t *scales;           /* [ceil(n / 32)]; null with NG_STATE_FP32 */
} ng_state;

/* A gradient [n]. scale points at one FP32 number that every element, widened
 * to FP32, is multiplied by (one rounding); null: no multiplication. */
typedef struct ng_gradient {
    ng_dtype dtype;             /* NG_FP32, NG_BF16 or NG_FP16 */
    const void *data;
    const float *scale;
} ng_gradient;

typedef enum ng_optimizer_kind {
    NG_SGD,                     /* decay in the gradient (L2) */
    NG_SGDW,                    /* decoupled decay */
    NG_ADAM,                    /* decay in the gradient (L2) */
    NG_ADAMW,                   /* decoupled decay */
    NG_LION,                    /* decoupled decay */
    NG_N_OPTIMIZERS
} ng_optimizer_kind;

/* "sgd", "sgdw", "adam", "adamw", "lion"; never null for a valid kind. */
const char *ng_optimizer_name(ng_optimizer_kind kind);

/* Find a kind by that name. Returns false, *kind untouched, if none has it. */
bool ng_optimizer_find(const char *name, ng_optimizer_kind *kind);

/* What a user sets. Fields that a kind does not read may be anything finite. */
typedef struct ng_hyper {
    double lr;                  /* of this step */
    double lr0;                 /* of the first: read by lr_decoupled only */
    double beta1, beta2;        /* Adam, AdamW, Lion; in [0, 1) */
    double momentum;            /* mu of SGD, SGDW; in [0, 1), 0: no state */
    double dampening;           /* SGD, SGDW */
    double eps;                 /* Adam, AdamW */
    double weight_decay;        /* L2 in SGD and Adam, decoupled elsewhere */
    bool nesterov;              /* SGD, SGDW */
    bool lr_decoupled;          /* decoupled decay is wd*(lr/lr0), not lr*wd */
} ng_hyper;

/* The numbers of one step, made once on the host and the same for every
 * element: all that a kernel is given. What a kind or profile does not read is
 * 0, but lr is always there and d is then 1. rules->step says which fields
 * hold: al, ka under ng; bc1, bc2 under flashoptim. */
typedef struct ng_step_constants {
    ng_optimizer_kind kind;
    bool nesterov;
    float lr;
    float mu;                   /* SGD, SGDW; 0: no state is read or written */
    float cd;                   /* 1 - dampening */
    float b1, c1;               /* beta1, 1 - beta1 */
    float b2, c2;
    float eps;
    float w;                    /* L2 decay; 0: that step is skipped */
    float d;                    /* decoupled decay's factor; 1: skipped */
    float al, ka;               /* lr/(1-p1), 1/sqrt(1-p2); p = beta^t */
    float bc1, bc2;             /* 1 - p */
} ng_step_constants;

/* What happened to the groups of one kind of state. A group counts once, as
 * nan, else as saturated, else as lost. */
typedef struct ng_group_counts {
    uint64_t nan;               /* holds a NaN, an Inf or a v < 0 */
    uint64_t saturated;         /* its largest is past the scale's range */
    uint64_t lost;              /* its largest is not 0 but its scale is */
} ng_group_counts;

/* Numeric events of an operation, added to what is there. */
typedef struct ng_optim_counts {
    uint64_t weights_saturated; /* finite, but their low would be infinite */
    ng_group_counts groups[NG_N_STATE_KINDS];
} ng_optim_counts;

static inline void ng_optim_counts_add(ng_optim_counts *sum,
                                       const ng_optim_counts *more)
{
    sum->weights_saturated += more->weights_saturated;
    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++) {
        sum->groups[kind].nan += more->groups[kind].nan;
        sum->groups[kind].saturated += more->groups[kind].saturated;
        sum->groups[kind].lost += more->groups[kind].lost;
    }
}

/* What every operation of reference/optim/ takes beside its tensors. A null
 * pointer to it means the defaults. */
typedef struct ng_optim_options {
    const ng_rules *rules;      /* split, compand, step; null: the defaults */
    ng_optim_counts *counts;    /* counts are added here; may be null */
} ng_optim_options;

#ifdef __cplusplus
}
#endif

#endif
