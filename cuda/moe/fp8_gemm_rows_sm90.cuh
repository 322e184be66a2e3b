/* SPDX-License-Identifier: Apache-2.0
 *
 * D [T, N] = A [T, K] * B[g] [N, K]^T, E4M3, rows ragged over groups g; scales
 * of A 1x128, of B 128x128. What a user calls is in grouped_gemm_fprop.h.
 *
 * Grid: as many pairs of CTAs as the GPU holds, each through its share of the
 * tiles (gemm_row_tiles.cuh). A CTA computes 128 x 192, or 128 x 64 where no
 * more columns are left: two warpgroups of 64 rows multiply; one warp has codes
 * and scales of A loaded ahead of them through a ring of four stages, another
 * puts B's scales there.
 *
 *   shared memory       bytes a stage   what
 *   a                   16384           128 rows x 128 codes, swizzled
 *   b                   24576           192 rows x 128 codes, swizzled
 *   scales              640             of the 128 rows, and 3 before; two of B
 *   d                   49152 in all    a warpgroup's 64 x 192 BF16 as three
 *                                       boxes of 64 columns, swizzled
 *   barriers            16
 * Registers: 96 for the tensor core's sum of one block of 128 of K, 96 for the
 * sum of blocks.
 *
 * Numerics (semantics.md 11, profile hopper-wgmma): a block of 128 of K is four
 * chained wgmma, the first from zero; then sum = fma(RN32(s_a * s_b), block,
 * sum), ascending in K from +0; then RNE to BF16. Which tile an element is in
 * does not matter to its bits.
 *
 * Bound: the tensor core needs 768 cycles a stage and CTA; reading operands
 * (85 bytes a cycle) and filling stages (53) take 92 % of what shared memory
 * gives. While one warpgroup adds a block in the ordinary cores (96 FMA a
 * thread), the other has the tensor core: what a warpgroup does between two
 * products must be shorter than a product. So nothing but the products stands
 * between the first wgmma of a block and the last (a wait for scales there, 75
 * cycles, cost 3 %), and the next stage is looked for while blocks are added. On
 * an H200 the power limit comes first.
 */
#ifndef NG_CUDA_MOE_FP8_GEMM_ROWS_SM90_CUH
#define NG_CUDA_MOE_FP8_GEMM_ROWS_SM90_CUH

#include "cuda/convert/scale_plane.cuh"
#include "cuda/moe/gemm_events.cuh"
#include "cuda/moe/gemm_ring.cuh"
#include "cuda/moe/gemm_row_tiles.cuh"
#include "cuda/ptx_matrix.cuh"
#include "cuda/ptx_tma.cuh"
#include "cuda/ptx_wgmma.cuh"

struct ng_gemm_rows_args {
    const int64_t *offsets; /* null: dense */
    int n_groups, rows, n, k;
    void *d;
    int64_t ldd;
    bool d_fp32;      /* else BF16 */
    bool d_by_engine; /* BF16 rows on 16-byte boundaries */
    ng_scales a_scales, b_scales;
    ng_events *events; /* may be null */
};

struct ng_gemm_rows {
    static constexpr int stages = 4, cols = 192, band = 8;
    static constexpr int a_bytes = NG_GEMM_ROWS * 128, b_bytes = cols * 128;
    static constexpr int few = 64;          /* columns of a narrow last tile */
    static constexpr int scale_bytes = 640; /* to 128 bytes */
    static constexpr int b_scales_at = 132; /* behind those of A */
    static constexpr int d_bytes = 64 * cols * 2; /* of a warpgroup */
    static constexpr int d_at = stages * (a_bytes + b_bytes);
    static constexpr int scales_at = d_at + 2 * d_bytes;
    static constexpr int barriers_at = scales_at + stages * scale_bytes;
    static constexpr int shared_bytes = barriers_at + stages * 16;
};

/* ---- loading ------------------------------------------------------------- */

