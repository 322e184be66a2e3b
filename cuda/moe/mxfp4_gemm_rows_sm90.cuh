/* SPDX-License-Identifier: Apache-2.0
 *
 * D [T, N] = A [T, K] * B[g] [N, K]^T, A in MXFP4, B in E4M3, rows ragged over
 * groups g. What a user calls is in grouped_gemm_mxfp4_fprop.h.
 *
 * As fp8_gemm_rows_sm90.cuh, but for A: it comes to shared memory as it lies in
 * memory, and the threads that multiply convert it themselves, into the
 * registers from which the tensor core takes it. FP8 codes of A are nowhere in
 * memory, and nothing has to be handed from one warp to another.
 *
 *   shared memory       bytes a stage   what
 *   a                   8192            128 rows x 128 nibbles, swizzled
 *   b                   24576           192 rows x 128 codes, swizzled
 *   scales              2048            128 rows x 16 bytes of A's scales: four
 *                                       blocks of 128 of K, this one's among
 *                                       them
 *   d                   49152 in all    as there
 *   table               512 in all      align_table.cuh
 *   barriers            16
 * Registers: 96 for the tensor core's sum of a block, 96 for the sum of blocks,
 * 16 for the codes of A of a block.
 *
 * Numerics: the bits of convert_mxfp4_to_fp8 (scales FP32) followed by
 * fp8_gemm_rows_sm90.cuh.
 *
 * Bound: the tensor core needs 768 cycles a stage and CTA; shared memory 800:
 * reading B 384, filling 272, reading nibbles, two bytes a lane, 128, scales
 * 16. Converting takes some 200 instructions a thread and stage, adding 130,
 * with two warps a scheduler to hide their latency: on an H200 that is the
 * limit, at 600 to 670 TFLOP/s.
 */
#ifndef NG_CUDA_MOE_MXFP4_GEMM_ROWS_SM90_CUH
#define NG_CUDA_MOE_MXFP4_GEMM_ROWS_SM90_CUH

#include "cuda/moe/fp8_gemm_rows_sm90.cuh"
#include "cuda/moe/mxfp4_align_row.cuh"

struct ng_gemm_mxfp4_rows_args {
    ng_gemm_rows_args rows; /* a_scales: of the MXFP4 tensor */
    int n_scales;           /* of a row of A */
    int headroom;
    ng_cuda_align_table table;
};

struct ng_gemm_mxfp4_rows {
    static constexpr int stages = 4, cols = 192, band = 8;
    static constexpr int a_bytes = NG_GEMM_ROWS * 64, b_bytes = cols * 128;
    static constexpr int scale_bytes = NG_GEMM_ROWS * 16;
    static constexpr int d_bytes = 64 * cols * 2; /* of a warpgroup */
    static constexpr int d_at = stages * (a_bytes + b_bytes);
    static constexpr int scales_at = d_at + 2 * d_bytes;
    static constexpr int table_at = scales_at + stages * scale_bytes;
    static constexpr int barriers_at = table_at + sizeof(ng_cuda_align_table);
    static constexpr int shared_bytes = barriers_at + stages * 16;
};

/* ---- loading ------------------------------------------------------------- */

