# SPDX-License-Identifier: Apache-2.0
"""The FP8 row -> col transpose that the FP4 paper's authors publish (Triton, on a GPU), one file of their library."""
import importlib.util
import os

import numpy as np

import checkout

COMMIT = "4c097bf3"
FILE = "transformer_engine/pytorch/triton/blockwise_scaling_aware_fp8_transpose.py"
CHECKS = [{"profile": "fp8-flow-moe", "operation": "fp8_row_to_fp8_col",
           "set": ["from=fp32", "to=fp32", "pow2=yes", "fp8.scale=pow2"]}]


def version():
    return checkout.find("NG_FP8_FLOW_MOE", "https://github.com/021ai/TransformerEngine-FP8FlowMoe", COMMIT,
                         "torch triton, on a GPU")


def answer(operation, rules, inputs, attributes):
    import torch

    path = os.path.join(os.environ["NG_FP8_FLOW_MOE"], FILE)
    spec = importlib.util.spec_from_file_location("fp8_flow_moe", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    codes, scales = inputs["x.codes"], inputs["x.scales"]
    offsets = inputs.get("offsets", np.array([0, codes.shape[0]]))
    sizes = [int(n) for n in np.diff(offsets) if n > 0]
    if not sizes or codes.shape[1] == 0:
        return None
    used = int(offsets[-1])
    x = torch.from_numpy(np.ascontiguousarray(codes[:used])).cuda()
    s = torch.from_numpy(np.ascontiguousarray(scales[:used])).cuda()
    _, _, data, inverse = module.blockwise_scaling_aware_fp8_transpose(x, s, sizes)
    y = np.zeros((codes.shape[1], codes.shape[0]), np.uint8)
    y[:, :used] = torch.cat(data, dim=1).cpu().numpy()
    return {"y.codes": y, "y.scales": torch.cat(inverse, dim=0).t().contiguous().cpu().numpy()}
