# DeepGEMM's casts to FP8 in PyTorch (deep_gemm/utils/math.py) with power-of-two
# scales, use_ue8m0: per_token_cast_to_fp8 (1x128), per_channel_cast_to_fp8 (128x1)
# and per_block_cast_to_fp8 (128x128).
version         54e2261
source          DeepGEMM 54e2261 (deep_gemm/utils/math.py), run by conformance/peers on a CPU
rounding        nearest-even
overflow        saturate

# The smallest power of two from amax / 448 on, amax at least 1e-4.
fp8.scale       pow2
fp8.multiplier  of-scale
block.least     1e-4

# A NaN or an infinity in the block takes scale 2^127.
block.nan       largest
