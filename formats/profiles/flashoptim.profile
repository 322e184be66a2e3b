# FlashOptim (arXiv 2602.23349), as its source has it: weight splitting,
# companded states and optimizer steps in FP32, each operation rounded by itself
# (IEEE). Its Triton kernels divide and take roots approximately: run on an H200
# (Triton 3.6) over the inputs of `vectors`, 2 % of the codes are one off, no more,
# and decoded states up to 4 ulps (docs/profiles.md). No rule describes that.
version        0.1.3
source         flashoptim 8b2d966 (flashoptim/optimizers.py), docs/semantics.md 8 and 9

# rho is the rounding error over half an ulp, times 127 or 32767, ties away.
weight.split   flashoptim

# FP16 scales, not below 1e-12 before they are rounded; codes by the unrounded
# scale, ties toward +infinity; a NaN becomes code 0.
state.compand  flashoptim

# m/bc1 and v/bc2 for each element, eps outside the corrected root.
optim.step     flashoptim
