# DeepEP's cast to FP8 in its low-latency dispatch (csrc/kernels/legacy) with
# round_scale: BF16 in, 1x128, power-of-two scales, also as UE8M0. Not described:
# an infinity, whose scale overflows to -infinity there and turns every sign.
version         dd758ca
source          DeepEP dd758ca (csrc/kernels/legacy/utils.cuh, internode_ll.cu), read; unconfirmed: needs a GPU
rounding        nearest-even
overflow        saturate

# 2^ceil(log2(amax * RN32(1 / 448))) on the bits, amax at least 1e-4: the smallest
# power of two from amax / 448 on, for every amax.
fp8.scale       pow2
fp8.multiplier  of-amax
block.least     1e-4

# The largest is taken by fmaxf, which passes a NaN over.
block.nan       nan-unseen
