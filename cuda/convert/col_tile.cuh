/* SPDX-License-Identifier: Apache-2.0
 *
 * A tile of codes on its way from rows to columns, in shared memory.
 *
 * Threads read 4 rows by 16 bytes each, turn every 4 x 4 bytes in registers
 * (eight byte permutes) and store words of four tokens; then eight lanes write
 * the 128 tokens of one column, 16 bytes each, in one 128-byte line.
 *
 * Shared memory, in words: column c begins at 33 c + (32 / LANES) (c / 32), and
 * holds its tokens 4 i .. 4 i + 3 in word i. The odd pitch puts the 32 words
 * that a warp reads (4 columns, 8 chunks) into 32 banks; the shift of every 32
 * columns does the same for the words that it writes (LANES lanes side by side,
 * 8, 16 or 32 columns apart, and 32 / LANES quads of rows).
 *
 * A column's 128 bytes begin wherever its group does, so at any address. Chunks
 * are cut at addresses that are multiples of 16, and filled by a funnel shift;
 * up to 15 bytes before the first and behind the last go byte by byte, by lanes
 * next to each other so that they leave as one transaction.
 *
 * Two thread blocks that write parts of one sector of memory, 32 bytes, cost
 * much more than one that writes it whole. A tile with HEAD words in front of
 * each column keeps there what the last sector of the block of tokens before
 * lacks, and writes it with the next block: ng_cuda_col_store_on.
 */
#ifndef NG_CUDA_CONVERT_COL_TILE_CUH
#define NG_CUDA_CONVERT_COL_TILE_CUH

#include <cstdint>

#include "cuda/convert/transpose_bytes.cuh"

/* A tile of 128 rows and COLS columns, which THREADS threads share: LANES lanes
 * side by side read a row, and every thread has 4 rows. */
template <int COLS_, int LANES_, int HEAD_ = 0> struct ng_cuda_col_tile {
    static constexpr int COLS = COLS_, LANES = LANES_, HEAD = HEAD_;
    static constexpr int PITCH = 33 + HEAD; /* odd: HEAD is 0 or 8 */
    static constexpr int THREADS = 32 * LANES, WARPS = LANES;
    static constexpr int CHUNK = COLS / LANES; /* columns of a thread */

    __host__ __device__ static constexpr int word(int col, int quad)
    {
        return PITCH * col + 32 / LANES * (col / 32) + HEAD + quad;
    }

    /* One more than there are, which a chunk at the end may load. */
    static constexpr int WORDS =
        PITCH * (COLS - 1) + 32 / LANES * (COLS / 32) + PITCH;
};

/* Chunk of 16 tokens from token r of a column on; r % 4 == shift / 8. */
__device__ __forceinline__ uint4 ng_cuda_col_chunk(const uint32_t *w,
                                                   unsigned shift)
{
    uint4 chunk = {w[0], w[1], w[2], w[3]};

    if (shift != 0) {
        chunk.x = __funnelshift_r(chunk.x, chunk.y, shift);
        chunk.y = __funnelshift_r(chunk.y, chunk.z, shift);
        chunk.z = __funnelshift_r(chunk.z, chunk.w, shift);
        chunk.w = __funnelshift_r(chunk.w, w[4], shift);
    }
    return chunk;
}

/* The ends of columns that do not begin and end at multiples of 16. Where both
 * together are 16 bytes or none, 16 lanes a column suffice. */
template <class TILE>
__device__ __noinline__ void ng_cuda_col_store_ends(const uint32_t *tile,
                                                    uint8_t *codes, int64_t ld,
                                                    int n, int cols)
{
    const int lanes = n % 16 == 0 ? 16 : 32;
    const int lane = (int)threadIdx.x % lanes;

#pragma unroll 1
    for (int c = (int)threadIdx.x / lanes; c < cols;
         c += TILE::THREADS / lanes) {
        uint8_t *line = codes + c * ld;
        const int first = (int)(-(uintptr_t)line & 15);
        const int head = first < n ? first : n;
        const int tail = (n - head) % 16;
        int r = lane;

        if (lane >= head)
            r = lane < lanes - tail ? -1 : n - lanes + lane;
        if (r >= 0)
            line[r] = ((const uint8_t *)(tile + TILE::word(c, 0)))[r];
    }
}

/* Turn rows i = 0 .. 3 of four columns, in[i], and put them into the columns'
 * words: `to` is the first column's, `apart` columns from one to the next. */
template <class TILE>
__device__ __forceinline__ void ng_cuda_col_put(uint32_t *to, int apart,
                                                uint32_t in[4])
{
    ng_cuda_transpose_4x4(in);
#pragma unroll
    for (int j = 0; j < 4; j++)
        to[TILE::PITCH * apart * j] = in[j];
}

