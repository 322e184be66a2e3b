/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/gemm_functions.h"
#include "reference/moe/ref_grouped_gemm_bf16.h"
#include "reference/moe/ref_grouped_gemm_fprop.h"
#include "reference/moe/ref_grouped_gemm_wgrad.h"

const ng_gemm_functions ng_reference_gemm_functions = {
    .fprop = ng_ref_grouped_gemm_fprop,
    .wgrad = ng_ref_grouped_gemm_wgrad,
    .mxfp4_fprop = ng_ref_grouped_gemm_mxfp4_fprop,
    .mxfp4_wgrad = ng_ref_grouped_gemm_mxfp4_wgrad,
    .bf16_fprop = ng_ref_grouped_gemm_bf16_fprop,
    .bf16_wgrad = ng_ref_grouped_gemm_bf16_wgrad,
};
