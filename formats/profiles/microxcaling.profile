# microxcaling, the Python path on a CPU, _quantize_mx(..., "fp4_e2m1", 32,
# round="nearest"), its default. It returns numbers, not codes.
version      7bc4195
source       microxcaling 7bc4195 (mx/mx_ops.py, elemwise_ops.py), run by conformance/peers
rounding     nearest-away

# floor(log2 amax) by an FP32 logarithm: up to 44 ulps below a power of two count
# as that power.
mxfp4.scale  floor-log2

# floor(|t| + 0.5) in FP32, and sign(-0) is 0.
e2m1.half    added
e2m1.zero    kept-if-rounded

# Into "fp8_e4m3" (MXFP8) likewise, but for its zeros: those rules are E2M1's.
mxfp8.scale  floor-log2
overflow     saturate