template <bool scales_by_engine>
__device__ inline void
ng_gemm_rows_load(const CUtensorMap *map_a, const CUtensorMap *map_b,
                  const CUtensorMap *map_scales, const ng_gemm_rows_args &p,
                  uint8_t *shared, ng_gemm_row_tiles tiles,
                  ng_gemm_ring<ng_gemm_rows::stages> ring, int tile, int step)
{
    using shape = ng_gemm_rows;
    const int rank = tiles.rank, blocks = (p.k + 127) / 128;

    for (; tiles.seek(tile); tile += step) {
        const int row = tiles.row;
        const int b_row = tiles.group * p.n + tiles.col_block * shape::cols;
        const bool shares_b = tiles.shares_b;
        /* Half of the columns hold all that is left. */
        const bool few = p.n - tiles.col_block * shape::cols <= shape::few;
        const int b_bytes = few ? shape::b_bytes / 2 : shape::b_bytes;

#pragma unroll 1
        for (int block = 0; block < blocks; block++) {
            uint64_t *full = ring.full + ring.stage;
            uint8_t *a = shared + ring.stage * shape::a_bytes;
            uint8_t *b = shared + shape::stages * shape::a_bytes
                         + ring.stage * shape::b_bytes;
            const int x = block * 128;

            ring.wait_empty();
            ng_mbarrier_arrive_expect(full, shape::a_bytes + b_bytes
                                                + (scales_by_engine ? 528 : 0));
            if (shares_b) {
                if (!few || rank == 0)
                    ng_tma_load_2d_multicast(
                        b + rank * (shape::b_bytes / 2), map_b, full, x,
                        b_row + rank * (shape::cols / 2), 3);
                ng_tma_load_2d(a, map_a, full, x, row);
                ng_tma_load_2d(a + shape::a_bytes / 2, map_a, full, x,
                               row + 64);
            } else {
                ng_tma_load_2d_multicast(a + rank * (shape::a_bytes / 2), map_a,
                                         full, x, row + rank * 64, 3);
                ng_tma_load_2d(b, map_b, full, x, b_row);
                if (!few)
                    ng_tma_load_2d(b + shape::b_bytes / 2, map_b, full, x,
                                   b_row + shape::cols / 2);
            }
            /* The engine starts on 16-byte boundaries only: three scales too
             * many, at most, before those of the tile; and four, at most, of
             * the rows behind it. They are read by nobody. */
            if (scales_by_engine)
                ng_tma_load_2d(shared + shape::scales_at
                                   + ring.stage * shape::scale_bytes,
                               map_scales, full, row & ~3, block);
            ring.advance();
        }
    }
    ring.drain();
}

__device__ inline float ng_gemm_rows_b_scale(const ng_gemm_rows_args &p,
                                             int64_t line, int64_t block)
{
    if (p.b_scales.dtype == NG_FP32)
        return __ldg((const float *)p.b_scales.data + line * p.b_scales.ld
                     + block * p.b_scales.step);
    return __uint_as_float(ng_cuda_load_scale_fp32(p.b_scales, line, block));
}

/* By one warp: the scales of B, of the two blocks of 128 columns that a tile
 * has part in; and those of A, in any layout and type, where the engine does
 * not load them. Each lane that writes into a stage says so itself. */
template <bool scales_by_engine>
__device__ inline void ng_gemm_rows_load_scales(
    const ng_gemm_rows_args &p, uint8_t *shared, ng_gemm_row_tiles tiles,
    ng_gemm_ring<ng_gemm_rows::stages> ring, int tile, int step)
{
    using shape = ng_gemm_rows;
    const int lane = threadIdx.x % 32, blocks = (p.k + 127) / 128;
    const int b_lines = (p.n + 127) / 128;

    for (; tiles.seek(tile); tile += step) {
        const int line = tiles.col_block * shape::cols / 128;
        const int64_t at = (int64_t)tiles.group * b_lines + line;
        float2 b = {0.0f, 0.0f}; /* lane l: of block 32 j + l */

        for (int block = 0; block < blocks; block++) {
            float *scales = (float *)(shared + shape::scales_at
                                      + ring.stage * shape::scale_bytes);

            if (block % 32 == 0) {
                const bool there = block + lane < blocks;

                b.x = there && line < b_lines
                          ? ng_gemm_rows_b_scale(p, at, block + lane)
                          : 0.0f;
                b.y = there && line + 1 < b_lines
                          ? ng_gemm_rows_b_scale(p, at + 1, block + lane)
                          : 0.0f;
            }
            ring.wait_empty();
            if (!scales_by_engine)
                for (int i = lane; i < NG_GEMM_ROWS; i += 32)
                    ((uint32_t *)scales)[i] =
                        i < tiles.skip ? 0
                                       : ng_cuda_load_scale_fp32(
                                           p.a_scales, tiles.row + i, block);
            if (lane == block % 32)
                *(float2 *)(scales + shape::b_scales_at) = b;
            if (!scales_by_engine || lane == block % 32)
                ng_mbarrier_arrive(ring.full + ring.stage);
            ring.advance();
        }
    }
}

