/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers to FP8 along rows, 128 elements a scale.
 *
 * Eight lanes a block, 16 elements a lane and row, two rows in flight: 64
 * bytes of BF16. The largest magnitude crosses the eight lanes in three
 * shuffles. A row has ceil(cols / 128) * 8 places for lanes, so that no block
 * spans two rows; places past its end do nothing.
 *
 *   bytes an element   BF16, FP16: 2 + 1 + 1/32;  FP32: 4 + 1 + 1/32
 *   instructions       pow2 scales about 5, general ones about 13 an element
 *   limit              memory: 23 issue slots an element at 4.2 TB/s (BF16)
 *   ncu, H200          32768 x 7168, BF16, pow2: 163.0 us, DRAM at 88.6 % of
 *                      its peak, issue slots 44 %: bound by DRAM
 */
#include "cuda/convert/encode_fp8_run.cuh"
#include "cuda/convert/quantize_fp8_fast.cuh"
#include "cuda/convert/scale_access.cuh"
#include "cuda/row_group.cuh"
#include "cuda/launch_next.cuh"

enum { THREADS = 256, ROWS = 2, LANES = NG_FP8_BLOCK / NG_CUDA_FP8_RUN };

namespace
{
struct fast_job {
    ng_cuda_quantize_fp8_job call;
    ng_cuda_divider places;      /* of a row */
    ng_cuda_scale_access scales; /* of y */
};
} // namespace

template <ng_dtype DTYPE, bool POW2>
static __global__ void __launch_bounds__(THREADS)
    quantize(const __grid_constant__ fast_job job)
{
    using run = ng_cuda_run<DTYPE, NG_CUDA_FP8_RUN>;

    ng_cuda_wait_for_stream();

    const ng_matrix &x = job.call.x;
    const ng_fp8 &y = job.call.y;
    const int64_t rows = ng_cuda_rows(job.call.o, x.rows);
    const ng_cuda_row_place at = ng_cuda_row_place_of(job.places, ROWS);
    const bool inside = at.place * NG_CUDA_FP8_RUN < x.cols;
    const char *from =
        (const char *)x.data
        + (at.row * x.ld + at.place * NG_CUDA_FP8_RUN) * run::bytes;
    run v[ROWS];

#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        v[k].clear();
        if (inside && at.row + k < rows)
            v[k].load(from + k * x.ld * run::bytes);
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        uint32_t largest = v[k].largest();

#pragma unroll
        for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
            largest = run::larger(largest,
                                  __shfl_xor_sync(0xFFFFFFFFu, largest, lanes));

        const uint32_t scale = ng_cuda_fp8_scale(run::magnitude(largest), POW2);

        if (!inside || at.row + k >= rows)
            continue;
        if (at.place % LANES == 0)
            ng_cuda_put_scale(job.scales, at.row + k, at.place / LANES,
                              y.scales.dtype == NG_FP32
                                  ? scale
                                  : ng_cuda_fp8_scale_byte(scale));
        ng_cuda_store_fp8_run<DTYPE, POW2>(y.codes + (at.row + k) * y.ld
                                               + at.place * NG_CUDA_FP8_RUN,
                                           v[k], scale);
    }
}

static int64_t places_of(int64_t cols)
{
    return ng_ceil_div(cols, NG_FP8_BLOCK) * LANES;
}

bool ng_cuda_quantize_fp8_row_takes(const ng_cuda_quantize_fp8_job &job)
{
    return job.y.form == NG_FP8_ROW && job.x.cols % NG_CUDA_FP8_RUN == 0
           && ng_cuda_row_groups_fit(job.x.rows, places_of(job.x.cols))
           && ng_cuda_is_aligned(job.x.data,
                                 job.x.ld * (int64_t)ng_dtype_size(job.x.dtype))
           && ng_cuda_is_aligned(job.y.codes, job.y.ld);
}

template <ng_dtype DTYPE>
static ng_status enqueue(const fast_job &job, unsigned grid,
                         const ng_cuda_launch *launch)
{
    return ng_cuda_launch_next(job.call.o.rules.fp8_scale == NG_FP8_POW2
                                   ? quantize<DTYPE, true>
                                   : quantize<DTYPE, false>,
                               grid, THREADS, launch, job);
}

ng_status ng_cuda_quantize_fp8_row(const ng_cuda_quantize_fp8_job &call,
                                   const ng_cuda_launch *launch)
{
    const int64_t places = places_of(call.x.cols);
    const fast_job job = {
        call, ng_cuda_divider_of((uint32_t)places),
        ng_cuda_scale_access_of(call.y.scales, places / LANES)};
    const unsigned grid =
        ng_cuda_row_group_blocks(call.x.rows, places, ROWS, THREADS);

    return call.x.dtype == NG_BF16   ? enqueue<NG_BF16>(job, grid, launch)
           : call.x.dtype == NG_FP16 ? enqueue<NG_FP16>(job, grid, launch)
                                     : enqueue<NG_FP32>(job, grid, launch);
}
