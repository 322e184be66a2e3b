# SPDX-License-Identifier: Apache-2.0
"""DeepEP's cast to FP8 in PyTorch (deep_ep/utils/math.py), on the CPU, eager. (The kernel of its low-latency dispatch,
which divides and stores otherwise, needs a GPU.)"""
import importlib.util
import os

import checkout
import fp8_blocks
import tensors

COMMIT = "dd758ca"
CHECKS = [{"profile": "deepep-python", "operation": "quantize_fp8_row", "set": ["x=" + x]}
          for x in ("fp32", "bf16", "fp16")]


def version():
    return checkout.find("NG_DEEPEP", "https://github.com/deepseek-ai/DeepEP", COMMIT)


def per_token_cast_to_fp8():
    """Of the one file, without the package's CUDA library and without torch.compile."""
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    path = os.path.join(os.environ["NG_DEEPEP"], "deep_ep", "utils", "math.py")
    spec = importlib.util.spec_from_file_location("deepep_math", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.per_token_cast_to_fp8


def answer(operation, rules, inputs, attributes):
    import torch

    x, dtype = inputs["x"], rules["dtype x"]
    function = per_token_cast_to_fp8()

    def cast(part):
        codes, sf = function(tensors.as_torch(part, dtype))
        return codes.view(torch.uint8).numpy(), sf.numpy()

    found = fp8_blocks.quantize(operation, x, inputs.get("offsets"), cast)
    if found is None:
        return None
    return {"y.codes": found[0], "y.scales": found[1]}
