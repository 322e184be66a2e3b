/* SPDX-License-Identifier: Apache-2.0
 *
 * The grouped BF16 products, FP32 sums: D [T, N] = A [T, K] * B[g] [N, K]^T with
 * ragged rows, and D[g] [N, K] = A^T * B over the rows of group g of A [T, N]
 * and B [T, K], which lie as they are: the tensor core takes BF16 with either
 * axis innermost. What a user calls is in grouped_gemm_bf16.h.
 *
 * Grid: as many pairs of CTAs as the GPU holds, each through its share of the
 * tiles. A CTA computes 128 x 256: two warpgroups of 64 rows multiply, one warp
 * loads ahead of them through a ring of four stages of 64 of the contraction.
 *
 *   shared memory   bytes a stage   what
 *   a               16384           two boxes of 64 rows (of D) x 64
 *   b               32768           256 columns (of D) x 64
 *   d               32768 in all    a warpgroup's 64 x 64 FP32
 *   barriers        16
 * A row of a box has 128 bytes, swizzled: 64 of the contraction of one row of A
 * or B forward, 64 rows or columns of D of one token in the weight gradient.
 * Registers: 128 for the sums.
 *
 * Numerics: 16 products an instruction, in ascending order of the contraction,
 * added to the sum as the tensor core does; then RN32(C + sum), then RNE to
 * BF16 if that is asked for. Bounded (oracle_gemm_bf16_element.c).
 *
 * Bound: the tensor core, 1024 cycles a stage and CTA; shared memory 896.
 */
#ifndef NG_CUDA_MOE_BF16_GEMM_SM90_CUH
#define NG_CUDA_MOE_BF16_GEMM_SM90_CUH

#include "cuda/moe/gemm_block_tiles.cuh"
#include "cuda/moe/gemm_events.cuh"
#include "cuda/moe/gemm_ring.cuh"
#include "cuda/moe/gemm_row_tiles.cuh"
#include "cuda/ptx_tma.cuh"
#include "cuda/ptx_wgmma_bf16.cuh"

struct ng_bf16_gemm_args {
    const int64_t *offsets;   /* null: dense */
    int n_groups, rows, n, k; /* rows: T */
    void *d;
    const void *c; /* of the weight gradient; null: overwrite */
    int64_t ldd, ldc;
    bool d_fp32;       /* else BF16; c likewise */
    bool pairs;        /* two elements of d lie on one boundary */
    ng_events *events; /* may be null */
};

struct ng_bf16_gemm {
    static constexpr int stages = 4, rows = 128, cols = 256, depth = 64;
    static constexpr int band = 8;
    static constexpr int box = 64 * 128; /* bytes */
    static constexpr int a_bytes = 2 * box, b_bytes = 4 * box;
    static constexpr int d_bytes = 64 * 64 * 4; /* of a warpgroup */
    static constexpr int d_at = stages * (a_bytes + b_bytes);
    static constexpr int barriers_at = d_at + 2 * d_bytes;
    static constexpr int shared_bytes = barriers_at + stages * 16;
};

/* One tile: rows row .. + 127 and columns col .. + 255 of its matrix, of which
 * the first `skip` rows are another tile's; `blocks` blocks of the contraction.
 * The weight gradient's last block covers the 64 tokens before the group's end,
 * of which the first `over` belong to the block before, or to nobody. */
struct ng_bf16_gemm_tile {
    int group, row, col, skip, blocks, first, end, over;
    bool shares_b; /* the pair shares columns, else rows */
};

/* The walk over tiles of either product. */
template <bool wgrad> struct ng_bf16_gemm_walk;

template <> struct ng_bf16_gemm_walk<false> {
    ng_gemm_row_tiles tiles;
    int blocks;

    __device__ ng_bf16_gemm_walk(const ng_bf16_gemm_args &p, int rank)
        : tiles(p.offsets, p.n_groups, p.rows,
                (p.n + ng_bf16_gemm::cols - 1) / ng_bf16_gemm::cols,
                ng_bf16_gemm::band, rank),
          blocks((p.k + ng_bf16_gemm::depth - 1) / ng_bf16_gemm::depth)
    {
    }

    __device__ bool seek(ng_bf16_gemm_tile &t, int tile)
    {
        if (!tiles.seek(tile))
            return false;
        t = {tiles.group, tiles.row, tiles.col_block * ng_bf16_gemm::cols,
             tiles.skip,  blocks,    0,
             0,           0,         tiles.shares_b};
        return true;
    }
};

