/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REPORTS_GROUPED_NUMBER_H
#define NG_REPORTS_GROUPED_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Write 1234567 as "1 234 567", cut at size. Returns text. */
const char *ng_number_grouped(char *text, size_t size, int64_t n);

#endif
