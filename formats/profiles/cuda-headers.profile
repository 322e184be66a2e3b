# NVIDIA's conversions in cuda_fp4.h, cuda_fp8.h, cuda_bf16.h and cuda_fp16.h,
# as a host compiler sees them: all 2^32 FP32 numbers into each format, and
# every code out of it. It pins neither rounding nor overflow, since the headers
# offer several of each and agree with docs/semantics.md in all of them.
version   13.0
source    CUDA Toolkit 13.0 headers, host path, run over every input

# A NaN of either sign becomes +6 (0x7); semantics: 0x0 and a flag.
e2m1.nan  max

# Encoders write one NaN, sign dropped, as semantics has it: 0x7F, 0xFF, 0x7FFF.
# Decoders part. BF16 is shifted into the upper half, sign and payload kept
# (0xFF81 -> 0xFF810000); UE8M0 0xFF goes by way of BF16 0x7FFF (0x7FFF0000);
# FP16 and E4M3 give 0x7FFFFFFF, as semantics has it.
nan       bf16-widened
