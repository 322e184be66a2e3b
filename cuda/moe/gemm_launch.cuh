/* SPDX-License-Identifier: Apache-2.0
 *
 * What the launchers of the grouped GEMMs share: pairs of CTAs on every
 * multiprocessor, and maps of codes and of planes of scales.
 */
#ifndef NG_CUDA_MOE_GEMM_LAUNCH_CUH
#define NG_CUDA_MOE_GEMM_LAUNCH_CUH

#include "cuda/launch.h"
#include "cuda/moe/gemm_ring.cuh"
#include "cuda/moe/place_lines.cuh"
#include "cuda/tensor_map.h"
#include "cuda/try.cuh"
#include "cuda/vector.cuh"
#include "formats/layout.h"

/* Coordinates of the copy engine are 32-bit, tiles reach past an end, and the
 * walks over tiles count them in 32 bits. */
enum { NG_GEMM_LARGEST_EXTENT = INT32_MAX - 1024 };

/* Whether so many tiles, and those of a walk's last step, can be counted. */
inline bool ng_gemm_countable(int64_t n_groups, int64_t row_blocks,
                              int64_t col_blocks)
{
    return n_groups <= NG_GEMM_LARGEST_EXTENT
           && row_blocks <= NG_GEMM_LARGEST_EXTENT
           && row_blocks * col_blocks <= NG_GEMM_LARGEST_EXTENT;
}

/* What a product of rows (fprop, dgrad) asks of all but its a [rows, k], which
 * is the caller's to check: d [rows, n], b tiles [n_matrices * n, k]. tile_cols:
 * columns of the kernel's tile. */
ng_status ng_gemm_check_rows(const ng_matrix *d, int64_t rows, int64_t k,
                             const ng_fp8 *b, const ng_options *options,
                             int64_t n_matrices, int tile_cols,
                             const ng_cuda_launch *launch);

/* Lines of bytes, in swizzled boxes of `rows` lines x `width`. */
inline ng_status ng_gemm_map_lines(CUtensorMap *map, const ng_cuda_lines &x,
                                   int width, int rows)
{
    const ng_cuda_tensor_view view = {x.bytes,   CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                      2,         {x.width, x.lines, 1},
                                      {x.ld, 0}, {width, rows, 1},
                                      true};

    return ng_cuda_tensor_map(map, &view);
}

/* Whether the copy engine can load this plane of n scales in each of `lines`
 * lines: FP32, neighbouring lines side by side, on 16-byte boundaries. A map's
 * lines must not overlap, as those of a ragged tensor's unused rows may. */
inline bool ng_gemm_scales_by_engine(const ng_scales *scales, int64_t lines,
                                     int64_t n)
{
    return scales->dtype == NG_FP32 && scales->ld == 1
           && (n <= 1 || scales->step >= lines)
           && ng_cuda_is_aligned(scales->data, n > 1 ? scales->step * 4 : 16);
}

/* n scales of each of `lines` lines, boxes of one scale of `count` lines. */
inline ng_status ng_gemm_map_scales(CUtensorMap *map, const ng_scales *scales,
                                    int64_t lines, int64_t n, int count)
{
    const ng_cuda_tensor_view view = {
        scales->data,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        2,
        {lines, n, 1},
        {n > 1 ? scales->step * 4 : (lines + 3) / 4 * 16, 0},
        {count, 1, 1},
        false};

    return ng_cuda_tensor_map(map, &view);
}

/* Whether the copy engine can store lines of this matrix of elements of `size`
 * bytes. Measured on an H200: it writes whole 16 bytes, so that a line must not
 * end within them. */
inline bool ng_gemm_lines_by_engine(const ng_matrix *d, int64_t size)
{
    return ng_cuda_is_aligned(d->data, d->ld * size)
           && d->cols * size % NG_CUDA_VECTOR == 0;
}

/* Launch pairs of CTAs, one a multiprocessor. */
template <typename... Parameters, typename... Arguments>
ng_status ng_gemm_launch(void (*kernel)(Parameters...), int shared_bytes,
                         cudaStream_t stream, const Arguments &...arguments)
{
    int device = 0, count = 0;
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};

    NG_CUDA_TRY(cudaGetDevice(&device));
    NG_CUDA_TRY(
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    NG_CUDA_TRY(cudaFuncSetAttribute(
        (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
        shared_bytes));
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {NG_GEMM_PAIR, 1, 1};
    config.gridDim = dim3((unsigned)(count / NG_GEMM_PAIR * NG_GEMM_PAIR));
    config.blockDim = dim3(NG_GEMM_THREADS);
    config.dynamicSmemBytes = (size_t)shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    NG_CUDA_TRY(cudaLaunchKernelEx(&config, kernel, arguments...));
    return NG_OK;
}

#endif
