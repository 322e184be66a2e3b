# ml_dtypes (JAX, TensorFlow, NumPy), `astype` between float32 and its types.
# Every code out of a format, and every class of number into it, was run.
version   0.6.0
source    ml_dtypes from PyPI, run by conformance/peers (0 differences)
rounding  nearest-even

# E4M3 has no switch to saturate: past 464 comes NaN, its sign kept. E2M1, which
# has no NaN, saturates.
overflow  ieee

# The sign of a NaN is kept: 0x7F or 0xFF in E4M3, 0x7FC0 or 0xFFC0 in BF16,
# 0x7FC00000 or 0xFFC00000 out of them. E2M1 gets a zero, of the other sign.
nan       quiet
e2m1.nan  minus-zero

# Zero and what is below become NaN, a tie goes up (1.5 -> 2, 3 -> 4), and
# everything between 2^-127 and 2^-126 becomes 2^-126.
ue8m0     ml-dtypes
