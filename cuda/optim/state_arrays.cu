/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights split and merged, states coded and decoded, by themselves: a thread
 * an element, or eight; see state_arrays.h. Not built for speed.
 */
#include "cuda/optim/state_arrays.h"

#include "cuda/grid.cuh"
#include "cuda/optim/step_kernel.cuh"
#include "cuda/optim/step_pick.cuh"
#include "cuda/try.cuh"

enum { THREADS = 256, BLOCKS = 132 * 8 };

static unsigned long long *counts_of(const ng_optim_options *options)
{
    return options != nullptr ? (unsigned long long *)(void *)options->counts
                              : nullptr;
}

static unsigned long long *events_of(const ng_cuda_launch *launch)
{
    return launch->events != nullptr
               ? (unsigned long long *)launch->events->count
               : nullptr;
}

static ng_status check(const ng_optim_options *options,
                       const ng_cuda_launch *launch)
{
    return launch == nullptr || (uintptr_t)counts_of(options) % 8 != 0
                   || (uintptr_t)events_of(launch) % 8 != 0
               ? NG_BAD_POINTER
               : NG_OK;
}

/* ---- weights ------------------------------------------------------------- */

static __global__ void split(ng_cuda_step_tensor t, ng_cuda_step_form f,
                             const float *theta, unsigned long long *counts,
                             unsigned long long *events)
{
    ng_cuda_optim_counts mine = {};

    for (int64_t i = ng_cuda_thread(); i < t.n; i += ng_cuda_threads())
        mine.weights_saturated += ng_cuda_store_weight(t, f, i, theta[i]);
    ng_cuda_add_optim_counts(counts, events, mine);
}

static __global__ void merge(float *theta, ng_cuda_step_tensor t,
                             ng_cuda_step_form f)
{
    for (int64_t i = ng_cuda_thread(); i < t.n; i += ng_cuda_threads())
        theta[i] = ng_cuda_load_weight(t, f, i);
}

static ng_status weights_of(ng_cuda_step_tensor *t, ng_cuda_step_form *f,
                            const ng_weights *w, const float *theta, int64_t n,
                            const ng_optim_options *options,
                            const ng_cuda_launch *launch)
{
    ng_status status;

    if (w == nullptr || (n > 0 && theta == nullptr))
        return NG_BAD_POINTER;
    if ((status = ng_cuda_check_count(n, options)) != NG_OK
        || (status = ng_cuda_check_weights(w, n)) != NG_OK
        || (status = check(options, launch)) != NG_OK)
        return status;
    if (ng_cuda_bad_array(theta, n, 4))
        return NG_BAD_POINTER;
    *t = {};
    t->low = w->low;
    t->correction = w->correction;
    t->n = n;
    *f = {};
    f->dtype = w->dtype;
    f->correction_bits = w->correction_bits;
    f->split = ng_cuda_optim_rules(options).split;
    return NG_OK;
}

extern "C" ng_status ng_cuda_split_weights(const ng_weights *y,
                                           const float *theta, int64_t n,
                                           const ng_optim_options *options,
                                           const ng_cuda_launch *launch)
{
    ng_cuda_step_tensor t;
    ng_cuda_step_form f;
    const ng_status status = weights_of(&t, &f, y, theta, n, options, launch);

    if (status != NG_OK || n == 0)
        return status;
    split<<<ng_cuda_blocks(n, THREADS, BLOCKS), THREADS, 0,
            (cudaStream_t)launch->stream>>>(t, f, theta, counts_of(options),
                                            events_of(launch));
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}

extern "C" ng_status ng_cuda_merge_weights(float *theta, const ng_weights *x,
                                           int64_t n,
                                           const ng_optim_options *options,
                                           const ng_cuda_launch *launch)
{
    ng_cuda_step_tensor t;
    ng_cuda_step_form f;
    const ng_status status = weights_of(&t, &f, x, theta, n, options, launch);

    if (status != NG_OK || n == 0)
        return status;
    merge<<<ng_cuda_blocks(n, THREADS, BLOCKS), THREADS, 0,
            (cudaStream_t)launch->stream>>>(theta, t, f);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}

