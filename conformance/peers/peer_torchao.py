# SPDX-License-Identifier: Apache-2.0
"""torchao's to_mx into MXFP4, eager, on the CPU, in its four scale modes. It takes FP32 and BF16."""
import numpy as np

import checkout
import tensors

COMMIT = "36027d8"
CHECKS = [{"profile": "torchao-" + mode, "operation": "quantize_mxfp4", "set": ["x=" + x, "scales=ue8m0"]}
          for mode in ("floor", "ceil", "even", "rceil") for x in ("fp32", "bf16")]


def version():
    return checkout.find("NG_TORCHAO", "https://github.com/pytorch/ao", COMMIT)


def answer(operation, rules, inputs, attributes):
    import torch
    from torchao.prototype.mx_formats import mx_tensor

    x = inputs["x"]
    rows, cols = x.shape
    if x.size == 0:
        return None
    wide = tensors.blocks(x, 32).reshape(rows, -1)
    if rules["dtype x"] == "bf16":
        wide = torch.from_numpy(wide.copy()).view(torch.bfloat16)
    else:
        wide = torch.from_numpy(wide.copy())
    mode = getattr(mx_tensor.ScaleCalculationMode, rules["mxfp4.scale"].split("-")[0].upper())
    scales, codes = mx_tensor.to_mx(wide, torch.float4_e2m1fn_x2, 32, mode)
    codes = codes.view(torch.uint8).numpy()[:, :-(-cols // 2)].copy()
    if cols % 2:                    # a padding element is +0, or takes the block's NaN
        codes[:, -1] &= 0x0F
    return {"y.codes": codes, "y.scales": scales.view(torch.uint8).numpy()}
