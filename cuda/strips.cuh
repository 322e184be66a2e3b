/* SPDX-License-Identifier: Apache-2.0
 *
 * How the transposing kernels share out a matrix: a thread block stays with a
 * tile of columns and takes a strip of consecutive blocks (or windows) of rows,
 * so that the loads of one are on their way while the one before is written,
 * and what lies together in memory is written together. Strips side by side run
 * at a time. Short ones come last, to fill the multiprocessors to the end.
 */
#ifndef NG_CUDA_STRIPS_CUH
#define NG_CUDA_STRIPS_CUH

#include <cstdint>

#include "cuda/launch_next.cuh"

enum { NG_CUDA_LONGEST_STRIP = 8 };

struct ng_cuda_strips {
    unsigned cols;   /* tiles of columns */
    unsigned n_long; /* strips of long_size, one below the other */
    int long_size, short_size;
    int64_t grid;
};

/* Strips for `blocks` by `cols` tiles on the current device, which holds
 * `resident` thread blocks a multiprocessor. */
inline ng_status ng_cuda_strips_of(ng_cuda_strips *s, int64_t blocks,
                                   int64_t cols, int resident)
{
    int multiprocessors = 0;

    NG_CUDA_TRY(ng_cuda_multiprocessors(&multiprocessors));

    const int64_t share = blocks * cols / (2 * multiprocessors * resident);
    const int size = share >= NG_CUDA_LONGEST_STRIP ? NG_CUDA_LONGEST_STRIP
                     : share >= 4                   ? 4
                     : share >= 2                   ? 2
                                                    : 1;

    s->cols = (unsigned)cols;
    s->long_size = size;
    s->short_size = size < 4 ? 1 : size / 4;
    s->n_long = (unsigned)(blocks * 3 / 4 / size);

    const int64_t left = blocks - (int64_t)s->n_long * size;

    s->grid = (s->n_long + (left + s->short_size - 1) / s->short_size) * cols;
    return NG_OK;
}

#ifdef __CUDACC__
/* This thread block's: n blocks from number `first` on, some of which may lie
 * past the last, and its tile of columns. */
struct ng_cuda_strip {
    int first, n;
    unsigned col_tile;
};

__device__ __forceinline__ ng_cuda_strip
ng_cuda_strip_of(const ng_cuda_strips &s)
{
    const unsigned i = blockIdx.x / s.cols;
    const unsigned col_tile = blockIdx.x - i * s.cols;

    if (i < s.n_long)
        return {(int)i * s.long_size, s.long_size, col_tile};
    return {(int)s.n_long * s.long_size + (int)(i - s.n_long) * s.short_size,
            s.short_size, col_tile};
}
#endif

#endif
