/* SPDX-License-Identifier: Apache-2.0
 *
 * One writing of the optimizer's operations, as a table of typed functions, and
 * the step from named calls to them; a sibling of conversions.h.
 *
 * Tensors of a call, all of rank 1. Inputs are "x...", outputs "y...":
 *   split_weights       x fp32 -> y.low bf16 or fp16, y.correction i8 or i16
 *                       (absent: no correction), y.counts
 *   merge_weights       x.low, x.correction -> y fp32
 *   compand_momentum    x fp32 -> y.codes i8 (variance: u8), y.scales ue6m10
 *   compand_variance      (flashoptim: fp16), y.counts
 *   expand_momentum     x.codes, x.scales -> y fp32
 *   expand_variance
 *   step_KIND           what is stepped, before (x) and after (y): theta fp32,
 *                       or low and correction; momentum and variance fp32, or
 *                       momentum.codes and momentum.scales ...; where the kind
 *                       has them. grad fp32, bf16 or fp16, grad.scale fp32 [1]
 *                       if there is one; y.counts
 *   step_constants      -> y fp32 [14]: lr mu cd b1 c1 b2 c2 eps w d al ka bc1
 *                       bc2 as ng_step_constants has them
 * y.counts u64 [7]: weights_saturated, then nan, saturated, lost of momentum
 * and of variance. They are added to the call's events too: saturated to
 * SATURATED, nan to NAN, lost to FLUSHED.
 *
 * Attributes: "linear" (1: codes are linear, not companded), in steps
 * "momentum.linear" and "variance.linear"; of the hyper-parameters the bits of
 * the FP64 number: "lr" "lr0" "beta1" "beta2" "momentum" "dampening" "eps"
 * "weight_decay"; "nesterov", "lr_decoupled" (0 or 1); "t" the step; of
 * step_constants "kind", the ng_optimizer_kind.
 */
#ifndef NG_CONFORMANCE_SUBJECT_OPTIM_FUNCTIONS_H
#define NG_CONFORMANCE_SUBJECT_OPTIM_FUNCTIONS_H

#include "conformance/subject/call.h"
#include "formats/optim.h"

/* A null entry is an operation that the writing lacks. */
typedef struct ng_optim_functions {
    ng_status (*split_weights)(const ng_weights *y, const float *theta,
                               int64_t n, const ng_optim_options *);
    ng_status (*merge_weights)(float *theta, const ng_weights *x, int64_t n,
                               const ng_optim_options *);
    ng_status (*compand)(const ng_state *y, const float *x, int64_t n,
                         const ng_optim_options *);
    ng_status (*expand)(float *y, const ng_state *x, int64_t n,
                        const ng_optim_options *);
    ng_status (*step_constants)(ng_step_constants *c, ng_optimizer_kind,
                                const ng_hyper *, uint64_t t,
                                const ng_optim_options *, ng_error *);
    ng_status (*step)(const ng_weights *theta, const ng_state *m,
                      const ng_state *v, const ng_gradient *g, int64_t n,
                      const ng_step_constants *c, const ng_optim_options *);

    /* Null where tensors lie on the host. Else a copy between tensors, or with
     * from null a fill with zeros; the functions then add their counts to the
     * call's own array, which is an ng_optim_counts, and see to its events. */
    ng_status (*move)(void *to, const void *from, int64_t bytes);
} ng_optim_functions;

/* This project's three writings: the last the kernels', on the host. */
extern const ng_optim_functions ng_reference_optim_functions;
extern const ng_optim_functions ng_oracle_optim_functions;  /* with MPFR */
extern const ng_optim_functions ng_cuda_host_optim_functions;

enum {
    NG_N_OPTIM_COUNTS = 7,              /* of y.counts */
    NG_N_STEP_CONSTANTS = 14            /* of step_constants */
};

/* Whether the table has the call's operation. */
bool ng_optim_functions_cover(const ng_optim_functions *table,
                              const ng_call *call);

/* Perform the call with the table's function, or return NG_NOT_COVERED. */
ng_status ng_optim_functions_run(const ng_optim_functions *table,
                                 const ng_call *call);

#endif
