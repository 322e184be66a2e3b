/* SPDX-License-Identifier: Apache-2.0
 *
 * Four 8x8 matrices of 16-bit elements from the registers of a warp to shared
 * memory. PTX ISA 9.0: stmatrix (9.7.14.5.16).
 */
#ifndef NG_CUDA_PTX_MATRIX_CUH
#define NG_CUDA_PTX_MATRIX_CUH

#include <cstdint>

/* Lane l gives the shared address of row l % 8 (16 bytes) of matrix l / 8, and
 * in x[j] the pair 2 * (l % 4) of row l / 4 of matrix j. */
__device__ inline void ng_stmatrix_x4(uint32_t address, uint32_t x0,
                                      uint32_t x1, uint32_t x2, uint32_t x3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, "
                 "%4};" ::"r"(address),
                 "r"(x0), "r"(x1), "r"(x2), "r"(x3)
                 : "memory");
}

#endif
