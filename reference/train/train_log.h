/* SPDX-License-Identifier: Apache-2.0
 *
 * The log of a training run: JSON Lines, an object a line, each written whole
 * and at once, so that a killed run leaves at most its last line torn.
 */
#ifndef NG_REFERENCE_TRAIN_TRAIN_LOG_H
#define NG_REFERENCE_TRAIN_TRAIN_LOG_H

#include <jansson.h>
#include <stdint.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_train_log {
    int descriptor;
    int64_t size;     /* bytes that are whole lines: a checkpoint keeps it */
    const char *path; /* borrowed */
} ng_train_log;

/* Open the log at `path`, which must outlive *log.
 *   size   0: begin anew. Else what log.size was when a checkpoint was written:
 *          the lines after it, which the resumed run will write again, are cut
 *          off. A file that is not there, is shorter or has no line's end there
 *          is refused.
 * It is locked (flock) until it is closed: a second run in the same directory,
 * of whatever process, is refused before it changes anything.
 * Returns NG_OK or NG_BAD_FILE, *log and the file then untouched. */
ng_status ng_train_log_open(ng_train_log *log, const char *path, int64_t size,
                            ng_error *error);

/* Append an object as one line (its members in their order).
 * Returns NG_OK, NG_BAD_FILE or NG_NO_MEMORY; log->size is then as before. */
ng_status ng_train_log_line(ng_train_log *log, const json_t *object,
                            ng_error *error);

/* Make what was written last: before a checkpoint that keeps log->size.
 * Returns NG_OK or NG_BAD_FILE. */
ng_status ng_train_log_sync(const ng_train_log *log, ng_error *error);

/* Sync and close. Null is allowed. */
ng_status ng_train_log_close(ng_train_log *log, ng_error *error);

/* A number for JSON, which has no NaN or infinity: those become the strings
 * "nan", "inf", "-inf". Null without memory. */
json_t *ng_json_number(double x);

#ifdef __cplusplus
}
#endif

#endif