template <> struct ng_bf16_gemm_walk<true> {
    ng_gemm_block_tiles tiles;

    __device__ ng_bf16_gemm_walk(const ng_bf16_gemm_args &p, int rank)
        : tiles(p.offsets, p.n_groups, p.rows,
                (p.n + ng_bf16_gemm::rows - 1) / ng_bf16_gemm::rows,
                (p.k + ng_bf16_gemm::cols - 1) / ng_bf16_gemm::cols,
                ng_bf16_gemm::band, rank)
    {
    }

    __device__ bool seek(ng_bf16_gemm_tile &t, int tile)
    {
        if (!tiles.seek(tile))
            return false;

        const int tokens = tiles.end - tiles.start;
        const int blocks =
            (tokens + ng_bf16_gemm::depth - 1) / ng_bf16_gemm::depth;

        t = {tiles.group,
             tiles.row_block * ng_bf16_gemm::rows,
             tiles.col_block * ng_bf16_gemm::cols,
             0,
             blocks,
             tiles.start,
             tiles.end,
             blocks * ng_bf16_gemm::depth - tokens,
             false};
        return true;
    }
};

/* ---- loading ------------------------------------------------------------- */

template <bool wgrad>
__device__ inline void ng_bf16_gemm_load(
    const CUtensorMap *map_a, const CUtensorMap *map_b,
    const ng_bf16_gemm_args &p, uint8_t *shared, ng_bf16_gemm_walk<wgrad> walk,
    ng_gemm_ring<ng_bf16_gemm::stages> ring, int rank, int tile, int step)
{
    using shape = ng_bf16_gemm;
    ng_bf16_gemm_tile t;

    for (; walk.seek(t, tile); tile += step)
#pragma unroll 1
        for (int block = 0; block < t.blocks; block++) {
            uint64_t *full = ring.full + ring.stage;
            uint8_t *a = shared + ring.stage * shape::a_bytes;
            uint8_t *b = shared + shape::stages * shape::a_bytes
                         + ring.stage * shape::b_bytes;

            ring.wait_empty();
            ng_mbarrier_arrive_expect(full, shape::a_bytes + shape::b_bytes);
            if (wgrad) {
                const int token = block + 1 < t.blocks
                                      ? t.first + block * shape::depth
                                      : t.end - shape::depth;

                ng_tma_load_2d_multicast(a + rank * shape::box, map_a, full,
                                         t.row + rank * 64, token, 3);
#pragma unroll
                for (int j = 0; j < 4; j++)
                    ng_tma_load_2d(b + j * shape::box, map_b, full,
                                   t.col + j * 64, token);
            } else {
                const int x = block * shape::depth;
                const int b_row = t.group * p.n + t.col;

                if (t.shares_b) {
                    ng_tma_load_2d_multicast(b + rank * (shape::b_bytes / 2),
                                             map_b, full, x, b_row + rank * 128,
                                             3);
                    ng_tma_load_2d(a, map_a, full, x, t.row);
                    ng_tma_load_2d(a + shape::box, map_a, full, x, t.row + 64);
                } else {
                    ng_tma_load_2d_multicast(a + rank * shape::box, map_a, full,
                                             x, t.row + rank * 64, 3);
                    ng_tma_load_2d(b, map_b, full, x, b_row);
                    ng_tma_load_2d(b + shape::b_bytes / 2, map_b, full, x,
                                   b_row + 128);
                }
            }
            ring.advance();
        }
    ring.drain();
}

/* ---- storing ------------------------------------------------------------- */

__device__ inline float ng_bf16_gemm_addend(const ng_bf16_gemm_args &p,
                                            int64_t i)
{
    return p.d_fp32
               ? ((const float *)p.c)[i]
               : __uint_as_float((uint32_t)((const uint16_t *)p.c)[i] << 16);
}

/* Two neighbouring elements, of which `n` exist, at i of d and j of c. Of an
 * empty group C is moved, not added to. */
