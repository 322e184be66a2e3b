# SPDX-License-Identifier: Apache-2.0
"""One case of quantize_fp8_row, _col or _tile given to a peer that knows whole blocks and no groups of rows."""
import numpy as np

import tensors

BLOCK = 128


def padded(x):
    """Rows filled up to whole blocks with zeros."""
    return np.pad(x, ((0, -len(x) % BLOCK), (0, 0)))


def quantize(operation, x, offsets, row_cast, tile_cast=None, kind=np.uint8):
    """Codes and scales of the operation, by casts of a matrix whose sides are multiples of 128.

    row_cast takes [R, C] to uint8 codes [R, C] and float32 scales [R, C/128]; tile_cast likewise, with scales
    [R/128, C/128]. None where nothing is left to do. What lies past the groups stays 0. NaNs, of scales and of
    codes, are written as the specification writes them: peers' have the sign and the bits of an operand, or of the
    processor."""
    rows, cols = x.shape
    offsets = [0, rows] if offsets is None else [int(n) for n in offsets]
    groups = [(first, end) for first, end in zip(offsets, offsets[1:]) if end > first]
    form = operation.rsplit("_", 1)[1]
    if not groups or cols == 0:
        return None
    codes = np.zeros((cols, rows) if form == "col" else (rows, cols), kind)
    scales = np.zeros((rows, -(-cols // BLOCK)), np.float32)
    lines = []
    wide = np.pad(x, ((0, 0), (0, -cols % BLOCK)))
    for first, end in groups:
        if form == "row":
            q, scales[first:end] = row_cast(wide[first:end])
            codes[first:end] = q[:, :cols]
            continue
        if form == "tile":
            q, s = tile_cast(padded(wide[first:end]))
            codes[first:end] = q[:end - first, :cols]
        else:
            q, s = row_cast(padded(wide[first:end]).T)
            codes[:, first:end] = q[:cols, :end - first]
            s = s[:cols]
        lines.append(s)
    if form != "row":
        scales = np.concatenate(lines, axis=1 if form == "col" else 0)
    if kind is np.uint8:
        codes[codes == 0xFF] = 0x7F
    return codes, np.where(np.isnan(scales), np.uint32(0x7FFFFFFF).view(np.float32), scales)


def amax(operation, x, offsets, dtype):
    """The largest magnitude of the block of each code and of each scale; infinite where there is a NaN."""
    v = np.abs(tensors.numbers(x, dtype))
    v[np.isnan(v)] = np.inf

    def rows(m):
        largest = m.reshape(len(m), -1, BLOCK).max(axis=2)
        return np.repeat(largest, BLOCK, axis=1), largest

    def tiles(m):
        largest = m.reshape(len(m) // BLOCK, BLOCK, -1, BLOCK).max(axis=(1, 3))
        return np.repeat(np.repeat(largest, BLOCK, axis=0), BLOCK, axis=1), largest

    return quantize(operation, v, offsets, rows, tiles, np.float32)
