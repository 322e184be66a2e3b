/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the lines of an operation, on several threads where OpenMP is there.
 * Every operation hands its loop over lines to this one place, so that events
 * are merged, and added to the caller's, in one way.
 */
#ifndef NG_REFERENCE_CONVERT_REF_PARALLEL_H
#define NG_REFERENCE_CONVERT_REF_PARALLEL_H

#include <stdint.h>

#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Do line i of a job and count what happened to its elements in *events. No two
 * lines write the same unit of memory. */
typedef void ng_ref_line(const void *job, int64_t i, ng_events *events);

/* Call line(job, i, ...) for i in 0 .. n - 1, in any order, then add the events
 * of all lines to options->events once (options and its events may be null).
 * Sums of integers do not depend on their order: the result is the same for any
 * number of threads. */
void ng_ref_run(ng_ref_line *line, const void *job, int64_t n,
                const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
