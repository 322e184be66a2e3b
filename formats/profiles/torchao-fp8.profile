# torchao's blockwise FP8 training, its quantisers in PyTorch
# (torch_blockwise_scale_act_quant_lhs, _rhs and _weight_quant: 1x128, 128x1 and
# 128x128). Its Triton kernels are written alike; they were not run.
version         36027d8
source          torchao 36027d8 (prototype/blockwise_fp8_training), run by conformance/peers on a CPU
rounding        nearest-even
overflow        saturate

# Elements times 448 / amax, amax at least 1e-12; stored is the inverse.
fp8.scale       fp32-inverse
fp8.multiplier  of-amax
block.least     1e-12

# A NaN makes the block NaN. Infinity times 0 is a NaN (of the processor's sign,
# which is not described).
block.nan       arithmetic
