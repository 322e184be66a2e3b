#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same conversions by other means, in the same run, side by side.

    python3 cuda/bench/peers.py [NARROWGAUGE|ROWS.json] [--json FILE]
                                [--seconds N]

Times what a user of PyTorch would write for a conversion, eager and through
torch.compile, at the shapes of `narrowgauge bench --backend cuda`, and functions
of deep_gemm, transformer_engine and torchao where they can be imported. With the
program's path it runs that bench too, or takes the rows that it has printed in
the same session; prints both, and with --json merges the peers' medians into
the rows ("peer": {name: median_us}).

Buffers are rotated past L2; events; median of 11. Peers are timed as they are:
what they return is not checked here, and differs in places (docs/peers). No
peer is begun N seconds (default 90) after the first: torch.compile takes some
for each of them.
"""
import json
import subprocess
import sys
import time

try:
    import torch
except ImportError:
    print("peers: no torch here", file=sys.stderr)
    sys.exit(77)
if not torch.cuda.is_available():
    print("peers: no GPU", file=sys.stderr)
    sys.exit(77)

SHAPES = [(32768, 7168), (8192, 2048)]


def median_us(run, sets, repeat=11):
    """Median microseconds of run(set) over batches that rotate the sets."""
    batch = max(2 * len(sets), 4)
    times = []
    for i in range(-3, repeat):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        for k in range(batch):
            run(sets[k % len(sets)])
        last.record()
        torch.cuda.synchronize()
        if i >= 0:
            times.append(1e3 * first.elapsed_time(last) / batch)
    return sorted(times)[len(times) // 2]


def numbers(rows, cols):
    """BF16 sets of more than 400 MB together."""
    n = min(16, 1 + 400_000_000 // (2 * rows * cols))
    return [torch.randn(rows, cols, device="cuda", dtype=torch.bfloat16)
            for _ in range(n)]


# ---- what a user would write ---------------------------------------------------

def to_mxfp4(x):
    """BF16 -> packed E2M1, UE8M0 by floor; nearest by comparisons."""
    blocks = x.float().unflatten(-1, (-1, 32))
    amax = blocks.abs().amax(-1, keepdim=True)
    e = torch.floor(torch.log2(amax.clamp(min=2.0 ** -126))) - 2
    v = blocks * torch.exp2(-e)
    m = v.abs()
    code = ((m > 0.25).to(torch.uint8) + (m >= 0.75).to(torch.uint8)
            + (m > 1.25).to(torch.uint8) + (m >= 1.75).to(torch.uint8)
            + (m > 2.5).to(torch.uint8) + (m >= 3.5).to(torch.uint8)
            + (m > 5.0).to(torch.uint8))
    code = code | (torch.signbit(v).to(torch.uint8) << 3)
    code = code.flatten(-2)
    packed = code[..., ::2] | (code[..., 1::2] << 4)
    return packed, (e.squeeze(-1) + 127).to(torch.uint8)


def to_fp8(x):
    """BF16 -> E4M3, an FP32 scale for 128 of a row."""
    blocks = x.float().unflatten(-1, (-1, 128))
    scale = blocks.abs().amax(-1, keepdim=True) / 448
    code = (blocks / scale).to(torch.float8_e4m3fn)
    return code.flatten(-2), scale.squeeze(-1)


VALUES = torch.tensor([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3,
                       -4, -6], device="cuda", dtype=torch.float32)


def from_mxfp4(packed, scales):
    """MXFP4 -> BF16."""
    codes = torch.stack([packed & 15, packed >> 4], -1).flatten(-2)
    values = VALUES[codes.int()].unflatten(-1, (-1, 32))
    return (values * torch.exp2(scales.float() - 127).unsqueeze(-1)
            ).flatten(-2).to(torch.bfloat16)


def mxfp4_to_fp8(packed, scales):
    """MXFP4 -> BF16 -> FP8, the round trip that the direct conversion saves."""
    return to_fp8(from_mxfp4(packed, scales))


def mxfp4_to_fp8_col(packed, scales):
    """The same, transposed on the way, for a weight gradient."""
    return to_fp8(from_mxfp4(packed, scales).t().contiguous())


def torch_peers(rows, cols):
    """Yields (operation, form, name, run, sets)."""
    sets = [(x,) for x in numbers(rows, cols)]
    packed = [to_mxfp4(x[0]) for x in sets]
    for operation, form, function, arguments in (
            ("mxfp4_to_fp8_row", "dense", mxfp4_to_fp8, packed),
            ("mxfp4_to_fp8_col", "dense", mxfp4_to_fp8_col, packed),
            ("quantize_mxfp4", "dense", to_mxfp4, sets),
            ("quantize_fp8_row", "dense, fp32", to_fp8, sets),
            ("dequantize_mxfp4", "dense", from_mxfp4, packed)):
        compiled = torch.compile(function, dynamic=False)
        yield operation, form, "torch.compile", (
            lambda a, f=compiled: f(*a)), arguments
        yield operation, form, "torch eager", (
            lambda a, f=function: f(*a)), arguments


def library_peers(rows, cols):
    """What can be imported."""
    sets = [(x,) for x in numbers(rows, cols)]
    try:
        from deep_gemm.utils.math import per_token_cast_to_fp8
        yield ("quantize_fp8_row", "dense, fp32", "deep_gemm",
               lambda a: per_token_cast_to_fp8(a[0], use_ue8m0=False), sets)
    except ImportError:
        pass
    try:
        import transformer_engine_torch as te
        from transformer_engine.pytorch.tensor.float8_blockwise_tensor import (
            Float8BlockQuantizer)
        quantizer = Float8BlockQuantizer(te.DType.kFloat8E4M3, rowwise=True,
                                         columnwise=False, block_scaling_dim=1)
        yield ("quantize_fp8_row", "dense, fp32", "transformer_engine",
               lambda a: quantizer(a[0]), sets)
    except (ImportError, AttributeError, TypeError):
        pass
    try:
        from torchao.prototype.mx_formats.mx_tensor import to_mx
        yield ("quantize_mxfp4", "dense", "torchao",
               lambda a: to_mx(a[0], torch.float4_e2m1fn_x2, 32), sets)
    except (ImportError, AttributeError):
        pass


def save(target, rows):
    """Write the rows, if a file was asked for."""
    if target:
        with open(target, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")


def main():
    arguments = sys.argv[1:]
    target = None
    seconds = 90.0
    for option in ("--json", "--seconds"):
        if option in arguments:
            at = arguments.index(option)
            if option == "--json":
                target = arguments[at + 1]
            else:
                seconds = float(arguments[at + 1])
            del arguments[at:at + 2]
    ours = []
    if arguments and arguments[0].endswith(".json"):
        with open(arguments[0], encoding="utf-8") as file:
            ours = json.load(file)
    elif arguments:
        text = subprocess.run([arguments[0], "bench", "--backend", "cuda",
                               "--json", "--repeat", "11"],
                              check=True, capture_output=True, text=True).stdout
        ours = json.loads(text)
        save(target, ours)
    found = {}
    start = time.monotonic()
    for rows, cols in SHAPES:
        for source in (torch_peers, library_peers):
            for operation, form, name, run, sets in source(rows, cols):
                if time.monotonic() - start > seconds:
                    print(f"{name}, {operation}, {rows}x{cols}: no time left",
                          file=sys.stderr)
                    continue
                try:
                    us = median_us(run, sets)
                except Exception as error:      # a peer's own business
                    print(f"{name}, {operation}: {error}"[:200], file=sys.stderr)
                    continue
                key = (operation, form, f"{rows}x{cols}")
                found.setdefault(key, {})[name] = round(us, 2)
        torch.cuda.empty_cache()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, "
          "median microseconds")
    print(f"{'operation':<19} {'form':<13} {'shape':<11} {'this':>9}  peers")
    for key, peers in sorted(found.items()):
        mine = [r for r in ours if (r["op"], r["form"], r["shape"]) == key]
        for row in mine:
            row["peer"].update(peers)
        us = f"{mine[0]['median_us']:9.1f}" if mine else f"{'':>9}"
        print(f"{key[0]:<19} {key[1]:<13} {key[2]:<11} {us}  "
              + ", ".join(f"{n} {t:.1f}" for n, t in sorted(peers.items())))
    save(target, ours)


if __name__ == "__main__":
    main()
