# SPDX-License-Identifier: Apache-2.0
"""torchao's to_mx into MXFP4 and MXFP8, eager, on the CPU, in its four scale modes, and to_dtype back from MXFP8. It
takes FP32 and BF16."""
import numpy as np

import checkout
import tensors

COMMIT = "36027d8"
CHECKS = [{"profile": "torchao-" + mode, "operation": operation, "set": ["x=" + x, "scales=ue8m0"]}
          for operation in ("quantize_mxfp4", "quantize_mxfp8")
          for mode in ("floor", "ceil", "even", "rceil") for x in ("fp32", "bf16")]
CHECKS.append({"profile": "torchao-floor", "operation": "dequantize_mxfp8", "set": ["y=fp32", "scales=ue8m0"]})


def version():
    return checkout.find("NG_TORCHAO", "https://github.com/pytorch/ao", COMMIT)


def dequantize(codes, scales):
    """A NaN has the processor's bits: it is written as the specification writes it."""
    import torch
    from torchao.prototype.mx_formats import mx_tensor

    wide = torch.from_numpy(tensors.blocks(codes, 32).reshape(len(codes), -1).copy()).view(torch.float8_e4m3fn)
    scales = torch.from_numpy(scales.copy()).view(torch.float8_e8m0fnu)
    y = mx_tensor.to_dtype(wide, scales, torch.float8_e4m3fn, 32, torch.float32).numpy()[:, :codes.shape[1]]
    return {"y": np.where(np.isnan(y), np.uint32(0x7FFFFFFF).view(np.float32), y)}


def answer(operation, rules, inputs, attributes):
    import torch
    from torchao.prototype.mx_formats import mx_tensor

    x = inputs["x.codes" if operation == "dequantize_mxfp8" else "x"]
    rows, cols = x.shape
    if x.size == 0:
        return None
    if operation == "dequantize_mxfp8":
        return dequantize(x, inputs["x.scales"])
    wide = tensors.blocks(x, 32).reshape(rows, -1)
    if rules["dtype x"] == "bf16":
        wide = torch.from_numpy(wide.copy()).view(torch.bfloat16)
    else:
        wide = torch.from_numpy(wide.copy())
    e4m3 = operation == "quantize_mxfp8"
    rule = rules["mxfp8.scale" if e4m3 else "mxfp4.scale"]
    mode = getattr(mx_tensor.ScaleCalculationMode, rule.split("-")[0].upper())
    scales, codes = mx_tensor.to_mx(wide, torch.float8_e4m3fn if e4m3 else torch.float4_e2m1fn_x2, 32, mode)
    codes = codes.view(torch.uint8).numpy()
    if e4m3:
        codes = codes[:, :cols].copy()
        codes[codes == 0xFF] = 0x7F     # the sign of a NaN is the processor's
    else:
        codes = codes[:, :-(-cols // 2)].copy()
        if cols % 2:                    # a padding element is +0, or takes the block's NaN
            codes[:, -1] &= 0x0F
    return {"y.codes": codes, "y.scales": scales.view(torch.uint8).numpy()}
