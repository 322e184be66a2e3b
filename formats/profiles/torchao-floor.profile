# torchao, to_mx(..., torch.float4_e2m1fn_x2, 32, ScaleCalculationMode.FLOOR), eager.
version      36027d8
source       torchao 36027d8 (prototype/mx_formats), run by conformance/peers on a CPU
rounding     nearest-even
mxfp4.scale  floor

# Any NaN or infinity: scale byte 255, and every code is the raw codec's NaN.
block.nan    coded
e2m1.nan     three

# Into torch.float8_e4m3fn (MXFP8) by the same rule, with 448 for 6; clamped before
# the cast.
mxfp8.scale  floor
overflow     saturate
