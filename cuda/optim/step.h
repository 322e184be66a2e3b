/* SPDX-License-Identifier: Apache-2.0
 *
 * One step of an optimizer on the GPU, fused: weights merged, states decoded,
 * the update, weights split, states coded, each byte read once and written
 * once; for one parameter, or for a list of any length and any sizes in one
 * launch. Bit for bit ng_ref_step, for every optimizer, form and rule; see
 * cuda/launch.h. What differs from the reference: views, the gradient's scale,
 * and options->counts (8-byte aligned, counts are added) point to device
 * memory; launch->events, if given, gets the counts as SATURATED, NAN and
 * FLUSHED too, by the slower way; NG_BAD_POINTER also for what is not aligned
 * for its type.
 *
 * Fast are BF16 and FP32 weights with states that are all companded or all
 * FP32, rules all ng's or all flashoptim's, arrays on 16-byte boundaries. The
 * rest (FP16 weights, linear states, mixed rules) goes the way that takes
 * everything.
 *
 * A loss-scaled or clipped step passes its factor as the gradient's scale, a
 * device scalar, and as `skip` a device flag: a step whose flag is not 0
 * touches nothing. ng_cuda_gradients_not_finite makes that flag. So neither
 * needs the host.
 */
#ifndef NG_CUDA_OPTIM_STEP_H
#define NG_CUDA_OPTIM_STEP_H

#include "cuda/launch.h"
#include "formats/optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers of step t: ng_ref_step_constants, on the host. *error, which
 * may be null, names the field. */
ng_status ng_cuda_step_constants(ng_step_constants *c, ng_optimizer_kind kind,
                                 const ng_hyper *hyper, uint64_t t,
                                 const ng_optim_options *options,
                                 ng_error *error);

/* One parameter of n elements; m and v may be null where the step has none.
 *   c     in, host
 *   skip  in, device, one number, may be null: not 0: the step does nothing
 * Returns NG_OK, NG_BAD_POINTER, NG_BAD_SHAPE, NG_BAD_DTYPE, NG_BAD_LAYOUT,
 * NG_BAD_RULES, NG_BAD_VALUE, or what CUDA said. */
ng_status ng_cuda_step(const ng_weights *theta, const ng_state *m,
                       const ng_state *v, const ng_gradient *g, int64_t n,
                       const ng_step_constants *c, const int32_t *skip,
                       const ng_optim_options *options,
                       const ng_cuda_launch *launch);

/* ---- many parameters ----------------------------------------------------- */

/* A parameter of a list; states that the step does not have are left zero. */
typedef struct ng_cuda_parameter {
    ng_weights theta;
    ng_state m, v;
    ng_gradient g;
    int64_t n;
} ng_cuda_parameter;

/* What a table holds, to be kept beside it. */
typedef struct ng_cuda_step_table {
    ng_cuda_parameter first; /* with elements; all have its form */
    int64_t n_parameters, n_chunks;
} ng_cuda_step_table;

/* Bytes of the table of a list, or -1 where a size is negative or too large, or
 * no list is given. */
int64_t ng_cuda_step_table_bytes(const ng_cuda_parameter *list, int64_t count);

/* Make a table on the host, for the caller to copy to device memory (8-byte
 * aligned) and use as long as pointers and sizes hold.
 *   bytes  out [ng_cuda_step_table_bytes], 8-byte aligned
 *   c      the kind of the steps to come; of SGD whether mu is 0
 * Returns NG_OK, or the errors of ng_cuda_step; NG_BAD_LAYOUT also where the
 * parameters are not all of one form (types, bits, codings): make a list of
 * each form, and a launch. */
ng_status ng_cuda_step_table_make(ng_cuda_step_table *table, void *bytes,
                                  const ng_cuda_parameter *list, int64_t count,
                                  const ng_step_constants *c,
                                  const ng_optim_options *options);

/* A step of all of them, in one launch. device_bytes: the table, copied. */
ng_status ng_cuda_step_many(const ng_cuda_step_table *table,
                            const void *device_bytes,
                            const ng_step_constants *c, const int32_t *skip,
                            const ng_optim_options *options,
                            const ng_cuda_launch *launch);

/* Add 1 to *flag (device) if any element of any gradient of the table,
 * widened and times its scale as a step does, is NaN or Inf; set it to 0
 * before. */
ng_status ng_cuda_gradients_not_finite(int32_t *flag,
                                       const ng_cuda_step_table *table,
                                       const void *device_bytes,
                                       const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
