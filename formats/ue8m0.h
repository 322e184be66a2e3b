/* SPDX-License-Identifier: Apache-2.0
 *
 * UE8M0 (E8M0 of OCP MX v1.0), a power-of-two scale: code b is 2^(b - 127).
 * No sign, no zero, no infinity; 0x00 is 2^-127, an FP32 subnormal; 0xFF NaN.
 */
#ifndef NG_FORMATS_UE8M0_H
#define NG_FORMATS_UE8M0_H

enum {
    NG_UE8M0_BIAS     = 127,
    NG_UE8M0_MAX_CODE = 0xFE,   /* 2^127 */
    NG_UE8M0_NAN      = 0xFF
};

#endif
