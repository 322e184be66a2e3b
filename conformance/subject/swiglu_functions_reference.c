/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/swiglu_functions.h"
#include "reference/convert/ref_quantize_fp8.h"
#include "reference/convert/ref_quantize_mxfp4.h"
#include "reference/moe/ref_swiglu.h"

const ng_swiglu_functions ng_reference_swiglu_functions = {
    .swiglu = ng_ref_swiglu,
    .swiglu_mxfp4 = ng_ref_swiglu_mxfp4,
    .swiglu_fp8 = ng_ref_swiglu_fp8,
    .backward = ng_ref_swiglu_backward,
    .backward_fp8 = ng_ref_swiglu_backward_fp8,
    .quantize_mxfp4 = ng_ref_quantize_mxfp4,
    .quantize_fp8 = ng_ref_quantize_fp8,
};