/* ---- storing ------------------------------------------------------------- */

/* A warpgroup's 64 x 192 sums, as BF16 through shared memory, where the engine
 * takes them, or, at a group's end or off boundaries, lanes take whole rows. */
__device__ inline void ng_gemm_rows_store_bf16(const CUtensorMap *map_d,
                                               const ng_gemm_rows_args &p,
                                               uint8_t *boxes,
                                               const float (&sum)[96],
                                               int64_t row, int col, int skip)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const int group = threadIdx.x / 128;
    const bool leads = threadIdx.x % 128 == 0;
    const uint32_t to =
        ng_shared_address(boxes) + (warp * 16 + lane % 16) * 128;

    if (leads)
        ng_tma_store_wait_read<0>();
    ng_bar_sync(1 + group, 128);
#pragma unroll
    for (int i = 0; i < 24; i += 2) {
        const float *s = sum + 4 * i;

        ng_stmatrix_x4(
            to + i / 8 * 8192 + (((i % 8 + lane / 16) ^ (lane & 7)) << 4),
            ng_gemm_pack_bf16(s[0], s[1]), ng_gemm_pack_bf16(s[2], s[3]),
            ng_gemm_pack_bf16(s[4], s[5]), ng_gemm_pack_bf16(s[6], s[7]));
    }
    ng_async_fence();
    ng_bar_sync(1 + group, 128);
    if (p.d_by_engine && skip <= 0) {
        if (leads) {
#pragma unroll
            for (int j = 0; j < 3; j++)
                if (col + 64 * j < p.n)
                    ng_tma_store_2d(map_d, boxes + j * 8192, col + 64 * j,
                                    (int)row);
            ng_tma_store_commit();
        }
        return;
    }
    for (int r = warp; r < 64; r += 4) {
        uint16_t *out = (uint16_t *)p.d + (row + r) * p.ldd + col;

        for (int c = 8 * lane; r >= skip && c < 192; c += 256) {
            const uint8_t *from =
                boxes + c / 64 * 8192 + r * 128 + ((c % 64 / 8 ^ (r & 7)) << 4);

            if (p.d_by_engine && col + c + 8 <= p.n)
                *(uint4 *)(out + c) = *(const uint4 *)from;
            else
                for (int e = 0; e < 8 && col + c + e < p.n; e++)
                    out[c + e] = ((const uint16_t *)from)[e];
        }
    }
}

/* The same as FP32, a thread its own elements; and the counts. */
__device__ inline void ng_gemm_rows_visit(const ng_gemm_rows_args &p,
                                          ng_gemm_counts &counts,
                                          const float (&sum)[96], int64_t row,
                                          int col, int skip)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;

#pragma unroll
    for (int i = 0; i < 96; i++) {
        const int r = warp * 16 + lane / 4 + i % 4 / 2 * 8;
        const int c = col + i / 4 * 8 + lane % 4 * 2 + i % 2;

        if (r < skip || c >= p.n)
            continue;
        if (p.d_fp32)
            ((float *)p.d)[(row + r) * p.ldd + c] = sum[i];
        if (p.events != nullptr)
            ng_gemm_count(counts, p.d_fp32 ? __float_as_uint(sum[i])
                                           : ng_gemm_pack_bf16(0.0f, sum[i])
                                                 & 0xFFFF0000u);
    }
}

