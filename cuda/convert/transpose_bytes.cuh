/* SPDX-License-Identifier: Apache-2.0
 *
 * Four words of four bytes, transposed in registers by eight byte selections.
 * Device only.
 */
#ifndef NG_CUDA_CONVERT_TRANSPOSE_BYTES_CUH
#define NG_CUDA_CONVERT_TRANSPOSE_BYTES_CUH

#include "cuda/ptx_prmt.cuh"

/* Byte i of word j becomes byte j of word i. */
__device__ __forceinline__ void ng_cuda_transpose_4x4(uint32_t w[4])
{
    const uint32_t a = ng_cuda_prmt(w[0], w[1], 0x5140);
    const uint32_t b = ng_cuda_prmt(w[2], w[3], 0x5140);
    const uint32_t c = ng_cuda_prmt(w[0], w[1], 0x7362);
    const uint32_t d = ng_cuda_prmt(w[2], w[3], 0x7362);

    w[0] = ng_cuda_prmt(a, b, 0x5410);
    w[1] = ng_cuda_prmt(a, b, 0x7632);
    w[2] = ng_cuda_prmt(c, d, 0x5410);
    w[3] = ng_cuda_prmt(c, d, 0x7632);
}

#endif
