/* SPDX-License-Identifier: Apache-2.0
 *
 * D[g] [N, K] = A^T * B over the tokens of group g, E4M3, both operands stored
 * by columns: codes [N, T] and [K, T], scales 1x128 along the tokens. What a
 * user calls is in grouped_gemm_wgrad.h.
 *
 * Grid: as many pairs of CTAs as the GPU holds, each through its share of the
 * tiles (gemm_block_tiles.cuh). A CTA computes 256 x 128: two warpgroups, each
 * 64 rows of the first 128 and 64 of the second; one warp loads ahead of them
 * through a ring of three stages. Tokens of other groups never arrive: see
 * gemm_realign.cuh.
 *
 *   shared memory       bytes a stage   what
 *   a                   32768           256 rows x 128 tokens, swizzled
 *   b                   16384           128 rows x 128 tokens, swizzled
 *   scales              1536            256 of a, 128 of b
 *   d                   65536 in all    a warpgroup's 64 x 128 FP32, twice two
 *                                       boxes of 32 columns, swizzled
 *   barriers            16
 * Registers: 64 for the tensor core's sum of one block of 128 tokens, 2 x 64
 * for the sums of blocks, 32 for the scales of B, which both halves of the rows
 * use: 240 a thread, and 24 for those that load.
 *
 * Numerics: as in fp8_gemm_rows_sm90.cuh, over blocks of 128 tokens counted
 * from the group's first, the last filled with zeros; then RN32(C + sum), then
 * RNE to BF16 if that is asked for.
 *
 * Bound: shared memory. A stage and CTA: operands 98,304 bytes, filling 50,688,
 * scales of B, which every thread needs 32 of, 32,768: 1,420 cycles at 128
 * bytes each, where the tensor core needs 1,024. (Read again for each half of
 * the rows they are 65,536 bytes, up to 12 % slower.) Where D is added to, its
 * tile is asked into the L2 cache while the products are made, so that the
 * additions of all CTAs do not wait for memory together: 2 to 6 %.
 */
#ifndef NG_CUDA_MOE_FP8_GEMM_WGRAD_SM90_CUH
#define NG_CUDA_MOE_FP8_GEMM_WGRAD_SM90_CUH

#include "cuda/convert/scale_plane.cuh"
#include "cuda/moe/gemm_block_tiles.cuh"
#include "cuda/moe/gemm_events.cuh"
#include "cuda/moe/gemm_realign.cuh"
#include "cuda/moe/gemm_ring.cuh"
#include "cuda/ptx_wgmma.cuh"

struct ng_gemm_wgrad_args {
    const int64_t *offsets;   /* null: dense */
    int n_groups, rows, n, k; /* rows: tokens */
    void *d;
    const void *c; /* null: overwrite */
    int64_t ldd, ldc;
    bool d_fp32;      /* else BF16; c likewise */
    bool d_by_engine; /* FP32 lines of d on 16-byte boundaries */
    ng_scales a_scales, b_scales;
    bool copies_a, copies_b; /* ng_gemm_operand.always */
    const CUtensorMap *maps; /* [groups][2] */
    ng_events *events;       /* may be null */
};

struct ng_gemm_wgrad {
    static constexpr int stages = 3, rows = 256, cols = 128, band = 8;
    /* 2 x 128 x 240 + 128 x 24 is what 384 threads start with, at 168. */
    static constexpr int math_registers = 240, load_registers = 24;
    static constexpr int a_bytes = rows * 128, b_bytes = cols * 128;
    static constexpr int scale_bytes = (rows + cols) * 4;
    static constexpr int d_bytes = 64 * cols * 4; /* of a warpgroup */
    static constexpr int d_at = stages * (a_bytes + b_bytes);
    static constexpr int scales_at = d_at + 2 * d_bytes;
    static constexpr int barriers_at = scales_at + stages * scale_bytes;
    static constexpr int shared_bytes = barriers_at + stages * 16;
};

/* ---- loading ------------------------------------------------------------- */

