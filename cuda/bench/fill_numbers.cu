/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/bench/fill_numbers.h"

#include "cuda/check_views.h"
#include "cuda/convert/encode_nearest.cuh"
#include "cuda/convert/philox_word.cuh"
#include "cuda/grid.cuh"
#include "cuda/try.cuh"

enum { THREADS = 256 };

static __global__ void fill(const __grid_constant__ ng_matrix y, uint64_t seed)
{
    for (int64_t i = ng_cuda_thread(); i < y.rows * y.cols;
         i += ng_cuda_threads()) {
        const int64_t row = i / y.cols, col = i % y.cols;
        const ng_cuda_words words =
            ng_cuda_philox_block({seed, 0}, (uint64_t)i);
        int64_t sum = -((int64_t)2 << 32);

        for (int k = 0; k < 4; k++)
            sum += words.word[k];

        const float value = ldexpf((float)sum * 0x1p-31f, (int)(row % 8) - 4);

        if (y.dtype == NG_FP32)
            ((float *)y.data)[row * y.ld + col] = value;
        else
            ((uint16_t *)y.data)[row * y.ld + col] =
                (uint16_t)ng_cuda_nearest_bf16(value);
    }
}

extern "C" ng_status ng_cuda_fill_numbers(const ng_matrix *y, uint64_t seed,
                                          const ng_cuda_launch *launch)
{
    ng_status status;

    if (y == nullptr)
        return NG_BAD_POINTER;
    if ((status = ng_cuda_check_call(nullptr, y->rows, y->cols, launch))
            != NG_OK
        || (status = ng_cuda_check_matrix(y, 1 << NG_BF16 | 1 << NG_FP32))
               != NG_OK)
        return status;
    if (y->rows > 0 && y->cols > 0) {
        fill<<<ng_cuda_blocks(y->rows * y->cols, THREADS, 132 * 16), THREADS, 0,
               (cudaStream_t)launch->stream>>>(*y, seed);
        NG_CUDA_TRY_LAUNCH();
    }
    return NG_OK;
}
