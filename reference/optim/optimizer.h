/* SPDX-License-Identifier: Apache-2.0
 *
 * An optimizer as a training loop wants it: groups of parameters that share
 * their settings, weights and states kept narrow, one step of all or of each
 * parameter as its gradient comes. It owns all arrays. Numbers: semantics.md 8
 * and 9 by way of ref_step.h, so any order of parameters gives the same bits.
 *
 *     ng_optimizer_create(&o, NG_ADAMW, NULL, &error);
 *     ng_optimizer_add_group(&group, o, &settings, &error);
 *     ng_optimizer_add_parameter(&p, o, group, "w", 2, shape, theta, &error);
 *     each step:
 *         ng_optimizer_hyper(o, group)->lr = ...;
 *         ng_optimizer_gradient(&data, o, p, &error);  and fill it
 *         ng_optimizer_step(&stepped, o, NULL, &error);
 *     or, with gradient release:
 *         ng_optimizer_begin_release(o, &error);
 *         for each p, as its gradient exists: fill it, then
 *             ng_optimizer_release(&stepped, o, p, NULL, &error);
 *         ng_optimizer_end_release(&report, o, false, &error);
 *
 * Groups and parameters are numbered from 0 as they are added. A number that
 * does not exist is NG_BAD_SHAPE; a null pointer NG_BAD_POINTER (those that
 * return no status take none). Every error (may be null) gets one line; after
 * an error nothing has changed.
 * Steps: each group counts its own from 1, groups without parameters included,
 * so that every rank of a sharded run saves the same number (cases.md L-27).
 */
#ifndef NG_REFERENCE_OPTIM_OPTIMIZER_H
#define NG_REFERENCE_OPTIM_OPTIMIZER_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/files/tensor_file.h"
#include "formats/optim.h"
#include "formats/status.h"
#include "formats/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_optimizer ng_optimizer;

/* How a group keeps its parameters; zero bytes but for hyper are FP32 numbers
 * throughout, once weights and gradients are set to NG_FP32. */
typedef struct ng_group_settings {
    ng_hyper hyper;
    ng_dtype weights;           /* NG_FP32, NG_BF16 or NG_FP16 */
    int correction_bits;        /* 0, 8 or 16 */
    ng_state_coding momentum, variance;
    ng_dtype gradients;         /* NG_FP32, NG_BF16 or NG_FP16 */
} ng_group_settings;

/* A parameter to look at (and, for weights and states, to hand to a step).
 * States that it does not have have null data. */
typedef struct ng_parameter {
    char name[NG_MAX_NAME];
    int64_t group;
    int rank;
    int64_t shape[NG_MAX_RANK];
    int64_t n;                  /* elements */
    ng_weights weights;
    ng_state momentum, variance;
    bool has_momentum, has_variance;
    void *gradient;             /* null while there is none */
    ng_dtype gradient_dtype;
} ng_parameter;

/* Bytes by kind. */
typedef struct ng_optimizer_bytes {
    int64_t parameters;         /* elements: divide by it */
    int64_t weights, correction, momentum, variance, scales, gradients;
    int64_t total;
} ng_optimizer_bytes;

/* Make an optimizer without groups. rules (split, compand, step; null: the
 * defaults) are copied. Free it with ng_optimizer_free; null is allowed there.
 * Returns NG_OK, NG_BAD_POINTER, NG_BAD_RULES, NG_BAD_VALUE (no such kind) or
 * NG_NO_MEMORY with *out untouched. */
ng_status ng_optimizer_create(ng_optimizer **out, ng_optimizer_kind kind,
                              const ng_rules *rules, ng_error *error);
void ng_optimizer_free(ng_optimizer *optimizer);

/* Add a group. *group is its number.
 * Returns NG_OK, NG_BAD_POINTER, NG_BAD_DTYPE, NG_BAD_LAYOUT (bits or codings),
 * NG_BAD_VALUE (hyper, as ng_ref_step_constants has it; a release is under way)
 * or NG_NO_MEMORY. */
ng_status ng_optimizer_add_group(int64_t *group, ng_optimizer *optimizer,
                                 const ng_group_settings *settings,
                                 ng_error *error);

/* Add a parameter: split theta (in, FP32, row-major; null: zeros), make states
 * of zero. SGD and SGDW have a momentum where the group's is not 0 in FP32.
 *   name   names its tensors in files: as ng_tensor_name_fault has it, at most
 *          NG_OPTIMIZER_MAX_NAME bytes, without "::", no other parameter's
 *   shape  rank sizes; empty tensors are legal
 * Returns NG_OK, NG_BAD_POINTER, NG_BAD_SHAPE, NG_BAD_VALUE (the name; a
 * release is under way) or NG_NO_MEMORY. */
enum { NG_OPTIMIZER_MAX_NAME = NG_MAX_NAME - 1 - 17 };    /* longest suffix */
ng_status ng_optimizer_add_parameter(int64_t *parameter,
                                     ng_optimizer *optimizer, int64_t group,
                                     const char *name, int rank,
                                     const int64_t *shape, const float *theta,
                                     ng_error *error);

