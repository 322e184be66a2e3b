/* SPDX-License-Identifier: Apache-2.0
 *
 * E2M1, the four-bit element of MXFP4. Facts only.
 *
 *   bit   3 2 1 0      value
 *         s e e m      (-1)^s * 2^(e - 1) * (1 + m/2)   where e > 0
 *                      (-1)^s * m/2                     where e = 0
 *
 * There is no infinity and no NaN. -0 exists (0x8). Source: OCP MX v1.0.
 */
#ifndef NG_FORMATS_E2M1_H
#define NG_FORMATS_E2M1_H

enum {
    NG_E2M1_SIGN     = 0x8,
    NG_E2M1_MAX_CODE = 0x7,     /* 6.0 */
    NG_E2M1_EMAX     = 2        /* exponent of the largest binade, 4 .. 6 */
};

/* The magnitude of each code without its sign; every one is exact in FP32. */
static const float ng_e2m1_magnitude[8] = {
    0.0f, 0.5f,                 /* e = 0: zero and the only subnormal */
    1.0f, 1.5f,
    2.0f, 3.0f,
    4.0f, 6.0f
};

#endif
