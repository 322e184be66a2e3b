# Hopper's tensor core (sm_90a, wgmma, E4M3 x E4M3 into FP32), as measured on an
# H200: docs/semantics.md section 11 and the readings of section 12. A GEMM that
# issues four instructions of 32 a block of 128, from zero, then one FMA with the
# block's scales, is determined to the last bit. `make probe-wgmma` measures the
# tensor core anew.
version          1
source           H200, cuda/moe/probe_wgmma.cu, docs/semantics.md 11
gemm.accumulate  hopper-wgmma