/* What is there. Null for a number that does not exist. The hyper-parameters
 * may be changed between steps; momentum from 0 may not. A parameter's pointers
 * stay until the optimizer is freed, its gradient until it is dropped. */
ng_optimizer_kind ng_optimizer_kind_of(const ng_optimizer *optimizer);
const ng_rules *ng_optimizer_rules(const ng_optimizer *optimizer);
int64_t ng_optimizer_n_groups(const ng_optimizer *optimizer);
int64_t ng_optimizer_n_parameters(const ng_optimizer *optimizer);
ng_hyper *ng_optimizer_hyper(ng_optimizer *optimizer, int64_t group);
const ng_parameter *ng_optimizer_parameter(const ng_optimizer *optimizer,
                                           int64_t parameter);

/* Steps that a group has taken (0 if there is no such group); steps that were
 * skipped whole, and of those taken the partial ones (see ng_optimizer_release);
 * what happened to weights and groups of states in all steps and imports since
 * the optimizer was created (not saved). */
uint64_t ng_optimizer_steps(const ng_optimizer *optimizer, int64_t group);
uint64_t ng_optimizer_skipped(const ng_optimizer *optimizer);
uint64_t ng_optimizer_partial(const ng_optimizer *optimizer);
ng_optim_counts ng_optimizer_counts(const ng_optimizer *optimizer);

/* The parameter's gradient [n] of its group's type, made of zeros if there is
 * none. *data is null for an empty parameter. Dropping frees it; none to drop
 * is no error. */
ng_status ng_optimizer_gradient(void **data, ng_optimizer *optimizer,
                                int64_t parameter, ng_error *error);
ng_status ng_optimizer_drop_gradient(ng_optimizer *optimizer,
                                     int64_t parameter, ng_error *error);

/* Step every parameter that has a gradient; the others stay as they are. The
 * step of every group advances. Gradients are kept.
 *   stepped  out, may be null: false where a gradient, times *scale, held a NaN
 *            or an Inf; then nothing has changed, steps included, but for the
 *            count of skipped steps
 *   scale    in, may be null: multiplies every gradient
 * Returns NG_OK, NG_BAD_POINTER, or NG_BAD_VALUE (hyper-parameters; a release
 * is under way). */
ng_status ng_optimizer_step(bool *stepped, ng_optimizer *optimizer,
                            const float *scale, ng_error *error);

/* Whether every gradient that is there, times *scale, is finite: what a loop
 * asks on each rank of a sharded run, so that all step or all skip.
 * Returns NG_OK or NG_BAD_POINTER. */
ng_status ng_optimizer_is_finite(bool *finite, const ng_optimizer *optimizer,
                                 const float *scale, ng_error *error);

/* Skip a step that the loop knows to be spoilt (its loss, or a gradient of
 * another rank, is not finite): counted, and nothing else changes. With
 * gradient release it is the only whole skip; see below.
 * Returns NG_OK, NG_BAD_POINTER, or NG_BAD_VALUE (a release is under way). */
ng_status ng_optimizer_skip(ng_optimizer *optimizer, ng_error *error);

/* What a release came to. Parameters without elements are not counted. */
typedef struct ng_release_report {
    int64_t stepped;    /* parameters that took their step */
    int64_t skipped;    /* whose gradient was not finite: as they were */
    int64_t parameter;  /* the first of those, or -1 */
    bool advanced;      /* whether the step of every group went up */
    bool partial;       /* some parameters stepped and some did not */
} ng_release_report;

/* Gradient release: step one parameter and free its gradient at once, so that
 * gradients never all live together. Each parameter at most once between begin
 * and end. The hyper-parameters are those at begin.
 *   A skipped step changes nothing (semantics.md 9), but a parameter that has
 * been released cannot be taken back when a later gradient turns out not to be
 * finite. So a loop that can know beforehand calls ng_optimizer_skip instead of
 * begin. For one that cannot: a parameter whose gradient is not finite keeps
 * its weights and states bit for bit (*stepped false; the gradient is freed
 * too), the others step. If none stepped the whole step is skipped: no step
 * number moves, and ng_optimizer_skipped counts it. If some did it is a partial
 * step, which ng_optimizer_step never makes: every group's step advances,
 * end_release says so in its report, and ng_optimizer_partial counts it.
 *   elsewhere  whether a parameter stepped in this release on another rank of a
 *              sharded run (false where there is none): then the step numbers
 *              advance here too, as they do there
 *   report     out, may be null
 * Returns as ng_optimizer_step; release NG_BAD_VALUE without begin, without a
 * gradient, or for a second time; end_release NG_BAD_VALUE without begin. */
ng_status ng_optimizer_begin_release(ng_optimizer *optimizer, ng_error *error);
ng_status ng_optimizer_release(bool *stepped, ng_optimizer *optimizer,
                               int64_t parameter, const float *scale,
                               ng_error *error);
ng_status ng_optimizer_end_release(ng_release_report *report,
                                   ng_optimizer *optimizer, bool elsewhere,
                                   ng_error *error);