/* Write tokens 0 .. n - 1 of the tile's first `cols` columns, cols <= COLS;
 * token 0 of column 0 goes to *codes, and columns lie ld bytes apart. All
 * threads take part, after a barrier. */
template <class TILE>
__device__ __forceinline__ void ng_cuda_col_store(const uint32_t *tile,
                                                  uint8_t *codes, int64_t ld,
                                                  int n, int cols)
{
    constexpr int step = TILE::THREADS / 8;
    const int c0 = (int)threadIdx.x / 8, chunk = (int)threadIdx.x % 8;

    static_assert((step % 32 == 0 || 32 % step == 0) && TILE::COLS % step == 0,
                  "a column's place is the sum of two");
    if (ld % 16 == 0) {
        const int r = (int)(-(uintptr_t)codes & 15) + 16 * chunk;
        const unsigned shift = 8 * (r % 4);
        const uint32_t *w = tile + TILE::word(c0, r / 4);
        uint8_t *to = codes + c0 * ld + r;

        if (r + 16 <= n) {
#pragma unroll
            for (int c = 0; c < TILE::COLS; c += step, to += step * ld)
                if (c0 + c < cols)
                    *(uint4 *)to =
                        ng_cuda_col_chunk(w + TILE::word(c, 0), shift);
        }
    } else {
#pragma unroll 1
        for (int c = c0; c < cols; c += step) {
            uint8_t *line = codes + c * ld;
            const int r = (int)(-(uintptr_t)line & 15) + 16 * chunk;

            if (r + 16 <= n)
                *(uint4 *)(line + r) =
                    ng_cuda_col_chunk(tile + TILE::word(c, r / 4), 8 * (r % 4));
        }
    }
    if ((((uintptr_t)codes | (uintptr_t)ld | (unsigned)n) & 15) != 0)
        ng_cuda_col_store_ends<TILE>(tile, codes, ld, n, cols);
}

/* Whether columns so placed lie alike in their sectors. */
__device__ __forceinline__ bool ng_cuda_col_may_go_on(int64_t ld)
{
    return ld % 32 == 0;
}

/* A run of blocks begins and ends within a sector: bytes `from` .. `to` - 1 of
 * every column, fewer than 16, by the warp that has the column below. */
template <class TILE>
__device__ __noinline__ void ng_cuda_col_store_bytes(const uint32_t *tile,
                                                     uint8_t *codes, int64_t ld,
                                                     int from, int to, int cols)
{
    for (int c = (int)threadIdx.x / 8; c < cols; c += TILE::THREADS / 8)
        for (int r = from + (int)threadIdx.x % 8; r < to; r += 8)
            codes[c * ld + r] = ((const uint8_t *)(tile + TILE::word(c, 0)))[r];
}

/* As ng_cuda_col_store, of one block in a run of blocks that a thread block
 * takes one after the other, each beginning where the one before ends; columns
 * lie alike in their sectors.
 *   waiting  tokens of earlier blocks not yet written, in the tile's head; at
 *            the first block 0
 *   last     the run ends here: write all
 * Returns what is waiting then. */
template <class TILE>
__device__ __forceinline__ int
ng_cuda_col_store_on(uint32_t *tile, uint8_t *codes, int64_t ld, int n,
                     int cols, int waiting, bool last)
{
    static_assert(TILE::HEAD == 8, "a sector");
    constexpr int step = TILE::THREADS / 8;
    const int c0 = (int)threadIdx.x / 8, lane = (int)threadIdx.x % 8;
    const int phase = (int)((uintptr_t)codes + (unsigned)n) & 31;
    const int end = last ? n : max(n - phase, -waiting);
    const int first =
        -waiting + (int)(((unsigned)waiting - (unsigned)(uintptr_t)codes) & 15);
    const int stop = max(end, first);
    const bool carries = n > end;

    if (first > -waiting)
        ng_cuda_col_store_bytes<TILE>(tile, codes, ld, -waiting,
                                      min(first, end), cols);
    if ((stop - first) % 16 != 0)
        ng_cuda_col_store_bytes<TILE>(tile, codes, ld,
                                      stop - (stop - first) % 16, end, cols);

    const int r = first + 16 * lane;
    const int from = n - 32 + 4 * lane; /* of what is carried on */
    const unsigned shift = 8 * (r & 3), back = 8 * (from & 3);

#pragma unroll 4
    for (int c = c0; c < TILE::COLS; c += step) {
        uint32_t *column = tile + TILE::word(c, 0);
        uint32_t kept = 0;

        if (c < cols)
            for (int at = r; at + 16 <= end; at += 128)
                *(uint4 *)(codes + c * ld + at) =
                    ng_cuda_col_chunk(column + (at >> 2), shift);
        if (carries) {
            kept = __funnelshift_r(column[from >> 2], column[(from >> 2) + 1],
                                   back);
            __syncwarp();
            column[lane - 8] = kept;
        }
    }
    return n - end;
}

#endif
