/* SPDX-License-Identifier: Apache-2.0
 *
 * SwiGLU and the quantiser behind it in one pass, to MXFP4 and to FP8 along
 * rows.
 *
 * A thread has 16 neighbours of a row: 32 bytes of gate and of up, 8 or 16 of
 * codes. Two lanes share an MXFP4 block, eight an FP8 block. Threads whose
 * gates all lie within 87 of zero, all but a few, take half the instructions.
 *
 *   bytes          4 + 1/2 + 1/32 an element, to FP8 4 + 1 + 1/32
 *   instructions   about 26 an element (two of the special function unit), to
 *                  FP8 20
 *   limit          memory: 32 issue slots an element at 4.2 TB/s
 *   measured       H200, 32768 x 7168: 254 us to MXFP4, 272 (pow2) and 277 us
 *                  to FP8, 1.00 to 1.04 of a copy of as many bytes; ragged the
 *                  same within 2 %
 */
#include "cuda/convert/encode_e2m1x8.cuh"
#include "cuda/convert/fp8_inverse.cuh"
#include "cuda/convert/fp8_scale.cuh"
#include "cuda/convert/mxfp4_scale.cuh"
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

enum { THREADS = 256, CHUNK = 16 };

struct fast_job {
    ng_cuda_swiglu_job call;
    ng_mxfp4 y4;
    ng_fp8 y8;
    ng_cuda_divider chunks; /* places for them in a row: whole blocks */
};

__device__ __forceinline__ const uint4 *at(const ng_matrix &x, int64_t row,
                                           int64_t col)
{
    return (const uint4 *)((const uint16_t *)x.data + row * x.ld + col);
}

/* The two BF16 numbers in a word. */
__device__ __forceinline__ float low(uint32_t pair)
{
    return __uint_as_float(pair << 16);
}

__device__ __forceinline__ float high(uint32_t pair)
{
    return __uint_as_float(pair & 0xFFFF0000);
}

template <bool MXFP4, bool POW2, bool VALUES>
__global__ void __launch_bounds__(THREADS)
    quantize(const __grid_constant__ fast_job job)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    const uint32_t r = ng_cuda_divide(i, job.chunks);
    const int64_t row = r;
    const int64_t col = (int64_t)(i - r * job.chunks.divisor) * CHUNK;
    const bool here = row < ng_cuda_rows(job.call.o, job.call.gate.rows)
                      && col < job.call.gate.cols;
    float most = 0.0f;
    float y[CHUNK];

    if (here) {
        const uint4 *gate = at(job.call.gate, row, col);
        const uint4 *up = at(job.call.up, row, col);
        const uint4 g[2] = {__ldg(gate), __ldg(gate + 1)};
        const uint4 u[2] = {__ldg(up), __ldg(up + 1)};

        const uint32_t gates[8] = {g[0].x, g[0].y, g[0].z, g[0].w,
                                   g[1].x, g[1].y, g[1].z, g[1].w};
        const uint32_t ups[8] = {u[0].x, u[0].y, u[0].z, u[0].w,
                                 u[1].x, u[1].y, u[1].z, u[1].w};
        uint32_t largest = 0;

#pragma unroll
        for (int j = 0; j < 8; j++)
            largest = ng_cuda_max_magnitude_bf16x2(largest, gates[j]);
        if (max(largest & 0xFFFF, largest >> 16)
            <= __float_as_uint(NG_CUDA_TAME) >> 16) {
#pragma unroll
            for (int j = 0; j < 8; j++) {
                y[2 * j] = ng_cuda_swiglu_tame(low(gates[j]), low(ups[j]));
                y[2 * j + 1] =
                    ng_cuda_swiglu_tame(high(gates[j]), high(ups[j]));
            }
        } else {
#pragma unroll
            for (int j = 0; j < 8; j++) {
                y[2 * j] = ng_cuda_swiglu(low(gates[j]), low(ups[j]));
                y[2 * j + 1] = ng_cuda_swiglu(high(gates[j]), high(ups[j]));
            }
        }
#pragma unroll
        for (int j = 0; j < CHUNK; j++)
            most = ng_cuda_max_magnitude(most, y[j]);
        if (VALUES) {
            float4 *to = (float4 *)((float *)job.call.values.data
                                    + row * job.call.values.ld + col);

#pragma unroll
            for (int j = 0; j < CHUNK / 4; j++)
                to[j] = {y[4 * j], y[4 * j + 1], y[4 * j + 2], y[4 * j + 3]};
        }
    }

    constexpr int lanes = (MXFP4 ? 32 : 128) / CHUNK;

