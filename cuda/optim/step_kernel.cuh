/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of a step: warps stride over chunks of 2048 elements, of one
 * parameter or of many; a thread has 8 neighbouring elements, four threads a
 * group of 32, a warp 256 elements at a time. One pass: every byte is read once
 * and written once.
 *
 * A warp does 256 elements by step_octet.cuh, whose results stay in registers
 * until it knows that nothing was odd, else again by step_share.cuh: so a
 * result never depends on the way that it went. Groups lie in one warp, and
 * nothing else is shared, so neither does it depend on the grid.
 *
 * Memory, AdamW with 24-bit weights, companded states, BF16 gradients: 7.125
 * bytes read and 5.125 written an element, in accesses of 16 and 8 bytes.
 * Shared memory: two tables of 256 FP32 numbers, what codes are worth; of many
 * parameters, a copy for each warp of the one that it is at, whose pointers
 * would take a fifth of the registers.
 */
#ifndef NG_CUDA_OPTIM_STEP_KERNEL_CUH
#define NG_CUDA_OPTIM_STEP_KERNEL_CUH

#include "cuda/convert/decode_code.cuh"
#include "cuda/optim/step_octet.cuh"
#include "cuda/optim/step_share.cuh"
#include "cuda/ptx_stream.cuh"

enum {
    NG_CUDA_STEP_THREADS = 128,
    NG_CUDA_STEP_WARPS = NG_CUDA_STEP_THREADS / 32,
    NG_CUDA_STEP_PASS = 32 * NG_CUDA_OCTET, /* a warp's, at a time */
    NG_CUDA_STEP_CHUNK = 8 * NG_CUDA_STEP_PASS
};

/* ---- what happened ------------------------------------------------------ */

static __device__ __forceinline__ void add(unsigned long long *sum,
                                           uint32_t count)
{
    if (count != 0)
        atomicAdd(sum, count);
}

static __device__ __forceinline__ void
ng_cuda_add_optim_counts(unsigned long long *counts, unsigned long long *events,
                         const ng_cuda_optim_counts &c)
{
    if (counts != nullptr) {
        add(&counts[0], c.weights_saturated);
        for (int kind = 0; kind < NG_N_STATE_KINDS; kind++) {
            add(&counts[1 + 3 * kind], c.nan[kind]);
            add(&counts[2 + 3 * kind], c.saturated[kind]);
            add(&counts[3 + 3 * kind], c.lost[kind]);
        }
    }
    if (events != nullptr) {
        add(&events[NG_EVENT_SATURATED],
            c.weights_saturated + c.saturated[0] + c.saturated[1]);
        add(&events[NG_EVENT_NAN], c.nan[0] + c.nan[1]);
        add(&events[NG_EVENT_FLUSHED], c.lost[0] + c.lost[1]);
    }
}

/* ---- the way that is always right --------------------------------------- */

/* Which parameter a chunk is of, and the chunk's number in it. */
static __device__ __forceinline__ ng_cuda_chunk
chunk_of(const ng_cuda_step_job &job, int64_t chunk)
{
    return job.many != nullptr ? job.chunks[chunk]
                               : ng_cuda_chunk{0, (int32_t)chunk};
}

/* A warp's 256 elements, of which this thread's are the eight at `at` elements
 * past the chunk's first. Not inlined: it is rare, and would take registers. */
static __device__ __noinline__ void share_of_chunk(const ng_cuda_step_job *job,
                                                   ng_cuda_chunk chunk, int at)
{
    const ng_cuda_step_tensor &t =
        job->many != nullptr ? job->many[chunk.tensor] : job->one;
    const int64_t first = (int64_t)chunk.number * NG_CUDA_STEP_CHUNK;
    const int64_t left = t.n - first - at;
    const int n = left < 0               ? 0
                  : left < NG_CUDA_OCTET ? (int)left
                                         : NG_CUDA_OCTET;
    ng_cuda_optim_counts counts = {};

    ng_cuda_step_share(t, job->form, job->c, first + at, n,
                       ng_cuda_quarter_group(), counts);
    ng_cuda_add_optim_counts(job->counts, job->events, counts);
}

/* ---- words of memory ----------------------------------------------------- */

static __device__ __forceinline__ uint64_t base_of(const void *array,
                                                   int64_t first, int bytes)
{
    return (uint64_t)array + (uint64_t)first * bytes;
}

