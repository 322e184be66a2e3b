/* SPDX-License-Identifier: Apache-2.0
 *
 * E4M3 of OCP ("fn": finite, one NaN a sign), the element of FP8 blocks.
 *
 *   bit   7 6543 210   value
 *         s eeee mmm   (-1)^s * 2^(e - 7) * (1 + m/8)   where e > 0
 *                      (-1)^s * 2^-6 * m/8              where e = 0
 *
 * There is no infinity; e = 15, m = 7 is NaN. Source: OCP OFP8 v1.0.
 */
#ifndef NG_FORMATS_E4M3_H
#define NG_FORMATS_E4M3_H

enum {
    NG_E4M3_SIGN     = 0x80,
    NG_E4M3_BIAS     = 7,
    NG_E4M3_MAX_CODE = 0x7E,    /* 448 */
    NG_E4M3_NAN      = 0x7F,    /* and 0xFF */
    NG_E4M3_MAX      = 448,
    NG_E4M3_EMAX     = 8        /* exponent of the largest binade, 256 .. 448 */
};

#endif
