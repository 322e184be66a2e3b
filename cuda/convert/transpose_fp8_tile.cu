/* SPDX-License-Identifier: Apache-2.0
 *
 * An FP8 tensor in tiles, transposed: the launcher and the fast path.
 *
 * 256 threads a tile of 128 x 128 bytes. A thread loads 16 bytes of each of
 * four rows, transposes them as four 4 x 4 squares in registers, and stores 16
 * words of four rows each into shared memory; then it reads lines of the
 * transposed tile 16 bytes at a time and stores them, contiguous again.
 *
 *   shared memory   16384 bytes: line c of y, 32 words; word w of it lies at
 *                   32 c + (w ^ 4 (c / 16)): both the word stores of a warp
 *                   (8 values of c / 16, 4 of w) and its 16-byte loads (8
 *                   chunks of one line a quarter) meet every bank once
 *   bytes           1 + 1 an element
 *   limit           memory
 *   ncu, H200       32768 x 7168: 123.5 us, DRAM at 75 % of its peak, issue
 *                   slots 34 %: bound by the latency of its loads
 */
#include "cuda/convert/transpose_fp8_tile.h"

#include "cuda/check_views.h"
#include "cuda/convert/row_block.cuh"
#include "cuda/convert/transpose_bytes.cuh"
#include "cuda/find_row_block.cuh"
#include "cuda/general.cuh"
#include "cuda/launch_next.cuh"
#include "cuda/vector.cuh"

enum { THREADS = 256, SIDE = NG_FP8_BLOCK, WORDS = SIDE / 4 };

static __device__ __forceinline__ int word_at(int line, int word)
{
    return line * WORDS + (word ^ line / 16 * 4);
}

static __global__ void __launch_bounds__(THREADS)
    transpose(const __grid_constant__ ng_cuda_transpose_tile_job job,
              uint32_t tiles_a_row)
{
    __shared__ __align__(16) uint32_t tile[SIDE * WORDS];

    ng_cuda_wait_for_stream();

    const ng_fp8 &x = job.x, &y = job.y;
    const uint32_t line = blockIdx.x / tiles_a_row;
    const uint32_t column = blockIdx.x - line * tiles_a_row;
    const ng_cuda_row_range rows =
        ng_cuda_find_row_block(job.o, x.rows, SIDE, line);
    const int n_rows = (int)(rows.last - rows.first);
    const int64_t first_col = (int64_t)column * SIDE;
    const int n_cols =
        (int)(x.cols - first_col < SIDE ? x.cols - first_col : SIDE);

    if (n_rows == 0)
        return; /* the whole block: there are fewer tiles than the host knew */

    /* In: columns 16 c .. 16 c + 15 of rows 4 r .. 4 r + 3. */
    const int c = threadIdx.x % 8, r = threadIdx.x / 8;
    uint4 in[4];

#pragma unroll
    for (int i = 0; i < 4; i++) {
        in[i] = make_uint4(0, 0, 0, 0);
        if (4 * r + i < n_rows && 16 * c < n_cols)
            in[i] = ng_cuda_load16(x.codes + (rows.first + 4 * r + i) * x.ld
                                   + first_col + 16 * c);
    }
#pragma unroll
    for (int square = 0; square < 4; square++) {
        uint32_t w[4];

#pragma unroll
        for (int i = 0; i < 4; i++)
            w[i] = square == 0   ? in[i].x
                   : square == 1 ? in[i].y
                   : square == 2 ? in[i].z
                                 : in[i].w;
        ng_cuda_transpose_4x4(w);
#pragma unroll
        for (int i = 0; i < 4; i++)
            tile[word_at(16 * c + 4 * square + i, r)] = w[i];
    }
    if (threadIdx.x == 0)
        ng_cuda_store_scale(y.scales, column, line,
                            ng_cuda_row_blocks(job.o, x.rows),
                            ng_cuda_load_scale(x.scales, line, column));
    __syncthreads();

    /* Out: 16 bytes of a line a step. */
#pragma unroll
    for (int step = 0; step < 4; step++) {
        const int out = step * 32 + (int)threadIdx.x / 8;
        const int first = (int)threadIdx.x % 8 * 16;
        const uint4 v = *(const uint4 *)&tile[word_at(out, first / 4)];
        uint8_t *to = y.codes + (first_col + out) * y.ld + rows.first + first;

        if (out >= n_cols || first >= n_rows)
            continue;
        if (first + 16 <= n_rows && (uintptr_t)to % 16 == 0) {
            ng_cuda_store16(to, v);
        } else {
            const uint32_t w[4] = {v.x, v.y, v.z, v.w};

#pragma unroll
            for (int i = 0; i < 16; i++)
                if (first + i < n_rows)
                    to[i] = (uint8_t)(w[i / 4] >> i % 4 * 8);
        }
    }
}

/* y is [cols, rows of x], its columns ragged as x's rows are. */
static ng_status check_transposed(const ng_fp8 *y, const ng_fp8 *x,
                                  const ng_cuda_options &o)
{
    ng_status status;

    if (y->form != NG_FP8_TILE)
        return NG_BAD_LAYOUT;
    if (y->scales.dtype != x->scales.dtype)
        return NG_BAD_DTYPE;
    status = ng_cuda_check_codes(y->codes, y->rows, y->cols, y->ld);
    if (status != NG_OK || x->rows == 0)
        return status;
    return ng_cuda_check_scales(
        &y->scales, NG_CUDA_SCALES, ng_ceil_div(y->rows, NG_FP8_BLOCK),
        ng_cuda_most_row_blocks(o, x->rows, NG_FP8_BLOCK),
        o.offsets == nullptr);
}

extern "C" ng_status ng_cuda_transpose_fp8_tile(const ng_fp8 *y,
                                                const ng_fp8 *x,
                                                const ng_options *options,
                                                const ng_cuda_launch *launch)
{
    const ng_cuda_options o = ng_cuda_options_of(options);
    ng_status status;

    if (y == nullptr || x == nullptr)
        return NG_BAD_POINTER;
    if (y->rows != x->cols || y->cols != x->rows)
        return NG_BAD_SHAPE;
    if ((status = ng_cuda_check_call(options, x->rows, x->cols, launch))
            != NG_OK
        || (status = ng_cuda_check_fp8(x, 1u << NG_FP8_TILE, options)) != NG_OK
        || (status = check_transposed(y, x, o)) != NG_OK)
        return status;

    const ng_cuda_transpose_tile_job job = {*y, *x, o};
    const int64_t tiles =
        ng_cuda_outer_blocks(NG_FP8_TILE, x->rows, o) * job.inner();

    if (x->rows == 0 || x->cols == 0)
        return NG_OK;
    if (x->cols % 16 != 0 || tiles > INT32_MAX
        || !ng_cuda_is_aligned(x->codes, x->ld)) {
        ng_cuda_launch silent = *launch; /* nothing happens to any element */

        silent.events = nullptr;
        return ng_cuda_run_general(job, tiles, &silent);
    }
    return ng_cuda_launch_next(transpose, (unsigned)tiles, THREADS, launch, job,
                               (uint32_t)job.inner());
}
