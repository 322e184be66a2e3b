# SPDX-License-Identifier: Apache-2.0
"""The files of docs/vectors.md in NumPy: what `narrowgauge vectors` writes and `compare` reads."""
import json
import numpy as np

NUMPY = {"F16": "<f2", "F32": "<f4", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "U32": "<u4",
         "I32": "<i4", "I64": "<i8", "U64": "<u8"}
NAME = {np.dtype(v).str: k for k, v in NUMPY.items()}


def read(path):
    """The metadata and the tensors of a file; BF16 and the like are whole numbers (their bits)."""
    with open(path, "rb") as file:
        raw = file.read()
    begin = 8 + int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:begin])
    about = head.pop("__metadata__", {})
    tensors = {}
    for name, t in head.items():
        first, end = t["data_offsets"]
        tensors[name] = np.frombuffer(raw[begin + first:begin + end], NUMPY[t["dtype"]]).reshape(t["shape"])
    return about, tensors


def write(path, tensors):
    head, at = {}, 0
    for name, t in tensors.items():
        head[name] = {"dtype": NAME[t.dtype.str], "shape": list(t.shape), "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(head).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for t in tensors.values():
            file.write(np.ascontiguousarray(t).tobytes())


def cases(about, tensors):
    """Each case: its name, its tensors by their own names, its attributes as text."""
    found = {}
    for name, t in tensors.items():
        case, own = name.split("/", 1)
        found.setdefault(case, ({}, {}))[0][own] = t
    for name, value in about.items():
        case, _, own = name.partition("/")
        if own and case in found:
            found[case][1][own] = value
    return [(case, inputs, attributes) for case, (inputs, attributes) in found.items()]


def numbers(t, dtype):
    """FP32, BF16 or FP16 as float32, exactly; NaNs keep their sign and upper bits."""
    if dtype == "bf16":
        return (t.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):
        return t.astype(np.float32)


def pack(codes):
    """E2M1 codes of a matrix, two a byte, the even element low."""
    rows, cols = codes.shape
    even = np.zeros((rows, cols + cols % 2), np.uint8)
    even[:, :cols] = codes
    return even[:, ::2] | even[:, 1::2] << 4


def blocks(x, size):
    """A matrix as [rows, blocks, size], the last block of a row filled up with zeros."""
    rows, cols = x.shape
    n = -(-cols // size)
    wide = np.zeros((rows, n * size), x.dtype)
    wide[:, :cols] = x
    return wide.reshape(rows, n, size)


def as_torch(t, dtype):
    """FP32, BF16 (its bits) or FP16 as a torch tensor of that type."""
    import torch

    t = torch.from_numpy(np.ascontiguousarray(t).copy())
    return t.view(torch.bfloat16) if dtype == "bf16" else t