/* FP32 weights out and in, [n]. Importing leaves states and steps alone. */
ng_status ng_optimizer_export(float *theta, const ng_optimizer *optimizer,
                              int64_t parameter, ng_error *error);
ng_status ng_optimizer_import(ng_optimizer *optimizer, int64_t parameter,
                              const float *theta, ng_error *error);

/* Bytes by what the formats say: AdamW 7.125 a parameter with BF16 weights, 8
 * bits of correction, coded states and BF16 gradients, 5.125 once gradients are
 * released; SGD and Lion 6.0625. And the bytes that are in fact allocated for
 * arrays now, and that were at most: total must equal the first. */
ng_status ng_optimizer_bytes_of(ng_optimizer_bytes *bytes,
                                const ng_optimizer *optimizer);
int64_t ng_optimizer_allocated(const ng_optimizer *optimizer);
int64_t ng_optimizer_peak(const ng_optimizer *optimizer);

/* Whether the learning rate can move the weights as they are stored. The
 * nominal update of a weight is delta = RN32(lr * k), lr * k in FP64, k = 0.1
 * for Adam and AdamW (their |m|/sqrt(v) is seldom more than a few tenths), 1 for
 * the others, as FlashOptim has it. A weight is stuck if storing theta - delta and storing
 * theta + delta both give what is stored: by trial, in whatever format it is
 * kept in.
 *   Derivation. Let h be the spacing of stored values next to theta (of F_n,
 * FP32 at most: 2^(e-7-n) for BF16 with n bits and |theta| in [2^e, 2^(e+1))).
 * A stored theta lies on that grid and rounding is to nearest, so it is stuck
 * iff delta < h/2 (at h/2, after theta - delta is rounded to FP32, iff the tie
 * comes back). h grows with |theta|: of a parameter the largest weight is stuck
 * first, and but for ties, if it moves, all do.
 *   FlashOptim raises where 2^(e - bits) / 0.49 > lr * k, which asks four times
 * as much (an update of 2.04 h): a sign slip beside its own comment, "step just
 * needs to round to next value", which is 0.49 h. Not finite weights are left
 * out; lr = 0 makes every other stuck. */
typedef struct ng_lr_report {
    int64_t weights, stuck;     /* finite ones; of which cannot move */
    int64_t flagged;            /* parameters whose largest weight is stuck */
    int64_t parameter;          /* the first of them, or -1 */
    float largest, delta;       /* its largest magnitude; its nominal update */
    bool moves_none;            /* there are weights, and all are stuck */
} ng_lr_report;
ng_status ng_optimizer_check_lr(ng_lr_report *report,
                                const ng_optimizer *optimizer, ng_error *error);

/* Save and load weights, states, steps and hyper-parameters as they are held,
 * bit for bit, in one safetensors file. Of parameter NAME:
 *   NAME                     weights: F32, or low BF16/F16, its shape
 *   NAME::correction         I8 or I16, its shape
 *   NAME::momentum           F32 or I8, its shape
 *   NAME::momentum_scales    [ceil(n/32)] UE6M10 (U16 and a dtype. pair) or F16
 *   NAME::variance           F32 or U8, and NAME::variance_scales likewise
 * and the metadata
 *   optimizer.version 1, optimizer.kind, optimizer.groups, optimizer.skipped,
 *   optimizer.partial
 *   weight.split, state.compand, optim.step      the rules, by name
 *   group.N.steps, group.N.momentum_coding, group.N.variance_coding
 *   group.N.lr, lr0, beta1, beta2, momentum, dampening, eps, weight_decay (C
 *   hexadecimal floats, all finite), nesterov, lr_decoupled (0 or 1)
 *   NAME::group                                  the number of its group
 * Loading wants an optimizer with the same kind, rules, groups and parameters,
 * already built; it takes the file's hyper-parameters and steps and drops no
 * gradient. Refused with NG_BAD_FILE, nothing changed, and a line that names
 * file and field: anything missing, of another type or shape, or left over; and
 * what coding never writes: weight pairs (rho != 0 under Inf or NaN, rho < 0
 * under +-0, and the rest of ng_ref_pair_is_written), momentum code -128, under
 * compand ng a code other than 0 with a scale of 0 or NaN, under flashoptim a
 * negative or NaN scale. A release under way is NG_BAD_VALUE.
 * Loops that write their own file go by way of ng_tensor_file. to_tensors
 * appends to *file, which the caller frees, also after an error. from_tensors
 * wants these tensors, dense, and no others, but metadata may be there of any
 * kind; path only opens its error line. */
ng_status ng_optimizer_save(const char *path, const ng_optimizer *optimizer,
                            ng_error *error);
ng_status ng_optimizer_load(ng_optimizer *optimizer, const char *path,
                            ng_error *error);
ng_status ng_optimizer_to_tensors(ng_tensor_file *file,
                                  const ng_optimizer *optimizer,
                                  ng_error *error);
ng_status ng_optimizer_from_tensors(ng_optimizer *optimizer,
                                    const ng_tensor_file *file,
                                    const char *path, ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
