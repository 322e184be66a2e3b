# TransformerEngine's FP8 block scaling, 1x128, 128x1 and 128x128 blocks with
# power-of-two scales, its default (epsilon 0). Blocks of numbers: its reference in
# Python was run. Blocks with a NaN or an infinity: unconfirmed, as the kernels'
# source has them (a GPU is needed); the reference in Python parts from that.
version         d0067d0
source          TransformerEngine d0067d0 (recipe_common.cuh), its Python reference run; unconfirmed: NaN and Inf
rounding        nearest-even
overflow        saturate

# Elements times 448 / amax cut to a power of two, at most 2^127; stored is the
# inverse.
fp8.scale       pow2-inverse
fp8.multiplier  of-amax

# The largest is taken by fmaxf, which passes a NaN over; an infinity: scale 1.
block.nan       infinity-one
