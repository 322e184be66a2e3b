/* SPDX-License-Identifier: Apache-2.0
 *
 * The descriptors of formats/ as compile-time constants: what the rounding of
 * round_code.cuh takes as its template argument. Facts only.
 */
#ifndef NG_CUDA_CONVERT_FORMAT_FACTS_CUH
#define NG_CUDA_CONVERT_FORMAT_FACTS_CUH

#include <cstdint>

#include "formats/bf16.h"
#include "formats/e2m1.h"
#include "formats/e4m3.h"
#include "formats/fp16.h"
#include "formats/fp32.h"
#include "formats/ue6m10.h"
#include "formats/ue8m0.h"

/* What a code past max_code becomes under the rule ieee. */
enum ng_cuda_beyond {
    NG_CUDA_BEYOND_INFINITY,
    NG_CUDA_BEYOND_NAN,
    NG_CUDA_BEYOND_NOTHING /* saturates under either rule */
};

template <int FRACTION_BITS, int BIAS, uint32_t SIGN, bool SUBNORMALS,
          uint32_t MAX_CODE, uint32_t NAN_CODE, ng_cuda_beyond BEYOND>
struct ng_cuda_format {
    static constexpr int fraction_bits = FRACTION_BITS, bias = BIAS;
    static constexpr uint32_t sign = SIGN; /* 0: encodes |x| */
    static constexpr bool has_subnormals = SUBNORMALS;
    static constexpr uint32_t max_code = MAX_CODE;
    static constexpr uint32_t nan = NAN_CODE; /* 0: a rule names the code */
    static constexpr ng_cuda_beyond beyond = BEYOND;
};

using ng_cuda_e2m1 = ng_cuda_format<1, 1, NG_E2M1_SIGN, true, NG_E2M1_MAX_CODE,
                                    0, NG_CUDA_BEYOND_NOTHING>;
using ng_cuda_e4m3 =
    ng_cuda_format<3, NG_E4M3_BIAS, NG_E4M3_SIGN, true, NG_E4M3_MAX_CODE,
                   NG_E4M3_NAN, NG_CUDA_BEYOND_NAN>;
using ng_cuda_ue8m0 =
    ng_cuda_format<0, NG_UE8M0_BIAS, 0, false, NG_UE8M0_MAX_CODE, NG_UE8M0_NAN,
                   NG_CUDA_BEYOND_NAN>;
using ng_cuda_ue6m10 =
    ng_cuda_format<10, NG_UE6M10_BIAS, 0, true, NG_UE6M10_MAX_CODE,
                   NG_UE6M10_NAN, NG_CUDA_BEYOND_NOTHING>;
using ng_cuda_bf16 =
    ng_cuda_format<7, 127, NG_BF16_SIGN, true, NG_BF16_MAX_CODE, NG_BF16_NAN,
                   NG_CUDA_BEYOND_INFINITY>;
using ng_cuda_fp16 =
    ng_cuda_format<10, 15, NG_FP16_SIGN, true, NG_FP16_MAX_CODE, NG_FP16_NAN,
                   NG_CUDA_BEYOND_INFINITY>;
using ng_cuda_fp32 =
    ng_cuda_format<23, 127, NG_FP32_SIGN, true, NG_FP32_MAX_CODE, NG_FP32_NAN,
                   NG_CUDA_BEYOND_INFINITY>;

#endif
