/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/moe/pack_codes.cuh"

#include "cuda/grid.cuh"

static __global__ void pack_codes(uint8_t *out, const uint8_t *in,
                                  int64_t lines, int64_t width, int64_t ld,
                                  const int64_t *offsets, int64_t n_groups)
{
    const int64_t used = offsets != nullptr ? offsets[n_groups] : lines;
    const int64_t packed = (width + 15) / 16 * 16;

    for (int64_t line = blockIdx.x; line < used; line += gridDim.x)
        for (int64_t i = threadIdx.x; i < width; i += blockDim.x)
            out[line * packed + i] = in[line * ld + i];
}

ng_status ng_cuda_pack_codes(uint8_t *out, const uint8_t *in, int64_t lines,
                             int64_t width, int64_t ld, const int64_t *offsets,
                             int64_t n_groups, cudaStream_t stream)
{
    if (lines == 0 || width == 0)
        return NG_OK;
    pack_codes<<<ng_cuda_blocks(lines, 1), 256, 0, stream>>>(
        out, in, lines, width, ld, offsets, n_groups);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
