# python3 docs/example_triton.py v/000.inputs.safetensors back.safetensors
"""FP32 to MXFP4 in Triton, from a file of inputs to a file of outputs (docs/vectors.md).
Needs a GPU, torch, triton and safetensors."""
import sys
import torch
import triton
import triton.language as tl
from safetensors.torch import load_file, save_file


@triton.jit
def mxfp4_block(x, codes, scales, cols, code_cols, scale_cols):
    row, block = tl.program_id(0), tl.program_id(1)
    even = block * 32 + 2 * tl.arange(0, 16)
    low = tl.load(x + row * cols + even, mask=even < cols, other=0)
    high = tl.load(x + row * cols + even + 1, mask=even + 1 < cols, other=0)
    low_bits, high_bits = low.to(tl.int32, bitcast=True), high.to(tl.int32, bitcast=True)
    amax = tl.maximum(tl.max(low_bits & 0x7FFFFFFF), tl.max(high_bits & 0x7FFFFFFF))
    bad = amax >= 0x7F800000
    byte = tl.maximum((amax >> 23) - 2, 0)
    # 2^(127 - byte), exact; as two factors, for one may be a subnormal.
    half = (127 - byte) // 2
    a = ((half + 127) << 23).to(tl.float32, bitcast=True)
    b = ((127 - byte - half + 127) << 23).to(tl.float32, bitcast=True)
    tl.store(scales + row * scale_cols + block, tl.where(bad, 255, byte).to(tl.uint8))
    n = nearest_even(low * a * b, low_bits) | nearest_even(high * a * b, high_bits) << 4
    at = block * 16 + tl.arange(0, 16)
    tl.store(codes + row * code_cols + at, tl.where(bad, 0, n).to(tl.uint8), mask=at < code_cols)


@triton.jit
def nearest_even(y, bits):
    y = tl.abs(y)
    c = (y > 0.25).to(tl.int32) + (y >= 0.75) + (y > 1.25) + (y >= 1.75) + (y > 2.5) + (y >= 3.5) + (y > 5)
    return c | ((bits >> 28) & 8)


if __name__ == "__main__":
    back = {}
    for name, x in load_file(sys.argv[1], device="cuda").items():
        if name.endswith("/x"):
            rows, cols = x.shape
            codes = torch.zeros(rows, -(-cols // 2), dtype=torch.uint8, device="cuda")
            scales = torch.zeros(rows, -(-cols // 32), dtype=torch.uint8, device="cuda")
            if x.numel() > 0:
                mxfp4_block[(rows, scales.shape[1])](x, codes, scales, cols, codes.shape[1], scales.shape[1])
            back[name[:-2] + "/y.codes"], back[name[:-2] + "/y.scales"] = codes.cpu(), scales.cpu()
    save_file(back, sys.argv[2])
