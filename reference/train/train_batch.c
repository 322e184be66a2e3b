/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "reference/train/train_parts.h"

enum { FURTHER = 1 }; /* each token predicts the one behind it */

static ng_status check_lengths(ng_train *train, ng_error *error)
{
    const ng_train_config *config = train->config;
    const int64_t length = config->sequence;

    if (ng_sequences(train->n_train, length, FURTHER) < 1)
        return ng_file_fail(error, NG_BAD_SHAPE, config->train, NULL, "tokens",
                            "%" PRId64 " to train on are too few for sequences "
                            "of %" PRId64,
                            train->n_train, length);
    /* So many that no token is predicted twice. */
    train->n_evaluated = (train->n_valid - FURTHER) / length;
    if (train->n_evaluated < 1)
        return ng_file_fail(error, NG_BAD_SHAPE, train->valid->file.path, NULL,
                            "tokens",
                            "%" PRId64 " for validation are too few for "
                            "sequences of %" PRId64,
                            train->n_valid, length);
    if (train->n_evaluated > config->evaluate_sequences)
        train->n_evaluated = config->evaluate_sequences;
    return NG_OK;
}

ng_status ng_train_open_texts(ng_train *train, ng_error *error)
{
    const ng_train_config *config = train->config;
    const ng_tokens_format format = (ng_tokens_format)config->format;
    const size_t n = (size_t)(config->sequences * config->sequence);
    ng_status status = ng_tokens_open(&train->text, config->train, format,
                                      config->model.vocabulary, error);

    if (status != NG_OK)
        return status;
    train->n_train = train->text.n;
    if (config->validation[0] != '\0') {
        status = ng_tokens_open(&train->other, config->validation, format,
                                config->model.vocabulary, error);
        train->valid = &train->other;
        train->n_valid = train->other.n;
        if (status == NG_OK
            && (train->other.format == NG_TOKENS_BYTES)
                   != (train->text.format == NG_TOKENS_BYTES))
            status = ng_file_fail(
                error, NG_BAD_FILE, config->validation, NULL, "tokens",
                "are of another kind (%s) than those of %s (%s)",
                ng_tokens_format_names[train->other.format], config->train,
                ng_tokens_format_names[train->text.format]);
    } else {
        train->valid = &train->text;
        train->n_valid =
            (int64_t)((double)train->text.n * config->validation_share);
        train->n_train -= train->n_valid;
        train->first_valid = train->n_train;
    }
    if (status == NG_OK)
        status = check_lengths(train, error);
    if (status != NG_OK)
        return status;
    train->tokens = malloc(n * sizeof *train->tokens);
    train->targets = malloc(n * sizeof *train->targets);
    if (train->tokens == NULL || train->targets == NULL)
        return ng_train_no_memory(error);
    return NG_OK;
}

/* Sequence number `row` of a shard: its tokens, and each one's next. */
static ng_status take_sequence(ng_train *train, const ng_tokens *text,
                               int64_t first, int64_t row, ng_error *error)
{
    const int64_t length = train->config->sequence;
    int32_t *tokens = train->tokens + row * length;
    int32_t *targets = train->targets + row * length;
    const ng_status status =
        ng_tokens_read(targets, text, first + FURTHER, length, error);

    if (status != NG_OK)
        return status;
    if (length > 1)
        memcpy(tokens + 1, targets, (size_t)(length - 1) * sizeof *tokens);
    return ng_tokens_read(tokens, text, first, 1, error);
}

static ng_model_shard shard_of(const ng_train *train, int64_t shard, int64_t n)
{
    return (ng_model_shard){shard, n, train->config->sequence, train->tokens,
                            train->targets};
}

ng_status ng_train_batch(ng_model_shard *out, ng_train *train, int64_t step,
                         int64_t shard, ng_error *error)
{
    const ng_train_config *config = train->config;
    const int64_t n = shard < 0 ? 0 : config->sequences;
    const int64_t first = ((step - 1) * config->shards + shard) * n;
    ng_status status = NG_OK;

    for (int64_t i = 0; i < n && status == NG_OK; i++)
        status = take_sequence(
            train, &train->text,
            ng_sequence_start((uint64_t)config->seed, train->n_train,
                              config->sequence, FURTHER, first + i),
            i, error);
    *out = shard_of(train, shard, n);
    return status;
}

int64_t ng_train_evaluated(const ng_train *train, int64_t i)
{
    const int64_t room =
        train->n_valid - FURTHER - train->n_evaluated * train->config->sequence;

    /* One behind the other, the room between them shared out. */
    return train->first_valid + i * train->config->sequence
           + (int64_t)((double)room * (double)i / (double)train->n_evaluated);
}

ng_status ng_train_evaluation_batch(ng_model_shard *out, ng_train *train,
                                    int64_t shard, ng_error *error)
{
    const int64_t per_shard = train->config->sequences;
    const int64_t first = shard * per_shard;
    const int64_t left = train->n_evaluated - first;
    const int64_t n = shard < 0 ? 0 : left < per_shard ? left : per_shard;
    ng_status status = NG_OK;

    for (int64_t i = 0; i < n && status == NG_OK; i++)
        status = take_sequence(train, train->valid,
                               ng_train_evaluated(train, first + i), i, error);
    *out = shard_of(train, shard, n);
    return status;
}