/* ---- states -------------------------------------------------------------- */

/* Whole warps: four lanes share a group. */
static __global__ void code(ng_state y, const float *x, int64_t n,
                            ng_cuda_state_form f, unsigned long long *counts,
                            unsigned long long *events)
{
    const int64_t stride = ng_cuda_threads() * NG_CUDA_OCTET;
    ng_cuda_optim_counts mine = {};

    for (int64_t first = ng_cuda_thread() * NG_CUDA_OCTET;
         first - threadIdx.x % 32 * NG_CUDA_OCTET < n; first += stride) {
        const int64_t left = n - first;

        ng_cuda_code_share((uint8_t *)y.data, y.scales, x + first, first,
                           left < 0               ? 0
                           : left < NG_CUDA_OCTET ? (int)left
                                                  : (int)NG_CUDA_OCTET,
                           f, ng_cuda_quarter_group(), mine);
    }
    ng_cuda_add_optim_counts(counts, events, mine);
}

static __global__ void decode(float *y, ng_cuda_step_tensor t,
                              ng_cuda_state_form f)
{
    for (int64_t i = ng_cuda_thread(); i < t.n; i += ng_cuda_threads())
        y[i] = ng_cuda_load_state(t, f, i);
}

static ng_status check_state(const ng_state *s, const float *x, int64_t n,
                             const ng_optim_options *options,
                             const ng_cuda_launch *launch)
{
    ng_status status;

    if (s == nullptr || (n > 0 && x == nullptr))
        return NG_BAD_POINTER;
    if ((status = ng_cuda_check_count(n, options)) != NG_OK
        || (status = ng_cuda_check_state(s, n)) != NG_OK
        || (status = check(options, launch)) != NG_OK)
        return status;
    return ng_cuda_bad_array(x, n, 4) ? NG_BAD_POINTER : NG_OK;
}

extern "C" ng_status ng_cuda_compand(const ng_state *y, const float *x,
                                     int64_t n, const ng_optim_options *options,
                                     const ng_cuda_launch *launch)
{
    const ng_status status = check_state(y, x, n, options, launch);

    if (status != NG_OK || n == 0)
        return status;

    const cudaStream_t stream = (cudaStream_t)launch->stream;

    if (y->coding == NG_STATE_FP32) {
        NG_CUDA_TRY(cudaMemcpyAsync(y->data, x, (size_t)n * 4,
                                    cudaMemcpyDeviceToDevice, stream));
        return NG_OK;
    }
    code<<<ng_cuda_blocks(n, THREADS * NG_CUDA_OCTET, BLOCKS), THREADS, 0,
           stream>>>(*y, x, n,
                     {y->kind, y->coding, ng_cuda_optim_rules(options).compand},
                     counts_of(options), events_of(launch));
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}

extern "C" ng_status ng_cuda_expand(float *y, const ng_state *x, int64_t n,
                                    const ng_optim_options *options,
                                    const ng_cuda_launch *launch)
{
    const ng_status status = check_state(x, y, n, options, launch);

    if (status != NG_OK || n == 0)
        return status;

    const cudaStream_t stream = (cudaStream_t)launch->stream;
    ng_cuda_step_tensor t = {};

    if (x->coding == NG_STATE_FP32) {
        NG_CUDA_TRY(cudaMemcpyAsync(y, x->data, (size_t)n * 4,
                                    cudaMemcpyDeviceToDevice, stream));
        return NG_OK;
    }
    t.state[x->kind] = x->data;
    t.scales[x->kind] = x->scales;
    t.n = n;
    decode<<<ng_cuda_blocks(n, THREADS, BLOCKS), THREADS, 0, stream>>>(
        y, t, {x->kind, x->coding, ng_cuda_optim_rules(options).compand});
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
