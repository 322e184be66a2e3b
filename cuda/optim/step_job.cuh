/* SPDX-License-Identifier: Apache-2.0
 *
 * What a step's kernels are given, and single elements of it.
 */
#ifndef NG_CUDA_OPTIM_STEP_JOB_CUH
#define NG_CUDA_OPTIM_STEP_JOB_CUH

#include "cuda/optim/step_row.cuh"
#include "formats/events.h"

/* One parameter with its states; null where the step has none. */
struct ng_cuda_step_tensor {
    void *low, *correction;
    void *state[NG_N_STATE_KINDS];
    uint16_t *scales[NG_N_STATE_KINDS];
    const void *grad;
    const float *grad_scale;
    int64_t n;
    int64_t
        is_aligned; /* all of it, for accesses of a thread's eight elements */
};

/* What the parameters of a launch have in common. */
struct ng_cuda_step_form {
    int dtype, correction_bits, grad_dtype; /* ng_dtype; 0, 8, 16 */
    int coding[NG_N_STATE_KINDS];           /* ng_state_coding; -1: no state */
    int split, compand, step;               /* the rules */
};

/* Elements first .. of tensor number `tensor`: a block's work. */
struct ng_cuda_chunk {
    int32_t tensor, number; /* the chunk's own number within it */
};

struct ng_cuda_step_job {
    ng_cuda_step_tensor one;         /* the parameter, where `many` is null */
    const ng_cuda_step_tensor *many; /* device, as is the next */
    const ng_cuda_chunk *chunks;
    int64_t n_chunks;
    ng_cuda_step_form form;
    ng_step_constants c;
    float bc1_inverse, bc2_inverse; /* RN(1/bc), of flashoptim */
    const int32_t *skip;            /* device, may be null: not 0: stop */
    unsigned long long *counts;     /* device, may be null: 7 of them */
    unsigned long long *events;     /* device, may be null: NG_N_EVENTS */
};

/* What one thread counts: ng_optim_counts, in its order. */
struct ng_cuda_optim_counts {
    uint32_t weights_saturated;
    uint32_t nan[NG_N_STATE_KINDS], saturated[NG_N_STATE_KINDS],
        lost[NG_N_STATE_KINDS];
};

NG_HOST_DEVICE ng_cuda_state_form
ng_cuda_state_form_of(const ng_cuda_step_form &f, int kind)
{
    return {kind, f.coding[kind], f.compand};
}

/* ---- single elements ---------------------------------------------------- */

NG_HOST_DEVICE float ng_cuda_load_weight(const ng_cuda_step_tensor &t,
                                         const ng_cuda_step_form &f, int64_t i)
{
    int32_t rho = 0;

    if (f.dtype == NG_FP32)
        return ((const float *)t.low)[i];
    if (f.correction_bits == 8)
        rho = ((const int8_t *)t.correction)[i];
    else if (f.correction_bits == 16)
        rho = ((const int16_t *)t.correction)[i];
    return ng_cuda_merge_weight(((const uint16_t *)t.low)[i], rho, f.dtype,
                                f.correction_bits, f.split);
}

/* Returns whether it was saturated. */
NG_HOST_DEVICE bool ng_cuda_store_weight(const ng_cuda_step_tensor &t,
                                         const ng_cuda_step_form &f, int64_t i,
                                         float theta)
{
    if (f.dtype == NG_FP32) {
        ((float *)t.low)[i] = theta;
        return false;
    }

    const ng_cuda_pair pair = ng_cuda_split_weight(
        ng_cuda_bits_of(theta), f.dtype, f.correction_bits, f.split);

    ((uint16_t *)t.low)[i] = (uint16_t)pair.low;
    if (f.correction_bits == 8)
        ((int8_t *)t.correction)[i] = (int8_t)pair.rho;
    else if (f.correction_bits == 16)
        ((int16_t *)t.correction)[i] = (int16_t)pair.rho;
    return pair.saturated;
}

NG_HOST_DEVICE float ng_cuda_load_grad(const ng_cuda_step_tensor &t,
                                       const ng_cuda_step_form &f, int64_t i)
{
    float g;

    if (f.grad_dtype == NG_FP32)
        g = ((const float *)t.grad)[i];
    else
        g = ng_cuda_low_value(((const uint16_t *)t.grad)[i], f.grad_dtype);
    return t.grad_scale != nullptr ? ng_cuda_mul_rn(g, *t.grad_scale) : g;
}

NG_HOST_DEVICE float ng_cuda_load_state(const ng_cuda_step_tensor &t,
                                        const ng_cuda_state_form &f, int64_t i)
{
    if (f.coding == NG_STATE_FP32)
        return ((const float *)t.state[f.kind])[i];
    return ng_cuda_state_number(
        ng_cuda_state_factor(((const uint8_t *)t.state[f.kind])[i], f),
        ng_cuda_state_scale_value(t.scales[f.kind][i / NG_STATE_GROUP],
                                  f.compand),
        f);
}

#endif
