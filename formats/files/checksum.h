/* SPDX-License-Identifier: Apache-2.0
 *
 * XXH3, 64 bits, seed 0: finds what a disk, a network or an editor changed. It
 * is no signature: whoever may write the file can make the checksum fit.
 */
#ifndef NG_FORMATS_FILES_CHECKSUM_H
#define NG_FORMATS_FILES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 16 lower-case hexadecimal digits, as files and reports show a checksum. */
enum { NG_CHECKSUM_TEXT = 16 + 1 };

uint64_t ng_checksum(const void *bytes, size_t size);

void ng_checksum_text(char text[NG_CHECKSUM_TEXT], uint64_t checksum);

/* The checksum and the size of a regular file, read in pieces.
 * Returns NG_OK, or NG_BAD_FILE or NG_NO_MEMORY with the outputs untouched. */
ng_status ng_checksum_file(uint64_t *checksum, int64_t *size, const char *path,
                           ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
