/* SPDX-License-Identifier: Apache-2.0
 *
 * One page of a verify run, all in one file: it works from a disk, asks no
 * network, follows the reader's light or dark setting, and reads on a phone.
 * The plots are SVG made here rather than by gnuplot: they take the page's
 * colours, need no program, and carry their numbers as tooltips.
 */
#ifndef NG_REPORTS_VERIFY_HTML_H
#define NG_REPORTS_VERIFY_HTML_H

#include <stdio.h>

#include <jansson.h>

/* Print the page of a run (reports/schema/verify.schema.json). */
void ng_verify_html_print(FILE *out, const json_t *run);

/* ---- parts of it ---- */

/* How many of a run's operations have the plot. */
int ng_plot_count_ulp(const json_t *operations);
int ng_plot_count_error(const json_t *operations);
int ng_plot_count_scales(const json_t *operations);

/* Print cards with a plot each: errors of bounded outputs in ULPs, relative
 * errors by magnitude, scales by power of two. */
void ng_plot_ulp(FILE *out, const json_t *operations);
void ng_plot_error(FILE *out, const json_t *operations);
void ng_plot_scales(FILE *out, const json_t *operations);

/* Print the table of failed cases by operation and by the value of each axis. */
void ng_heat_map(FILE *out, const json_t *operations);

#endif
