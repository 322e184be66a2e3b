# DeepEP's cast to FP8 in PyTorch (deep_ep/utils/math.py), per_token_cast_to_fp8,
# with which its tests and callers make 1x128 blocks. Run without torch.compile.
version         dd758ca
source          DeepEP dd758ca (deep_ep/utils/math.py), run by conformance/peers on a CPU
rounding        nearest-even
overflow        saturate

# Elements times 448.0 / amax, which PyTorch makes of a reciprocal and a product;
# amax at least 1e-4. Stored is amax / 448.
fp8.scale       fp32
fp8.multiplier  of-reciprocal
block.least     1e-4

# A NaN makes the block NaN. Infinity times 0 is a NaN (of the processor's sign,
# which is not described).
block.nan       arithmetic
