# DeepEP's cast to FP8 in its low-latency dispatch (csrc/kernels/legacy): BF16 in,
# 1x128, FP32 scales. Its cast in Python is another: deepep-python.
version         dd758ca
source          DeepEP dd758ca (csrc/kernels/legacy/utils.cuh, internode_ll.cu), read; unconfirmed: needs a GPU
rounding        nearest-even
overflow        saturate

# Elements times 448 / amax, amax at least 1e-4; stored is amax * RN32(1 / 448).
fp8.scale       fp32-product
fp8.multiplier  of-amax
block.least     1e-4

# The largest is taken by fmaxf, which passes a NaN over. 448 / infinity is 0.
block.nan       nan-unseen
