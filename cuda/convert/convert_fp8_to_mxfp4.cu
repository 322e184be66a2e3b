/* SPDX-License-Identifier: Apache-2.0
 *
 * FP8 to MXFP4: the launcher, and the row form's fast path.
 *
 * A thread a block of 32: two 16-byte loads, one 16-byte store of codes, one
 * byte of scale. Seven thresholds (mxfp4_threshold.cuh) decide all codes, four
 * elements at a time: with K = 128 - T, bit 7 of c + K says c >= T, for both
 * are at most 127 + 127 and no byte carries into the next; three such steps
 * find one of eight by halving.
 *
 *   bytes an element   1 + 1/32 + 1/2 + 1/32
 *   instructions       about 9 an element, 2 of them for the thresholds
 *   limit              memory, with 11 issue slots an element at 4.2 TB/s: near
 *                      to issue
 */
#include "cuda/convert/convert_fp8_to_mxfp4.h"

#include "cuda/check_views.h"
#include "cuda/convert/mxfp4_threshold.cuh"
#include "cuda/convert/row_block.cuh"
#include "cuda/divider.cuh"
#include "cuda/general.cuh"
#include "cuda/ptx_half2.cuh"
#include "cuda/ptx_prmt.cuh"
#include "cuda/vector.cuh"

enum { THREADS = 256 };

namespace
{
struct fast_job {
    ng_cuda_fp8_to_mxfp4_job call;
    ng_cuda_divider blocks; /* of 32, in a row */
};
} // namespace

/* Each byte 0xFF where its bit 7 is set, else 0x00. */
static __device__ __forceinline__ uint32_t spread(uint32_t bytes)
{
    return ng_cuda_prmt(bytes, 0, 0xBA98);
}

static __device__ __forceinline__ uint32_t choose(uint32_t mask, uint32_t a,
                                                  uint32_t b)
{
    return (a & mask) | (b & ~mask);
}

/* Four E2M1 codes, a byte each. k[j] is 128 - T_j in every byte; sign is 0x08
 * in every byte where the scale is negative. */
static __device__ __forceinline__ uint32_t encode4(uint32_t codes,
                                                   const uint32_t *k,
                                                   uint32_t sign)
{
    const uint32_t c = codes & 0x7F7F7F7F;
    const uint32_t four = spread(c + k[4]);
    const uint32_t two = spread(c + choose(four, k[6], k[2]));
    const uint32_t last =
        choose(two, choose(four, k[7], k[3]), choose(four, k[5], k[1]));
    const uint32_t one = c + last;

    return (four & 0x04040404) | (two & 0x02020202) | (one >> 7 & 0x01010101)
           | ((codes >> 4 & 0x08080808) ^ sign);
}

/* Eight codes of two such words, nibbles in order. */
static __device__ __forceinline__ uint32_t pack8(uint32_t a, uint32_t b)
{
    return ng_cuda_prmt(a | a >> 4, b | b >> 4, 0x6420);
}

static __global__ void __launch_bounds__(THREADS)
    convert(const __grid_constant__ fast_job job)
{
    const ng_fp8 &x = job.call.x;
    const ng_mxfp4 &y = job.call.y;
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    const uint32_t row = ng_cuda_divide(i, job.blocks);
    const uint32_t block = i - row * job.blocks.divisor;

    if (row >= ng_cuda_rows(job.call.o, x.rows))
        return;

    const uint8_t *from = x.codes + row * x.ld + block * NG_MXFP4_BLOCK;
    const uint4 a = ng_cuda_load16(from), b = ng_cuda_load16(from + 16);
    const ng_cuda_real scale = ng_cuda_real_of(ng_cuda_load_scale_fp32(
        x.scales, row, block / (NG_FP8_BLOCK / NG_MXFP4_BLOCK)));
    const uint32_t codes[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    uint32_t largest = 0, k[8] = {}, out[4];

#pragma unroll
    for (int w = 0; w < 8; w++)
        largest = ng_cuda_max3_u16x2(largest, codes[w] & 0x007F007F,
                                     codes[w] >> 8 & 0x007F007F);
    largest = max(largest & 0xFFFF, largest >> 16);

    const bool is_nan = largest == 0x7F || scale.kind != NG_CUDA_FINITE;
    const ng_cuda_real amax =
        ng_cuda_real_product(ng_cuda_real_of(__float_as_uint(
                                 ng_cuda_decode_fields(largest, 0, 20, 7))),
                             scale);
    const uint32_t byte =
        is_nan ? (uint32_t)NG_UE8M0_NAN
               : ng_cuda_mxfp4_scale_exact(amax, job.call.o.rules.mxfp4_scale);
    const ng_cuda_ratio ratio = ng_cuda_ratio_of(scale, (int)byte - 127);

#pragma unroll
    for (int j = 1; j < 8; j++) {
        /* Scale 0 makes every value 0, whatever the code. */
        const uint32_t t =
            scale.significand != 0 ? ng_cuda_mxfp4_threshold(j, ratio) : 0x7Fu;

        k[j] = (128 - t) * 0x01010101u;
    }
#pragma unroll
    for (int w = 0; w < 4; w++) {
        const uint32_t sign = scale.negative ? 0x08080808 : 0;

        out[w] = pack8(encode4(codes[2 * w], k, sign),
                       encode4(codes[2 * w + 1], k, sign));
        out[w] = is_nan ? 0 : out[w];
    }
    ng_cuda_store16(y.codes + row * y.ld + block * (NG_MXFP4_BLOCK / 2),
                    make_uint4(out[0], out[1], out[2], out[3]));
    ng_cuda_store_scale(y.scales, row, block, job.blocks.divisor, byte);
}

static bool is_fast(const ng_cuda_fp8_to_mxfp4_job &job,
                    const ng_cuda_launch *launch)
{
    return job.x.form == NG_FP8_ROW && job.x.cols % NG_MXFP4_BLOCK == 0
           && job.o.rules.rounding == NG_NEAREST_EVEN
           && launch->events == nullptr
           && job.x.rows <= UINT32_MAX / 2 / (job.x.cols / NG_MXFP4_BLOCK)
           && ng_cuda_is_aligned(job.x.codes, job.x.ld)
           && ng_cuda_is_aligned(job.y.codes, job.y.ld);
}

extern "C" ng_status ng_cuda_convert_fp8_to_mxfp4(const ng_mxfp4 *y,
                                                  const ng_fp8 *x,
                                                  const ng_options *options,
                                                  const ng_cuda_launch *launch)
{
    const unsigned forms = 1 << NG_FP8_ROW | 1 << NG_FP8_TILE;
    ng_status status;

    if (y == nullptr || x == nullptr)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_cuda_check_call(options, x->rows, x->cols, launch))
            != NG_OK
        || (status = ng_cuda_check_mxfp4(y, options)) != NG_OK
        || (status = ng_cuda_check_fp8(x, forms, options)) != NG_OK)
        return status;
    if (x->rows == 0 || x->cols == 0)
        return NG_OK;

    const ng_cuda_fp8_to_mxfp4_job call = {*y, *x, ng_cuda_options_of(options)};

    if (!is_fast(call, launch))
        return ng_cuda_run_general(
            call, ng_cuda_outer_blocks(x->form, x->rows, call.o) * call.inner(),
            launch);

    const int64_t blocks = x->cols / NG_MXFP4_BLOCK;
    const fast_job job = {call, ng_cuda_divider_of((uint32_t)blocks)};

    convert<<<ng_cuda_blocks(x->rows * blocks, THREADS), THREADS, 0,
              (cudaStream_t)launch->stream>>>(job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
