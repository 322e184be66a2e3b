/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "oracle": every rule over exact reals in MPFR.
 */
#include "conformance/subject/conversions.h"
#include "conformance/subject/gemm_functions.h"
#include "conformance/subject/optim_functions.h"
#include "conformance/subject/subject.h"
#include "conformance/subject/swiglu_functions.h"
#include "conformance/oracle/oracle_convert_fp8_row_to_col.h"
#include "conformance/oracle/oracle_convert_fp8_to_mxfp4.h"
#include "conformance/oracle/oracle_convert_mxfp4_to_fp8.h"
#include "conformance/oracle/oracle_convert_scales.h"
#include "conformance/oracle/oracle_decode.h"
#include "conformance/oracle/oracle_dequantize_fp8.h"
#include "conformance/oracle/oracle_dequantize_mxfp4.h"
#include "conformance/oracle/oracle_dequantize_mxfp8.h"
#include "conformance/oracle/oracle_encode.h"
#include "conformance/oracle/oracle_pack_e2m1.h"
#include "conformance/oracle/oracle_philox.h"
#include "conformance/oracle/oracle_quantize_fp8.h"
#include "conformance/oracle/oracle_quantize_mxfp4.h"
#include "conformance/oracle/oracle_quantize_mxfp8.h"
#include "conformance/oracle/oracle_transpose_fp8_tile.h"
#include "conformance/oracle/oracle_unpack_e2m1.h"

static const ng_conversions conversions = {
    .encode = ng_oracle_encode,
    .decode = ng_oracle_decode,
    .philox = ng_oracle_philox,
    .quantize_mxfp4 = ng_oracle_quantize_mxfp4,
    .dequantize_mxfp4 = ng_oracle_dequantize_mxfp4,
    .quantize_mxfp8 = ng_oracle_quantize_mxfp8,
    .dequantize_mxfp8 = ng_oracle_dequantize_mxfp8,
    .quantize_fp8 = ng_oracle_quantize_fp8,
    .dequantize_fp8 = ng_oracle_dequantize_fp8,
    .convert_mxfp4_to_fp8 = ng_oracle_convert_mxfp4_to_fp8,
    .convert_fp8_row_to_col = ng_oracle_convert_fp8_row_to_col,
    .convert_fp8_to_mxfp4 = ng_oracle_convert_fp8_to_mxfp4,
    .transpose_fp8_tile = ng_oracle_transpose_fp8_tile,
    .pack_e2m1 = ng_oracle_pack_e2m1,
    .unpack_e2m1 = ng_oracle_unpack_e2m1,
    .convert_scales = ng_oracle_convert_scales,
};

static bool covers(const ng_call *call)
{
    return ng_conversions_cover(&conversions, call)
           || ng_gemm_functions_cover(&ng_oracle_gemm_functions, call)
           || ng_swiglu_functions_cover(&ng_oracle_swiglu_functions, call)
           || ng_optim_functions_cover(&ng_oracle_optim_functions, call);
}

static ng_status run(const ng_call *call)
{
    if (ng_gemm_functions_cover(&ng_oracle_gemm_functions, call))
        return ng_gemm_functions_run(&ng_oracle_gemm_functions, call);
    if (ng_swiglu_functions_cover(&ng_oracle_swiglu_functions, call))
        return ng_swiglu_functions_run(&ng_oracle_swiglu_functions, call);
    return ng_conversions_cover(&conversions, call)
               ? ng_conversions_run(&conversions, call)
               : ng_optim_functions_run(&ng_oracle_optim_functions, call);
}

static ng_status bounds_of(const ng_call *call, ng_bounds *bounds)
{
    return ng_swiglu_functions_cover(&ng_oracle_swiglu_functions, call)
               ? ng_oracle_swiglu_bounds(call, bounds)
               : ng_oracle_gemm_bounds(call, bounds);
}

const ng_subject ng_subject_oracle = {
    .name = "oracle",
    .description = "every rule over exact reals in MPFR",
    .counts_events = true,
    .trusted = true,
    .covers = covers,
    .run = run,
    .bounds = bounds_of,
};
