/* SPDX-License-Identifier: Apache-2.0
 *
 * FP8 to MXFP4: the launcher, and the row form's fast path.
 *
 * A thread a block of 32, in two rows: four 16-byte loads in flight, then for
 * each one 16-byte store of codes and one byte of scale. Under a power of two
 * codes come from ramps in FP16 (ramp_e2m1.cuh), most of it on the pipe of
 * multiply-adds; under a general scale from seven thresholds
 * (mxfp4_threshold.cuh), four elements at a time: with K = 128 - T, bit 7 of c
 * + K says c >= T, for both are at most 127 + 127 and no byte carries into the
 * next; three such steps find one of eight by halving.
 *
 *   bytes an element   1 + 1/32 + 1/2 + 1/32
 *   instructions       about 10 an element, 3 of them multiply-adds of pairs
 *   limit              memory, with 11 issue slots an element at 4.2 TB/s: near
 *                      to issue
 *   measured           H200: 96 to 100 us at 32768 x 7168, 0.89 to 0.93 of a copy
 *                      of as many bytes in two runs, 9.7 us at 8192 x 2048,
 *                      0.94; general scales 113 and 11.1 us, 0.79 and 0.82. Four
 *                      rows a thread: 92.4 and 12.5 us. ncu, before addresses
 *                      were found once for both rows: 105 us, issue 76 % busy,
 *                      the integer pipe 64 %, DRAM 70 %. By thresholds for
 *                      powers of two as well: 113.8 us, and 135.7 where those
 *                      were products of high words (mul.hi)
 */
#include "cuda/convert/convert_fp8_to_mxfp4.h"

#include "cuda/check_views.h"
#include "cuda/convert/mxfp4_threshold.cuh"
#include "cuda/convert/row_block.cuh"
#include "cuda/convert/scale_access.cuh"
#include "cuda/convert/ramp_e2m1.cuh"
#include "cuda/general.cuh"
#include "cuda/launch_next.cuh"
#include "cuda/ptx_half2.cuh"
#include "cuda/row_group.cuh"
#include "cuda/ptx_prmt.cuh"
#include "cuda/vector.cuh"

enum { THREADS = 256, ROWS = 2 };