template <bool scales_by_engine>
__device__ inline void ng_gemm_mxfp4_rows_load(
    const CUtensorMap *map_a, const CUtensorMap *map_b,
    const CUtensorMap *map_scales, const ng_gemm_rows_args &p, uint8_t *shared,
    ng_gemm_row_tiles tiles, ng_gemm_ring<ng_gemm_mxfp4_rows::stages> ring,
    int tile, int step)
{
    using shape = ng_gemm_mxfp4_rows;
    const int rank = tiles.rank, blocks = (p.k + 127) / 128;

    for (; tiles.seek(tile); tile += step) {
        const int row = tiles.row;
        const int b_row = tiles.group * p.n + tiles.col_block * shape::cols;
        const bool shares_b = tiles.shares_b;

#pragma unroll 1
        for (int block = 0; block < blocks; block++) {
            uint64_t *full = ring.full + ring.stage;
            uint8_t *a = shared + ring.stage * shape::a_bytes;
            uint8_t *b = shared + shape::stages * shape::a_bytes
                         + ring.stage * shape::b_bytes;
            const int x = block * 128;

            ring.wait_empty();
            ng_mbarrier_arrive_expect(
                full, shape::a_bytes + shape::b_bytes
                          + (scales_by_engine ? shape::scale_bytes : 0));
            if (shares_b) {
                ng_tma_load_2d_multicast(b + rank * (shape::b_bytes / 2), map_b,
                                         full, x,
                                         b_row + rank * (shape::cols / 2), 3);
                ng_tma_load_2d(a, map_a, full, x / 2, row);
                ng_tma_load_2d(a + shape::a_bytes / 2, map_a, full, x / 2,
                               row + 64);
            } else {
                ng_tma_load_2d_multicast(a + rank * (shape::a_bytes / 2), map_a,
                                         full, x / 2, row + rank * 64, 3);
                ng_tma_load_2d(b, map_b, full, x, b_row);
                ng_tma_load_2d(b + shape::b_bytes / 2, map_b, full, x,
                               b_row + shape::cols / 2);
            }
            if (scales_by_engine)
                ng_tma_load_2d(shared + shape::scales_at
                                   + ring.stage * shape::scale_bytes,
                               map_scales, full, block / 4 * 16, row);
            ring.advance();
        }
    }
    ring.drain();
}

/* Scales of A in any layout, by one warp, each to where the engine would put
 * it; those past the end of a row are 0. */
__device__ inline void ng_gemm_mxfp4_rows_load_scales(
    const ng_gemm_mxfp4_rows_args &p, uint8_t *shared, ng_gemm_row_tiles tiles,
    ng_gemm_ring<ng_gemm_mxfp4_rows::stages> ring, int tile, int step)
{
    using shape = ng_gemm_mxfp4_rows;
    const int lane = threadIdx.x % 32, blocks = (p.rows.k + 127) / 128;

    for (; tiles.seek(tile); tile += step)
        for (int block = 0; block < blocks; block++) {
            uint32_t *scales = (uint32_t *)(shared + shape::scales_at
                                            + ring.stage * shape::scale_bytes)
                               + block % 4;
            const int n = min(p.n_scales - 4 * block, 4);

            ring.wait_empty();
            for (int i = lane; i < NG_GEMM_ROWS; i += 32) {
                uint32_t word = 0;

                for (int j = 0; i >= tiles.skip && j < n; j++)
                    word |= ng_cuda_load_scale(p.rows.a_scales, tiles.row + i,
                                               4 * block + j)
                            << 8 * j;
                scales[4 * i] = word;
            }
            ng_mbarrier_arrive(ring.full + ring.stage);
            ring.advance();
        }
}

/* ---- multiplying --------------------------------------------------------- */

/* A thread's 16 codes of A for one instruction, from the 16 bytes at `from` of
 * its upper row, and those of the row 8 below; 0 .. 3 and 16 .. 19 of the
 * columns that its place in the four lanes of a row gives it. */
__device__ __forceinline__ void
ng_gemm_mxfp4_convert(uint32_t (&codes)[4], const uint8_t *from,
                      const ng_mxfp4_align_codes &upper,
                      const ng_mxfp4_align_codes &lower)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const uint32_t u = *(const uint16_t *)(from + 8 * half);
        const uint32_t l = *(const uint16_t *)(from + 8 * half + 8 * 64);

        codes[2 * half] = ng_cuda_align4(upper.low, upper.high, u, upper.signs);
        codes[2 * half + 1] =
            ng_cuda_align4(lower.low, lower.high, l, lower.signs);
    }
}

