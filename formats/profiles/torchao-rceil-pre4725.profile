# torchao before its pull request 4725 of 2026-08-12, to_mx(...,
# torch.float4_e2m1fn_x2, 32, ScaleCalculationMode.RCEIL), eager.
version       e74892b
source        torchao e74892b (the commit before 4725), run by conformance/peers on a CPU
rounding      nearest-even
mxfp4.scale   rceil-log2

# ceil(log2(amax / 6)) by an FP32 logarithm. The elements of a block of scale
# byte 0 are not scaled at all.
mxfp4.byte-0  1

# An infinity without a NaN takes byte 254; a NaN takes 255.
block.nan     infinity-largest
e2m1.nan      three

# Into torch.float8_e4m3fn (MXFP8) likewise, with 448 for 6.
mxfp8.scale   rceil-log2
overflow      saturate
