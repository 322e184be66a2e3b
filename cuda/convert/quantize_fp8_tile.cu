/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers to FP8 in tiles of 128 x 128, one scale each: weights.
 *
 * 256 threads a tile, which stays in their registers between its largest
 * magnitude and its codes: a thread has 16 elements of every 32nd row, four
 * such runs, all loads in flight at once. Warps find a tile's rows among ragged
 * groups together.
 *
 *   bytes an element   BF16: 2 + 1 (a scale for 16384 elements)
 *   instructions       pow2 scales about 5, general ones about 13 an element
 *   limit              memory; a tile waits once, at the barrier between the
 *                      two halves, while other tiles of the multiprocessor load
 *   ncu                not profiled; 102 % (pow2) and 88 % (fp32) of a device
 *                      copy at 32768 x 7168
 */
#include "cuda/convert/encode_fp8_run.cuh"
#include "cuda/convert/quantize_fp8_fast.cuh"
#include "cuda/find_row_block.cuh"
#include "cuda/launch_next.cuh"

enum {
    THREADS = 256,
    LANES = NG_FP8_BLOCK / NG_CUDA_FP8_RUN,
    ROWS_A_STEP = THREADS / LANES,
    STEPS = NG_FP8_BLOCK / ROWS_A_STEP
};

template <ng_dtype DTYPE, bool POW2>
static __global__ void __launch_bounds__(THREADS)
    quantize(const __grid_constant__ ng_cuda_quantize_fp8_job job,
             uint32_t tiles_a_row)
{
    using run = ng_cuda_run<DTYPE, NG_CUDA_FP8_RUN>;
    __shared__ uint32_t warp_largest[THREADS / 32];

    ng_cuda_wait_for_stream();

    const uint32_t line = blockIdx.x / tiles_a_row;
    const uint32_t tile = blockIdx.x - line * tiles_a_row;
    const ng_cuda_row_range rows =
        ng_cuda_find_row_block(job.o, job.x.rows, NG_FP8_BLOCK, line);
    const int64_t first_col =
        (int64_t)tile * NG_FP8_BLOCK + threadIdx.x % LANES * NG_CUDA_FP8_RUN;
    const int64_t first_row = rows.first + threadIdx.x / LANES;
    const char *from = (const char *)job.x.data
                       + (first_row * job.x.ld + first_col) * run::bytes;
    const int64_t stride = ROWS_A_STEP * job.x.ld * run::bytes;
    uint32_t largest = 0;
    run v[STEPS];

    if (rows.first == rows.last)
        return; /* the whole block: there are fewer tiles than the host knew */
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        v[k].clear();
        if (first_row + k * ROWS_A_STEP < rows.last && first_col < job.x.cols)
            v[k].load(from + k * stride);
    }
#pragma unroll
    for (int k = 0; k < STEPS; k++)
        largest = run::larger(largest, v[k].largest());
    largest = __reduce_max_sync(0xFFFFFFFFu, run::magnitude(largest));
    if (threadIdx.x % 32 == 0)
        warp_largest[threadIdx.x / 32] = largest;
    __syncthreads();
#pragma unroll
    for (int w = 0; w < THREADS / 32; w++)
        largest = max(largest, warp_largest[w]);

    const uint32_t scale = ng_cuda_fp8_scale(largest, POW2);

    if (threadIdx.x == 0)
        ng_cuda_store_scale(job.y.scales, line, tile, tiles_a_row,
                            job.y.scales.dtype == NG_FP32
                                ? scale
                                : ng_cuda_fp8_scale_byte(scale));
#pragma unroll
    for (int k = 0; k < STEPS; k++)
        if (first_row + k * ROWS_A_STEP < rows.last && first_col < job.x.cols)
            ng_cuda_store_fp8_run<DTYPE, POW2>(
                job.y.codes + (first_row + k * ROWS_A_STEP) * job.y.ld
                    + first_col,
                v[k], scale);
}

static int64_t tiles_of(const ng_cuda_quantize_fp8_job &job)
{
    return ng_cuda_outer_blocks(NG_FP8_TILE, job.x.rows, job.o) * job.inner();
}

bool ng_cuda_quantize_fp8_tile_takes(const ng_cuda_quantize_fp8_job &job)
{
    return job.y.form == NG_FP8_TILE && job.x.cols % NG_CUDA_FP8_RUN == 0
           && tiles_of(job) <= INT32_MAX
           && ng_cuda_is_aligned(job.x.data,
                                 job.x.ld * (int64_t)ng_dtype_size(job.x.dtype))
           && ng_cuda_is_aligned(job.y.codes, job.y.ld);
}

template <ng_dtype DTYPE>
static ng_status enqueue(const ng_cuda_quantize_fp8_job &job,
                         const ng_cuda_launch *launch)
{
    const unsigned grid = (unsigned)tiles_of(job);
    const uint32_t tiles_a_row = (uint32_t)job.inner();

    return ng_cuda_launch_next(job.o.rules.fp8_scale == NG_FP8_POW2
                                   ? quantize<DTYPE, true>
                                   : quantize<DTYPE, false>,
                               grid, THREADS, launch, job, tiles_a_row);
}

ng_status ng_cuda_quantize_fp8_tile(const ng_cuda_quantize_fp8_job &job,
                                    const ng_cuda_launch *launch)
{
    return job.x.dtype == NG_BF16   ? enqueue<NG_BF16>(job, launch)
           : job.x.dtype == NG_FP16 ? enqueue<NG_FP16>(job, launch)
                                    : enqueue<NG_FP32>(job, launch);
}
