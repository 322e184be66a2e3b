# gfloat (Graphcore's reference of formats in Python): round_ndarray and
# encode_ndarray into each format, and quantize_block with compute_scale_amax
# into MXFP4. It has every rounding and both overflow rules of the
# specification, and agrees with it but for NaN.
version      0.5.2
source       gfloat from PyPI, run by conformance/peers

# The shared scale is floor(log2 amax) - emax, and a zero block has 2^-127.
mxfp4.scale  floor