/* Ask for a share of the tile of D that begins there: block i of n. */
__device__ inline void ng_gemm_wgrad_ask(const CUtensorMap *map_d, int row,
                                         int col, int group, int i, int n)
{
    constexpr int boxes = ng_gemm_wgrad::rows / 64 * (ng_gemm_wgrad::cols / 32);
    const int share = (boxes + n - 1) / n;

    for (int j = i * share; j < (i + 1) * share && j < boxes; j++)
        ng_tma_prefetch_3d(map_d, col + j % 4 * 32, row + j / 4 * 64, group);
}

template <bool scales_by_engine>
__device__ inline void
ng_gemm_wgrad_load(const CUtensorMap *map_a_scales,
                   const CUtensorMap *map_b_scales, const CUtensorMap *map_d,
                   const ng_gemm_wgrad_args &p, uint8_t *shared,
                   ng_gemm_block_tiles tiles,
                   ng_gemm_ring<ng_gemm_wgrad::stages> ring, int tile, int step)
{
    using shape = ng_gemm_wgrad;
    const int rank = tiles.rank;
    const bool asks = p.c != nullptr && p.d_by_engine;
    int acquired = -1;

    for (; tiles.seek(tile); tile += step) {
        const int blocks = tiles.blocks();
        const CUtensorMap *map = p.maps + 2 * tiles.group;

        if (blocks == 0)
            continue;
        if (tiles.group != acquired) {
            ng_tensormap_acquire(map);
            ng_tensormap_acquire(map + 1);
            acquired = tiles.group;
        }

        const int row = tiles.row_block * shape::rows;
        const int col = tiles.col_block * shape::cols;
        int a_x =
            (int)ng_gemm_first_token(p.copies_a, tiles.start, tiles.group);
        int b_x =
            (int)ng_gemm_first_token(p.copies_b, tiles.start, tiles.group);

#pragma unroll 1
        for (int block = 0; block < blocks; block++) {
            uint64_t *full = ring.full + ring.stage;
            uint8_t *scales =
                shared + shape::scales_at + ring.stage * shape::scale_bytes;

            ring.wait_empty();
            ng_mbarrier_arrive_expect(
                full, shape::a_bytes + shape::b_bytes
                          + (scales_by_engine ? shape::scale_bytes : 0));
            ng_tma_load_2d_multicast(shared + ring.stage * shape::a_bytes
                                         + rank * (shape::a_bytes / 2),
                                     map, full, a_x, row + rank * 128, 3);
            ng_tma_load_2d(shared + shape::stages * shape::a_bytes
                               + ring.stage * shape::b_bytes,
                           map + 1, full, b_x, col);
            if (scales_by_engine) {
                const int line = tiles.first_block + block;

                ng_tma_load_2d(scales, map_a_scales, full, row, line);
                ng_tma_load_2d(scales + shape::rows * 4, map_b_scales, full,
                               col, line);
            }
            if (asks)
                ng_gemm_wgrad_ask(map_d, row, col, tiles.group, block, blocks);
            ring.advance();
            a_x += 128;
            b_x += 128;
        }
    }
    ring.drain();
}

/* Scales in any layout and type, by one warp. */
__device__ inline void ng_gemm_wgrad_load_scales(
    const ng_gemm_wgrad_args &p, uint8_t *shared, ng_gemm_block_tiles tiles,
    ng_gemm_ring<ng_gemm_wgrad::stages> ring, int tile, int step)
{
    using shape = ng_gemm_wgrad;
    const int lane = threadIdx.x % 32;

    for (; tiles.seek(tile); tile += step)
        for (int block = 0; block < tiles.blocks(); block++) {
            uint32_t *scales = (uint32_t *)(shared + shape::scales_at
                                            + ring.stage * shape::scale_bytes);

            ring.wait_empty();
            for (int i = lane; i < shape::rows + shape::cols; i += 32) {
                const bool of_a = i < shape::rows;
                const int64_t line =
                    of_a ? tiles.row_block * shape::rows + i
                         : tiles.col_block * shape::cols + i - shape::rows;

                scales[i] = line < (of_a ? p.n : p.k) ? ng_cuda_load_scale_fp32(
                                of_a ? p.a_scales : p.b_scales, line,
                                tiles.first_block + block)
                                                      : 0;
            }
            ng_mbarrier_arrive(ring.full + ring.stage);
            ring.advance();
        }
}