/* Eight gradients, widened. The branches are the same for the whole grid. */
static __device__ __forceinline__ void
load_grads(float *g, const void *grad, int64_t first, uint32_t at, int dtype)
{
    uint32_t words[NG_CUDA_OCTET];

    if (dtype == NG_FP32) {
        ng_cuda_load_words<8>(words, base_of(grad, first, 4), at * 4);
#pragma unroll
        for (int k = 0; k < NG_CUDA_OCTET; k++)
            g[k] = ng_cuda_float_of(words[k]);
        return;
    }
    ng_cuda_load_words<4>(words, base_of(grad, first, 2), at * 2);
    if (dtype == NG_BF16) {
#pragma unroll
        for (int k = 0; k < NG_CUDA_OCTET; k++)
            g[k] = ng_cuda_low_of_pair(words[k / 2], k % 2);
    } else {
#pragma unroll
        for (int k = 0; k < NG_CUDA_OCTET; k += 2) {
            const float2 pair = ng_cuda_float2_of_fp16x2(words[k / 2]);

            g[k] = pair.x;
            g[k + 1] = pair.y;
        }
    }
}

/* An octet, `at` elements past the `first`. */
template <class OCTET>
static __device__ __forceinline__ void
load_octet(OCTET &o, const ng_cuda_step_tensor &t, int64_t first, uint32_t at)
{
    using weights = typename OCTET::weights_type;
    constexpr int low_bytes = weights::low_words / 2;
    constexpr int rho_bytes = weights::bits / 8;
    constexpr int state_bytes = OCTET::state_words / 2;

    ng_cuda_load_words<weights::low_words>(
        o.weights.low, base_of(t.low, first, low_bytes), at * low_bytes);
    if constexpr (weights::bits > 0)
        ng_cuda_load_words<weights::rho_words>(
            o.weights.rho, base_of(t.correction, first, rho_bytes),
            at * rho_bytes);
#pragma unroll
    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++)
        if (kind == NG_MOMENTUM ? OCTET::has_m : OCTET::has_v) {
            ng_cuda_load_words<OCTET::state_words>(
                o.state[kind], base_of(t.state[kind], first, state_bytes),
                at * state_bytes);
            if constexpr (OCTET::coded)
                o.scale[kind] = ng_cuda_load_u16(
                    base_of(t.scales[kind], first / NG_STATE_GROUP, 2),
                    at / NG_STATE_GROUP * 2);
        }
}

template <class OCTET>
static __device__ __forceinline__ void store_octet(const OCTET &o,
                                                   const ng_cuda_step_tensor &t,
                                                   int64_t first, uint32_t at)
{
    using weights = typename OCTET::weights_type;
    constexpr int low_bytes = weights::low_words / 2;
    constexpr int rho_bytes = weights::bits / 8;
    constexpr int state_bytes = OCTET::state_words / 2;

    ng_cuda_store_words<weights::low_words>(base_of(t.low, first, low_bytes),
                                            at * low_bytes, o.weights.low);
    if constexpr (weights::bits > 0)
        ng_cuda_store_words<weights::rho_words>(
            base_of(t.correction, first, rho_bytes), at * rho_bytes,
            o.weights.rho);
#pragma unroll
    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++)
        if (kind == NG_MOMENTUM ? OCTET::has_m : OCTET::has_v) {
            ng_cuda_store_words<OCTET::state_words>(
                base_of(t.state[kind], first, state_bytes), at * state_bytes,
                o.state[kind]);
            if (OCTET::coded && threadIdx.x % 4 == 0)
                ng_cuda_store_u16(
                    base_of(t.scales[kind], first / NG_STATE_GROUP, 2),
                    at / NG_STATE_GROUP * 2, o.scale[kind]);
        }
}

/* ---- the kernels --------------------------------------------------------- */

/* What the codes are worth. */
template <class OCTET>
static __device__ __forceinline__ void
make_tables(float table[NG_N_STATE_KINDS][256])
{
    for (int code = threadIdx.x; code < 256; code += NG_CUDA_STEP_THREADS)
        for (int kind = 0; kind < NG_N_STATE_KINDS; kind++)
            table[kind][code] = ng_cuda_state_factor(
                code, {kind, NG_STATE_COMPANDED, OCTET::compand});
    __syncthreads();
}

