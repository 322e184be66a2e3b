# SPDX-License-Identifier: Apache-2.0
"""TransformerEngine's FP8 block scaling, its reference in Python (tests/pytorch/references), and the one of MXFP8 in
tests/pytorch/test_mxfp8_2d_quantize.py, on the CPU.

What that makes of a NaN or an infinity is not what the kernels make of it, which the profile has: such blocks are
left out."""
import ast
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
CHECKS += [{"profile": "transformer-engine-mxfp8", "operation": "quantize_mxfp8", "set": ["x=" + x, "scales=ue8m0"]}
           for x in ("fp32", "bf16", "fp16")]


def version():
    return checkout.find("NG_TRANSFORMER_ENGINE", "https://github.com/NVIDIA/TransformerEngine", COMMIT)


def reference():
    folder = os.path.join(os.environ["NG_TRANSFORMER_ENGINE"], "tests", "pytorch")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    from references.blockwise_quantizer_reference import BlockwiseQuantizerReference

    return BlockwiseQuantizerReference()


def mxfp8_reference():
    """The function, without the module around it, which wants the library and a GPU."""
    import torch

    path = os.path.join(os.environ["NG_TRANSFORMER_ENGINE"], "tests", "pytorch", "test_mxfp8_2d_quantize.py")
    with open(path) as file:
        tree = ast.parse(file.read())
    wanted = ("FP8_E4M3_MAX", "MXFP8_BLOCK_SIZE", "_float_to_e8m0", "_e8m0_to_scale_inv", "_mxfp8_2d_quantize_reference")
    tree.body = [node for node in tree.body
                 if getattr(node, "name", None) in wanted
                 or isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) in wanted]
    names = {"torch": torch}
    exec(compile(tree, path, "exec"), names)
    return names["_mxfp8_2d_quantize_reference"]


def mxfp8(x, dtype):
    """Its blocks are 32 x 32: every row is given 32 times."""
    import torch

    rows, cols = x.shape
    wide = np.repeat(tensors.blocks(x, 32).reshape(rows, -1), 32, axis=0)
    codes, scales, _ = mxfp8_reference()(tensors.as_torch(wide, dtype))
    finite = np.isfinite(tensors.numbers(tensors.blocks(x, 32).reshape(rows, -1), dtype))
    odd = ~finite.reshape(rows, -1, 32).all(axis=2)
    return {"y.codes": codes.view(torch.uint8).numpy()[::32, :cols].copy(),
            "y.scales": scales.view(torch.uint8).numpy()[::32, :odd.shape[1]].copy(),
            "left out": {"y.codes": np.repeat(odd, 32, axis=1)[:, :cols], "y.scales": odd}}


def answer(operation, rules, inputs, attributes):
    import torch

    x, dtype = inputs["x"], rules["dtype x"]
    if operation == "quantize_mxfp8":
        return mxfp8(x, dtype) if x.size > 0 else None
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
