# narrowgauge verify --subject-exec 'python3 docs/example_exec.py'
"""A running program as subject (docs/subjects.md): the quantiser of example_numpy.py."""
import json
import os
import sys
import numpy as np
from example_numpy import NUMPY, quantize

HELLO = {"name": "numpy example", "version": "1.0", "operations": "quantize_mxfp4",
         "takes.quantize_mxfp4": "x=fp32 y.scales=ue8m0 rounding=nearest-even mxfp4.scale=floor"}
answers = os.fdopen(os.dup(1), "wb")    # what is printed elsewhere must not get in between
os.dup2(2, 1)


def receive():
    size = sys.stdin.buffer.read(8)
    if len(size) < 8:
        sys.exit(0)
    raw = sys.stdin.buffer.read(int.from_bytes(size, "little"))
    n = 8 + int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:n])
    metadata = head.pop("__metadata__")
    return metadata, {k: np.frombuffer(raw[n + t["data_offsets"][0]:n + t["data_offsets"][1]], NUMPY[t["dtype"]])
                      .reshape(t["shape"]) for k, t in head.items()}


def send(metadata, tensors):            # all of them U8
    head, at = {"__metadata__": metadata}, 0
    for k, t in tensors.items():
        head[k] = {"dtype": "U8", "shape": t.shape, "data_offsets": [at, at + t.size]}
        at += t.size
    text = json.dumps(head).encode()
    body = len(text).to_bytes(8, "little") + text + b"".join(t.tobytes() for t in tensors.values())
    answers.write(len(body).to_bytes(8, "little") + body)
    answers.flush()


while True:
    metadata, tensors = receive()
    if metadata["request"] == "hello":
        send(HELLO, {})
    else:
        codes, scales = quantize(tensors["x"])
        rows = tensors["offsets"][-1] if "offsets" in tensors else len(codes)
        back = {k: tensors[k].copy() for k in ("y.codes", "y.scales")}
        back["y.codes"][:rows], back["y.scales"][:rows] = codes[:rows], scales[:rows]
        send({"status": "ok"}, back)
