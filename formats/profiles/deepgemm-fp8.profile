# DeepGEMM's casts to FP8 in PyTorch (deep_gemm/utils/math.py) with FP32 scales:
# per_token_cast_to_fp8 (1x128), per_channel_cast_to_fp8 (128x1) and
# per_block_cast_to_fp8 (128x128).
version         54e2261
source          DeepGEMM 54e2261 (deep_gemm/utils/math.py), run by conformance/peers on a CPU
rounding        nearest-even
overflow        saturate

# sf = amax / 448, amax at least 1e-4; elements times 1 / sf.
fp8.scale       fp32
fp8.multiplier  of-scale
block.least     1e-4

# A NaN makes the block NaN. Infinity times 0 is a NaN (of the processor's sign,
# which is not described).
block.nan       arithmetic
