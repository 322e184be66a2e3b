/* SPDX-License-Identifier: Apache-2.0
 *
 * Two writings of one thing, offered as one result.
 */
#ifndef NG_CUDA_CONVERT_BOTH_CUH
#define NG_CUDA_CONVERT_BOTH_CUH

#include <cstdint>

#include "cuda/host_device.cuh"

/* Their code if they agree. Where they part, at least one is wrong, and so is
 * what comes back, whichever it was: it is neither. */
NG_HOST_DEVICE uint32_t ng_cuda_both(uint32_t a, uint32_t b)
{
    return a == b ? a : (a ^ 1) != b ? a ^ 1 : a ^ 2;
}

#endif
