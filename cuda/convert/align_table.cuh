/* SPDX-License-Identifier: Apache-2.0
 *
 * Scale alignment by table: for every distance of exponents, the E4M3 codes of
 * the eight E2M1 magnitudes in two words, and which of them are inexact. Made
 * on the host from ng_cuda_aligned_code, so that every rule of it holds, and
 * passed to a kernel by value.
 *
 * Then four codes are one byte selection: the low three bits of four nibbles
 * choose among eight bytes.
 */
#ifndef NG_CUDA_CONVERT_ALIGN_TABLE_CUH
#define NG_CUDA_CONVERT_ALIGN_TABLE_CUH

#include "cuda/convert/align_block.cuh"

/* Distances d = (k + H) - e >= 0 of a block's exponent e below the largest; row
 * 30 serves all beyond it: 6 * 2^(8-30) is nothing in E4M3. Row 31 is that of a
 * NaN scale. */
enum {
    NG_CUDA_ALIGN_ROWS = 32,
    NG_CUDA_ALIGN_NAN = NG_CUDA_ALIGN_ROWS - 1,
    NG_CUDA_ALIGN_FARTHEST = NG_CUDA_ALIGN_NAN - 1
};

struct ng_cuda_align_row {
    uint32_t low, high; /* byte m: the code of magnitude m, m % 4 */
    uint32_t inexact;   /* bit m */
    uint32_t signs;     /* 0x80 in every byte whose sign counts: all or none */
};

struct ng_cuda_align_table {
    ng_cuda_align_row row[NG_CUDA_ALIGN_ROWS];
};

inline ng_cuda_align_table ng_cuda_make_align_table(const ng_rules &rules)
{
    ng_cuda_align_table table = {};

    for (int d = 0; d <= NG_CUDA_ALIGN_FARTHEST; d++) {
        ng_cuda_align_row &row = table.row[d];

        row.signs = 0x80808080;
        for (uint32_t m = 0; m < 8; m++) {
            unsigned events = 0;
            const uint32_t code =
                ng_cuda_aligned_code(m, rules.headroom - d, rules, events);

            (m < 4 ? row.low : row.high) |= code << 8 * (m % 4);
            row.inexact |= (events >> NG_EVENT_INEXACT & 1) << m;
        }
    }

    const uint32_t nan = NG_E4M3_NAN * 0x01010101u;

    table.row[NG_CUDA_ALIGN_NAN] = {nan, nan, 0, 0};
    return table;
}

/* All that there are, by overflow and headroom: made once, for a launch should
 * not cost the host more than the kernel takes. */
struct ng_cuda_align_tables {
    enum { HEADROOMS = 9 };

    ng_cuda_align_table saturate[HEADROOMS], ieee[HEADROOMS];

    ng_cuda_align_tables()
    {
        ng_rules rules = ng_default_rules;

        for (int h = 0; h < HEADROOMS; h++) {
            rules.headroom = h;
            rules.overflow = NG_SATURATE;
            saturate[h] = ng_cuda_make_align_table(rules);
            rules.overflow = NG_IEEE;
            ieee[h] = ng_cuda_make_align_table(rules);
        }
    }
};

/* The rounding is nearest-even. */
inline const ng_cuda_align_table &ng_cuda_align_table_of(const ng_rules &rules)
{
    static const ng_cuda_align_tables tables;

    return (rules.overflow == NG_SATURATE ? tables.saturate
                                          : tables.ieee)[rules.headroom];
}

#ifdef __CUDACC__
#include "cuda/ptx_prmt.cuh"

/* Copy a table out of a kernel's parameters, by the first 32 threads; then a
 * barrier. */
__device__ __forceinline__ void
ng_cuda_align_table_load(ng_cuda_align_table *to,
                         const ng_cuda_align_table &from)
{
    if (threadIdx.x < NG_CUDA_ALIGN_ROWS)
        to->row[threadIdx.x] = from.row[threadIdx.x];
}

/* Which row of the table a block with that scale byte takes, where codes under
 * byte `top` are at distance 0: k + H + 127, the FP8 block's exponent being k.
 * byte <= top, or 0xFF, a NaN. */
__device__ __forceinline__ int ng_cuda_align_distance(int top, uint32_t byte)
{
    return byte == 0xFF ? (int)NG_CUDA_ALIGN_NAN
                        : min(top - (int)byte, (int)NG_CUDA_ALIGN_FARTHEST);
}

/* Four E4M3 codes of the four nibbles in the low half of `nibbles`; signs is
 * 0x01010101, or 0 to leave them out. */
__device__ __forceinline__ uint32_t ng_cuda_align4(uint32_t low, uint32_t high,
                                                   uint32_t nibbles,
                                                   uint32_t signs)
{
    /* A selector nibble's high bit spreads the sign of the byte it selects:
     * among eight bytes 0x80 it gives 0xFF where it is set and 0x80 where not.
     */
    const uint32_t negative =
        ng_cuda_prmt(0x80808080, 0x80808080, nibbles) & signs;

    return ng_cuda_prmt(low, high, nibbles & 0x7777) | negative << 7;
}

/* The E4M3 codes of eight nibbles, in order. */
__device__ __forceinline__ uint2 ng_cuda_align8(const ng_cuda_align_row &row,
                                                uint32_t nibbles)
{
    const uint32_t magnitudes = nibbles & 0x77777777;
    const uint32_t even = nibbles << 4; /* signs where odd ones have theirs */

    return {ng_cuda_prmt(row.low, row.high, magnitudes)
                | (ng_cuda_prmt(even, nibbles, 0x5140) & row.signs),
            ng_cuda_prmt(row.low, row.high, magnitudes >> 16)
                | (ng_cuda_prmt(even, nibbles, 0x7362) & row.signs)};
}
#endif

#endif
