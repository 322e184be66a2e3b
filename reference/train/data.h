/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens, and the order in which they are visited. The order is a function of
 * the seed and of a sample's number alone: nothing of it needs saving, a
 * resumed run goes on where it stopped, and each rank finds its own samples.
 */
#ifndef NG_REFERENCE_TRAIN_DATA_H
#define NG_REFERENCE_TRAIN_DATA_H

#include <stdint.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A text, its bytes the tokens. */
typedef struct ng_text {
    uint8_t *tokens;
    int64_t n;
} ng_text;

/* Read a whole file of any bytes, at least one. Free it with ng_text_free.
 * Returns NG_OK, NG_BAD_FILE or NG_NO_MEMORY with *out untouched. */
ng_status ng_text_read(ng_text *out, const char *path, ng_error *error);
void ng_text_free(ng_text *text);

/* Item `index` of the numbers 0 .. n - 1 as they are shuffled for an epoch:
 * over index = 0 .. n - 1 each comes exactly once. n from 1 to 2^62, index in
 * [0, n), epoch below 2^63. A Feistel network over the words of ng_ref_philox,
 * streams 2^63 + epoch; numbers past n are sent through it again. */
int64_t ng_shuffled(uint64_t seed, uint64_t epoch, int64_t n, int64_t index);

/* The number of sample k of a run, epoch after epoch over n items; k >= 0. */
int64_t ng_sample(uint64_t seed, int64_t n, int64_t k);

#ifdef __cplusplus
}
#endif

#endif
