/* SPDX-License-Identifier: Apache-2.0
 *
 * RN32(code * scale), then for a narrower type that FP32 number rounded once
 * more, nearest-even (semantics.md 1): any overflow rule, events.
 */
#ifndef NG_CUDA_CONVERT_DEQUANTIZE_ELEMENT_CUH
#define NG_CUDA_CONVERT_DEQUANTIZE_ELEMENT_CUH

#include "cuda/convert/round_code.cuh"
#include "formats/dtype.h"

/* The bits of the number in type `dtype`.
 *   code, scale  FP32 patterns: the decoded code, the decoded scale */
NG_HOST_DEVICE uint32_t ng_cuda_dequantize_element(uint32_t code,
                                                   uint32_t scale,
                                                   ng_dtype dtype,
                                                   const ng_rules &rules,
                                                   unsigned &events)
{
    ng_rules nearest = rules;

    nearest.rounding = NG_NEAREST_EVEN;
    nearest.overflow = NG_IEEE;

    const uint32_t value = ng_cuda_round_code<ng_cuda_fp32>(
        ng_cuda_real_product(ng_cuda_real_of(code), ng_cuda_real_of(scale)),
        nearest, 0, events);

    if (dtype == NG_FP32)
        return value;
    nearest.overflow = rules.overflow;
    return dtype == NG_BF16
               ? ng_cuda_round_code<ng_cuda_bf16>(ng_cuda_real_of(value),
                                                  nearest, 0, events)
               : ng_cuda_round_code<ng_cuda_fp16>(ng_cuda_real_of(value),
                                                  nearest, 0, events);
}

#endif
