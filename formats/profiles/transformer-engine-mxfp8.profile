# TransformerEngine's MXFP8: E4M3 elements, 32 of a row or a column under one UE8M0
# scale. Blocks of numbers: the reference in Python of its tests was run. Blocks
# with a NaN or an infinity: unconfirmed, as the kernels' source has them (a GPU is
# needed).
version      d0067d0
source       TransformerEngine d0067d0 (common/cast/mxfp8, ptx_arch_spec.cuh), its Python reference run; unconfirmed: NaN and Inf
rounding     nearest-even
overflow     saturate

# amax times RN32(1/448), rounded up to a power of two.
mxfp8.scale  rceil-fp32

# The largest is taken by fmaxf, which passes a NaN over; an infinity: byte 254.
block.nan    unseen-largest
