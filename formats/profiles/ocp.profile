# The OCP Microscaling specification, as a quantiser of tensors: shared scale
# floor(log2 amax) - emax, elements nearest-even, saturating. The conversion
# section of the specification is a recommendation; these are its choices.
version      1.0
source       OCP Microscaling Formats (MX) v1.0 and OCP OFP8 v1.0
rounding     nearest-even
overflow     saturate
mxfp4.scale  floor
mxfp8.scale  floor
