# SPDX-License-Identifier: Apache-2.0
"""gfloat: round_ndarray and encode_ndarray, decode_ndarray, and MXFP4 blocks by compute_scale_amax.

gfloat is about values, and knows one NaN a format: it is written here as the specification writes it. A NaN in E2M1 or
in a block raises, and below 2^-127, negative numbers included, encode_ndarray runs past the end of E8M0 (2^-149 becomes
0xEA): those elements are counted as left out."""
import numpy as np

import tensors

PACKAGES = ["gfloat"]
FORMATS = {"e2m1": "format_info_ocp_e2m1", "e4m3": "format_info_ocp_e4m3", "ue8m0": "format_info_ocp_e8m0",
           "bf16": "format_info_bfloat16", "fp16": "format_info_binary16"}
CHECKS = ([{"profile": "gfloat", "operation": "encode_" + f} for f in FORMATS]
          + [{"profile": "gfloat", "operation": "decode_" + f} for f in FORMATS]
          + [{"profile": "gfloat", "operation": "quantize_mxfp4", "set": ["x=" + x, "scales=ue8m0"],
              "slow": x != "bf16"} for x in ("fp32", "bf16", "fp16")])


def rounded(format, x, rules, random):
    import gfloat
    from gfloat import RoundMode, formats

    info = getattr(formats, FORMATS[format])
    mode = {"nearest-even": RoundMode.TiesToEven, "nearest-away": RoundMode.TiesToAway,
            "toward-zero": RoundMode.TowardZero, "up": RoundMode.TowardPositive,
            "down": RoundMode.TowardNegative, "stochastic": RoundMode.StochasticFastest}[rules["rounding"]]
    more = {"srbits": random.astype(np.int64), "srnumbits": 32} if random is not None else {}
    saturates = format == "e2m1" or rules["overflow"] == "saturate"
    y = gfloat.round_ndarray(info, x.astype(np.float64), mode, saturates, **more)
    codes = gfloat.encode_ndarray(info, y)
    if info.num_nans > 0:       # an overflow keeps its sign
        sign = np.where(np.isnan(x) | ~np.signbit(x) | ~np.asarray(info.is_signed), 0, 1 << info.k - 1)
        all_ones = (1 << info.k - 1) - 1 if info.is_signed else (1 << info.k) - 1
        codes = np.where(np.isnan(y), all_ones | sign.astype(np.uint64), codes)
    return codes


def answer(operation, rules, inputs, attributes):
    import gfloat
    from gfloat import formats

    if operation == "quantize_mxfp4":
        return quantize(rules, inputs, attributes)
    kind, format = operation.split("_")
    x = inputs["x"]
    if kind == "decode":
        y = gfloat.decode_ndarray(getattr(formats, FORMATS[format]), x.astype(np.int64))
        bits = y.astype(np.float32).view(np.uint32)
        return {"y": np.where(np.isnan(y), 0x7FFFFFFF, bits).astype(np.uint32)}
    bits = np.uint16 if format in ("bf16", "fp16") else np.uint8
    leave = {"e2m1": np.isnan(x), "ue8m0": (x < 2.0**-127) & ~np.isinf(x) | (x == -np.inf)}
    leave = leave.get(format, np.zeros(x.shape, bool))
    random = inputs.get("random")
    codes = np.zeros(x.shape, bits)
    with np.errstate(all="ignore"):
        codes[~leave] = rounded(format, x[~leave], rules, random[~leave] if random is not None else None)
    return {"y": codes, "left out": leave}


def quantize(rules, inputs, attributes):
    from gfloat import block

    if rules["rounding"] == "stochastic":       # gfloat's words are those of scalars
        return None
    x = tensors.numbers(inputs["x"], rules["dtype x"])
    rows, cols = x.shape
    if x.size == 0:
        return None
    with np.errstate(invalid="ignore"):
        parts = tensors.blocks(x, 32).astype(np.float64)
    leave = ~np.isfinite(parts).all(axis=2)
    parts[leave] = 0
    scale = np.array([[block.compute_scale_amax(2, part) for part in row] for row in parts])
    scale = scale.reshape(parts.shape[:2])
    codes = rounded("e2m1", parts / scale[..., None], rules, None)
    return {"y.codes": tensors.pack(codes.astype(np.uint8).reshape(rows, -1)[:, :cols]),
            "y.scales": (np.log2(scale) + 127).astype(np.uint8),
            "left out": {"y.codes": np.repeat(leave, 16, axis=1)[:, :-(-cols // 2)], "y.scales": leave}}