#pragma unroll
    for (int away = 1; away < lanes; away *= 2)
        most = ng_cuda_max_magnitude(most,
                                     __shfl_xor_sync(0xFFFFFFFF, most, away));
    if (!here)
        return;

    const uint32_t amax = __float_as_uint(most);
    const bool first = threadIdx.x % lanes == 0;

    if (MXFP4) {
        const uint32_t b = ng_cuda_mxfp4_scale(
            amax, ng_cuda_mxfp4_carry(job.call.o.rules.mxfp4_scale));
        const bool is_nan = b == NG_UE8M0_NAN;
        const float inverse = __uint_as_float((254 - b) << 23);
        uint2 codes = {0, 0};

        if (!is_nan) {
#pragma unroll
            for (int j = 0; j < CHUNK; j++)
                y[j] = __fmul_rn(y[j], inverse);
            codes.x = ng_cuda_encode_e2m1x8(y);
            codes.y = ng_cuda_encode_e2m1x8(y + 8);
        }
        *(uint2 *)(job.y4.codes + row * job.y4.ld + col / 2) = codes;
        if (first)
            ng_cuda_store_scale(job.y4.scales, row, col / NG_MXFP4_BLOCK,
                                (job.call.gate.cols - 1) / NG_MXFP4_BLOCK + 1,
                                b);
    } else {
        const uint32_t s = ng_cuda_fp8_scale(amax, POW2);
        const ng_cuda_inverse d = ng_cuda_inverse_of<POW2>(s);
        uint32_t codes[CHUNK / 4];

#pragma unroll
        for (int j = 0; j < CHUNK; j++)
            y[j] = ng_cuda_odd_quotient<POW2>(y[j], d);
#pragma unroll
        for (int j = 0; j < CHUNK / 4; j++)
            codes[j] = ng_cuda_cvt_e4m3x2(y[4 * j], y[4 * j + 1])
                       | ng_cuda_cvt_e4m3x2(y[4 * j + 2], y[4 * j + 3]) << 16;
        *(uint4 *)(job.y8.codes + row * job.y8.ld + col) = {codes[0], codes[1],
                                                            codes[2], codes[3]};
        if (first)
            ng_cuda_store_scale(
                job.y8.scales, row, col / NG_FP8_BLOCK,
                (job.call.gate.cols - 1) / NG_FP8_BLOCK + 1,
                job.y8.scales.dtype == NG_FP32 ? s : ng_cuda_fp8_scale_byte(s));
    }
}

int64_t places_of(int64_t cols, int block)
{
    return ng_ceil_div(cols, block) * (block / CHUNK);
}

bool is_fast(const ng_cuda_swiglu_job &job)
{
    return job.gate.cols % CHUNK == 0
           && job.gate.rows * places_of(job.gate.cols, NG_FP8_BLOCK)
                  <= INT32_MAX
           && ng_cuda_is_aligned(job.gate.data, 2 * job.gate.ld)
           && ng_cuda_is_aligned(job.up.data, 2 * job.up.ld)
           && (job.values.data == nullptr
               || ng_cuda_is_aligned(job.values.data, 4 * job.values.ld))
           && job.o.rules.rounding == NG_NEAREST_EVEN;
}

template <bool MXFP4>
ng_status enqueue(fast_job job, const ng_cuda_launch *launch)
{
    const int64_t chunks =
        places_of(job.call.gate.cols, MXFP4 ? NG_MXFP4_BLOCK : NG_FP8_BLOCK);
    const unsigned grid = ng_cuda_blocks(job.call.gate.rows * chunks, THREADS);
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const bool values = job.call.values.data != nullptr;
    const bool pow2 = !MXFP4 && job.call.o.rules.fp8_scale == NG_FP8_POW2;

    job.chunks = ng_cuda_divider_of((uint32_t)chunks);
    if (values && pow2)
        quantize<MXFP4, true, true><<<grid, THREADS, 0, stream>>>(job);
    else if (values)
        quantize<MXFP4, false, true><<<grid, THREADS, 0, stream>>>(job);
    else if (pow2)
        quantize<MXFP4, true, false><<<grid, THREADS, 0, stream>>>(job);
    else
        quantize<MXFP4, false, false><<<grid, THREADS, 0, stream>>>(job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}

} // namespace

bool ng_cuda_swiglu_mxfp4_takes(const ng_mxfp4 &y,
                                const ng_cuda_swiglu_job &job)
{
    return is_fast(job) && ng_cuda_is_aligned(y.codes, y.ld, 8);
}

ng_status ng_cuda_swiglu_mxfp4_fast(const ng_mxfp4 &y,
                                    const ng_cuda_swiglu_job &call,
                                    const ng_cuda_launch *launch)
{
    return enqueue<true>({call, y, {}, {}}, launch);
}

bool ng_cuda_swiglu_fp8_takes(const ng_fp8 &y, const ng_cuda_swiglu_job &job)
{
    return is_fast(job) && y.form == NG_FP8_ROW
           && ng_cuda_is_aligned(y.codes, y.ld);
}

ng_status ng_cuda_swiglu_fp8_fast(const ng_fp8 &y,
                                  const ng_cuda_swiglu_job &call,
                                  const ng_cuda_launch *launch)
{
    return enqueue<false>({call, {}, y, {}}, launch);
}
