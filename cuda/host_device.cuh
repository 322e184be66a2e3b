/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of the kernels that compile for the host as well, so that a machine
 * without a GPU, or even without nvcc, verifies them (subject cuda-host).
 */
#ifndef NG_CUDA_HOST_DEVICE_CUH
#define NG_CUDA_HOST_DEVICE_CUH

#ifdef __CUDACC__
#define NG_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define NG_HOST_DEVICE inline
#endif

/* Before a loop with a fixed number of turns, of registers that it indexes. */
#ifdef __CUDA_ARCH__
#define NG_CUDA_UNROLL _Pragma("unroll")
#else
#define NG_CUDA_UNROLL
#endif

#endif
