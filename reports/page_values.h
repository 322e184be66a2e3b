/* SPDX-License-Identifier: Apache-2.0
 *
 * What the pages of studies take from their JSON, and print alike.
 */
#ifndef NG_REPORTS_PAGE_VALUES_H
#define NG_REPORTS_PAGE_VALUES_H

#include <jansson.h>
#include <stdio.h>

/* A number, or the text "nan" or "inf" that stands for one; NaN for all else. */
double ng_page_number(const json_t *value);

/* A member of an object: as ng_page_number has it; or its text, "" if it has
 * none. */
double ng_page_member(const json_t *object, const char *name);
const char *ng_page_text(const json_t *object, const char *name);

/* {"mean", "low", "high"} as "+0.12 [-0.10, 0.34]", each number by `format`;
 * without an interval the mean alone, without a mean "-". */
void ng_page_print_interval(FILE *out, const json_t *mean, const char *format);

/* A data block of a gnuplot script, and the EOD after it: a line a step, with
 * the curves' loss, deviation, low and high. */
void ng_page_print_curves(FILE *out, const json_t *steps, const json_t *curves);

#endif