/* A chunk of t by one warp. */
template <class OCTET>
static __device__ __forceinline__ void
run_chunk(const ng_cuda_step_job &job, const ng_cuda_step_tensor &t,
          ng_cuda_chunk chunk, float table[NG_N_STATE_KINDS][256])
{
    const int64_t first = (int64_t)chunk.number * NG_CUDA_STEP_CHUNK;
    const int64_t left = t.n - first;
    const int n =
        left < NG_CUDA_STEP_CHUNK ? (int)left : (int)NG_CUDA_STEP_CHUNK;
    const int whole_groups = t.is_aligned ? n & ~(NG_STATE_GROUP - 1) : 0;
    const ng_cuda_octet_context context = {
        job.c,
        job.bc1_inverse,
        job.bc2_inverse,
        {table[NG_MOMENTUM], table[NG_VARIANCE]},
        t.grad_scale != nullptr,
        t.grad_scale != nullptr ? *t.grad_scale : 0.0f};
    const int lane = (int)threadIdx.x % 32;

    for (int at = lane * NG_CUDA_OCTET; at - lane * NG_CUDA_OCTET < n;
         at += NG_CUDA_STEP_PASS) {
        const bool whole = at < whole_groups;
        OCTET o;

        o.odd = !whole && at < n;
        o.largest[NG_MOMENTUM] = o.largest[NG_VARIANCE] = 0;
        if (whole) {
            float g[NG_CUDA_OCTET];

            load_octet(o, t, first, (uint32_t)at);
            load_grads(g, t.grad, first, (uint32_t)at, job.form.grad_dtype);
            o.run(g, context);
        }
        if constexpr (OCTET::coded) {
            const ng_cuda_quarter_group team;

            o.largest[NG_MOMENTUM] = team.max(o.largest[NG_MOMENTUM]);
            if constexpr (OCTET::has_v)
                o.largest[NG_VARIANCE] = team.max(o.largest[NG_VARIANCE]);
        }
        if (whole)
            o.code();
        if (__any_sync(0xFFFFFFFFu, o.odd))
            share_of_chunk(&job, chunk, at);
        else if (whole)
            store_octet(o, t, first, (uint32_t)at);
    }
}

/* Six blocks a multiprocessor, 80 registers a thread: where memory and issue
 * slots are about equally busy. */
template <int ROW, int STATES, int FORM, int RULES>
static __global__ void __launch_bounds__(NG_CUDA_STEP_THREADS, 6)
    step_kernel(const __grid_constant__ ng_cuda_step_job job)
{
    using octet = ng_cuda_octet<ROW, STATES, FORM, RULES>;
    __shared__ float table[NG_N_STATE_KINDS][256];
    __shared__ ng_cuda_step_tensor own[NG_CUDA_STEP_WARPS];
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int64_t warps = (int64_t)gridDim.x * NG_CUDA_STEP_WARPS;
    int64_t chunk = (int64_t)blockIdx.x * NG_CUDA_STEP_WARPS + warp;
    ng_cuda_chunk next = {};
    int at = -1;

    if (job.skip != nullptr && *job.skip != 0)
        return;
    if constexpr (octet::coded)
        make_tables<octet>(table);
    if (chunk < job.n_chunks)
        next = chunk_of(job, chunk);
    for (; chunk < job.n_chunks; chunk += warps) {
        const ng_cuda_chunk now = next;

        if (chunk + warps < job.n_chunks)
            next = chunk_of(job, chunk + warps);
        if (now.tensor != at) { /* the same for the whole warp */
            const ng_cuda_step_tensor *t =
                job.many != nullptr ? &job.many[now.tensor] : &job.one;

            at = now.tensor;
            __syncwarp();
            if (lane < (int)(sizeof *t / sizeof(uint64_t)))
                ((uint64_t *)&own[warp])[lane] = ((const uint64_t *)t)[lane];
            __syncwarp();
        }
        run_chunk<octet>(job, own[warp], now, table);
    }
}

/* What the others do not take: any form, any mix of rules. */
static __global__ void __launch_bounds__(NG_CUDA_STEP_THREADS)
    any_step_kernel(const __grid_constant__ ng_cuda_step_job job)
{
    const int64_t warps = (int64_t)gridDim.x * NG_CUDA_STEP_WARPS;

    if (job.skip != nullptr && *job.skip != 0)
        return;
    for (int64_t i =
             (int64_t)blockIdx.x * NG_CUDA_STEP_WARPS + threadIdx.x / 32;
         i < job.n_chunks; i += warps)
        for (int at = (int)threadIdx.x % 32 * NG_CUDA_OCTET;
             at < NG_CUDA_STEP_CHUNK; at += NG_CUDA_STEP_PASS)
            share_of_chunk(&job, chunk_of(job, i), at);
}

#endif
