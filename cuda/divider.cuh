/* SPDX-License-Identifier: Apache-2.0
 *
 * Division of 32-bit numbers by one that is the same for a whole grid.
 */
#ifndef NG_CUDA_DIVIDER_CUH
#define NG_CUDA_DIVIDER_CUH

#include <cstdint>

/* With m = ceil(2^64 / d) = (2^64 + f) / d, 0 <= f < d, and n < 2^32:
 * n m / 2^64 = n / d + n f / (d 2^64), which is above n / d by less than
 * 2^-32 < 1 / d: the floor is that of n / d. d = 1 has no 64-bit m. */
struct ng_cuda_divider {
    uint64_t magic;
    uint32_t divisor;
};

inline ng_cuda_divider ng_cuda_divider_of(uint32_t d)
{
    return {d > 1 ? UINT64_MAX / d + 1 : 0, d};
}

#ifdef __CUDACC__
__device__ __forceinline__ uint32_t ng_cuda_divide(uint32_t n,
                                                   const ng_cuda_divider &by)
{
    return by.magic != 0 ? (uint32_t)__umul64hi(n, by.magic) : n;
}
#endif

#endif
