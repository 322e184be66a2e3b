# SPDX-License-Identifier: Apache-2.0
"""TransformerEngine's FP8 block scaling, its reference in Python (tests/pytorch/references), on the CPU.

What that makes of a NaN or an infinity is not what the kernels make of it, which the profile has: such blocks are
left out."""
import os
import sys

import numpy as np

import checkout
import fp8_blocks
import tensors

COMMIT = "d0067d0"
CHECKS = [{"profile": profile, "operation": "quantize_fp8_" + form, "set": ["x=" + x, "scales=fp32"]}
          for profile in ("transformer-engine", "transformer-engine-fp32") for form in ("row", "col", "tile")
          for x in ("fp32", "bf16", "fp16")]


def version():
    return checkout.find("NG_TRANSFORMER_ENGINE", "https://github.com/NVIDIA/TransformerEngine", COMMIT)


def reference():
    folder = os.path.join(os.environ["NG_TRANSFORMER_ENGINE"], "tests", "pytorch")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    from references.blockwise_quantizer_reference import BlockwiseQuantizerReference

    return BlockwiseQuantizerReference()


def answer(operation, rules, inputs, attributes):
    import torch

    x, dtype = inputs["x"], rules["dtype x"]
    offsets = inputs.get("offsets")
    pow2 = rules["fp8.scale"] == "pow2-inverse"

    def cast(part, tile):
        result = reference().quantize(tensors.as_torch(part, dtype), torch.float8_e4m3fn, pow_2_scales=pow2,
                                      quant_tile_shape=tile, munge_scale_shapes=False)
        return result.data.view(torch.uint8).numpy(), result.scale.numpy()

    found = fp8_blocks.quantize(operation, x, offsets, lambda part: cast(part, (1, 128)),
                                lambda part: cast(part, (128, 128)))
    if found is None:
        return None
    codes, scales = fp8_blocks.amax(operation, x, offsets, dtype)
    return {"y.codes": found[0], "y.scales": found[1],
            "left out": {"y.codes": np.isinf(codes), "y.scales": np.isinf(scales)}}
