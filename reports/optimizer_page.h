/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of the optimizer study, from its JSON alone.
 */
#ifndef NG_REPORTS_OPTIMIZER_PAGE_H
#define NG_REPORTS_OPTIMIZER_PAGE_H

#include <jansson.h>
#include <stdbool.h>

#include "formats/status.h"

/* Write optimizers.md and optimizers.gp, which plots optimizers-NAME.svg for
 * each optimizer, into a directory, and run gnuplot there.
 *   plotted  out: whether gnuplot was found and did it
 * Returns NG_OK, also without plots; NG_BAD_FILE or NG_NO_MEMORY. */
ng_status ng_optimizer_page_write(bool *plotted, const json_t *study,
                                  const char *directory, ng_error *error);

#endif
