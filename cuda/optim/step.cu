/* SPDX-License-Identifier: Apache-2.0
 *
 * Launchers of steps; see step.h.
 */
#include "cuda/optim/step.h"

#include <cstring>

#include "cuda/optim/step_constants.cuh"
#include "cuda/optim/step_launch.cuh"

extern "C" ng_status ng_cuda_step_constants(ng_step_constants *c,
                                            ng_optimizer_kind kind,
                                            const ng_hyper *hyper, uint64_t t,
                                            const ng_optim_options *options,
                                            ng_error *error)
{
    const char *bad = nullptr;
    ng_status status = ng_cuda_check_count(0, options);

    if (c == nullptr || hyper == nullptr)
        status = NG_BAD_POINTER;
    if (status == NG_OK)
        status = ng_cuda_make_step_constants(
            c, kind, *hyper, t, ng_cuda_optim_rules(options).step, &bad);
    return status == NG_OK ? NG_OK
                           : ng_fail(error, status, "step: %s: %s",
                                     bad != nullptr ? bad : "arguments",
                                     ng_status_text(status));
}

static int64_t chunks_of(int64_t n)
{
    return n / NG_CUDA_STEP_CHUNK + (n % NG_CUDA_STEP_CHUNK != 0);
}

/* ---- launching ----------------------------------------------------------- */

