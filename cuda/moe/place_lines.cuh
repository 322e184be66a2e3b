/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines that do not start on 16-byte boundaries, copied to lines that do: the
 * copy engine takes no others.
 */
#ifndef NG_CUDA_MOE_PLACE_LINES_CUH
#define NG_CUDA_MOE_PLACE_LINES_CUH

#include <cstdint>

#include "cuda/try.cuh"
#include "cuda/vector.cuh"
#include "formats/layout.h"

/* Lines of `width` bytes, `ld` from the start of one to that of the next. */
struct ng_cuda_lines {
    const uint8_t *bytes;
    int64_t lines, width, ld;
};

/* Bytes of a line of that width on 16-byte boundaries. */
inline int64_t ng_cuda_placed_width(int64_t width)
{
    return (width + 15) / 16 * 16;
}

/* Bytes of workspace that the lines need, to a 256-byte boundary: 0 where the
 * engine takes them as they are. */
inline int64_t ng_cuda_lines_workspace(const ng_cuda_lines &x)
{
    return ng_cuda_is_aligned(x.bytes, x.ld)
               ? 0
               : (x.lines * ng_cuda_placed_width(x.width) + 255) / 256 * 256;
}

/* Have *x where the engine takes it: enqueue the copy to *workspace, which
 * moves on, if need be. groups: those of the lines, of which alone are copied;
 * null: all. */
ng_status ng_cuda_place_lines(ng_cuda_lines *x, const ng_groups *groups,
                              uint8_t **workspace, cudaStream_t stream);

#endif
