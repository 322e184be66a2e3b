/* SPDX-License-Identifier: Apache-2.0
 *
 * The general path of each conversion as one function of a block's number, for
 * a team of threads: what kernels and the host's loops both walk over. `outer`
 * runs over rows or blocks of rows, `inner` over the blocks in one.
 */
#ifndef NG_CUDA_CONVERT_ROW_BLOCK_CUH
#define NG_CUDA_CONVERT_ROW_BLOCK_CUH

#include "cuda/convert/align_block.cuh"
#include "cuda/convert/convert_scale.cuh"
#include "cuda/convert/dequantize_element.cuh"
#include "cuda/convert/fp8_to_mxfp4_block.cuh"
#include "cuda/convert/quantize_fp8_block.cuh"
#include "cuda/convert/quantize_mxfp4_block.cuh"

struct ng_cuda_quantize_mxfp4_job {
    ng_mxfp4 y;
    ng_matrix x;
    ng_cuda_options o;

    NG_HOST_DEVICE int64_t outer() const
    {
        return ng_cuda_rows(o, x.rows);
    }
    NG_HOST_DEVICE int64_t inner() const
    {
        return (x.cols + NG_MXFP4_BLOCK - 1) / NG_MXFP4_BLOCK;
    }
    template <class TEAM>
    NG_HOST_DEVICE void run(int64_t i, int64_t j, TEAM team,
                            ng_cuda_counts &counts) const
    {
        ng_cuda_quantize_mxfp4_block(y, x, o, i, j, team, counts);
    }
};

struct ng_cuda_quantize_fp8_job {
    ng_fp8 y;
    ng_matrix x;
    ng_cuda_options o;

    NG_HOST_DEVICE int64_t outer() const
    {
        return ng_cuda_outer_blocks(y.form, x.rows, o);
    }
    NG_HOST_DEVICE int64_t inner() const
    {
        return ng_cuda_inner_blocks(y.form, x.cols);
    }
    template <class TEAM>
    NG_HOST_DEVICE void run(int64_t i, int64_t j, TEAM team,
                            ng_cuda_counts &counts) const
    {
        ng_cuda_quantize_fp8_block(
            y, x, o, ng_cuda_block_at(y.form, x.rows, x.cols, o, i, j), team,
            counts);
    }
};

struct ng_cuda_align_job {
    ng_fp8 y;
    ng_mxfp4 x;
    ng_cuda_options o;

    NG_HOST_DEVICE int64_t outer() const
    {
        return ng_cuda_outer_blocks(y.form, x.rows, o);
    }
    NG_HOST_DEVICE int64_t inner() const
    {
        return ng_cuda_inner_blocks(y.form, x.cols);
    }
    template <class TEAM>
    NG_HOST_DEVICE void run(int64_t i, int64_t j, TEAM team,
                            ng_cuda_counts &counts) const
    {
        ng_cuda_align_block(y, x, o,
                            ng_cuda_block_at(y.form, x.rows, x.cols, o, i, j),
                            team, counts);
    }
};

/* Blocks of 128 columns; a row's line of scales is found once for its four
 * MXFP4 blocks. */
struct ng_cuda_fp8_to_mxfp4_job {
    ng_mxfp4 y;
    ng_fp8 x;
    ng_cuda_options o;

    NG_HOST_DEVICE int64_t outer() const
    {
        return ng_cuda_outer_blocks(x.form, x.rows, o);
    }
    NG_HOST_DEVICE int64_t inner() const
    {
        return ng_cuda_inner_blocks(x.form, x.cols);
    }
    template <class TEAM>
    NG_HOST_DEVICE void run(int64_t i, int64_t j, TEAM team,
                            ng_cuda_counts &counts) const
    {
        const ng_cuda_block block =
            ng_cuda_block_at(x.form, x.rows, x.cols, o, i, j);

        for (int64_t row = block.first_row; row < block.last_row; row++)
            for (int64_t b = block.first_col / NG_MXFP4_BLOCK;
                 b * NG_MXFP4_BLOCK < block.last_col; b++)
                ng_cuda_fp8_to_mxfp4_block(y, x, o, row, block.line, b, team,
                                           counts);
    }
};

