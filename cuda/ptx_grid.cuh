/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that follow one another on a stream (PTX ISA 9.7.13.13,
 * griddepcontrol): how one starts while the one before it ends. Device only;
 * the launch is launch_next.cuh's.
 */
#ifndef NG_CUDA_PTX_GRID_CUH
#define NG_CUDA_PTX_GRID_CUH

/* Every thread of a kernel launched by ng_cuda_launch_next calls this first,
 * before it reads or writes memory: all that was enqueued before is done then,
 * and seen. The next such kernel's thread blocks may take the places that this
 * one's leave, and wait in their turn. Every thread: a grid that ended without
 * waiting would let the next one run beside what came before it. */
__device__ __forceinline__ void ng_cuda_wait_for_stream()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

#endif
