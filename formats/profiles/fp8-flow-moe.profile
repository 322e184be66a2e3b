# The FP8 row -> col transpose that the FP4 paper's authors (arXiv 2511.02302)
# publish, a Triton kernel: _scaling_aware_fp8_transpose_kernel.
version    4c097bf3
source     021ai/TransformerEngine-FP8FlowMoe 4c097bf3 (pytorch/triton), run by conformance/peers on an H200

# The difference of the scales' exponent fields is taken from the code's exponent
# field, and what falls below 1 becomes 0 with the significand left as it was:
# wrong for subnormal codes and results, and for NaN (docs/cases.md L-29).
fp8.align  exponent-field
fp8.scale  pow2
