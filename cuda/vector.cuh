/* SPDX-License-Identifier: Apache-2.0
 *
 * 16-byte accesses: what decides whether a line can take them, and streams that
 * are read once and so need not stay in L1.
 */
#ifndef NG_CUDA_VECTOR_CUH
#define NG_CUDA_VECTOR_CUH

#include <cstdint>

enum { NG_CUDA_VECTOR = 16 };

/* Whether lines that start at `data`, `bytes` apart, all start on a boundary.
 */
inline bool ng_cuda_is_aligned(const void *data, int64_t bytes,
                               int64_t boundary = NG_CUDA_VECTOR)
{
    return (int64_t)((uintptr_t)data % (uintptr_t)boundary) == 0
           && bytes % boundary == 0;
}

#ifdef __CUDACC__
__device__ __forceinline__ uint4 ng_cuda_load16(const void *p)
{
    return __ldg((const uint4 *)p);
}

__device__ __forceinline__ void ng_cuda_store16(void *p, uint4 v)
{
    *(uint4 *)p = v;
}
#endif

#endif