__device__ inline void ng_bf16_gemm_store_two(const ng_bf16_gemm_args &p,
                                              ng_gemm_counts &counts, float x,
                                              float y, int64_t i, int64_t j,
                                              int n, bool empty)
{
    float v[2] = {x, y};

#pragma unroll
    for (int e = 0; e < 2; e++)
        if (p.c != nullptr && e < n) {
            const float c = ng_bf16_gemm_addend(p, j + e);

            v[e] = empty ? c : __fadd_rn(c, v[e]);
        }
    if (empty && p.c != nullptr) {
        for (int e = 0; e < n; e++)
            if (p.d_fp32)
                ((uint32_t *)p.d)[i + e] = ((const uint32_t *)p.c)[j + e];
            else
                ((uint16_t *)p.d)[i + e] = ((const uint16_t *)p.c)[j + e];
        return;
    }
    if (p.d_fp32) {
        float *d = (float *)p.d + i;

        if (n == 2 && p.pairs)
            *(float2 *)d = make_float2(v[0], v[1]);
        else
            for (int e = 0; e < n; e++)
                d[e] = v[e];
        if (p.events != nullptr)
            for (int e = 0; e < n; e++)
                ng_gemm_count(counts, __float_as_uint(v[e]));
    } else {
        uint16_t *d = (uint16_t *)p.d + i;
        const uint32_t pair = ng_gemm_pack_bf16(v[0], v[1]);

        if (n == 2 && p.pairs)
            *(uint32_t *)d = pair;
        else
            for (int e = 0; e < n; e++)
                d[e] = (uint16_t)(pair >> 16 * e);
        if (p.events != nullptr)
            for (int e = 0; e < n; e++)
                ng_gemm_count(counts, pair >> 16 * e << 16);
    }
}

/* A warpgroup's 64 x 256 sums, 64 columns at a time through shared memory, from
 * where a warp stores whole rows: rows from `row`, below `rows`, of the matrix
 * whose first line in d is `line`, and columns from `col`, below `cols`. Pairs
 * of a row are swizzled by fours. */
__device__ inline void
ng_bf16_gemm_store(const ng_bf16_gemm_args &p, ng_gemm_counts &counts,
                   float2 *staged, const float (&sum)[128], int64_t line,
                   int row, int rows, int col, int cols, int skip, bool empty)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const uint32_t barrier = 2 + threadIdx.x / 128;
    const int last = min(rows - row, 64);

#pragma unroll
    for (int quarter = 0; quarter < 4; quarter++) {
        const int x = col + quarter * 64 + 2 * lane;

        ng_bar_sync(barrier, 128);
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int r = warp * 16 + lane / 4 + 8 * h;
                const float *from = sum + 4 * (8 * quarter + i) + 2 * h;

                staged[r * 32 + ((4 * i + lane % 4) ^ (r % 8 * 4))] =
                    make_float2(from[0], from[1]);
            }
        ng_bar_sync(barrier, 128);
#pragma unroll 1
        for (int r = warp; r < last; r += 4) {
            const float2 v = staged[r * 32 + (lane ^ (r % 8 * 4))];

            if (r >= skip && x < cols)
                ng_bf16_gemm_store_two(
                    p, counts, v.x, v.y, (line + row + r) * p.ldd + x,
                    (line + row + r) * p.ldc + x, min(cols - x, 2), empty);
        }
    }
}

/* ---- multiplying --------------------------------------------------------- */

/* Zeros in the first `over` tokens of a stage's boxes. Both warpgroups. */
__device__ inline void ng_bf16_gemm_clear(uint8_t *a, uint8_t *b, int over)
{
    using shape = ng_bf16_gemm;

    for (int i = threadIdx.x; i < 6 * over * 8; i += 256) {
        const int box = i / (over * 8), at = i % (over * 8) * 16;
        uint8_t *to =
            box < 2 ? a + box * shape::box : b + (box - 2) * shape::box;

        *(uint4 *)(to + at) = make_uint4(0, 0, 0, 0);
    }
    ng_async_fence();
    ng_bar_sync(1, 256);
}

