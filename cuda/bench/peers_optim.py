#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Optimizer steps by other means: FlashOptim's fused kernels and torch's.

    python3 cuda/bench/peers_optim.py

Run it beside `narrowgauge bench --backend cuda --op step_adamw ...`. FlashOptim
(from where Python finds it): BF16 weights with 24 bits, quantized states; torch:
AdamW(fused=True) of FP32 weights, gradients and states, and of BF16 ones. Whole
steps by events, median of 11, as a user calls them: their results are not checked
here. Bytes counted are those that a step must read and write.
"""
import sys

try:
    import torch
except ImportError:
    print("peers_optim: no torch here", file=sys.stderr)
    sys.exit(77)
if not torch.cuda.is_available():
    print("peers_optim: no GPU", file=sys.stderr)
    sys.exit(77)


def median_us(run, repeat=11, warm_up=3):
    """Median microseconds of run()."""
    times = []
    for i in range(-warm_up, repeat):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        run()
        last.record()
        torch.cuda.synchronize()
        if i >= 0:
            times.append(1e3 * first.elapsed_time(last))
    return sorted(times)[len(times) // 2]


def parameters(sizes, dtype):
    """Parameters with gradients."""
    made = []
    for n in sizes:
        p = torch.nn.Parameter(0.02 * torch.randn(n, device="cuda").to(dtype))
        p.grad = torch.randn(n, device="cuda").to(dtype)
        made.append(p)
    return made


def report(name, sizes, bytes_each, make, dtype):
    """Time one optimizer over parameters of these sizes."""
    try:
        optimizer = make(parameters(sizes, dtype))
        us = median_us(optimizer.step)
    except Exception as error:      # a peer's own business
        print(f"{name}: {error}"[:200], file=sys.stderr)
        return
    n = sum(sizes)
    print(f"{name:<34} {len(sizes):5d} {n:12d} {us:11.1f} us "
          f"{n / us / 1e3:7.1f} G/s {n * bytes_each / us / 1e3:7.0f} GB/s",
          flush=True)
    del optimizer
    torch.cuda.empty_cache()


def main():
    lists = [[1 << 27], [1 << 30]]
    lists.append([int(10 ** (3 + 4 * (i * 1201 % 2000) / 1999))
                  for i in range(2000)])
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    try:
        import flashoptim
    except ImportError:
        flashoptim = None
        print("peers_optim: no flashoptim here", file=sys.stderr)
    for sizes in lists:
        if flashoptim is not None:
            report("flashoptim AdamW, 24 bits", sizes, 12.25,
                   lambda p: flashoptim.FlashAdamW(p, lr=3e-4), torch.bfloat16)
            report("flashoptim Lion, 24 bits", sizes, 10.125,
                   lambda p: flashoptim.FlashLion(p, lr=1e-4), torch.bfloat16)
            report("flashoptim SGDW, 24 bits", sizes, 10.125,
                   lambda p: flashoptim.FlashSGDW(p, lr=0.05, momentum=0.9),
                   torch.bfloat16)
        report("torch AdamW fused, FP32", sizes, 28,
               lambda p: torch.optim.AdamW(p, lr=3e-4, fused=True),
               torch.float32)
        report("torch AdamW fused, BF16", sizes, 14,
               lambda p: torch.optim.AdamW(p, lr=3e-4, fused=True),
               torch.bfloat16)


if __name__ == "__main__":
    main()
