/* SPDX-License-Identifier: Apache-2.0
 *
 * FP16, IEEE 754 binary16: s eeeee mmmmmmmmmm, bias 15.
 */
#ifndef NG_FORMATS_FP16_H
#define NG_FORMATS_FP16_H

enum {
    NG_FP16_SIGN     = 0x8000,
    NG_FP16_MAX_CODE = 0x7BFF,  /* 65504 */
    NG_FP16_INFINITY = 0x7C00,
    NG_FP16_NAN      = 0x7FFF   /* canonical */
};

#endif
