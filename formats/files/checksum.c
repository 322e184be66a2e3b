/* SPDX-License-Identifier: Apache-2.0
 *
 * xxHash's header carries the whole function: nothing to link, nothing to miss
 * on the machine that a bundle is copied to.
 */
#include "formats/files/checksum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "formats/files/file_error.h"
#include "formats/files/input_file.h"

enum { PIECE = 1 << 20 };

uint64_t ng_checksum(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

void ng_checksum_text(char text[NG_CHECKSUM_TEXT], uint64_t checksum)
{
    snprintf(text, NG_CHECKSUM_TEXT, "%016" PRIx64, checksum);
}

static ng_status sum_pieces(XXH3_state_t *state, uint8_t *piece,
                            const ng_input_file *file, ng_error *error)
{
    XXH3_64bits_reset(state);
    for (int64_t at = 0; at < file->size; at += PIECE) {
        const int64_t left = file->size - at;
        const size_t size = (size_t)(left < PIECE ? left : PIECE);
        const ng_status status = ng_input_read(piece, file, at, size, error);

        if (status != NG_OK)
            return status;
        XXH3_64bits_update(state, piece, size);
    }
    return NG_OK;
}

ng_status ng_checksum_file(uint64_t *checksum, int64_t *size, const char *path,
                           ng_error *error)
{
    ng_input_file file;
    ng_status status = ng_input_open(&file, path, error);

    if (status != NG_OK)
        return status;

    XXH3_state_t *state = XXH3_createState();
    uint8_t *piece = malloc(PIECE);

    if (state == NULL || piece == NULL)
        status = ng_file_fail(error, NG_NO_MEMORY, path, NULL, "checksum",
                              "out of memory");
    else
        status = sum_pieces(state, piece, &file, error);
    if (status == NG_OK) {
        *checksum = XXH3_64bits_digest(state);
        *size = file.size;
    }
    free(piece);
    XXH3_freeState(state);
    ng_input_close(&file);
    return status;
}
