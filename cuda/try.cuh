/* SPDX-License-Identifier: Apache-2.0
 *
 * The one way to call CUDA from a launcher: return on an error, its text kept.
 */
#ifndef NG_CUDA_TRY_CUH
#define NG_CUDA_TRY_CUH

#include <cuda_runtime.h>

#include "cuda/device.h"

/* Keep the text of an error for ng_cuda_error_text; returns the status that it
 * amounts to, NG_OK for cudaSuccess. */
ng_status ng_cuda_note(cudaError_t error, const char *call);

#define NG_CUDA_TRY(call)                                                 \
    do {                                                                  \
        const ng_status ng_cuda_try_status = ng_cuda_note((call), #call); \
        if (ng_cuda_try_status != NG_OK)                                  \
            return ng_cuda_try_status;                                    \
    } while (0)

/* After a <<<...>>>: whether the launch itself was taken. */
#define NG_CUDA_TRY_LAUNCH() NG_CUDA_TRY(cudaGetLastError())

#endif
