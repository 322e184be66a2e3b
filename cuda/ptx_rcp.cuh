/* SPDX-License-Identifier: Apache-2.0
 *
 * rcp.approx, 1/x to one unit in the last place (PTX ISA 9.7.3.15), for callers
 * whose result does not depend on the last digits. The host twin divides.
 */
#ifndef NG_CUDA_PTX_RCP_CUH
#define NG_CUDA_PTX_RCP_CUH

#include "cuda/bits.cuh"

/* x normal, 1 <= x < 2. */
NG_HOST_DEVICE float ng_cuda_rcp_approx(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return ng_cuda_div_rn(1.0f, x);
#endif
}

#endif