static ng_status launch_job(ng_cuda_step_job *job, const ng_step_constants &c,
                            const int32_t *skip,
                            const ng_optim_options *options,
                            const ng_cuda_launch *launch)
{
    const bool counted = options != nullptr && options->counts != nullptr;

    if (launch == nullptr || (uintptr_t)skip % 4 != 0
        || (uintptr_t)launch->events % 8 != 0
        || (counted && (uintptr_t)options->counts % 8 != 0))
        return NG_BAD_POINTER;
    if (job->n_chunks == 0)
        return NG_OK;
    job->c = c;
    job->bc1_inverse = 1.0f / c.bc1;
    job->bc2_inverse = 1.0f / c.bc2;
    job->skip = skip;
    job->counts =
        counted ? (unsigned long long *)(void *)options->counts : nullptr;
    job->events = launch->events != nullptr
                      ? (unsigned long long *)launch->events->count
                      : nullptr;

    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const ng_cuda_step_pick pick = ng_cuda_pick_step(job->form, c);
    static ng_cuda_step_launcher *const launchers[3][2] = {
        {ng_cuda_launch_sgd_ng, ng_cuda_launch_sgd_flashoptim},
        {ng_cuda_launch_adam_ng, ng_cuda_launch_adam_flashoptim},
        {ng_cuda_launch_lion_ng, ng_cuda_launch_lion_flashoptim}};

    if (pick.found && launch->events == nullptr)
        return launchers[pick.row][pick.rules](*job, pick, stream);
    any_step_kernel<<<ng_cuda_blocks(job->n_chunks, NG_CUDA_STEP_WARPS,
                                     NG_CUDA_STEP_BLOCKS),
                      NG_CUDA_STEP_THREADS, 0, stream>>>(*job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}

extern "C" ng_status ng_cuda_step(const ng_weights *theta, const ng_state *m,
                                  const ng_state *v, const ng_gradient *g,
                                  int64_t n, const ng_step_constants *c,
                                  const int32_t *skip,
                                  const ng_optim_options *options,
                                  const ng_cuda_launch *launch)
{
    ng_cuda_step_job job = {};
    ng_status status;

    if (c == nullptr)
        return NG_BAD_POINTER;

    const ng_step_constants own = ng_cuda_step_constants_of(*c);

    status =
        ng_cuda_step_of(&job.form, &job.one, theta, m, v, g, n, own, options);
    if (status != NG_OK)
        return status;
    job.n_chunks = chunks_of(n);
    return job.n_chunks > INT32_MAX
               ? NG_BAD_SHAPE
               : launch_job(&job, own, skip, options, launch);
}

/* ---- tables of many ---------------------------------------------------------
 *
 * The parameters first, then the chunks, 8-byte aligned both. */

/* Chunks of all, or -1; a table of so many has fewer than 2^63 bytes. */
static int64_t chunks_of_all(const ng_cuda_parameter *list, int64_t count)
{
    int64_t sum = 0;

    if (count < 0 || count > INT32_MAX || (count > 0 && list == nullptr))
        return -1;
    for (int64_t i = 0; i < count; i++) {
        if (list[i].n < 0 || list[i].n > INT64_MAX / 4
            || chunks_of(list[i].n) > INT32_MAX)
            return -1;
        sum += chunks_of(list[i].n);
    }
    if (sum > INT64_MAX / 2 / (int64_t)sizeof(ng_cuda_chunk))
        return -1;
    return sum;
}

extern "C" int64_t ng_cuda_step_table_bytes(const ng_cuda_parameter *list,
                                            int64_t count)
{
    const int64_t chunks = chunks_of_all(list, count);

    return chunks < 0 ? -1
                      : count * (int64_t)sizeof(ng_cuda_step_tensor)
                            + chunks * (int64_t)sizeof(ng_cuda_chunk);
}

static ng_status describe(ng_cuda_step_form *form, ng_cuda_step_tensor *t,
                          const ng_cuda_parameter *p,
                          const ng_step_constants &c,
                          const ng_optim_options *options)
{
    return ng_cuda_step_of(form, t, &p->theta, &p->m, &p->v, &p->g, p->n, c,
                           options);
}

extern "C" ng_status ng_cuda_step_table_make(
    ng_cuda_step_table *table, void *bytes, const ng_cuda_parameter *list,
    int64_t count, const ng_step_constants *c, const ng_optim_options *options)
{
    if (table == nullptr || c == nullptr || (count > 0 && list == nullptr))
        return NG_BAD_POINTER;

    const int64_t n_chunks = chunks_of_all(list, count);
    const ng_step_constants own = ng_cuda_step_constants_of(*c);
    ng_cuda_step_form form = {}, first = {};
    ng_cuda_step_tensor tensor;

    if (n_chunks < 0)
        return NG_BAD_SHAPE;
    if (count > 0 && (bytes == nullptr || (uintptr_t)bytes % 8 != 0))
        return NG_BAD_POINTER;
    for (int64_t i = 0; i < count; i++) {
        const ng_status status =
            describe(&form, &tensor, &list[i], own, options);

        if (status != NG_OK)
            return status;
        if (i == 0)
            first = form;
        if (std::memcmp(&form, &first, sizeof form) != 0)
            return NG_BAD_LAYOUT;
    }

    ng_cuda_step_tensor *tensors = (ng_cuda_step_tensor *)bytes;
    ng_cuda_chunk *chunk = (ng_cuda_chunk *)(void *)(tensors + count);

    *table = {};
    for (int64_t i = 0; i < count; i++) {
        (void)describe(&form, &tensors[i], &list[i], own, options);
        for (int64_t k = 0; k < chunks_of(list[i].n); k++)
            *chunk++ = {(int32_t)i, (int32_t)k};
        /* One with elements, whose pointers later steps are checked by. */
        if (table->first.n == 0)
            table->first = list[i];
    }
    table->n_parameters = count;
    table->n_chunks = n_chunks;
    return NG_OK;
}

static ng_status job_of(ng_cuda_step_job *job, const ng_cuda_step_table *table,
                        const void *device_bytes, const ng_step_constants &c,
                        const ng_optim_options *options)
{
    const ng_cuda_step_tensor *tensors =
        (const ng_cuda_step_tensor *)device_bytes;
    ng_status status;

    *job = {};
    if (table->n_chunks == 0)
        return NG_OK;
    if (device_bytes == nullptr || (uintptr_t)device_bytes % 8 != 0)
        return NG_BAD_POINTER;
    if ((status = describe(&job->form, &job->one, &table->first, c, options))
        != NG_OK)
        return status;
    job->many = tensors;
    job->chunks = (const ng_cuda_chunk *)(tensors + table->n_parameters);
    job->n_chunks = table->n_chunks;
    return NG_OK;
}

extern "C" ng_status
ng_cuda_step_many(const ng_cuda_step_table *table, const void *device_bytes,
                  const ng_step_constants *c, const int32_t *skip,
                  const ng_optim_options *options, const ng_cuda_launch *launch)
{
    ng_cuda_step_job job;

    if (table == nullptr || c == nullptr)
        return NG_BAD_POINTER;

    const ng_step_constants own = ng_cuda_step_constants_of(*c);
    const ng_status status = job_of(&job, table, device_bytes, own, options);

    return status != NG_OK ? status
                           : launch_job(&job, own, skip, options, launch);
}

/* ---- are they finite? ---------------------------------------------------- */

static __global__ void __launch_bounds__(NG_CUDA_STEP_THREADS)
    not_finite_kernel(int32_t *flag,
                      const __grid_constant__ ng_cuda_step_job job)
{
    const int64_t warps = (int64_t)gridDim.x * NG_CUDA_STEP_WARPS;
    bool odd = false;

    for (int64_t k =
             (int64_t)blockIdx.x * NG_CUDA_STEP_WARPS + threadIdx.x / 32;
         k < job.n_chunks; k += warps) {
        const ng_cuda_chunk chunk = chunk_of(job, k);
        const ng_cuda_step_tensor &t = job.many[chunk.tensor];
        const int64_t first = (int64_t)chunk.number * NG_CUDA_STEP_CHUNK;
        const int64_t end =
            first + NG_CUDA_STEP_CHUNK < t.n ? first + NG_CUDA_STEP_CHUNK : t.n;

#pragma unroll 4
        for (int64_t i = first + threadIdx.x % 32; i < end; i += 32) {
            const float g = ng_cuda_load_grad(t, job.form, i);

            odd |= !(std::fabs(g) < ng_cuda_float_of(NG_FP32_INFINITY));
        }
    }
    if (__any_sync(0xFFFFFFFFu, odd) && threadIdx.x % 32 == 0)
        atomicAdd(flag, 1);
}

extern "C" ng_status
ng_cuda_gradients_not_finite(int32_t *flag, const ng_cuda_step_table *table,
                             const void *device_bytes,
                             const ng_cuda_launch *launch)
{
    ng_cuda_step_job job;

    if (flag == nullptr || (uintptr_t)flag % 4 != 0 || table == nullptr
        || launch == nullptr)
        return NG_BAD_POINTER;

    /* the row does not matter: only gradients are looked at */
    ng_step_constants none = {};
    const ng_status status = job_of(&job, table, device_bytes, none, nullptr);

    if (status != NG_OK || job.n_chunks == 0)
        return status;
    not_finite_kernel<<<
        ng_cuda_blocks(job.n_chunks, NG_CUDA_STEP_WARPS, NG_CUDA_STEP_BLOCKS),
        NG_CUDA_STEP_THREADS, 0, (cudaStream_t)launch->stream>>>(flag, job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
