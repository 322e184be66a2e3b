# SPDX-License-Identifier: Apache-2.0
"""torchao's blockwise FP8 training: its quantisers in PyTorch, on the CPU, from the one file that has them (which
imports Triton, without running it).

torch_blockwise_scale_act_quant_rhs rounds the least amax to the type of its numbers, in FP16 to 0, where the other two
take it in FP64; columns of BF16 and FP16 below it are left out."""

import checkout
import fp8_blocks
import tensors

COMMIT = "36027d8"
LEAST = 1e-12
CHECKS = [{"profile": "torchao-fp8", "operation": "quantize_fp8_" + form, "set": ["x=" + x]}
          for form in ("row", "col", "tile") for x in ("fp32", "bf16", "fp16")]


def version():
    return checkout.find("NG_TORCHAO", "https://github.com/pytorch/ao", COMMIT, "torch triton")


def kernels():
    from torchao.prototype.blockwise_fp8_training import kernels

    return kernels


def answer(operation, rules, inputs, attributes):
    import torch

    x, dtype = inputs["x"], rules["dtype x"]
    offsets = inputs.get("offsets")
    module = kernels()

    def cast(function, part):
        codes, scales = function(tensors.as_torch(part, dtype))
        return codes.contiguous().view(torch.uint8).numpy(), scales.contiguous().numpy()

    def column(part):
        codes, scales = cast(module.torch_blockwise_scale_act_quant_rhs, part.T)
        return codes.T, scales.T

    def row(part):
        return cast(module.torch_blockwise_scale_act_quant_lhs, part)

    found = fp8_blocks.quantize(operation, x, offsets, column if operation.endswith("_col") else row,
                                lambda part: cast(module.torch_blockwise_scale_weight_quant, part))
    if found is None:
        return None
    outputs = {"y.codes": found[0], "y.scales": found[1]}
    if operation.endswith("_col") and dtype != "fp32":
        codes, scales = fp8_blocks.amax(operation, x, offsets, dtype)
        outputs["left out"] = {"y.codes": codes < LEAST, "y.scales": scales < LEAST}
    return outputs