/* ---- storing ------------------------------------------------------------- */

/* Whether the copy engine's addition could differ from RN32(c + x) for one of
 * these x, given their smallest magnitude and the sum of x - x over them: it
 * takes subnormal numbers for zero. Where |x| >= 2^-100 and finite no subnormal
 * number comes in that matters, or out: an ulp of x is 2^-124 at least, c below
 * 2^-126 is lost in either addition, and a difference is a multiple of 2^-124.
 * x - x is 0 for finite x, else NaN. */
__device__ inline bool ng_gemm_wgrad_needs_care(float smallest, float zero)
{
    return !(smallest >= 0x1p-100f) || zero != 0.0f;
}

/* One element of D: x is the sum, i indexes d, j indexes c. */
__device__ inline void ng_gemm_wgrad_store_one(const ng_gemm_wgrad_args &p,
                                               ng_gemm_counts &counts, float x,
                                               int64_t i, int64_t j, bool empty)
{
    if (p.d_fp32) {
        float *d = (float *)p.d;
        const float *c = (const float *)p.c;

        if (c != nullptr)
            x = empty ? c[j] : __fadd_rn(c[j], x);
        d[i] = x;
        if (!(empty && c != nullptr))
            ng_gemm_count(counts, __float_as_uint(x));
    } else {
        uint16_t *d = (uint16_t *)p.d;
        const uint16_t *c = (const uint16_t *)p.c;

        if (empty && c != nullptr) {
            d[i] = c[j];
            return;
        }
        if (c != nullptr)
            x = __fadd_rn(__uint_as_float((uint32_t)c[j] << 16), x);
        d[i] = (uint16_t)ng_gemm_pack_bf16(x, 0.0f);
        ng_gemm_count(counts, (uint32_t)d[i] << 16);
    }
}

/* Half of a warpgroup's 64 x 128 sums, columns from `half` * 64, through shared
 * memory, from where the engine stores or adds them, or lanes take whole lines:
 * BF16, a C elsewhere, lines off boundaries, sums that need care. row and col
 * are those of the half within the matrix. There is room for two halves, so
 * that one is filled while the engine still reads the other. */
template <int half>
__device__ inline void
ng_gemm_wgrad_store(const CUtensorMap *map_d, const ng_gemm_wgrad_args &p,
                    ng_gemm_counts &counts, uint8_t *boxes,
                    const float (&sum)[64], int64_t matrix, int row, int col,
                    bool empty)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const int group = threadIdx.x / 128;
    const bool leads = threadIdx.x % 128 == 0;
    const bool adds = p.c != nullptr;
    /* Past the end of the matrix the sums are zero, and are not stored. */
    const bool whole = row + 64 <= p.n && col + 64 <= p.k;
    float smallest = 1.0f, zero = 0.0f;

    if (leads)
        ng_tma_store_wait_read<1>();
    ng_bar_sync(1 + group, 128);
