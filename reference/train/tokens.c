/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/tokens.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/checksum.h"
#include "formats/files/file_error.h"
#include "reference/convert/ref_philox.h"
#include "reference/train/data.h"

enum { LLMC_HEADER = 1024, LLMC_MAGIC = 20240520, LLMC_VERSION = 1 };

/* Streams 2^63 and above are the shuffle's (data.c). */
static const uint64_t PHASE_STREAM = UINT64_C(1) << 62;

const char *const ng_tokens_format_names[] = {"auto", "bytes", "llmc",
                                              "nanogpt", NULL};

static uint32_t little_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8
           | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), ending = strlen(suffix);

    return length >= ending && strcmp(path + length - ending, suffix) == 0;
}

static int64_t width(ng_tokens_format format)
{
    return format == NG_TOKENS_BYTES ? 1 : 2;
}

static int64_t header(ng_tokens_format format)
{
    return format == NG_TOKENS_LLMC ? LLMC_HEADER : 0;
}

/* Settle what `auto` is, by the name and the first bytes. */
static ng_status recognise(ng_tokens *tokens, ng_error *error)
{
    uint8_t magic[8];

    if (tokens->format != NG_TOKENS_AUTO)
        return NG_OK;
    tokens->format = NG_TOKENS_BYTES;
    if (!has_suffix(tokens->file.path, ".bin"))
        return NG_OK;
    tokens->format = NG_TOKENS_NANOGPT;
    if (tokens->file.size < LLMC_HEADER)
        return NG_OK;

    const ng_status status =
        ng_input_read(magic, &tokens->file, 0, sizeof magic, error);

    if (status == NG_OK && little_endian(magic) == LLMC_MAGIC
        && little_endian(magic + 4) == LLMC_VERSION)
        tokens->format = NG_TOKENS_LLMC;
    return status;
}

static ng_status fault(const ng_tokens *tokens, const char *field,
                       const char *what, ng_error *error)
{
    return ng_file_fail(error, NG_BAD_FILE, tokens->file.path, NULL, field,
                        "%s", what);
}

static ng_status check_llmc(const ng_tokens *tokens, ng_error *error)
{
    uint8_t bytes[12];

    if (tokens->file.size < LLMC_HEADER)
        return fault(tokens, "header", "shorter than 1024 bytes", error);

    const ng_status status =
        ng_input_read(bytes, &tokens->file, 0, sizeof bytes, error);

    if (status != NG_OK)
        return status;
    if (little_endian(bytes) != LLMC_MAGIC)
        return fault(tokens, "magic", "is not 20240520", error);
    if (little_endian(bytes + 4) != LLMC_VERSION)
        return fault(tokens, "version", "is not 1 (uint16 tokens)", error);
    if (little_endian(bytes + 8) > INT32_MAX
        || (int64_t)little_endian(bytes + 8) != tokens->n)
        return ng_file_fail(error, NG_BAD_FILE, tokens->file.path, NULL,
                            "tokens",
                            "%" PRIu32 " by the header, %" PRId64 " by the "
                            "size",
                            little_endian(bytes + 8), tokens->n);
    return NG_OK;
}

static ng_status check(ng_tokens *tokens, ng_error *error)
{
    ng_status status = recognise(tokens, error);

    if (status != NG_OK)
        return status;

    const int64_t size = tokens->file.size - header(tokens->format);

    if (size % width(tokens->format) != 0)
        return fault(tokens, "size", "has half a token", error);
    tokens->n = size / width(tokens->format);
    if (tokens->format == NG_TOKENS_LLMC)
        status = check_llmc(tokens, error);
    if (status == NG_OK && tokens->n < 1)
        status = fault(tokens, "tokens", "there are none", error);
    if (status == NG_OK && tokens->format == NG_TOKENS_BYTES
        && tokens->vocabulary < 256)
        status = fault(tokens, "vocabulary", "bytes need 256", error);
    return status;
}

/* Every token is in the vocabulary. Two bytes cannot pass 65535. */
static ng_status check_tokens(const ng_tokens *tokens, ng_error *error)
{
    enum { PIECE = 1 << 16 };
    ng_status status = NG_OK;

    if (width(tokens->format) == 1 || tokens->vocabulary > UINT16_MAX)
        return NG_OK;

    int32_t *piece = malloc(PIECE * sizeof *piece);

    if (piece == NULL)
        return ng_fail(error, NG_NO_MEMORY, "%s: out of memory",
                       tokens->file.path);
    for (int64_t at = 0; at < tokens->n && status == NG_OK; at += PIECE) {
        const int64_t left = tokens->n - at;

        status = ng_tokens_read(piece, tokens, at, left < PIECE ? left : PIECE,
                                error);
    }
    free(piece);
    return status;
}

ng_status ng_tokens_open(ng_tokens *out, const char *path,
                         ng_tokens_format format, int64_t vocabulary,
                         ng_error *error)
{
    ng_tokens tokens = {.format = format, .vocabulary = vocabulary};
    ng_status status = ng_input_open(&tokens.file, path, error);
    int64_t size;

    if (status != NG_OK)
        return status;
    status = check(&tokens, error);
    if (status == NG_OK)
        status = check_tokens(&tokens, error);
    if (status == NG_OK)
        status = ng_checksum_file(&tokens.checksum, &size, path, error);
    if (status == NG_OK)
        *out = tokens;
    else
        ng_input_close(&tokens.file);
    return status;
}

void ng_tokens_close(ng_tokens *tokens)
{
    if (tokens == NULL || tokens->n == 0)
        return;
    ng_input_close(&tokens->file);
    *tokens = (ng_tokens){.n = 0};
}

ng_status ng_tokens_read(int32_t *out, const ng_tokens *tokens, int64_t first,
                         int64_t n, ng_error *error)
{
    const int64_t bytes = width(tokens->format);

    if (first < 0 || n < 0 || first > tokens->n || n > tokens->n - first)
        return ng_file_fail(error, NG_BAD_SHAPE, tokens->file.path, NULL,
                            "tokens", "there are only %" PRId64, tokens->n);

    uint8_t *raw = malloc((size_t)(n * bytes) + 1);

    if (raw == NULL)
        return ng_fail(error, NG_NO_MEMORY, "%s: out of memory",
                       tokens->file.path);
    ng_status status = ng_input_read(raw, &tokens->file,
                                     header(tokens->format) + first * bytes,
                                     (size_t)(n * bytes), error);

    for (int64_t i = 0; i < n && status == NG_OK; i++) {
        out[i] = bytes == 1 ? raw[i] : raw[2 * i] | raw[2 * i + 1] << 8;
        if (out[i] >= tokens->vocabulary)
            status = ng_file_fail(error, NG_BAD_FILE, tokens->file.path, NULL,
                                  "tokens",
                                  "number %" PRId64 " is %" PRId32
                                  ", the vocabulary has %" PRId64,
                                  first + i, out[i], tokens->vocabulary);
    }
    free(raw);
    return status;
}

int64_t ng_sequences(int64_t n, int64_t length, int64_t further)
{
    const int64_t fits = n - further - (length - 1);

    return fits < length ? 0 : fits / length;
}

int64_t ng_sequence_start(uint64_t seed, int64_t n, int64_t length,
                          int64_t further, int64_t k)
{
    const int64_t per_epoch = ng_sequences(n, length, further);
    const int64_t epoch = per_epoch > 0 ? k / per_epoch : 0;
    const uint64_t phase =
        ng_ref_philox(seed, PHASE_STREAM, (uint64_t)epoch) % (uint64_t)length;

    return (int64_t)phase + ng_sample(seed, per_epoch, k) * length;
}
