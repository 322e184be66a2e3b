/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/tensor_map.h"

#include <cudaTypedefs.h>

#include "cuda/try.cuh"

ng_status ng_cuda_tensor_map(CUtensorMap *map, const ng_cuda_tensor_view *view)
{
    cudaDriverEntryPointQueryResult found;
    void *entry = nullptr;
    cuuint64_t extent[3], stride[2];
    cuuint32_t box[3], step[3];
    const int size = view->type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32    ? 4
                     : view->type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 ? 2
                                                                      : 1;
    const CUtensorMapSwizzle swizzle =
        !view->swizzled             ? CU_TENSOR_MAP_SWIZZLE_NONE
        : view->box[0] * size == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                    : CU_TENSOR_MAP_SWIZZLE_128B;

    NG_CUDA_TRY(cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess)
        return ng_cuda_note(cudaErrorNotSupported, "cuTensorMapEncodeTiled");
    for (int axis = 0; axis < view->rank; axis++) {
        extent[axis] = (cuuint64_t)view->extent[axis];
        box[axis] = (cuuint32_t)view->box[axis];
        step[axis] = 1;
        if (axis > 0)
            stride[axis - 1] = (cuuint64_t)view->stride[axis - 1];
    }

    const CUresult result = ((PFN_cuTensorMapEncodeTiled_v12000)entry)(
        map, view->type, (cuuint32_t)view->rank, const_cast<void *>(view->data),
        extent, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);

    return result == CUDA_SUCCESS
               ? NG_OK
               : ng_cuda_note(cudaErrorInvalidValue, "cuTensorMapEncodeTiled");
}