#pragma unroll
    for (int i = 0; i < 32; i += 2) {
        const int r = warp * 16 + lane / 4 + i % 4 / 2 * 8;
        const int c = i / 4 * 8 + lane % 4 * 2;
        const int chunk = (c % 32 / 4) ^ (r & 7);
        const float x = sum[half * 32 + i], y = sum[half * 32 + i + 1];

        *(float2 *)(boxes + c / 32 * 8192 + r * 128 + chunk * 16 + c % 4 * 4) =
            make_float2(x, y);
        smallest = fminf(smallest, fminf(fabsf(x), fabsf(y)));
        zero = __fadd_rn(zero, __fadd_rn(__fsub_rn(x, x), __fsub_rn(y, y)));
    }
    ng_async_fence();

    const bool care =
        ng_bar_any(1 + group, 128,
                   !whole || ng_gemm_wgrad_needs_care(smallest, zero))
        && adds;

    if (p.d_by_engine && !care && !empty && p.events == nullptr) {
        if (leads) {
#pragma unroll
            for (int j = 0; j < 2; j++) {
                if (col + 32 * j >= p.k)
                    break;
                if (adds)
                    ng_tma_add_3d(map_d, boxes + j * 8192, col + 32 * j, row,
                                  (int)matrix);
                else
                    ng_tma_store_3d(map_d, boxes + j * 8192, col + 32 * j, row,
                                    (int)matrix);
            }
            ng_tma_store_commit();
        }
        return;
    }
    for (int r = warp; r < 64 && row + r < p.n; r += 4) {
        const int64_t line = matrix * p.n + row + r;

        for (int c = lane; c < 64 && col + c < p.k; c += 32) {
            const int chunk = (c % 32 / 4) ^ (r & 7);
            const float x = *(const float *)(boxes + c / 32 * 8192 + r * 128
                                             + chunk * 16 + c % 4 * 4);

            ng_gemm_wgrad_store_one(p, counts, x, line * p.ldd + col + c,
                                    line * p.ldc + col + c, empty);
        }
    }
    /* The engine's count of stores that may still read is one a call. */
    if (leads)
        ng_tma_store_commit();
}

/* ---- multiplying --------------------------------------------------------- */

__device__ inline void
ng_gemm_wgrad_multiply(const CUtensorMap *map_d, const ng_gemm_wgrad_args &p,
                       uint8_t *shared, ng_gemm_block_tiles tiles,
                       ng_gemm_ring<ng_gemm_wgrad::stages> ring, int tile,
                       int step)
{
    using shape = ng_gemm_wgrad;
    const int lane = threadIdx.x % 32;
    const int group = __shfl_sync(~0u, (int)threadIdx.x / 128, 0);
    const int thread_row = (int)threadIdx.x / 32 * 16 + lane / 4;
    const uint64_t a_0 = ng_wgmma_descriptor(shared + group * 8192);
    const uint64_t b_0 =
        ng_wgmma_descriptor(shared + shape::stages * shape::a_bytes);
    const uint32_t a_low = __shfl_sync(~0u, (uint32_t)a_0, 0);
    const uint32_t b_low = __shfl_sync(~0u, (uint32_t)b_0, 0);
    const uint64_t high = a_0 & 0xFFFFFFFF00000000;
    const float *scales = (const float *)(shared + shape::scales_at);
    ng_gemm_counts counts = {0, 0, 0};

    for (; tiles.seek(tile); tile += step) {
        const int blocks = tiles.blocks();
        const int row = tiles.row_block * shape::rows;
        const int col = tiles.col_block * shape::cols;
        float sum[2][64];

        /* Nothing to add, or nothing that is stored. */
        if ((blocks == 0 && p.c == p.d && p.c != nullptr) || col >= p.k) {
            for (int i = 0; i < blocks; i++) {
                ring.wait_full();
                ring.release(ring.stage);
                ring.advance();
            }
            continue;
        }
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int i = 0; i < 64; i++)
                sum[half][i] = 0.0f;

#pragma unroll 1
        for (int i = 0; i < blocks; i++) {
            const int stage = ring.stage;
            const uint32_t a = a_low + stage * (shape::a_bytes / 16);
            const uint32_t b = b_low + stage * (shape::b_bytes / 16);
            const float *s = scales + stage * (shape::scale_bytes / 4);
            const float2 *s_b = (const float2 *)(s + shape::rows) + lane % 4;
            float2 kept[16]; /* the scales of B, for both halves */

            ring.wait_full();
#pragma unroll
            for (int half = 0; half < 2; half++) {
                float block[64];

                ng_wgmma_touch(block);
                ng_wgmma_fence();
#pragma unroll
                for (int q = 0; q < 4; q++)
                    ng_wgmma_m64n128k32_e4m3(
                        block, high | (a + half * (16384 / 16) + 2 * q),
                        high | (b + 2 * q), q != 0);
                ng_wgmma_commit();

                /* While the tensor core is at it: the scales. */
                const float s_0 = s[half * 128 + thread_row];
                const float s_1 = s[half * 128 + thread_row + 8];

                if (half == 0)
#pragma unroll
                    for (int j = 0; j < 16; j++)
                        kept[j] = s_b[4 * j];
                else
                    ring.advance();
                ng_wgmma_touch(block);
                ng_wgmma_wait<0>();
                if (half == 1) {
                    __syncwarp();
                    ring.release(stage);
                }
#pragma unroll
                for (int j = 0; j < 16; j++) {
                    float *to = sum[half] + 4 * j;
                    const float *from = block + 4 * j;
                    const float2 t = kept[j];

                    to[0] = __fmaf_rn(__fmul_rn(s_0, t.x), from[0], to[0]);
                    to[1] = __fmaf_rn(__fmul_rn(s_0, t.y), from[1], to[1]);
                    to[2] = __fmaf_rn(__fmul_rn(s_1, t.x), from[2], to[2]);
                    to[3] = __fmaf_rn(__fmul_rn(s_1, t.y), from[3], to[3]);
                }
            }
        }
#pragma unroll
        for (int upper = 0; upper < 2; upper++) {
            const int first = row + upper * 128 + group * 64;
            uint8_t *boxes = shared + shape::d_at + group * shape::d_bytes;

            if (first >= p.n)
                break;
            ng_gemm_wgrad_store<0>(map_d, p, counts, boxes, sum[upper],
                                   tiles.group, first, col, blocks == 0);
            ng_gemm_wgrad_store<1>(map_d, p, counts, boxes + shape::d_bytes / 2,
                                   sum[upper], tiles.group, first, col + 64,
                                   blocks == 0);
        }
    }
    if (p.events != nullptr)
        ng_gemm_add_counts(p.events, counts);
    if (threadIdx.x % 128 == 0)
        ng_tma_store_wait();
}

