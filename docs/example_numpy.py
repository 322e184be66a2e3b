# python3 docs/example_numpy.py v/000.inputs.safetensors back.safetensors
"""FP32 to MXFP4 in NumPy, from a file of inputs to a file of outputs (docs/vectors.md)."""
import json
import sys
import numpy as np

np.seterr(invalid="ignore")     # a signalling NaN is cast
NUMPY = {"F32": "<f4", "U8": "u1", "U16": "<u2", "U32": "<u4", "I64": "<i8"}


def read(path):
    raw = open(path, "rb").read()
    n = 8 + int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:n])
    head.pop("__metadata__", None)
    return {k: np.frombuffer(raw[n + t["data_offsets"][0]:n + t["data_offsets"][1]], NUMPY[t["dtype"]])
            .reshape(t["shape"]) for k, t in head.items()}


def write(path, tensors):       # all of them U8
    head, at = {}, 0
    for k, t in tensors.items():
        head[k] = {"dtype": "U8", "shape": t.shape, "data_offsets": [at, at + t.size]}
        at += t.size
    text = json.dumps(head).encode()
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        out.writelines(t.tobytes() for t in tensors.values())


def quantize(x):
    rows, cols = x.shape
    n = -(-cols // 32)
    blocks = np.zeros((rows, n * 32))
    blocks[:, :cols] = x
    blocks = blocks.reshape(rows, n, 32)
    bad = ~np.isfinite(blocks).all(axis=2)
    amax = np.abs(np.where(bad[..., None], 0, blocks)).max(axis=2, initial=0)
    e = np.where(amax > 0, np.maximum(np.frexp(amax)[1] - 3, -127), -127)
    y = np.abs(np.where(bad[..., None], 0, np.ldexp(blocks, -e[..., None])))
    middle = np.array([.25, .75, 1.25, 1.75, 2.5, 3.5, 5, np.inf])
    code = np.searchsorted(middle, y)                       # a tie: the lower one,
    code += (code % 2 == 1) & (y == middle[code])           # unless that is odd
    code = np.where(bad[..., None], 0, code | np.signbit(blocks) * 8).astype("u1").reshape(rows, n * 32)
    codes = (code[:, ::2] | code[:, 1::2] << 4)[:, :-(-cols // 2)]
    return codes, np.where(bad, 255, e + 127).astype("u1")


if __name__ == "__main__":
    back = {}
    for name, x in read(sys.argv[1]).items():
        if name.endswith("/x"):
            case = name[:-2]
            back[case + "/y.codes"], back[case + "/y.scales"] = quantize(x)
    write(sys.argv[2], back)
