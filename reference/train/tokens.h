/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of tokens, read at the places that are asked for: a file may be larger
 * than memory.
 *   bytes    any file; its bytes are the tokens
 *   llm.c    1024 bytes of header (256 little-endian int32: 20240520, 1, the
 *            number of tokens, zeros), then little-endian uint16 tokens
 *   nanoGPT  little-endian uint16 tokens alone
 * Source: llm.c, llmc/dataloader.h; nanoGPT, data/openwebtext/prepare.py.
 */
#ifndef NG_REFERENCE_TRAIN_TOKENS_H
#define NG_REFERENCE_TRAIN_TOKENS_H

#include <stdint.h>

#include "formats/files/input_file.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ng_tokens_format {
    NG_TOKENS_AUTO, /* a name that ends in ".bin": llm.c if it begins as one,
                       else nanoGPT; any other name: bytes */
    NG_TOKENS_BYTES,
    NG_TOKENS_LLMC,
    NG_TOKENS_NANOGPT
} ng_tokens_format;

/* "auto", "bytes", "llmc", "nanogpt", null: by number. */
extern const char *const ng_tokens_format_names[];

typedef struct ng_tokens {
    ng_input_file file;
    ng_tokens_format format; /* never auto */
    int64_t n;               /* tokens */
    int64_t vocabulary;      /* every token is below it */
    uint64_t checksum;       /* of the whole file */
} ng_tokens;

/* Open a file of at least one token.
 *   vocabulary  at least 1; a file of bytes needs 256. The whole file is read,
 *               so that a token past it is known before the first step
 * Returns NG_OK, to be undone by ng_tokens_close; NG_BAD_FILE (a token past the
 * vocabulary: the line names it) or NG_NO_MEMORY with *out untouched. path must
 * outlive *out. */
ng_status ng_tokens_open(ng_tokens *out, const char *path,
                         ng_tokens_format format, int64_t vocabulary,
                         ng_error *error);

/* Close; zero bytes and null are allowed. */
void ng_tokens_close(ng_tokens *tokens);

/* Read tokens first .. first + n - 1.
 *   out  [n]
 * Returns NG_OK, NG_BAD_SHAPE (not all of them exist), NG_BAD_FILE (also for a
 * token past the vocabulary: the file has changed since) or NG_NO_MEMORY; *out
 * is then undefined. */
ng_status ng_tokens_read(int32_t *out, const ng_tokens *tokens, int64_t first,
                         int64_t n, ng_error *error);

/* ---- the order of training ---------------------------------------------- */

/* How many sequences an epoch of n tokens has: pieces of `length` tokens, each
 * with `further` tokens behind it to be predicted, wherever in its first
 * `length` the epoch begins. At least 0. */
int64_t ng_sequences(int64_t n, int64_t length, int64_t further);

/* The first token of sequence k >= 0 of a run. Each epoch cuts the text anew,
 * from a place that seed and epoch give, and shuffles the pieces: every token
 * of an epoch's pieces comes once. Nothing of the order needs saving: a resumed
 * run goes on with the next k. n, length and further as above, with at least
 * one sequence. */
int64_t ng_sequence_start(uint64_t seed, int64_t n, int64_t length,
                          int64_t further, int64_t k);

#ifdef __cplusplus
}
#endif

#endif
