/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/fault_kind.h"

static const char *const names[NG_N_KINDS] = {
    [NG_KIND_NONE] = "",
    [NG_KIND_TIES] = "tie direction",
    [NG_KIND_TRUNCATION] = "truncation",
    [NG_KIND_DIRECTION] = "rounding direction",
    [NG_KIND_DOUBLE_ROUNDING] = "double rounding",
    [NG_KIND_OVERFLOW] = "overflow",
    [NG_KIND_SUBNORMAL] = "subnormals",
    [NG_KIND_ZERO_SIGN] = "sign of zero",
    [NG_KIND_NAN] = "NaN rule",
    [NG_KIND_SCALE_RULE] = "scale rule",
    [NG_KIND_LOG2] = "exponent by log2",
    [NG_KIND_AMAX] = "amax",
    [NG_KIND_SCALE_END] = "end of the scales",
    [NG_KIND_ZERO_BLOCK] = "zero block",
    [NG_KIND_PACKED_SCALES] = "packed scales",
    [NG_KIND_NIBBLES] = "nibble order",
    [NG_KIND_TILE_INDEX] = "tile index",
    [NG_KIND_PADDING] = "stale padding",
    [NG_KIND_SCALES_TURNED] = "transposed scales",
    [NG_KIND_HEADROOM] = "headroom",
    [NG_KIND_ALIGNMENT] = "alignment by exponent field",
    [NG_KIND_SPLIT] = "weight splitting",
    [NG_KIND_STATE_ZERO] = "zero of a state",
    [NG_KIND_STATE_CODING] = "state coding",
    [NG_KIND_NOISE] = "stochastic noise",
    [NG_KIND_EMPTY_GROUP] = "empty group",
    [NG_KIND_PAST_GROUPS] = "rows past the groups",
    [NG_KIND_RAGGED_TAIL] = "ragged tail",
    [NG_KIND_INDEX_32] = "32-bit index",
    [NG_KIND_UNSTABLE] = "non-determinism",
    [NG_KIND_STEP_COUNT] = "step count",
    [NG_KIND_STEP_ORDER] = "order of a step",
    [NG_KIND_ACCUMULATION] = "accumulation",
    [NG_KIND_NOT_REFUSED] = "malformed input taken",
    [NG_KIND_UNWRITTEN] = "unwritten output",
    [NG_KIND_OUTSIDE] = "write outside",
};

const char *ng_fault_kind_name(ng_fault_kind kind)
{
    return names[kind];
}

static bool is_nearest(int rounding)
{
    return rounding == NG_NEAREST_EVEN || rounding == NG_NEAREST_AWAY
           || rounding == NG_NEAREST_ZERO;
}

ng_fault_kind ng_fault_kind_of_rule(ng_rule rule, int asked, int value)
{
    switch (rule) {
    case NG_RULE_ROUNDING:
        return is_nearest(asked) && is_nearest(value) ? NG_KIND_TIES
               : value == NG_TOWARD_ZERO              ? NG_KIND_TRUNCATION
                                                      : NG_KIND_DIRECTION;
    case NG_RULE_OVERFLOW:
        return NG_KIND_OVERFLOW;
    case NG_RULE_MXFP4_SCALE:
    case NG_RULE_MXFP8_SCALE:
        return value == NG_MX_RCEIL_LOG2 || value == NG_MX_FLOOR_LOG2
                   ? NG_KIND_LOG2
                   : NG_KIND_SCALE_RULE;
    case NG_RULE_BLOCK_LEAST:
    case NG_RULE_FP8_SCALE:
        return NG_KIND_SCALE_RULE;
    case NG_RULE_FP8_MULTIPLIER:
        return NG_KIND_DOUBLE_ROUNDING;
    case NG_RULE_MXFP4_BYTE_0:
        return NG_KIND_SCALE_END;
    case NG_RULE_FP8_ALIGN:
        return NG_KIND_ALIGNMENT;
    case NG_RULE_HEADROOM:
        return NG_KIND_HEADROOM;
    case NG_RULE_SPLIT:
        return NG_KIND_SPLIT;
    case NG_RULE_COMPAND:
        return NG_KIND_STATE_CODING;
    case NG_RULE_STEP:
        return NG_KIND_STEP_ORDER;
    case NG_RULE_GEMM:
        return NG_KIND_ACCUMULATION;
    default: /* the rules of NaN, and newer ones */
        return NG_KIND_NAN;
    }
}
