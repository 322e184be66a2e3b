# DeepGEMM's casts in PyTorch (deep_gemm/utils/math.py): per_token_cast_to_fp4 with
# blocks of 32 and power-of-two scales.
version      54e2261
source       DeepGEMM 54e2261 (deep_gemm/utils/math.py), run by conformance/peers on a CPU

# The number of thresholds strictly below: ties go toward zero.
rounding     nearest-zero

# The smallest power of two from amax / 6 on, amax at least 1e-4.
mxfp4.scale  rceil
block.least  1e-4

# A NaN or an infinity in the block takes scale 2^127; a NaN codes to 0. Zero has
# no sign.
block.nan    largest
e2m1.nan     zero
e2m1.zero    plus
