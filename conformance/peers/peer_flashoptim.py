# SPDX-License-Identifier: Apache-2.0
"""FlashOptim's Triton kernels, on a GPU: the 8-bit states, their decoding, the split of weights and its inverse."""
import numpy as np

import checkout

COMMIT = "8b2d966"
DIVISION = "Triton's arithmetic is not IEEE (docs/profiles.md)"
# Counted on that machine (reports/peers.json); what the hardware's division gives no writing here can foretell.
MEASURED = "8b2d966, torch 2.11.0+cu130, triton 3.6.0, NVIDIA H200"
COUNTS = {"compand_momentum": 1160, "compand_variance": 1522, "expand_momentum": 26674, "expand_variance": 39055,
          "split_weights": 6246}
CHECKS = [{"profile": "flashoptim", "operation": operation, "differences": differences, "of": MEASURED,
           "why": DIVISION, "set": [] if operation == "split_weights" else ["linear=no"]}
          for operation, differences in COUNTS.items()]


def version():
    return checkout.find("NG_FLASHOPTIM", "https://github.com/databricks/flashoptim", COMMIT, "torch triton, on a GPU")


def module():
    """One configuration of the kernels, so that no number of elements is tuned for."""
    from flashoptim import optimizers

    for kernel in (optimizers._triton_quantize_kernel, optimizers._triton_dequantize_kernel):
        kernel.configs = kernel.configs[:1]
    return optimizers


def on_gpu(t, dtype=None):
    import torch

    t = torch.from_numpy(np.ascontiguousarray(t)).cuda()
    return t.view(dtype) if dtype is not None else t


def low_type(rules):
    import torch

    low = rules.get("dtype low", rules.get("dtype y.low", rules.get("dtype x.low")))
    return {"bf16": torch.bfloat16, "fp16": torch.float16}[low]


def answer(operation, rules, inputs, attributes):
    import torch

    flash = module()
    kind, what = operation.split("_")
    if next(iter(inputs.values())).size == 0 or rules.get("dtype linear") == "yes":
        return None
    how = {"signed": what == "momentum", "sqrt": what == "variance", "softsign": what == "momentum"}
    if kind == "compand":
        codes, scales = flash.quantize(on_gpu(inputs["x"]), **how)
        return {"y.codes": codes.cpu().numpy(), "y.scales": scales.view(torch.int16).cpu().numpy().view(np.uint16),
                "left out": {"y.counts": None}}
    if kind == "expand":
        return {"y": flash.dequantize(on_gpu(inputs["x.codes"]), on_gpu(inputs["x.scales"]).view(torch.float16),
                                      **how).cpu().numpy()}
    if kind == "merge":
        if "x.correction" not in inputs:
            return None
        low = on_gpu(inputs["x.low"]).view(low_type(rules))
        return {"y": flash.reconstruct_fp32_param(low, on_gpu(inputs["x.correction"])).cpu().numpy()}
    x = on_gpu(inputs["x"])
    low = x.to(low_type(rules))
    bits = {"i8": 1, "i16": 2}[rules.get("dtype correction", rules.get("dtype y.correction"))]
    rho = flash.compute_ecc_bits(x, low, 2 + bits)
    return {"y.low": low.view(torch.int16).cpu().numpy().view(np.uint16), "y.correction": rho.cpu().numpy(),
            "left out": {"y.counts": None}}