template <bool wgrad>
__device__ inline void ng_bf16_gemm_multiply(
    const ng_bf16_gemm_args &p, uint8_t *shared, ng_bf16_gemm_walk<wgrad> walk,
    ng_gemm_ring<ng_bf16_gemm::stages> ring, int tile, int step)
{
    using shape = ng_bf16_gemm;
    const int group = __shfl_sync(~0u, (int)threadIdx.x / 128, 0);
    uint8_t *const a_shared = shared, *const b_shared =
                                          shared
                                          + shape::stages * shape::a_bytes;
    const uint64_t a_0 =
        wgrad
            ? ng_wgmma_descriptor_mn(a_shared + group * shape::box, shape::box)
            : ng_wgmma_descriptor(a_shared + group * shape::box);
    const uint64_t b_0 = wgrad ? ng_wgmma_descriptor_mn(b_shared, shape::box)
                               : ng_wgmma_descriptor(b_shared);
    const uint32_t a_low = __shfl_sync(~0u, (uint32_t)a_0, 0);
    const uint32_t b_low = __shfl_sync(~0u, (uint32_t)b_0, 0);
    const uint64_t high = a_0 & 0xFFFFFFFF00000000;
    constexpr int advance = wgrad ? 2048 / 16 : 32 / 16; /* 16 along K */
    ng_gemm_counts counts = {0, 0, 0};
    ng_bf16_gemm_tile t;

    for (; walk.seek(t, tile); tile += step) {
        const int rows = wgrad ? p.n : p.rows, cols = wgrad ? p.k : p.n;
        const int row = t.row + group * 64, skip = t.skip - group * 64;
        const bool works = skip < 64 && row < rows && t.col < cols;
        const bool empty = t.blocks == 0;
        float sum[128];

        /* Stage of block i, once its bytes are as the product wants them. */
        auto await = [&](int i) {
            const int stage = ring.stage;

            ring.wait_full();
            ring.advance();
            if (wgrad && i + 1 == t.blocks && t.over > 0)
                ng_bf16_gemm_clear(a_shared + stage * shape::a_bytes,
                                   b_shared + stage * shape::b_bytes, t.over);
            return stage;
        };

        if (!works) {
            for (int i = 0; i < t.blocks; i++)
                ring.release(await(i));
            continue;
        }
#pragma unroll
        for (int i = 0; i < 128; i++)
            sum[i] = 0.0f;
        if (!empty) {
            int before = 0; /* the stage whose products may be running */

            for (int i = 0; i < t.blocks; i++) {
                const int stage = await(i);
                const uint32_t a = a_low + stage * (shape::a_bytes / 16);
                const uint32_t b = b_low + stage * (shape::b_bytes / 16);

                ng_wgmma_fence();
#pragma unroll
                for (int q = 0; q < shape::depth / 16; q++)
                    ng_wgmma_m64n256k16_bf16<wgrad>(
                        sum, high | (a + q * advance), high | (b + q * advance),
                        true);
                ng_wgmma_commit();
                ng_wgmma_wait<1>();
                if (i > 0)
                    ring.release(before);
                before = stage;
            }
            ng_wgmma_wait<0>();
            ng_wgmma_touch(sum);
            ring.release(before);
        }
        if (!(wgrad && empty && p.c == p.d))
            ng_bf16_gemm_store(
                p, counts,
                (float2 *)(shared + shape::d_at + group * shape::d_bytes), sum,
                wgrad ? (int64_t)t.group * p.n : 0, row, rows, t.col, cols,
                skip, wgrad && empty);
    }
    if (p.events != nullptr)
        ng_gemm_add_counts(p.events, counts);
}

template <bool wgrad>
__global__ void __launch_bounds__(NG_GEMM_THREADS, 1)
    ng_bf16_gemm_kernel(const __grid_constant__ CUtensorMap map_a,
                        const __grid_constant__ CUtensorMap map_b,
                        const ng_bf16_gemm_args p)
{
    using shape = ng_bf16_gemm;
    extern __shared__ __align__(1024) uint8_t shared[];
    const int warp = __shfl_sync(~0u, (int)threadIdx.x / 32, 0);
    const int tile = (int)blockIdx.x / NG_GEMM_PAIR;
    const int step = (int)gridDim.x / NG_GEMM_PAIR;
    const int rank = (int)ng_cluster_rank();
    const ng_bf16_gemm_walk<wgrad> walk(p, rank);
    ng_gemm_ring<shape::stages> ring((uint64_t *)(shared + shape::barriers_at));

    if (threadIdx.x == 0)
        ring.init(0);
    ng_cluster_sync();
    if (warp >= NG_GEMM_MATH_WARPS) {
        ng_registers_shrink<NG_GEMM_LOAD_REGISTERS>();
        if (warp == NG_GEMM_LOAD_WARP && ng_elect_one())
            ng_bf16_gemm_load<wgrad>(&map_a, &map_b, p, shared, walk, ring,
                                     rank, tile, step);
    } else {
        ng_registers_grow<NG_GEMM_MATH_REGISTERS>();
        ng_bf16_gemm_multiply<wgrad>(p, shared, walk, ring, tile, step);
    }
}

#endif
