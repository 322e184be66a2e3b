/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda-headers": the conversions of NVIDIA's cuda_fp4.h, cuda_fp8.h,
 * cuda_bf16.h and cuda_fp16.h, as a host compiler sees them. Covered is what
 * they offer, and no more: a rounding that they lack is never emulated here.
 *
 *   e2m1    nearest-even, toward-zero; saturates
 *   e4m3    nearest-even; SATFINITE is saturate, NOSAT is ieee
 *   ue8m0   toward-zero, up (of |x|); SATFINITE, NOSAT likewise
 *   bf16    nearest-even, toward-zero, up, down; ieee
 *   fp16    nearest-even, toward-zero, up, down; ieee
 *
 * Codes are decoded to the type that the headers decode to (half or bfloat16)
 * and from there to float, as the headers' own operators do.
 */
#include <cstring>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

#include "conformance/subject/subject.h"

extern "C" {
#include "conformance/subject/conversions.h"
}

namespace {

float half_to_float(__half_raw raw)
{
    return __half2float(__half(raw));
}

float bfloat16_to_float(__nv_bfloat16_raw raw)
{
    return __bfloat162float(__nv_bfloat16(raw));
}

uint32_t encode_e2m1(float x, const ng_rules *rules)
{
    return __nv_cvt_float_to_fp4(x, __NV_E2M1,
                                 rules->rounding == NG_TOWARD_ZERO
                                     ? cudaRoundZero
                                     : cudaRoundNearest);
}

__nv_saturation_t saturation(const ng_rules *rules)
{
    return rules->overflow == NG_SATURATE ? __NV_SATFINITE : __NV_NOSAT;
}

uint32_t encode_e4m3(float x, const ng_rules *rules)
{
    return __nv_cvt_float_to_fp8(x, saturation(rules), __NV_E4M3);
}

uint32_t encode_ue8m0(float x, const ng_rules *rules)
{
    return __nv_cvt_float_to_e8m0(x, saturation(rules),
                                  rules->rounding == NG_TOWARD_ZERO
                                      ? cudaRoundZero
                                      : cudaRoundPosInf);
}

uint32_t encode_bf16(float x, const ng_rules *rules)
{
    const __nv_bfloat16 y = rules->rounding == NG_TOWARD_ZERO
                                ? __float2bfloat16_rz(x)
                            : rules->rounding == NG_UP   ? __float2bfloat16_ru(x)
                            : rules->rounding == NG_DOWN ? __float2bfloat16_rd(x)
                                                         : __float2bfloat16_rn(x);

    return static_cast<__nv_bfloat16_raw>(y).x;
}

uint32_t encode_fp16(float x, const ng_rules *rules)
{
    const __half y = rules->rounding == NG_TOWARD_ZERO ? __float2half_rz(x)
                     : rules->rounding == NG_UP        ? __float2half_ru(x)
                     : rules->rounding == NG_DOWN      ? __float2half_rd(x)
                                                       : __float2half_rn(x);

    return static_cast<__half_raw>(y).x;
}

float decode_e2m1(uint32_t code)
{
    return half_to_float(__nv_cvt_fp4_to_halfraw(
        static_cast<__nv_fp4_storage_t>(code), __NV_E2M1));
}

float decode_e4m3(uint32_t code)
{
    return half_to_float(__nv_cvt_fp8_to_halfraw(
        static_cast<__nv_fp8_storage_t>(code), __NV_E4M3));
}

float decode_ue8m0(uint32_t code)
{
    return bfloat16_to_float(
        __nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(code)));
}

float decode_bf16(uint32_t code)
{
    __nv_bfloat16_raw raw;

    raw.x = static_cast<unsigned short>(code);
    return bfloat16_to_float(raw);
}

float decode_fp16(uint32_t code)
{
    __half_raw raw;

    raw.x = static_cast<unsigned short>(code);
    return half_to_float(raw);
}

constexpr unsigned bit(int value)
{
    return 1u << value;
}

constexpr unsigned ANY_OVERFLOW = bit(NG_SATURATE) | bit(NG_IEEE);
constexpr unsigned DIRECTED = bit(NG_TOWARD_ZERO) | bit(NG_UP) | bit(NG_DOWN);

/* What the headers offer of a format: the functions, and the values of the
 * rules that they have an argument or a name for, a bit each. */
struct offer {
    ng_format_id format;
    uint32_t (*encode)(float x, const ng_rules *rules);
    float (*decode)(uint32_t code);
    unsigned roundings, overflows;
};

/* E2M1 saturates under either overflow rule (semantics section 1). */
const offer offers[] = {
    {NG_FORMAT_E2M1, encode_e2m1, decode_e2m1,
     bit(NG_NEAREST_EVEN) | bit(NG_TOWARD_ZERO), ANY_OVERFLOW},
    {NG_FORMAT_E4M3, encode_e4m3, decode_e4m3,
     bit(NG_NEAREST_EVEN), ANY_OVERFLOW},
    {NG_FORMAT_UE8M0, encode_ue8m0, decode_ue8m0,
     bit(NG_TOWARD_ZERO) | bit(NG_UP), ANY_OVERFLOW},
    {NG_FORMAT_BF16, encode_bf16, decode_bf16,
     bit(NG_NEAREST_EVEN) | DIRECTED, bit(NG_IEEE)},
    {NG_FORMAT_FP16, encode_fp16, decode_fp16,
     bit(NG_NEAREST_EVEN) | DIRECTED, bit(NG_IEEE)},
};

const offer *find(ng_format_id format)
{
    for (const offer &o : offers)
        if (o.format == format)
            return &o;
    return nullptr;
}

uint32_t encode(ng_format_id format, float x, const ng_rules *rules, uint32_t,
                unsigned *)
{
    return find(format)->encode(x, rules);
}

float decode(ng_format_id format, uint32_t code, const ng_rules *)
{
    return find(format)->decode(code);
}

constexpr ng_conversions make_conversions()
{
    ng_conversions table = {};

    table.encode = encode;
    table.decode = decode;
    return table;
}

constexpr ng_conversions conversions = make_conversions();

/* The operation is encode_<format> or decode_<format> once the table, which
 * has nothing else, says that it has it. */
bool covers(const ng_call *call)
{
    if (!ng_conversions_cover(&conversions, call))
        return false;

    const ng_format *format =
        ng_format_find(std::strchr(call->operation, '_') + 1);
    const offer *o = find(static_cast<ng_format_id>(format - ng_formats));

    if (o == nullptr)
        return false;
    return std::strncmp(call->operation, "decode_", 7) == 0
           || ((o->roundings >> call->rules.rounding & 1u) != 0
               && (o->overflows >> call->rules.overflow & 1u) != 0);
}

ng_status run(const ng_call *call)
{
    return covers(call) ? ng_conversions_run(&conversions, call)
                        : NG_NOT_COVERED;
}

} // namespace

extern "C" const ng_subject ng_subject_cuda_headers = {
    /* name */ "cuda-headers",
    /* description */ "the conversions of NVIDIA's headers on the host",
    /* counts_events */ false,
    /* trusted */ false,
    covers,
    run,
    /* bounds */ nullptr,
    /* open */ nullptr,
};
