/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/moe/place_lines.cuh"

#include "cuda/grid.cuh"

static __global__ void copy_lines(uint8_t *out, ng_cuda_lines in, int64_t ld,
                                  const int64_t *offsets, int64_t n_groups)
{
    const int64_t used = offsets != nullptr ? offsets[n_groups] : in.lines;

    for (int64_t line = blockIdx.x; line < used; line += gridDim.x)
        for (int64_t i = threadIdx.x; i < in.width; i += blockDim.x)
            out[line * ld + i] = in.bytes[line * in.ld + i];
}

ng_status ng_cuda_place_lines(ng_cuda_lines *x, const ng_groups *groups,
                              uint8_t **workspace, cudaStream_t stream)
{
    const ng_cuda_lines from = *x;
    const int64_t bytes = ng_cuda_lines_workspace(from);
    uint8_t *const to = *workspace;

    if (bytes == 0)
        return NG_OK;
    x->bytes = to;
    x->ld = ng_cuda_placed_width(from.width);
    *workspace += bytes;
    copy_lines<<<ng_cuda_blocks(from.lines, 1), 256, 0, stream>>>(
        to, from, x->ld, groups != nullptr ? groups->offsets : nullptr,
        groups != nullptr ? groups->n_groups : 0);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