namespace
{
struct fast_job {
    ng_cuda_fp8_to_mxfp4_job call;
    ng_cuda_divider blocks; /* of 32, in a row */
    uint32_t carry;         /* of the scale mode */
    ng_cuda_scale_access from, to;
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

/* Four E2M1 codes in the upper halves of four bytes. c is the codes without
 * signs, k[j] 128 - T_j in every byte. */
static __device__ __forceinline__ uint32_t encode4(uint32_t codes, uint32_t c,
                                                   const uint32_t *k)
{
    const uint32_t four = spread(c + k[4]);
    const uint32_t two = spread(c + choose(four, k[6], k[2]));
    const uint32_t one =
        c + choose(two, choose(four, k[7], k[3]), choose(four, k[5], k[1]));

    return (codes & 0x80808080) | (four & 0x40404040) | (two & 0x20202020)
           | (one >> 3 & 0x10101010);
}

/* The largest magnitude code of 32. Of each 16 bits the upper byte decides;
 * moved up by one, it is the lower one. */
static __device__ __forceinline__ uint32_t largest_of(const uint32_t *c)
{
    uint32_t upper = 0, lower = 0;

#pragma unroll
    for (int w = 0; w < 8; w += 2) {
        upper = ng_cuda_max3_u16x2(upper, c[w], c[w + 1]);
        lower = ng_cuda_max3_u16x2(lower, ng_cuda_prmt(c[w], 0, 0x2104),
                                   ng_cuda_prmt(c[w + 1], 0, 0x2104));
    }
    upper = ng_cuda_max3_u16x2(upper, lower, 0);
    return max(upper >> 8 & 0xFF, upper >> 24);
}

/* A block of 32 codes under one scale: its scale byte, and the codes. */
static __device__ __forceinline__ uint32_t encode_block(uint4 *to, uint4 first,
                                                        uint4 second,
                                                        uint32_t scale,
                                                        uint32_t carry)
{
    const uint32_t codes[8] = {first.x,  first.y,  first.z,  first.w,
                               second.x, second.y, second.z, second.w};
    const uint32_t magnitude = scale & 0x7FFFFFFF;
    uint32_t x[8], c[8], out[4]; /* even elements and odd ones of each eight */

#pragma unroll
    for (int w = 0; w < 8; w += 2) {
        x[w] = ng_cuda_prmt(codes[w], codes[w + 1], 0x6420);
        x[w + 1] = ng_cuda_prmt(codes[w], codes[w + 1], 0x7531);
        c[w] = x[w] & 0x7F7F7F7F;
        c[w + 1] = x[w + 1] & 0x7F7F7F7F;
    }

    const uint32_t largest = largest_of(c);
    const bool is_nan = largest == 0x7F || magnitude >= NG_FP32_INFINITY;
    /* Scale 0 makes every value 0: so does the least one under e = 0. */
    const bool is_zero = magnitude == 0;
    const ng_cuda_scale_parts parts = ng_cuda_scale_parts_of(scale);
    const uint32_t byte =
        is_nan    ? (uint32_t)NG_UE8M0_NAN
        : is_zero ? 0
                  : ng_cuda_mxfp4_scale_of_code(largest, parts, carry);
    const int ratio =
        ng_cuda_ratio_exponent(parts, is_zero ? 0 : (int)byte - 127);

    if ((__float_as_uint(parts.m) & 0x7FFFFF) == 0) {
        const uint32_t factor = ng_cuda_ramp_factor(ratio);

#pragma unroll
        for (int w = 0; w < 8; w += 2)
            out[w / 2] = ng_cuda_ramp_e2m1x8(x[w], x[w + 1], c + w, factor);
    } else {
        const ng_cuda_ratio general = ng_cuda_ratio_of(parts, ratio);
        uint32_t k[8];

#pragma unroll
        for (int j = 1; j < 8; j++)
            k[j] = ng_cuda_mxfp4_threshold(j, general) * 0x01010101u;
#pragma unroll
        for (int w = 0; w < 8; w += 2)
            out[w / 2] = (encode4(x[w], c[w], k) >> 4 & 0x0F0F0F0F)
                         | (encode4(x[w + 1], c[w + 1], k) & 0xF0F0F0F0);
    }

    const uint32_t flip = (scale >> 31) * 0x88888888u;

#pragma unroll
    for (int w = 0; w < 4; w++)
        out[w] = is_nan ? 0 : out[w] ^ flip;
    *to = make_uint4(out[0], out[1], out[2], out[3]);
    return byte;
}

/* PLAIN: x's scales are FP32 and y's bytes, which is common; addresses are
 * found once for all rows. */
template <bool PLAIN>
static __global__ void __launch_bounds__(THREADS)
    convert(const __grid_constant__ fast_job job)
{
    ng_cuda_wait_for_stream();

    const ng_fp8 &x = job.call.x;
    const ng_mxfp4 &y = job.call.y;
    const int64_t rows = ng_cuda_rows(job.call.o, x.rows);
    const ng_cuda_row_place at = ng_cuda_row_place_of(job.blocks, ROWS);
    const uint8_t *from = x.codes + (at.row * x.ld + at.place * NG_MXFP4_BLOCK);
    uint8_t *to = y.codes + (at.row * y.ld + at.place * (NG_MXFP4_BLOCK / 2));
    const uint32_t x_block = at.place / (NG_FP8_BLOCK / NG_MXFP4_BLOCK);
    const uint8_t *scale_from =
        job.from.data + (at.row * job.from.ld + x_block * job.from.step);
    uint8_t *scale_to =
        job.to.data + (at.row * job.to.ld + at.place * job.to.step);
    uint4 a[ROWS], b[ROWS];
    uint32_t scales[ROWS];

#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (at.row + r < rows) {
            a[r] = ng_cuda_load16(from + r * x.ld);
            b[r] = ng_cuda_load16(from + r * x.ld + 16);
            scales[r] =
                PLAIN ? __ldg((const uint32_t *)(scale_from + r * job.from.ld))
                      : ng_cuda_get_scale_fp32(job.from, at.row + r, x_block);
        }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (at.row + r >= rows)
            continue;

        uint4 codes;
        const uint32_t byte =
            encode_block(&codes, a[r], b[r], scales[r], job.carry);

        ng_cuda_store16(to + r * y.ld, codes);
        if (PLAIN)
            scale_to[r * job.to.ld] = (uint8_t)byte;
        else
            ng_cuda_put_scale(job.to, at.row + r, at.place, byte);
    }
}

static bool is_fast(const ng_cuda_fp8_to_mxfp4_job &job,
                    const ng_cuda_launch *launch)
{
    return job.x.form == NG_FP8_ROW && job.x.cols % NG_MXFP4_BLOCK == 0
           && job.o.rules.rounding == NG_NEAREST_EVEN
           && launch->events == nullptr
           && ng_cuda_row_groups_fit(job.x.rows, job.x.cols / NG_MXFP4_BLOCK)
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
    const fast_job job = {
        call, ng_cuda_divider_of((uint32_t)blocks),
        ng_cuda_mxfp4_carry(call.o.rules.mxfp4_scale),
        ng_cuda_scale_access_of(x->scales, ng_ceil_div(x->cols, NG_FP8_BLOCK)),
        ng_cuda_scale_access_of(y->scales, blocks)};

    return ng_cuda_launch_next(
        job.from.unit == 4 && job.to.unit == 1 ? convert<true> : convert<false>,
        ng_cuda_row_group_blocks(x->rows, blocks, ROWS, THREADS), THREADS,
        launch, job);
}
