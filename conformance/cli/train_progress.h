/* SPDX-License-Identifier: Apache-2.0
 *
 * What people see of a training run on standard error: a line an evaluation,
 * and between them one that is drawn anew (on a terminal) or one now and then.
 */
#ifndef NG_CONFORMANCE_CLI_TRAIN_PROGRESS_H
#define NG_CONFORMANCE_CLI_TRAIN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "reference/train/train.h"

typedef struct ng_train_printer {
    bool terminal, quiet, drawn;
    double start, last; /* seconds */
    int64_t first;      /* step before the first one seen; -1: none yet */
} ng_train_printer;

void ng_train_printer_begin(ng_train_printer *printer, bool quiet);

/* ng_train_options.progress; context is the printer. */
void ng_train_print(void *context, const ng_train_progress *progress);

/* Take a drawn line away. */
void ng_train_printer_end(ng_train_printer *printer);

#endif
