/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of a convergence study, from its JSON alone.
 */
#ifndef NG_REPORTS_CONVERGENCE_PAGE_H
#define NG_REPORTS_CONVERGENCE_PAGE_H

#include <jansson.h>
#include <stdbool.h>

#include "formats/status.h"

/* Write convergence.md and convergence.gp, which plots convergence.svg, into a
 * directory, and run gnuplot there.
 *   plotted  out: whether gnuplot was found and did it
 * Returns NG_OK, also without plots; NG_BAD_FILE or NG_NO_MEMORY. */
ng_status ng_convergence_page_write(bool *plotted, const json_t *study,
                                    const char *directory, ng_error *error);

#endif
