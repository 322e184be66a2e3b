/* SPDX-License-Identifier: Apache-2.0
 *
 * Codes whose lines do not start on 16-byte boundaries, copied to lines that
 * do: the copy engine takes no others.
 */
#ifndef NG_CUDA_MOE_PACK_CODES_CUH
#define NG_CUDA_MOE_PACK_CODES_CUH

#include <cstdint>

#include "cuda/try.cuh"

/* Bytes of a line of that width on 16-byte boundaries. */
inline int64_t ng_cuda_packed_width(int64_t width)
{
    return (width + 15) / 16 * 16;
}

/* Bytes of so many of them, to a 256-byte boundary. */
inline int64_t ng_cuda_packed_bytes(int64_t lines, int64_t width)
{
    return (lines * ng_cuda_packed_width(width) + 255) / 256 * 256;
}

/* Enqueue the copy. Of ragged lines, offsets given, only those of groups. */
ng_status ng_cuda_pack_codes(uint8_t *out, const uint8_t *in, int64_t lines,
                             int64_t width, int64_t ld, const int64_t *offsets,
                             int64_t n_groups, cudaStream_t stream);

#endif
