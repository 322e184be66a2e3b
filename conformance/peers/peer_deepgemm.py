# SPDX-License-Identifier: Apache-2.0
"""DeepGEMM's casts in PyTorch (deep_gemm/utils/math.py), on the CPU."""
import importlib.util
import os

import numpy as np

import checkout
import fp8_blocks
import tensors

COMMIT = "54e2261"
FORMS = ("row", "col", "tile")
TYPES = ("fp32", "bf16", "fp16")
CHECKS = ([{"profile": "deepgemm", "operation": "quantize_mxfp4", "set": ["x=" + x, "scales=ue8m0"]} for x in TYPES]
          + [{"profile": "deepgemm-fp8", "operation": "quantize_fp8_" + form, "set": ["x=" + x]}
             for form in FORMS for x in TYPES]
          + [{"profile": "deepgemm-fp8-ue8m0", "operation": "quantize_fp8_" + form, "set": ["x=" + x, "scales=" + s]}
             for form in FORMS for x, s in (("fp32", "fp32"), ("bf16", "ue8m0"), ("fp16", "ue8m0"))])


def version():
    return checkout.find("NG_DEEPGEMM", "https://github.com/deepseek-ai/DeepGEMM", COMMIT)


def casts():
    """The one file, without the package's CUDA library."""
    path = os.path.join(os.environ["NG_DEEPGEMM"], "deep_gemm", "utils", "math.py")
    spec = importlib.util.spec_from_file_location("deepgemm_math", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(operation, rules, inputs, attributes):
    import torch

    x = inputs["x"]
    rows, cols = x.shape
    if x.size == 0:
        return None
    if operation != "quantize_mxfp4":
        return quantize_fp8(operation, rules, x, inputs.get("offsets"))
    wide = tensors.as_torch(tensors.blocks(x, 32).reshape(rows, -1), rules["dtype x"])
    codes, sf = casts().per_token_cast_to_fp4(wide, True, 32)
    codes = codes.view(torch.uint8).numpy()[:, :-(-cols // 2)].copy()
    if cols % 2:
        codes[:, -1] &= 0x0F
    return {"y.codes": codes, "y.scales": (sf.view(torch.int32) >> 23).to(torch.uint8).numpy()}


def quantize_fp8(operation, rules, x, offsets):
    import torch

    dtype, pow2 = rules["dtype x"], rules["fp8.scale"] == "pow2"
    math = casts()

    def cast(function, part, turned=False):
        part = tensors.as_torch(part, dtype)
        codes, sf = function(part.T.contiguous() if turned else part, pow2)
        codes = codes.view(torch.uint8)
        return (codes.T.numpy(), sf.T.numpy()) if turned else (codes.numpy(), sf.numpy())

    found = fp8_blocks.quantize(
        operation, x, offsets,
        (lambda part: cast(math.per_channel_cast_to_fp8, part, True)) if operation.endswith("_col")
        else lambda part: cast(math.per_token_cast_to_fp8, part),
        lambda part: cast(math.per_block_cast_to_fp8, part))
    if found is None:
        return None
    codes, scales = found
    if rules["dtype scales"] == "ue8m0":
        scales = (scales.view(np.uint32) >> 23).astype(np.uint8)
    return {"y.codes": codes, "y.scales": scales}
