# torchao before its pull request 4725 of 2026-08-12, to_mx(...,
# torch.float4_e2m1fn_x2, 32, ScaleCalculationMode.CEIL), eager.
version       e74892b
source        torchao e74892b (the commit before 4725), run by conformance/peers on a CPU
rounding      nearest-even
mxfp4.scale   ceil

# The elements of a block of scale byte 0 are divided by 2^-126, and decoded with
# 2^-127: to half of what they were.
mxfp4.byte-0  2^-126

# Only finite blocks are described. A NaN block divides by NaN, and its codes are
# what the raw codec makes of the bits; one that holds an infinity and no NaN has
# byte 253, the infinity's exponent field taken for a number's.
e2m1.nan      three

# Into torch.float8_e4m3fn (MXFP8) likewise, with 448 for 6.
mxfp8.scale   ceil
overflow      saturate
