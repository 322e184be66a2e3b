/* SPDX-License-Identifier: Apache-2.0
 *
 * SwiGLU's backward pass, to BF16 or to FP8 along rows: both gradients from one
 * reading. A thread has eight neighbours of a row; 16 lanes share an FP8 block.
 *
 *   bytes          6 + 4 an element to BF16, 6 + 2 + 1/16 to FP8
 *   instructions   about 30 an element, two of the special function unit
 *   limit          memory: 72 issue slots an element at 4.2 TB/s
 *   measured       H200, 32768 x 7168, to BF16: 546 us, 1.01 of a copy of as
 *                  many bytes
 */
#include "cuda/convert/fp8_inverse.cuh"
#include "cuda/convert/fp8_scale.cuh"
#include "cuda/convert/scale_plane.cuh"
#include "cuda/divider.cuh"
#include "cuda/grid.cuh"
#include "cuda/moe/swiglu_element.cuh"
#include "cuda/moe/swiglu_fast.cuh"
#include "cuda/ptx_cvt.cuh"
#include "cuda/try.cuh"
#include "cuda/vector.cuh"

namespace
{

enum { THREADS = 256, CHUNK = 8, LANES = NG_FP8_BLOCK / CHUNK };

struct fast_job {
    ng_cuda_swiglu_backward_job call;
    ng_fp8 y_gate, y_up;
    ng_cuda_divider chunks; /* of a row */
};

__device__ __forceinline__ uint4 load(const ng_matrix &x, int64_t row,
                                      int64_t col)
{
    return __ldg((const uint4 *)((const uint16_t *)x.data + row * x.ld + col));
}

__device__ __forceinline__ float part(const uint4 &x, int i)
{
    const uint32_t w = i / 2 == 0   ? x.x
                       : i / 2 == 1 ? x.y
                       : i / 2 == 2 ? x.z
                                    : x.w;

    return __uint_as_float(i % 2 == 0 ? w << 16 : w & 0xFFFF0000);
}

__device__ __forceinline__ void store_bf16(const ng_matrix &y, int64_t row,
                                           int64_t col, const float v[CHUNK])
{
    *(uint4 *)((uint16_t *)y.data + row * y.ld + col) = make_uint4(
        ng_cuda_cvt_bf16x2(v[0], v[1]), ng_cuda_cvt_bf16x2(v[2], v[3]),
        ng_cuda_cvt_bf16x2(v[4], v[5]), ng_cuda_cvt_bf16x2(v[6], v[7]));
}

__device__ __forceinline__ void store_fp32(const ng_matrix &y, int64_t row,
                                           int64_t col, const float v[CHUNK])
{
    float4 *to = (float4 *)((float *)y.data + row * y.ld + col);

    to[0] = make_float4(v[0], v[1], v[2], v[3]);
    to[1] = make_float4(v[4], v[5], v[6], v[7]);
}

/* Quantise eight of a block whose largest magnitude is `most`, and store. */
template <bool POW2>
__device__ __forceinline__ void store_fp8(const ng_fp8 &y, int64_t row,
                                          int64_t col, const float v[CHUNK],
                                          float most)
{
    const uint32_t scale = ng_cuda_fp8_scale(__float_as_uint(most), POW2);
    const ng_cuda_inverse d = ng_cuda_inverse_of<POW2>(scale);
    float q[CHUNK];

#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        q[i] = ng_cuda_odd_quotient<POW2>(v[i], d);
    *(uint2 *)(y.codes + row * y.ld + col) = make_uint2(
        ng_cuda_cvt_e4m3x2(q[0], q[1]) | ng_cuda_cvt_e4m3x2(q[2], q[3]) << 16,
        ng_cuda_cvt_e4m3x2(q[4], q[5]) | ng_cuda_cvt_e4m3x2(q[6], q[7]) << 16);
    if (col % NG_FP8_BLOCK == 0)
        ng_cuda_store_scale(
            y.scales, row, col / NG_FP8_BLOCK, (y.cols - 1) / NG_FP8_BLOCK + 1,
            y.scales.dtype == NG_FP32 ? scale : ng_cuda_fp8_scale_byte(scale));
}

template <bool FP8, bool POW2>
__global__ void __launch_bounds__(THREADS)
    backward(const __grid_constant__ fast_job job)
{
    const ng_cuda_swiglu_backward_job &call = job.call;
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    const uint32_t row = ng_cuda_divide(i, job.chunks);
    const uint32_t col = (i - row * job.chunks.divisor) * CHUNK;
    const bool here =
        row < ng_cuda_rows(call.o, call.gate.rows) && col < call.gate.cols;
    float gate[CHUNK] = {}, up[CHUNK] = {}, most_gate = 0, most_up = 0;

    if (here) {
        const uint4 d = load(call.grad_y, row, col);
        const uint4 g = load(call.gate, row, col);
        const uint4 u = load(call.up, row, col);

#pragma unroll
        for (int k = 0; k < CHUNK; k++) {
            const ng_cuda_swiglu_grads grads =
                ng_cuda_swiglu_backward(part(d, k), part(g, k), part(u, k));

            gate[k] = grads.gate;
            up[k] = grads.up;
            most_gate = ng_cuda_max_magnitude(most_gate, gate[k]);
            most_up = ng_cuda_max_magnitude(most_up, up[k]);
        }
    }
    if constexpr (!FP8) {
        if (here) {
            store_bf16(call.grad_gate, row, col, gate);
            store_bf16(call.grad_up, row, col, up);
        }
    } else {
#pragma unroll
        for (int away = 1; away < LANES; away *= 2) {
            most_gate = ng_cuda_max_magnitude(
                most_gate, __shfl_xor_sync(0xFFFFFFFF, most_gate, away));
            most_up = ng_cuda_max_magnitude(
                most_up, __shfl_xor_sync(0xFFFFFFFF, most_up, away));
        }
        if (!here)
            return;
        if (call.grad_gate.data != nullptr) {
            store_fp32(call.grad_gate, row, col, gate);
            store_fp32(call.grad_up, row, col, up);
        }
        store_fp8<POW2>(job.y_gate, row, col, gate, most_gate);
        store_fp8<POW2>(job.y_up, row, col, up, most_up);
    }
}

/* Rows have whole FP8 blocks of places for lanes, so that none spans two. */
int64_t places_of(int64_t cols)
{
    return ng_ceil_div(cols, NG_FP8_BLOCK) * LANES;
}

bool reads_fast(const ng_cuda_swiglu_backward_job &job)
{
    return job.gate.cols % CHUNK == 0
           && job.gate.cols <= INT32_MAX /* columns are counted in 32 bits */
           && job.gate.rows * places_of(job.gate.cols) <= INT32_MAX
           && ng_cuda_is_aligned(job.grad_y.data, 2 * job.grad_y.ld)
           && ng_cuda_is_aligned(job.gate.data, 2 * job.gate.ld)
           && ng_cuda_is_aligned(job.up.data, 2 * job.up.ld);
}

} // namespace

