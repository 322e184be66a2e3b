/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/grouped_number.h"

#include <inttypes.h>
#include <stdio.h>

const char *ng_number_grouped(char *text, size_t size, int64_t n)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRId64, n);
    const int sign = n < 0;
    size_t at = 0;

    for (int i = 0; i < length && at + 2 < size; i++) {
        if (i > sign && (length - i) % 3 == 0)
            text[at++] = ' ';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}
