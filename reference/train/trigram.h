/* SPDX-License-Identifier: Apache-2.0
 *
 * The yardstick of a language model of bytes: what counting three bytes at a
 * time can do. Of byte c after a, b, where N is how often the training text has
 * it:
 *   p = w3 N(abc)/N(ab) + w2 N(bc)/N(b) + w1 N(c)/N + w0/256
 * A term without counts gives its weight to those after it. There is a set of
 * weights for each size of N(ab), in powers of two: they are chosen by
 * expectation maximisation on the last tenth of the training text, with counts
 * from the rest; then the whole training text is counted. FP64.
 * Source: F. Jelinek, R. L. Mercer, Interpolated estimation of Markov source
 * parameters from sparse data, 1980.
 */
#ifndef NG_REFERENCE_TRAIN_TRIGRAM_H
#define NG_REFERENCE_TRAIN_TRIGRAM_H

#include <stdint.h>

#include "formats/status.h"
#include "reference/train/tokens.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_trigram ng_trigram;

/* Fit the model to tokens 0 .. n - 1 of a file of bytes; n at least 100.
 * Returns NG_OK; NG_BAD_DTYPE (no bytes), NG_BAD_SHAPE, NG_BAD_FILE or
 * NG_NO_MEMORY with *out untouched. Null may be freed. */
ng_status ng_trigram_fit(ng_trigram **out, const ng_tokens *tokens, int64_t n,
                         ng_error *error);
void ng_trigram_free(ng_trigram *trigram);

/* -log p of byte c after a, b, in nats. */
double ng_trigram_loss(const ng_trigram *trigram, uint8_t a, uint8_t b,
                       uint8_t c);

#ifdef __cplusplus
}
#endif

#endif
