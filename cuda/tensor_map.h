/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor maps, which tell the copy engine (cuda/ptx_tma.cuh) what lies where.
 */
#ifndef NG_CUDA_TENSOR_MAP_H
#define NG_CUDA_TENSOR_MAP_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/status.h"

/* A tensor of up to three axes, the innermost without gaps. */
typedef struct ng_cuda_tensor_view {
    const void *data; /* on a 16-byte boundary */
    CUtensorMapDataType type;
    int rank;          /* 2 or 3 */
    int64_t extent[3]; /* innermost first; above 0, below 2^32 */
    int64_t stride[2]; /* bytes along axes 1 and 2, multiples of 16 */
    int box[3];        /* what one copy moves; at most 256 an axis */
    bool swizzled;     /* over a box's rows of 128 bytes, or of 64 */
} ng_cuda_tensor_view;

/* Describe the tensor to the copy engine. The driver is asked for the encoder,
 * so that the library links without it. Returns NG_OK, or NG_DEVICE_ERROR where
 * the driver refuses the view. */
ng_status ng_cuda_tensor_map(CUtensorMap *map, const ng_cuda_tensor_view *view);

#endif