/* The FP8 dequantizer, of any form, and MXFP4's: an element at a time. */
struct ng_cuda_dequantize_fp8_job {
    ng_matrix y;
    ng_fp8 x;
    ng_cuda_options o;

    NG_HOST_DEVICE int64_t outer() const
    {
        return ng_cuda_outer_blocks(x.form, x.rows, o);
    }
    NG_HOST_DEVICE int64_t inner() const
    {
        return ng_cuda_inner_blocks(x.form, x.cols);
    }
    template <class TEAM>
    NG_HOST_DEVICE void run(int64_t i, int64_t j, TEAM team,
                            ng_cuda_counts &counts) const
    {
        const ng_cuda_block block =
            ng_cuda_block_at(x.form, x.rows, x.cols, o, i, j);
        const int n_cols = (int)(block.last_col - block.first_col);
        const int n = (int)(block.last_row - block.first_row) * n_cols;
        uint32_t scale = 0;

        if (n > 0)
            scale = ng_cuda_load_scale_fp32(x.scales, block.line, block.scale);
        for (int e = team.lane(); e < n; e += TEAM::lanes) {
            const int64_t row = block.first_row + e / n_cols;
            const int64_t col = block.first_col + e % n_cols;
            unsigned bits = 0;

            ng_cuda_store_number(
                y, row, col,
                ng_cuda_dequantize_element(ng_cuda_bits_of(ng_cuda_decode_e4m3(
                                               *ng_cuda_fp8_byte(x, row, col))),
                                           scale, y.dtype, o.rules, bits));
            ng_cuda_count(counts, bits);
        }
    }
};

struct ng_cuda_dequantize_mxfp4_job {
    ng_matrix y;
    ng_mxfp4 x;
    ng_cuda_options o;

    NG_HOST_DEVICE int64_t outer() const
    {
        return ng_cuda_rows(o, x.rows);
    }
    NG_HOST_DEVICE int64_t inner() const
    {
        return (x.cols + NG_MXFP4_BLOCK - 1) / NG_MXFP4_BLOCK;
    }
    template <class TEAM>
    NG_HOST_DEVICE void run(int64_t i, int64_t j, TEAM team,
                            ng_cuda_counts &counts) const
    {
        const int64_t first = j * NG_MXFP4_BLOCK;
        const int n = ng_cuda_mxfp4_size(x.cols, j);
        const uint32_t scale = ng_cuda_load_scale_fp32(x.scales, i, j);

        for (int e = team.lane(); e < n; e += TEAM::lanes) {
            const float code = ng_cuda_decode_e2m1(
                ng_cuda_load_nibble(x.codes + i * x.ld, first + e));
            unsigned bits = 0;

            ng_cuda_store_number(
                y, i, first + e,
                ng_cuda_dequantize_element(ng_cuda_bits_of(code), scale,
                                           y.dtype, o.rules, bits));
            ng_cuda_count(counts, bits);
        }
    }
};

/* Codes two to a byte, and back; a "block" is a row. */
struct ng_cuda_pack_job {
    ng_matrix y, x;
    ng_cuda_options o;

    NG_HOST_DEVICE int64_t outer() const
    {
        return ng_cuda_rows(o, x.rows);
    }
    NG_HOST_DEVICE int64_t inner() const
    {
        return 1;
    }
    template <class TEAM>
    NG_HOST_DEVICE void run(int64_t i, int64_t, TEAM team,
                            ng_cuda_counts &) const
    {
        const uint8_t *from = (const uint8_t *)x.data + i * x.ld;
        uint8_t *to = (uint8_t *)y.data + i * y.ld;

        for (int64_t b = team.lane(); 2 * b < x.cols; b += TEAM::lanes) {
            const uint32_t low = from[2 * b] & 0xF;
            const uint32_t high =
                2 * b + 1 < x.cols ? from[2 * b + 1] & 0xF : 0;

            to[b] = (uint8_t)(low | high << 4);
        }
    }
};

