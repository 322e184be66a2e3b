# SPDX-License-Identifier: Apache-2.0
"""ml_dtypes, by NumPy's astype between float32 and its types."""
import numpy as np

PACKAGES = ["ml_dtypes"]
CHECKS = [{"profile": "ml-dtypes", "operation": kind + format, "level": 1}
          for format in ("e2m1", "e4m3", "ue8m0", "bf16") for kind in ("encode_", "decode_")]


def answer(operation, rules, inputs, attributes):
    import ml_dtypes

    kind, format = operation.split("_")
    dtype = np.dtype({"e2m1": ml_dtypes.float4_e2m1fn, "e4m3": ml_dtypes.float8_e4m3fn,
                      "ue8m0": ml_dtypes.float8_e8m0fnu, "bf16": ml_dtypes.bfloat16}[format])
    bits = np.uint8 if dtype.itemsize == 1 else np.uint16
    with np.errstate(all="ignore"):
        if kind == "encode":
            return {"y": inputs["x"].astype(dtype).view(bits)}
        return {"y": inputs["x"].astype(bits).view(dtype).astype(np.float32)}
