/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that appears whole or not at all: written under a temporary name in
 * the same directory, synced, then renamed over its own name.
 */
#ifndef NG_FORMATS_FILES_ATOMIC_WRITE_H
#define NG_FORMATS_FILES_ATOMIC_WRITE_H

#include <stddef.h>
#include <stdio.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero bytes are the idle state: nothing open, nothing on disk. */
typedef struct ng_atomic_file {
    FILE *stream;           /* may be printed to as well */
    char *path;             /* where it will appear, links followed */
    char *temporary;        /* where it is until then */
} ng_atomic_file;

/* Start to write the file `path`. Where a file of that name exists, it must be
 * a regular one (never a directory, a device or a pipe), stays as it is until
 * the commit, and passes its permissions on; a link is followed.
 * Returns NG_OK, to be ended by ng_atomic_commit or ng_atomic_abandon, or
 * NG_BAD_FILE or NG_NO_MEMORY with *file idle and nothing left on disk. */
ng_status ng_atomic_begin(ng_atomic_file *file, const char *path,
                          ng_error *error);

/* Append bytes. Returns NG_OK or NG_BAD_FILE (a full disk, a size limit); the
 * caller then abandons the file. */
ng_status ng_atomic_write(ng_atomic_file *file, const void *bytes, size_t size,
                          ng_error *error);

/* Flush, sync, close and rename. Anything that went wrong on the stream since
 * the beginning, by whatever function, counts here.
 * Returns NG_OK, or NG_BAD_FILE with the temporary removed and an existing
 * file untouched. *file is idle afterwards either way. */
ng_status ng_atomic_commit(ng_atomic_file *file, ng_error *error);

/* Remove the temporary. *file is idle afterwards; an idle one may be given. */
void ng_atomic_abandon(ng_atomic_file *file);

#ifdef __cplusplus
}
#endif

#endif
