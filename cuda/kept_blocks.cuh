/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks whose scales a thread block of a transposing kernel has found and not
 * written yet: several of a column at a time are one write of memory, each by
 * itself is a partial one. What a scale is made of is the caller's, in shared
 * memory, by number.
 */
#ifndef NG_CUDA_KEPT_BLOCKS_CUH
#define NG_CUDA_KEPT_BLOCKS_CUH

#include "cuda/convert/scale_plane.cuh"
#include "cuda/row_window.cuh"

#ifdef __CUDACC__
/* The same in every thread. */
struct ng_cuda_kept_blocks {
    /* A window begins up to 128; below so many more there is room for them. */
    enum { ROOM = 16, MOST = NG_CUDA_WINDOW + ROOM };

    int64_t first = 0; /* block of the tensor */
    int n = 0;
    bool last = false; /* the last one is the tensor's */

    /* Those that begin in a window. */
    __device__ __forceinline__ void add(const ng_cuda_window &window)
    {
        const int skip = window.low < 0;

        if (n == 0)
            first = window.first_block + skip;
        n += window.n_blocks - skip;
        last = window.last;
    }

    __device__ __forceinline__ bool is_full() const
    {
        return n > ROOM;
    }

    /* Write the scales of `cols` columns from col on, and begin anew. bits(b,
     * c) is that of block first + b, column col + c. */
    template <int THREADS, class BITS>
    __device__ __forceinline__ void store(const ng_scales &plane, int64_t col,
                                          int cols, BITS bits)
    {
        const bool along = plane.step == 1; /* lanes go along a line */
        const int lane = along ? (int)threadIdx.x % 8 : 0;
        const int lanes = along ? 8 : 1;

        for (int c = (int)threadIdx.x / lanes; c < cols; c += THREADS / lanes)
            for (int b = lane; b < n; b += lanes) {
                const int64_t j = first + b;

                ng_cuda_store_scale(plane, col + c, j,
                                    last && b == n - 1 ? j + 1 : j + 2,
                                    bits(b, c));
            }
        n = 0;
    }
};
#endif

#endif
