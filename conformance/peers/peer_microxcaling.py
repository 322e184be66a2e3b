# SPDX-License-Identifier: Apache-2.0
"""microxcaling's Python path on the CPU into fp4_e2m1, blocks of 32.

It returns dequantised numbers: the scale is asked for with its own functions, and each number over it is a code."""
import numpy as np

import checkout
import tensors

COMMIT = "7bc4195"
ROUND = {"nearest-away": "nearest", "nearest-even": "even"}
CHECKS = [{"profile": profile, "operation": "quantize_mxfp4", "set": ["x=" + x, "scales=ue8m0"]}
          for profile in ("microxcaling", "microxcaling-even") for x in ("fp32", "bf16")]


def version():
    return checkout.find("NG_MICROXCALING", "https://github.com/microsoft/microxcaling", COMMIT)


def answer(operation, rules, inputs, attributes):
    import torch
    from mx import mx_ops

    x = tensors.numbers(inputs["x"], rules["dtype x"])
    rows, cols = x.shape
    if x.size == 0:
        return None
    wide = torch.from_numpy(tensors.blocks(x, 32).reshape(rows, -1).copy())
    round = ROUND[rules["rounding"]]
    y = mx_ops._quantize_mx(wide, 8, "fp4_e2m1", axes=[-1], block_size=32, round=round).reshape(rows, -1, 32)
    shared = mx_ops._shared_exponents(wide.reshape(rows, -1, 32), "max", [-1]) - 2
    bad = torch.isnan(y).any(dim=2, keepdim=True)
    shared = torch.where(bad, 0, torch.clamp(shared, min=-127))
    element = mx_ops._quantize_elemwise_core(torch.where(bad, 0, wide.reshape(rows, -1, 32)) / 2**shared, 3, 2, 6.0,
                                             round=round, saturate_normals=True)
    if not torch.equal(torch.where(bad, 0, y), element * 2**shared) or not torch.equal(torch.isnan(y), bad.expand_as(y)):
        raise ValueError("the whole is not what its parts make")
    codes = np.searchsorted([0, .5, 1, 1.5, 2, 3, 4, 6], np.abs(element.numpy()))
    codes = (codes | np.signbit(element.numpy()) * 8).astype(np.uint8)
    scale, bad = shared.numpy()[..., 0], bad.numpy()[..., 0]
    return {"y.codes": tensors.pack(codes.reshape(rows, -1)[:, :cols]),
            "y.scales": np.where(bad, 255, scale + 127).astype(np.uint8)}
