/* SPDX-License-Identifier: Apache-2.0
 *
 * Progress of long work on standard error: a bar with rate and time left on a
 * terminal, a plain line now and then elsewhere.
 */
#ifndef NG_CONFORMANCE_CLI_PROGRESS_H
#define NG_CONFORMANCE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ng_progress {
    bool terminal, quiet, drawn;
    const char *unit;           /* "cases", for the rate */
    double start, last;         /* seconds */
} ng_progress;

/* unit: what is counted, in the plural; kept, not copied. */
void ng_progress_begin(ng_progress *progress, bool quiet, const char *unit);

/* done of total units, working on `what`. Draws at most ten times a second on a
 * terminal, every 30 seconds elsewhere. */
void ng_progress_update(ng_progress *progress, const char *what, int64_t done,
                        int64_t total);

/* Take the bar away. */
void ng_progress_end(ng_progress *progress);

#endif