template <bool scales_by_engine>
__device__ inline void ng_gemm_mxfp4_rows_multiply(
    const CUtensorMap *map_d, const ng_gemm_mxfp4_rows_args &args,
    uint8_t *shared, ng_gemm_row_tiles tiles,
    ng_gemm_ring<ng_gemm_mxfp4_rows::stages> ring, int tile, int step_tiles)
{
    using shape = ng_gemm_mxfp4_rows;
    const ng_gemm_rows_args &p = args.rows;
    const int lane = threadIdx.x % 32;
    const int group = __shfl_sync(~0u, (int)threadIdx.x / 128, 0);
    const int thread_row = (int)threadIdx.x / 32 * 16 + lane / 4;
    const int blocks = (p.k + 127) / 128;
    const int b_lines = (p.n + 127) / 128;
    const int headroom = args.headroom;
    const uint64_t b_0 =
        ng_wgmma_descriptor(shared + shape::stages * shape::a_bytes);
    const uint32_t b_low = __shfl_sync(~0u, (uint32_t)b_0, 0);
    const uint64_t high = b_0 & 0xFFFFFFFF00000000;
    /* The engine swaps the four 16-byte chunks of a row of 64 by bits 1 and 2
     * of the row's number. */
    const uint8_t *a_of_thread = shared + thread_row * 64 + lane % 4 * 2;
    const int swap = lane / 8 * 16;
    const uint8_t *scales_of_thread =
        shared + shape::scales_at + thread_row * 16;
    const ng_cuda_align_table *table =
        (const ng_cuda_align_table *)(shared + shape::table_at);
    bool ready = false; /* the stage that comes next is known full */
    ng_gemm_counts counts = {0, 0, 0};

    /* Scales of B, as in fp8_gemm_rows_sm90.cuh. */
    float b_now[2], b_next[2];
    auto fetch = [&](int first) {
        const int line = tiles.col_block * shape::cols / 128;

#pragma unroll
        for (int j = 0; j < 2; j++)
            b_next[j] = first + lane < blocks && line + j < b_lines
                            ? ng_gemm_rows_b_scale(
                                p, (int64_t)tiles.group * b_lines + line + j,
                                first + lane)
                            : 0.0f;
    };

    bool more = tiles.seek(tile);
    if (more)
        fetch(0);
    while (more) {
        const int row = tiles.row + group * 64;
        const int col = tiles.col_block * shape::cols;
        const int skip = tiles.skip - group * 64;
        const bool works = skip < 64 && col < p.n;
        float sum[96];

        if (works) {
#pragma unroll
            for (int i = 0; i < 96; i++)
                sum[i] = 0.0f;

            /* Block i of those whose scales are at hand, in `stage`. */
            auto step = [&](int stage, int i) {
                const uint8_t *a = a_of_thread + stage * shape::a_bytes;
                const uint32_t b = b_low + stage * (shape::b_bytes / 16);
                const uint8_t *s =
                    scales_of_thread + stage * shape::scale_bytes + i % 4 * 4;
                float block[96], scale[2][2];
                uint32_t codes[4][4];

                if (!ready)
                    ring.wait_full();

                const ng_mxfp4_align_row upper = ng_mxfp4_align_row_of(
                                             *(const uint32_t *)s, headroom),
                                         lower = ng_mxfp4_align_row_of(
                                             *(const uint32_t *)(s + 128),
                                             headroom);
                /* For the whole warp, so that what follows has no divergence. */
                const bool regular =
                    __all_sync(~0u, upper.regular && lower.regular);

                ng_wgmma_touch(block);
#pragma unroll
                for (int q = 0; q < 4; q++) {
                    const uint8_t *from = a + ((q * 16) ^ swap);

                    if (regular)
                        ng_gemm_mxfp4_convert(
                            codes[q], from,
                            ng_mxfp4_align_regular(upper.fields, q),
                            ng_mxfp4_align_regular(lower.fields, q));
                    else
                        ng_gemm_mxfp4_convert(
                            codes[q], from,
                            ng_mxfp4_align_any(s[q], upper.exponent, headroom,
                                               table),
                            ng_mxfp4_align_any(s[q + 128], lower.exponent,
                                               headroom, table));
                    __syncwarp();
                    ng_wgmma_fence();
                    ng_wgmma_m64n192k32_e4m3_registers(
                        block, codes[q], high | (b + 2 * q), q != 0);
                }
                ng_wgmma_commit();
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const float s_b = __shfl_sync(~0u, b_now[j], i);

                    scale[0][j] =
                        __fmul_rn(ng_cuda_power_of_two(upper.exponent), s_b);
                    scale[1][j] =
                        __fmul_rn(ng_cuda_power_of_two(lower.exponent), s_b);
                }
                ring.advance();
                ready = ring.is_full();
                ng_wgmma_touch(block);
                ng_wgmma_wait<0>();
                ring.release(stage);
                ng_gemm_rows_promote(sum, block, scale, col % 128 == 0);
            };

            for (int first = 0; first < blocks; first += 32) {
                const int n = min(blocks - first, 32);
                int i = 0;

                b_now[0] = b_next[0];
                b_now[1] = b_next[1];
                fetch(first + 32);
#pragma unroll 1
                for (; i < n && ring.stage != 0; i++)
                    step(ring.stage, i);
#pragma unroll 1
                for (; i + 4 <= n; i += 4) {
                    ring.stage = 0;
                    step(0, i);
                    step(1, i + 1);
                    step(2, i + 2);
                    step(3, i + 3);
                }
#pragma unroll 1
                for (; i < n; i++)
                    step(ring.stage, i);
            }
        } else {
            for (int i = 0; i < blocks; i++) {
                ring.wait_full();
                ring.release(ring.stage);
                ring.advance();
            }
            ready = false;
        }

        tile += step_tiles;
        more = tiles.seek(tile);
        if (more)
            fetch(0);
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
    ng_mxfp4_gemm_rows(const __grid_constant__ CUtensorMap map_a,
                       const __grid_constant__ CUtensorMap map_b,
                       const __grid_constant__ CUtensorMap map_scales,
                       const __grid_constant__ CUtensorMap map_d,
                       const __grid_constant__ ng_gemm_mxfp4_rows_args p)
{
    using shape = ng_gemm_mxfp4_rows;
    extern __shared__ __align__(1024) uint8_t shared[];
    const int warp = __shfl_sync(~0u, (int)threadIdx.x / 32, 0);
    const int tile = (int)blockIdx.x / NG_GEMM_PAIR;
    const int step = (int)gridDim.x / NG_GEMM_PAIR;
    const ng_gemm_row_tiles tiles(p.rows.offsets, p.rows.n_groups, p.rows.rows,
                                  (p.rows.n + shape::cols - 1) / shape::cols,
                                  shape::band, (int)ng_cluster_rank());
    ng_gemm_ring<shape::stages> ring((uint64_t *)(shared + shape::barriers_at));

    if (threadIdx.x == 0)
        ring.init(scales_by_engine ? 0 : 32);
    ng_cuda_align_table_load((ng_cuda_align_table *)(shared + shape::table_at),
                             p.table);
    ng_cluster_sync();
    if (warp >= NG_GEMM_MATH_WARPS) {
        ng_registers_shrink<NG_GEMM_LOAD_REGISTERS>();
        if (warp == NG_GEMM_LOAD_WARP && ng_elect_one())
            ng_gemm_mxfp4_rows_load<scales_by_engine>(
                &map_a, &map_b, &map_scales, p.rows, shared, tiles, ring, tile,
                step);
        else if (warp == NG_GEMM_SCALE_WARP && !scales_by_engine)
            ng_gemm_mxfp4_rows_load_scales(p, shared, tiles, ring, tile, step);
    } else {
        ng_registers_grow<NG_GEMM_MATH_REGISTERS>();
        ng_gemm_mxfp4_rows_multiply<scales_by_engine>(&map_d, p, shared, tiles,
                                                      ring, tile, step);
    }
}

#endif