/* ---- multiplying --------------------------------------------------------- */

/* sum += scale * block: rows r and r + 8 of the thread; columns below `edge`,
 * in units of 8, have the first scale of B, the others the second. */
template <int n>
__device__ inline void
ng_gemm_rows_promote(float (&sum)[96], const float (&block)[n],
                     const float (&scale)[2][2], bool edge_at_128)
{
    /* The 192 columns start at 0 or 64 of a scale's 128. */
    const float middle[2] = {edge_at_128 ? scale[0][0] : scale[0][1],
                             edge_at_128 ? scale[1][0] : scale[1][1]};

#pragma unroll
    for (int i = 0; i < n; i++) {
        const int half = i % 4 / 2, third = i / 32;
        const float s = third == 0   ? scale[half][0]
                        : third == 1 ? middle[half]
                                     : scale[half][1];

        sum[i] = __fmaf_rn(s, block[i], sum[i]);
    }
}

template <int columns> struct ng_gemm_width {
    static constexpr int value = columns;
};

__device__ inline void ng_gemm_rows_product(float (&d)[96], uint64_t a,
                                            uint64_t b, bool accumulate)
{
    ng_wgmma_m64n192k32_e4m3(d, a, b, accumulate);
}

__device__ inline void ng_gemm_rows_product(float (&d)[32], uint64_t a,
                                            uint64_t b, bool accumulate)
{
    ng_wgmma_m64n64k32_e4m3(d, a, b, accumulate);
}

template <bool scales_by_engine>
__device__ inline void
ng_gemm_rows_multiply(const CUtensorMap *map_d, const ng_gemm_rows_args &p,
                      uint8_t *shared, ng_gemm_row_tiles tiles,
                      ng_gemm_ring<ng_gemm_rows::stages> ring, int tile,
                      int step_tiles)
{
    using shape = ng_gemm_rows;
    const int lane = threadIdx.x % 32;
    const int group = __shfl_sync(~0u, (int)threadIdx.x / 128, 0);
    const int thread_row = (int)threadIdx.x / 32 * 16 + lane / 4;
    const int blocks = (p.k + 127) / 128;
    const uint64_t a_0 = ng_wgmma_descriptor(shared + group * 8192);
    const uint64_t b_0 =
        ng_wgmma_descriptor(shared + shape::stages * shape::a_bytes);
    const uint32_t a_low = __shfl_sync(~0u, (uint32_t)a_0, 0);
    const uint32_t b_low = __shfl_sync(~0u, (uint32_t)b_0, 0);
    const uint64_t high = a_0 & 0xFFFFFFFF00000000;
    const float *scales = (const float *)(shared + shape::scales_at);
    ng_gemm_counts counts = {0, 0, 0};

    bool more = tiles.seek(tile);
    while (more) {
        const int row = tiles.row + group * 64;
        const int col = tiles.col_block * shape::cols;
        const int skip = tiles.skip - group * 64;
        const int shift = scales_by_engine ? tiles.row & 3 : 0;
        const bool works = skip < 64 && col < p.n;
        float sum[96];

        if (works) {
#pragma unroll
            for (int i = 0; i < 96; i++)
                sum[i] = 0.0f;

            /* A block, in a stage whose number is known to the compiler where
             * the loop is unrolled; of `width` columns. */
            auto step = [&](int stage, auto width) {
                const uint32_t a = a_low + stage * (shape::a_bytes / 16);
                const uint32_t b = b_low + stage * (shape::b_bytes / 16);
                const float *s = scales + stage * (shape::scale_bytes / 4);
                float block[decltype(width)::value / 2], scale[2][2];

                ring.wait_full();
                const float a_0 = s[thread_row + shift];
                const float a_8 = s[thread_row + shift + 8];
                const float2 s_b = *(const float2 *)(s + shape::b_scales_at);

                ng_wgmma_touch(block);
                ng_wgmma_fence();
#pragma unroll
                for (int q = 0; q < 4; q++)
                    ng_gemm_rows_product(block, high | (a + 2 * q),
                                         high | (b + 2 * q), q != 0);
                ng_wgmma_commit();
                ng_wgmma_touch(block);
                ng_wgmma_wait<0>();
                __syncwarp();
                ring.release(stage);
                ring.advance();
                scale[0][0] = __fmul_rn(a_0, s_b.x);
                scale[0][1] = __fmul_rn(a_0, s_b.y);
                scale[1][0] = __fmul_rn(a_8, s_b.x);
                scale[1][1] = __fmul_rn(a_8, s_b.y);
                ng_gemm_rows_promote(sum, block, scale, col % 128 == 0);
            };
            auto walk = [&](auto width) {
                int i = 0;

                for (; i < blocks && ring.stage != 0; i++)
                    step(ring.stage, width);
#pragma unroll 1
                for (; i + 4 <= blocks; i += 4) {
                    ring.stage = 0;
                    step(0, width);
                    step(1, width);
                    step(2, width);
                    step(3, width);
                }
#pragma unroll 1
                for (; i < blocks; i++)
                    step(ring.stage, width);
            };

            if (p.n - col <= shape::few)
                walk(ng_gemm_width<shape::few>());
            else
                walk(ng_gemm_width<shape::cols>());
        } else {
            for (int i = 0; i < blocks; i++) {
                ring.wait_full();
                ring.release(ring.stage);
                ring.advance();
            }
        }

        tile += step_tiles;
        more = tiles.seek(tile);
        if (!works)
            continue;
        if (!p.d_fp32)
            ng_gemm_rows_store_bf16(
                map_d, p, shared + shape::d_at + group * shape::d_bytes, sum,
                row, col, skip);
        if (p.d_fp32 || p.events != nullptr)
            ng_gemm_rows_visit(p, counts, sum, row, col, skip);
    }
    if (p.events != nullptr)
        ng_gemm_add_counts(p.events, counts);
    if (threadIdx.x % 128 == 0)
        ng_tma_store_wait();
}

