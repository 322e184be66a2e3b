/* SPDX-License-Identifier: Apache-2.0
 *
 * Scalar codecs and the random stream.
 */
#include "conformance/checks/inputs_scalar.h"

#define ROUNDING_AXIS(n)                                                       \
    {"rounding", NG_AXIS_RULE, NG_RULE_ROUNDING, n,                            \
     {NG_NEAREST_EVEN, NG_NEAREST_AWAY, NG_TOWARD_ZERO, NG_UP, NG_DOWN,        \
      NG_STOCHASTIC}}

/* Every rounding and both overflow rules; a format that only saturates has the
 * first axis alone, UE6M10 (nearest-even only) none. */
static const ng_axis encode_axes[] = {
    ROUNDING_AXIS(NG_N_ROUNDINGS),
    {"overflow", NG_AXIS_RULE, NG_RULE_OVERFLOW, NG_N_OVERFLOWS,
     {NG_SATURATE, NG_IEEE}},
};
static const ng_axis nearest_axis[] = {
    {"rounding", NG_AXIS_RULE, NG_RULE_ROUNDING, 1, {NG_NEAREST_EVEN}},
};

#define EVENT(e) (1u << NG_EVENT_##e)

#define ENCODE(format, values, axes_, n_axes_, claims_)                        \
    {.name = "encode_" format,                                                 \
     .summary = "FP32 to " values,                                             \
     .signature = "y[n] " format " = x[n] fp32 (random[n] u32)",               \
     .exact = true, .axes = axes_, .n_axes = n_axes_,                          \
     .strata = ng_encode_strata, .claims = claims_}

#define DECODE(format)                                                         \
    {.name = "decode_" format,                                                 \
     .summary = "every " format " code to FP32, exactly",                      \
     .signature = "y[n] fp32 = x[n] " format,                                  \
     .exact = true, .strata = ng_decode_strata}

#define CLAIMS_ALL                                                             \
    (EVENT(INEXACT) | EVENT(TIE) | EVENT(SUBNORMAL) | EVENT(FLUSHED)           \
     | EVENT(SATURATED) | EVENT(INFINITE) | EVENT(NAN))

const ng_operation ng_scalar_operations[] = {
    ENCODE("e2m1", "E2M1 (0 to 6, no NaN)", encode_axes, 1, CLAIMS_ALL),
    ENCODE("e4m3", "E4M3 (OCP, to 448)", encode_axes, 2, CLAIMS_ALL),
    ENCODE("ue8m0", "UE8M0, a power of two", encode_axes, 2,
           CLAIMS_ALL & ~(EVENT(SUBNORMAL) | EVENT(FLUSHED))),
    ENCODE("ue6m10", "UE6M10, the scale of companded groups", nearest_axis, 1,
           CLAIMS_ALL),
    ENCODE("bf16", "BF16", encode_axes, 2, CLAIMS_ALL),
    ENCODE("fp16", "FP16", encode_axes, 2, CLAIMS_ALL),
    DECODE("e2m1"),
    DECODE("e4m3"),
    DECODE("ue8m0"),
    DECODE("ue6m10"),
    DECODE("bf16"),
    DECODE("fp16"),
    {.name = "philox",
     .summary = "Philox4x32-10, the words of stochastic rounding",
     .signature = "y[n] u32 = words first[1] u64 ... of (seed, stream)",
     .exact = true, .strata = ng_philox_strata},
};
const int ng_n_scalar_operations = sizeof ng_scalar_operations
                                   / sizeof *ng_scalar_operations;

_Static_assert(sizeof encode_axes / sizeof *encode_axes == 2, "as used above");
