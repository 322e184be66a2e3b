# torchao, to_mx(..., torch.float4_e2m1fn_x2, 32, ScaleCalculationMode.EVEN), eager.
# amax is rounded as an FP32 number: from 1.75 * 2^127 on it becomes an infinity
# and the block NaN.
version      36027d8
source       torchao 36027d8 (prototype/mx_formats), run by conformance/peers on a CPU
rounding     nearest-even
mxfp4.scale  even-fp32

# Any NaN or infinity: scale byte 255, and every code is the raw codec's NaN.
block.nan    coded
e2m1.nan     three

# Into torch.float8_e4m3fn (MXFP8) by the same rule, with 448 for 6; clamped before
# the cast.
mxfp8.scale  even-fp32
overflow     saturate
