/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "reference": this project's C reference, held against MPFR.
 */
#include "conformance/subject/conversions.h"
#include "conformance/subject/gemm_functions.h"
#include "conformance/subject/optim_functions.h"
#include "conformance/subject/subject.h"
#include "conformance/subject/swiglu_functions.h"
#include "reference/convert/ref_convert_fp8_row_to_col.h"
#include "reference/convert/ref_convert_fp8_to_mxfp4.h"
#include "reference/convert/ref_convert_mxfp4_to_fp8.h"
#include "reference/convert/ref_convert_scales.h"
#include "reference/convert/ref_decode.h"
#include "reference/convert/ref_dequantize_fp8.h"
#include "reference/convert/ref_dequantize_mxfp4.h"
#include "reference/convert/ref_dequantize_mxfp8.h"
#include "reference/convert/ref_encode.h"
#include "reference/convert/ref_pack_e2m1.h"
#include "reference/convert/ref_philox.h"
#include "reference/convert/ref_quantize_fp8.h"
#include "reference/convert/ref_quantize_mxfp4.h"
#include "reference/convert/ref_quantize_mxfp8.h"
#include "reference/convert/ref_transpose_fp8_tile.h"
#include "reference/convert/ref_unpack_e2m1.h"

static uint32_t encode(ng_format_id format, float x, const ng_rules *rules,
                       uint32_t random, unsigned *events)
{
    return ng_ref_encode(&ng_formats[format], x, rules, random, events);
}

static float decode(ng_format_id format, uint32_t code, const ng_rules *rules)
{
    return ng_ref_decode(&ng_formats[format], code, rules);
}

static const ng_conversions conversions = {
    .encode = encode,
    .decode = decode,
    .philox = ng_ref_philox,
    .quantize_mxfp4 = ng_ref_quantize_mxfp4,
    .dequantize_mxfp4 = ng_ref_dequantize_mxfp4,
    .quantize_mxfp8 = ng_ref_quantize_mxfp8,
    .dequantize_mxfp8 = ng_ref_dequantize_mxfp8,
    .quantize_fp8 = ng_ref_quantize_fp8,
    .dequantize_fp8 = ng_ref_dequantize_fp8,
    .convert_mxfp4_to_fp8 = ng_ref_convert_mxfp4_to_fp8,
    .convert_fp8_row_to_col = ng_ref_convert_fp8_row_to_col,
    .convert_fp8_to_mxfp4 = ng_ref_convert_fp8_to_mxfp4,
    .transpose_fp8_tile = ng_ref_transpose_fp8_tile,
    .pack_e2m1 = ng_ref_pack_e2m1,
    .unpack_e2m1 = ng_ref_unpack_e2m1,
    .convert_scales = ng_ref_convert_scales,
};

static bool covers(const ng_call *call)
{
    return ng_conversions_cover(&conversions, call)
           || ng_gemm_functions_cover(&ng_reference_gemm_functions, call)
           || ng_swiglu_functions_cover(&ng_reference_swiglu_functions, call)
           || ng_optim_functions_cover(&ng_reference_optim_functions, call);
}

static ng_status run(const ng_call *call)
{
    if (ng_gemm_functions_cover(&ng_reference_gemm_functions, call))
        return ng_gemm_functions_run(&ng_reference_gemm_functions, call);
    if (ng_swiglu_functions_cover(&ng_reference_swiglu_functions, call))
        return ng_swiglu_functions_run(&ng_reference_swiglu_functions, call);
    return ng_conversions_cover(&conversions, call)
               ? ng_conversions_run(&conversions, call)
               : ng_optim_functions_run(&ng_reference_optim_functions, call);
}

const ng_subject ng_subject_reference = {
    .name = "reference",
    .description = "this project's C reference, held against MPFR",
    .counts_events = true,
    .trusted = true,
    .covers = covers,
    .run = run,
};