template <bool scales_by_engine>
__global__ void __launch_bounds__(NG_GEMM_THREADS, 1)
    ng_fp8_gemm_wgrad(const __grid_constant__ CUtensorMap map_a_scales,
                      const __grid_constant__ CUtensorMap map_b_scales,
                      const __grid_constant__ CUtensorMap map_d,
                      const ng_gemm_wgrad_args p)
{
    using shape = ng_gemm_wgrad;
    extern __shared__ __align__(1024) uint8_t shared[];
    const int warp = __shfl_sync(~0u, (int)threadIdx.x / 32, 0);
    const int tile = (int)blockIdx.x / NG_GEMM_PAIR;
    const int step = (int)gridDim.x / NG_GEMM_PAIR;
    const ng_gemm_block_tiles tiles(p.offsets, p.n_groups, p.rows,
                                    (p.n + shape::rows - 1) / shape::rows,
                                    (p.k + shape::cols - 1) / shape::cols,
                                    shape::band, (int)ng_cluster_rank());
    ng_gemm_ring<shape::stages> ring((uint64_t *)(shared + shape::barriers_at));

    if (threadIdx.x == 0)
        ring.init(scales_by_engine ? 0 : 32);
    ng_cluster_sync();
    if (warp >= NG_GEMM_MATH_WARPS) {
        ng_registers_shrink<shape::load_registers>();
        if (warp == NG_GEMM_LOAD_WARP && ng_elect_one())
            ng_gemm_wgrad_load<scales_by_engine>(&map_a_scales, &map_b_scales,
                                                 &map_d, p, shared, tiles, ring,
                                                 tile, step);
        else if (warp == NG_GEMM_SCALE_WARP && !scales_by_engine)
            ng_gemm_wgrad_load_scales(p, shared, tiles, ring, tile, step);
    } else {
        ng_registers_grow<shape::math_registers>();
        ng_gemm_wgrad_multiply(&map_d, p, shared, tiles, ring, tile, step);
    }
}

#endif
