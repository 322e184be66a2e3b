/* SPDX-License-Identifier: Apache-2.0
 *
 * One FP32 number to a code of any format, and back: the element functions as
 * subjects cuda and cuda-host offer them.
 */
#ifndef NG_CUDA_CONVERT_ENCODE_ELEMENT_CUH
#define NG_CUDA_CONVERT_ENCODE_ELEMENT_CUH

#include "cuda/convert/both.cuh"
#include "cuda/convert/decode_code.cuh"
#include "cuda/convert/round_code.cuh"
#include "cuda/ptx_cvt.cuh"
#include "formats/format.h"

/* What the fast encoders of the format give under nearest-even: codes that
 * saturate (E2M1, E4M3) or overflow to infinity (BF16, FP16). */
NG_HOST_DEVICE uint32_t ng_cuda_fast_code(int format, float x)
{
    switch (format) {
    case NG_FORMAT_E2M1:
        return ng_cuda_nearest_e2m1(x);
    case NG_FORMAT_E4M3:
        return ng_cuda_both(ng_cuda_nearest_e4m3(x),
                            ng_cuda_cvt_e4m3x2(x, -x) & 0xFF);
    case NG_FORMAT_BF16:
        return ng_cuda_both(ng_cuda_nearest_bf16(x),
                            ng_cuda_cvt_bf16x2(-x, x) >> 16);
    default: /* NG_FORMAT_FP16 */
        return ng_cuda_both(ng_cuda_nearest_fp16(x),
                            ng_cuda_cvt_fp16x2(x, -x) & 0xFFFF);
    }
}

NG_HOST_DEVICE bool ng_cuda_has_fast_code(int format, const ng_rules &rules)
{
    if (rules.rounding != NG_NEAREST_EVEN)
        return false;
    if (format == NG_FORMAT_E2M1)
        return rules.e2m1_nan == NG_E2M1_NAN_ZERO;
    if (format == NG_FORMAT_E4M3)
        return rules.overflow == NG_SATURATE;
    return (format == NG_FORMAT_BF16 || format == NG_FORMAT_FP16)
           && rules.overflow == NG_IEEE;
}

/* The code of x by the general rounding, held against the fast ones where the
 * rules are theirs. UE6M10 rounds to nearest-even whatever the rules. */
NG_HOST_DEVICE uint32_t ng_cuda_encode_element(int format, float x,
                                               const ng_rules &rules,
                                               uint32_t random,
                                               unsigned &events)
{
    const ng_cuda_real v = ng_cuda_real_of(ng_cuda_bits_of(x));
    uint32_t code = 0;

    switch (format) {
    case NG_FORMAT_E2M1:
        code = ng_cuda_round_code<ng_cuda_e2m1>(v, rules, random, events);
        break;
    case NG_FORMAT_E4M3:
        code = ng_cuda_round_code<ng_cuda_e4m3>(v, rules, random, events);
        break;
    case NG_FORMAT_UE8M0:
        code = ng_cuda_round_code<ng_cuda_ue8m0>(v, rules, random, events);
        break;
    case NG_FORMAT_UE6M10:
        code = ng_cuda_round_code<ng_cuda_ue6m10>(v, rules, random, events);
        break;
    case NG_FORMAT_BF16:
        code = ng_cuda_round_code<ng_cuda_bf16>(v, rules, random, events);
        break;
    default: /* NG_FORMAT_FP16 */
        code = ng_cuda_round_code<ng_cuda_fp16>(v, rules, random, events);
        break;
    }
    return ng_cuda_has_fast_code(format, rules)
               ? ng_cuda_both(code, ng_cuda_fast_code(format, x))
               : code;
}

/* The value of a code; bits above the format's width are ignored. The rule nan
 * is read: bf16-widened keeps a BF16 NaN's bits and gives UE8M0's as
 * 0x7FFF0000. */
NG_HOST_DEVICE float ng_cuda_decode_element(int format, uint32_t code,
                                            const ng_rules &rules)
{
    const bool widened = rules.nan == NG_NAN_BF16_WIDENED;

    switch (format) {
    case NG_FORMAT_E2M1:
        return ng_cuda_decode_e2m1(code);
    case NG_FORMAT_E4M3: {
        /* The instruction, by way of FP16, must say the same. */
        const float x = ng_cuda_decode_e4m3(code);
        const float y =
            ng_cuda_decode_fp16(ng_cuda_cvt_fp16x2_of_e4m3x2(code & 0xFF));

        return ng_cuda_float_of(
            ng_cuda_both(ng_cuda_bits_of(x), ng_cuda_bits_of(y)));
    }
    case NG_FORMAT_UE8M0:
        return widened && (code & 0xFF) == 0xFF
                   ? ng_cuda_float_of((uint32_t)NG_BF16_NAN << 16)
                   : ng_cuda_decode_ue8m0(code);
    case NG_FORMAT_UE6M10:
        return ng_cuda_decode_ue6m10(code);
    case NG_FORMAT_BF16:
        return widened ? ng_cuda_float_of(code << 16)
                       : ng_cuda_decode_bf16(code);
    default: /* NG_FORMAT_FP16 */
        return ng_cuda_decode_fp16(code);
    }
}

#endif
