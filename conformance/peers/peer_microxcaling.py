# SPDX-License-Identifier: Apache-2.0
"""microxcaling's Python path on the CPU into fp4_e2m1 and fp8_e4m3, blocks of 32.

It returns dequantised numbers: the scale is asked for with its own functions, and each number over it is a code."""
import numpy as np

import checkout
import tensors

COMMIT = "7bc4195"
ROUND = {"nearest-away": "nearest", "nearest-even": "even"}
CHECKS = [{"profile": profile, "operation": operation, "set": ["x=" + x, "scales=ue8m0"]}
          for operation in ("quantize_mxfp4", "quantize_mxfp8")
          for profile in ("microxcaling", "microxcaling-even") for x in ("fp32", "bf16")]
# Name, largest exponent, bits of a significand and its sign, bits of an exponent, the numbers by code.
FORMATS = {"quantize_mxfp4": ("fp4_e2m1", 2, 3, 2, [0, .5, 1, 1.5, 2, 3, 4, 6]),
           "quantize_mxfp8": ("fp8_e4m3", 8, 5, 4, [m * 2.**-9 for m in range(8)]
                              + [(8 + m) * 2.**(e - 10) for e in range(1, 16) for m in range(8)][:-1])}


def version():
    return checkout.find("NG_MICROXCALING", "https://github.com/microsoft/microxcaling", COMMIT)


def answer(operation, rules, inputs, attributes):
    import torch
    from mx import mx_ops

    name, emax, bits, exponent_bits, values = FORMATS[operation]
    x = tensors.numbers(inputs["x"], rules["dtype x"])
    rows, cols = x.shape
    if x.size == 0:
        return None
    wide = torch.from_numpy(tensors.blocks(x, 32).reshape(rows, -1).copy())
    round = ROUND[rules["rounding"]]
    y = mx_ops._quantize_mx(wide, 8, name, axes=[-1], block_size=32, round=round).reshape(rows, -1, 32)
    shared = mx_ops._shared_exponents(wide.reshape(rows, -1, 32), "max", [-1]) - emax
    bad = torch.isnan(y).any(dim=2, keepdim=True)
    shared = torch.where(bad, 0, torch.clamp(shared, min=-127))
    over = torch.where(bad, 0, wide.reshape(rows, -1, 32)) / 2**shared
    element = mx_ops._quantize_elemwise_core(over, bits, exponent_bits, values[-1], round=round, saturate_normals=True)
    if not torch.equal(torch.where(bad, 0, y), element * 2**shared) or not torch.equal(torch.isnan(y), bad.expand_as(y)):
        raise ValueError("the whole is not what its parts make")
    sign = np.signbit(element.numpy())
    codes = np.searchsorted(values, np.abs(element.numpy()))
    if not np.array_equal(np.take(values, codes, mode="clip"), np.abs(element.numpy())):
        raise ValueError("a number over its scale is no code")
    scale, bad = shared.numpy()[..., 0], bad.numpy()
    scales = np.where(bad[..., 0], 255, scale + 127).astype(np.uint8)
    if operation == "quantize_mxfp4":
        codes = (codes | sign * 8).astype(np.uint8)
        return {"y.codes": tensors.pack(codes.reshape(rows, -1)[:, :cols]), "y.scales": scales}
    codes = np.where(bad, 0x7F, codes | sign * 128).astype(np.uint8)
    # Zeros, and what lies next to half of the least step: rules of E2M1 have those, none of E4M3.
    steps = np.abs(over.numpy()) * 2.**9
    left_out = ~bad & ((steps <= 2.**-100) | ((steps > 0.5 - 2.**-20) & (steps < 0.5)))
    return {"y.codes": codes.reshape(rows, -1)[:, :cols], "y.scales": scales,
            "left out": {"y.codes": left_out.reshape(rows, -1)[:, :cols]}}
