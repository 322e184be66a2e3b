# SPDX-License-Identifier: Apache-2.0
"""torchao's to_mx as it was before its pull request 4725: peer_torchao.py from the commit before.

Of blocks that hold a NaN or an infinity the profiles but rceil's say nothing: such blocks are left out."""
import numpy as np

import checkout
import peer_torchao
import tensors

COMMIT = "e74892b"
CHECKS = [dict(check, profile=check["profile"] + "-pre4725") for check in peer_torchao.CHECKS
          if check["operation"] != "dequantize_mxfp8"]


def version():
    return checkout.find("NG_TORCHAO_PRE4725", "https://github.com/pytorch/ao", COMMIT)


def not_finite(x, dtype, pairs):
    """The blocks of 32 that hold a NaN or an infinity, by scale and by byte of codes (two elements each in pairs)."""
    rows, cols = x.shape
    odd = ~np.isfinite(tensors.numbers(tensors.blocks(x, 32).reshape(rows, -1), dtype)).reshape(rows, -1, 32).all(axis=2)
    codes = np.repeat(odd, 16 if pairs else 32, axis=1)
    return {"y.codes": codes[:, :-(-cols // 2) if pairs else cols], "y.scales": odd}


def answer(operation, rules, inputs, attributes):
    outputs = peer_torchao.answer(operation, rules, inputs, attributes)
    pairs = operation == "quantize_mxfp4"
    if outputs is None or rules["mxfp4.scale" if pairs else "mxfp8.scale"].startswith("rceil"):
        return outputs
    outputs["left out"] = not_finite(inputs["x"], rules["dtype x"], pairs)
    return outputs
