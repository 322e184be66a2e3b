/* SPDX-License-Identifier: Apache-2.0
 *
 * Before a product over tokens: for each group the two tensor maps of its
 * codes, whose innermost axis ends where the group does, so that the copy
 * engine fills the rest of its last block with zeros; and, since the engine
 * starts on 16-byte boundaries only, a copy of those groups that do not, in the
 * workspace.
 */
#ifndef NG_CUDA_MOE_GEMM_REALIGN_CUH
#define NG_CUDA_MOE_GEMM_REALIGN_CUH

#include <cuda.h>

#include "cuda/ptx_tma.cuh"

/* One operand: codes [lines, tokens]. */
struct ng_gemm_operand {
    const uint8_t *codes;
    int64_t ld;
    uint8_t *copy; /* [lines, copy_ld] */
    int64_t copy_ld;
    int lines;
    bool always; /* lines are off boundaries: copy every group */
};

struct ng_gemm_realign_args {
    const int64_t *offsets; /* null: one group */
    int64_t rows;
    ng_gemm_operand operand[2];
    CUtensorMap *maps; /* [groups][2] */
    int line_blocks;   /* of 16 lines, both operands' */
};

/* Where a group's tokens start in the copy: on a boundary, and past the end of
 * the group before. */
__host__ __device__ inline int64_t ng_gemm_copy_start(int64_t start,
                                                      int64_t group)
{
    return (start + 15) / 16 * 16 + 16 * group;
}

/* Bytes of a line of the copy that has so many tokens and groups. */
inline int64_t ng_gemm_copy_ld(int64_t rows, int64_t n_groups)
{
    return ng_gemm_copy_start(rows, n_groups);
}

/* Where the maps of a group find its first token. */
__device__ inline int64_t ng_gemm_first_token(bool always, int64_t start,
                                              int64_t group)
{
    return always || start % 16 != 0 ? ng_gemm_copy_start(start, group) : start;
}

enum { NG_GEMM_REALIGN_THREADS = 256, NG_GEMM_REALIGN_LINES = 16 };

/* 16 bytes of `in` at i, of which those outside [0, n) are not read. */
__device__ inline uint4 ng_gemm_load_part(const uint8_t *in, int64_t i,
                                          int64_t n)
{
    uint32_t word[4] = {0, 0, 0, 0};

    if (i >= 0 && i + 16 <= n)
        return *(const uint4 *)(in + i);
#pragma unroll
    for (int b = 0; b < 16; b++)
        if (i + b >= 0 && i + b < n)
            word[b / 4] |= (uint32_t)in[i + b] << (8 * (b % 4));
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* Grid: line_blocks * groups. */
static __global__ void __launch_bounds__(NG_GEMM_REALIGN_THREADS)
    ng_gemm_realign(const __grid_constant__ CUtensorMap a,
                    const __grid_constant__ CUtensorMap b,
                    const __grid_constant__ CUtensorMap a_copy,
                    const __grid_constant__ CUtensorMap b_copy,
                    const ng_gemm_realign_args p)
{
    __shared__ alignas(128) CUtensorMap map[2];
    const int64_t group = blockIdx.x / p.line_blocks;
    const int block = (int)(blockIdx.x % p.line_blocks);
    const int64_t start = p.offsets != nullptr ? p.offsets[group] : 0;
    const int64_t end = p.offsets != nullptr ? p.offsets[group + 1] : p.rows;
    const int64_t n = end - start;

    if (n == 0)
        return;
    if (block == 0 && threadIdx.x < 64) {
        const int o = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int64_t first =
            ng_gemm_first_token(p.operand[o].always, start, group);
        const bool copied = p.operand[o].always || start % 16 != 0;
        const CUtensorMap *from =
            o == 0 ? (copied ? &a_copy : &a) : (copied ? &b_copy : &b);

        ((uint32_t *)&map[o])[lane] = ((const uint32_t *)from)[lane];
        __syncwarp();
        if (lane == 0)
            ng_tensormap_set_extent0(&map[o], (uint32_t)(first + n));
        __syncwarp();
        ng_tensormap_publish(p.maps + 2 * group + o, &map[o]);
    }

    for (int i = threadIdx.x / 64; i < NG_GEMM_REALIGN_LINES; i += 4) {
        const int64_t at = (int64_t)block * NG_GEMM_REALIGN_LINES + i;
        const ng_gemm_operand &o = p.operand[at < p.operand[0].lines ? 0 : 1];
        const int64_t line =
            at < p.operand[0].lines ? at : at - p.operand[0].lines;

        if (line >= o.lines || (!o.always && start % 16 == 0))
            continue;

        const uint8_t *in = o.codes + line * o.ld + start;
        uint8_t *out =
            o.copy + line * o.copy_ld + ng_gemm_copy_start(start, group);
        const int shift = (int)((uintptr_t)in % 16);
        const int words = shift / 4, bits = shift % 4 * 8;

        for (int64_t c = threadIdx.x % 64 * 16; c < n; c += 64 * 16) {
            const uint4 x = ng_gemm_load_part(in, c - shift, n);
            const uint4 y = ng_gemm_load_part(in, c - shift + 16, n);
            const uint32_t w[8] = {x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w};
            uint32_t v[4];

#pragma unroll
            for (int j = 0; j < 4; j++) {
                const uint32_t low = words == 0   ? w[j]
                                     : words == 1 ? w[j + 1]
                                     : words == 2 ? w[j + 2]
                                                  : w[j + 3];
                const uint32_t high = words == 0   ? w[j + 1]
                                      : words == 1 ? w[j + 2]
                                      : words == 2 ? w[j + 3]
                                                   : w[j + 4];

                v[j] = __funnelshift_r(low, high, bits);
            }
            *(uint4 *)(out + c) = make_uint4(v[0], v[1], v[2], v[3]);
        }
    }
}

#endif