template <bool scales_by_engine>
__global__ void __launch_bounds__(NG_GEMM_THREADS, 1)
    ng_fp8_gemm_rows(const __grid_constant__ CUtensorMap map_a,
                     const __grid_constant__ CUtensorMap map_b,
                     const __grid_constant__ CUtensorMap map_scales,
                     const __grid_constant__ CUtensorMap map_d,
                     const ng_gemm_rows_args p)
{
    extern __shared__ __align__(1024) uint8_t shared[];
    const int warp = __shfl_sync(~0u, (int)threadIdx.x / 32, 0);
    const int tile = (int)blockIdx.x / NG_GEMM_PAIR;
    const int step = (int)gridDim.x / NG_GEMM_PAIR;
    const ng_gemm_row_tiles tiles(p.offsets, p.n_groups, p.rows,
                                  (p.n + ng_gemm_rows::cols - 1)
                                      / ng_gemm_rows::cols,
                                  ng_gemm_rows::band, (int)ng_cluster_rank());
    ng_gemm_ring<ng_gemm_rows::stages> ring(
        (uint64_t *)(shared + ng_gemm_rows::barriers_at));

    if (threadIdx.x == 0)
        ring.init(scales_by_engine ? 1 : 32);
    ng_cluster_sync();
    if (warp >= NG_GEMM_MATH_WARPS) {
        ng_registers_shrink<NG_GEMM_LOAD_REGISTERS>();
        if (warp == NG_GEMM_LOAD_WARP && ng_elect_one())
            ng_gemm_rows_load<scales_by_engine>(&map_a, &map_b, &map_scales, p,
                                                shared, tiles, ring, tile,
                                                step);
        else if (warp == NG_GEMM_SCALE_WARP)
            ng_gemm_rows_load_scales<scales_by_engine>(p, shared, tiles, ring,
                                                       tile, step);
    } else {
        ng_registers_grow<NG_GEMM_MATH_REGISTERS>();
        ng_gemm_rows_multiply<scales_by_engine>(&map_d, p, shared, tiles, ring,
                                                tile, step);
    }
}

#endif
