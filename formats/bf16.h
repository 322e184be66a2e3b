/* SPDX-License-Identifier: Apache-2.0
 *
 * BF16: s eeeeeeee mmmmmmm, bias 127; the upper half of an FP32 number.
 */
#ifndef NG_FORMATS_BF16_H
#define NG_FORMATS_BF16_H

enum {
    NG_BF16_SIGN     = 0x8000,
    NG_BF16_MAX_CODE = 0x7F7F,
    NG_BF16_INFINITY = 0x7F80,
    NG_BF16_NAN      = 0x7FFF   /* canonical */
};

#endif