bool ng_cuda_swiglu_backward_takes(const ng_cuda_swiglu_backward_job &job)
{
    return reads_fast(job) && job.grad_gate.dtype == NG_BF16
           && ng_cuda_is_aligned(job.grad_gate.data, 2 * job.grad_gate.ld)
           && ng_cuda_is_aligned(job.grad_up.data, 2 * job.grad_up.ld);
}

ng_status ng_cuda_swiglu_backward_fast(const ng_cuda_swiglu_backward_job &call,
                                       const ng_cuda_launch *launch)
{
    const int64_t chunks = call.gate.cols / CHUNK;
    const fast_job job = {call, {}, {}, ng_cuda_divider_of((uint32_t)chunks)};

    backward<false, false><<<ng_cuda_blocks(call.gate.rows * chunks, THREADS),
                             THREADS, 0, (cudaStream_t)launch->stream>>>(job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}

bool ng_cuda_swiglu_backward_fp8_takes(const ng_fp8 &y_gate, const ng_fp8 &y_up,
                                       const ng_cuda_swiglu_backward_job &job)
{
    return reads_fast(job) && job.o.rules.rounding == NG_NEAREST_EVEN
           && y_gate.form == NG_FP8_ROW && y_up.form == NG_FP8_ROW
           && ng_cuda_is_aligned(y_gate.codes, y_gate.ld, 8)
           && ng_cuda_is_aligned(y_up.codes, y_up.ld, 8)
           && (job.grad_gate.data == nullptr) == (job.grad_up.data == nullptr)
           && ng_cuda_is_aligned(job.grad_gate.data, 4 * job.grad_gate.ld)
           && ng_cuda_is_aligned(job.grad_up.data, 4 * job.grad_up.ld);
}

ng_status
ng_cuda_swiglu_backward_fp8_fast(const ng_fp8 &y_gate, const ng_fp8 &y_up,
                                 const ng_cuda_swiglu_backward_job &call,
                                 const ng_cuda_launch *launch)
{
    const int64_t places = places_of(call.gate.cols);
    const fast_job job = {call, y_gate, y_up,
                          ng_cuda_divider_of((uint32_t)places)};
    const unsigned grid = ng_cuda_blocks(call.gate.rows * places, THREADS);
    const cudaStream_t stream = (cudaStream_t)launch->stream;

    if (call.o.rules.fp8_scale == NG_FP8_POW2)
        backward<true, true><<<grid, THREADS, 0, stream>>>(job);
    else
        backward<true, false><<<grid, THREADS, 0, stream>>>(job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
