/* SPDX-License-Identifier: Apache-2.0
 *
 * UE6M10, this project's scale of companded groups: FP16 whose sign bit serves
 * the exponent.
 *
 *   bit   15..10 9..0          value
 *         eeeeee mmmmmmmmmm    m * 2^-55                      where e = 0
 *                              (1 + m/1024) * 2^(e - 46)      where e > 0
 *
 * 0x0000 is zero, 0xFFFE the largest (261888), 0xFFFF NaN. No infinity.
 */
#ifndef NG_FORMATS_UE6M10_H
#define NG_FORMATS_UE6M10_H

enum {
    NG_UE6M10_BIAS     = 46,
    NG_UE6M10_MAX_CODE = 0xFFFE,
    NG_UE6M10_NAN      = 0xFFFF
};

#endif
