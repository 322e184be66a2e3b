# SPDX-License-Identifier: Apache-2.0
# python3 conformance/checks/lowered_field.py v/000.inputs.safetensors back.safetensors
"""A published transpose's mistake, by files: FP8 rows to FP8 columns, where a code meets the largest scale of its 128
tokens by a subtraction in its exponent field (docs/cases.md L-29; plugin_lowered_field.c says more).  README's demonstration."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers"))
import tensors  # noqa: E402


def transpose(codes, scales, offsets):
    """codes [rows, cols], scales [rows, ceil(cols / 128)] as bits: the codes [cols, rows] and scales of the columns."""
    rows, cols = codes.shape
    y, columns = np.zeros((cols, rows), np.uint8), []
    for begin, end in zip(offsets[:-1], offsets[1:]):
        for first in range(begin, end, 128):
            last = min(first + 128, end)
            bits = np.repeat(scales[first:last], 128, axis=1)[:, :cols]
            nan = bits > 0x7F800000     # max() skips it; positive numbers are ordered as their bits
            most = np.where(nan, 0, bits).max(axis=0)
            if last - first == 128:     # rows that are not there would be zeros
                most = np.where(nan.all(axis=0), 0x7FFFFFFF, most).astype(np.uint32)
            code, by = codes[first:last].astype(int), (most >> 23).astype(int) - (bits >> 23)
            field = code >> 3 & 15
            y[:, first:last] = np.where(field == 0, 0, code & 0x87 | np.maximum(field - by, 0) << 3 & 0xFF).T
            columns.append(most)
    return y, np.array(columns, np.uint32).reshape(len(columns), cols).T


back = {}
for case, inputs, _ in tensors.cases(*tensors.read(sys.argv[1])):
    x = inputs["x.codes"]
    back[case + "/y.codes"], s = transpose(x, inputs["x.scales"].view(np.uint32), inputs.get("offsets", [0, len(x)]))
    back[case + "/y.scales"] = np.ascontiguousarray(s).view(np.float32)
tensors.write(sys.argv[2], back)