struct ng_cuda_unpack_job {
    ng_matrix y, x;
    ng_cuda_options o;

    NG_HOST_DEVICE int64_t outer() const
    {
        return ng_cuda_rows(o, x.rows);
    }
    NG_HOST_DEVICE int64_t inner() const
    {
        return 1;
    }
    template <class TEAM>
    NG_HOST_DEVICE void run(int64_t i, int64_t, TEAM team,
                            ng_cuda_counts &) const
    {
        const uint8_t *from = (const uint8_t *)x.data + i * x.ld;
        uint8_t *to = (uint8_t *)y.data + i * y.ld;

        for (int64_t c = team.lane(); c < x.cols; c += TEAM::lanes)
            to[c] = (uint8_t)ng_cuda_load_nibble(from, c);
    }
};

/* Scales to another storage; a "block" is a line. */
struct ng_cuda_convert_scales_job {
    ng_scales y, x;
    int64_t lines, n;

    NG_HOST_DEVICE int64_t outer() const
    {
        return lines;
    }
    NG_HOST_DEVICE int64_t inner() const
    {
        return 1;
    }
    /* Whether all scales of line i fit y's type. */
    template <class TEAM> NG_HOST_DEVICE bool fits(int64_t i, TEAM team) const
    {
        uint32_t misfit = 0;

        if (y.dtype == NG_FP32 || x.dtype != NG_FP32)
            return true;
        for (int64_t j = team.lane(); j < n; j += TEAM::lanes)
            misfit |= !ng_cuda_fits_ue8m0(ng_cuda_load_scale(x, i, j));
        return team.max(misfit) == 0;
    }
    template <class TEAM>
    NG_HOST_DEVICE void run(int64_t i, int64_t, TEAM team,
                            ng_cuda_counts &) const
    {
        for (int64_t j = team.lane(); j < n; j += TEAM::lanes)
            ng_cuda_store_scale(
                y, i, j, n,
                ng_cuda_convert_scale(ng_cuda_load_scale(x, i, j), x.dtype,
                                      y.dtype));
    }
};

/* An FP8 tensor of the tile form, transposed; blocks are x's tiles. */
struct ng_cuda_transpose_tile_job {
    ng_fp8 y, x;
    ng_cuda_options o;

    NG_HOST_DEVICE int64_t outer() const
    {
        return ng_cuda_outer_blocks(NG_FP8_TILE, x.rows, o);
    }
    NG_HOST_DEVICE int64_t inner() const
    {
        return ng_cuda_inner_blocks(NG_FP8_TILE, x.cols);
    }
    template <class TEAM>
    NG_HOST_DEVICE void run(int64_t i, int64_t j, TEAM team,
                            ng_cuda_counts &) const
    {
        const ng_cuda_block block =
            ng_cuda_block_at(NG_FP8_TILE, x.rows, x.cols, o, i, j);
        const int n_rows = (int)(block.last_row - block.first_row);
        const int n = n_rows * (int)(block.last_col - block.first_col);

        if (n == 0)
            return;
        if (team.lane() == 0)
            ng_cuda_store_scale(y.scales, j, i, ng_cuda_row_blocks(o, x.rows),
                                ng_cuda_load_scale(x.scales, i, j));
        for (int e = team.lane(); e < n; e += TEAM::lanes) {
            const int64_t row = block.first_row + e % n_rows;
            const int64_t col = block.first_col + e / n_rows;

            y.codes[col * y.ld + row] = x.codes[row * x.ld + col];
        }
    }
};

#endif
