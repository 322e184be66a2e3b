# SPDX-License-Identifier: Apache-2.0
"""DeepGEMM's casts in PyTorch (deep_gemm/utils/math.py), on the CPU."""
import importlib.util
import os

import numpy as np

import checkout
import tensors

COMMIT = "54e2261"
CHECKS = [{"profile": "deepgemm", "operation": "quantize_mxfp4", "set": ["x=" + x, "scales=ue8m0"]}
          for x in ("fp32", "bf16", "fp16")]


def version():
    return checkout.find("NG_DEEPGEMM", "https://github.com/deepseek-ai/DeepGEMM", COMMIT)


def casts():
    """The one file, without the package's CUDA library."""
    path = os.path.join(os.environ["NG_DEEPGEMM"], "deep_gemm", "utils", "math.py")
    spec = importlib.util.spec_from_file_location("deepgemm_math", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_torch(x, dtype):
    import torch

    x = torch.from_numpy(x.copy())
    return x.view(torch.bfloat16) if dtype == "bf16" else x


def answer(operation, rules, inputs, attributes):
    import torch

    x = inputs["x"]
    rows, cols = x.shape
    if x.size == 0:
        return None
    wide = as_torch(tensors.blocks(x, 32).reshape(rows, -1), rules["dtype x"])
    codes, sf = casts().per_token_cast_to_fp4(wide, True, 32)
    codes = codes.view(torch.uint8).numpy()[:, :-(-cols // 2)].copy()
    if cols % 2:
        codes[:, -1] &= 0x0F
    return {"y.codes": codes, "y.scales": (sf.view(torch.int32) >> 23).to(torch.uint8).numpy()}
