/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/train/train_parts.h"
#include "reference/train/trigram.h"

/* Texts above this are not counted: the model would want too much memory. */
static const int64_t TRIGRAM_MOST = INT64_C(1) << 26;

/* A shard's result as it travels: the loss's bits, and its targets. */
enum { LOSS, TARGETS, N_NUMBERS };

/* The loss of each of n shards, numbers[n][N_NUMBERS], this rank's filled in.
 */
static ng_status evaluate_own(int64_t *numbers, ng_train *train, int64_t n,
                              ng_error *error)
{
    const ng_comm *comm = train->options.comm;
    int64_t first, last;
    ng_status status = NG_OK;

    ng_comm_share(&first, &last, n, comm->rank, comm->size);
    for (int64_t wave = 0; wave < ng_comm_waves(n, comm->size); wave++) {
        ng_model_shard shard;
        double loss = 0.0;
        int64_t targets = 0, number = first + wave;

        number = number < last ? number : -1;
        status = ng_train_evaluation_batch(&shard, train, number, error);
        if (status == NG_OK)
            status =
                ng_model_evaluate(&loss, &targets, train->model, &shard, error);
        if (status != NG_OK)
            return status;
        if (number >= 0) {
            memcpy(&numbers[number * N_NUMBERS + LOSS], &loss, sizeof loss);
            numbers[number * N_NUMBERS + TARGETS] = targets;
        }
    }
    return NG_OK;
}

/* Every rank learns the numbers of all, and adds them in the order of the
 * shards. `all` is [2][size][n][N_NUMBERS]. */
static ng_status evaluate(double *mean, ng_train *train, int64_t *all,
                          int64_t n, ng_error *error)
{
    const ng_comm *comm = train->options.comm;
    const size_t row = (size_t)(n * N_NUMBERS);
    int64_t *to = all + (size_t)comm->size * row;
    double sum = 0.0;
    int64_t targets = 0;
    ng_status status = evaluate_own(to, train, n, error);

    if (status != NG_OK)
        return status;
    for (int r = 1; r < comm->size; r++)
        memcpy(to + (size_t)r * row, to, row * sizeof *to);
    status = comm->exchange_counts(comm->context, all, to, (int64_t)row, error);
    for (int r = 0; r < comm->size && status == NG_OK; r++) {
        int64_t first, last;

        ng_comm_share(&first, &last, n, r, comm->size);
        for (int64_t i = first; i < last; i++) {
            const int64_t *own = all + (size_t)r * row + i * N_NUMBERS;
            double loss;

            memcpy(&loss, &own[LOSS], sizeof loss);
            sum += loss;
            targets += own[TARGETS];
        }
    }
    *mean = targets > 0 ? sum / (double)targets : NAN;
    return status;
}

ng_status ng_train_evaluate(double *loss, ng_train *train, ng_error *error)
{
    const int64_t per_shard = train->config->sequences;
    const int64_t n = (train->n_evaluated + per_shard - 1) / per_shard;
    const size_t size = 2 * (size_t)train->options.comm->size;
    int64_t *all = calloc(size * (size_t)n * N_NUMBERS, sizeof *all);
    const ng_status status = all == NULL ? ng_train_no_memory(error)
                                         : evaluate(loss, train, all, n, error);

    free(all);
    return status;
}

/* Its own two bytes before each target, across the start of a sequence too. */
static ng_status measure(double *loss, const ng_trigram *trigram,
                         const ng_train *train, int32_t *text, ng_error *error)
{
    const int64_t length = train->config->sequence;
    double sum = 0.0;

    for (int64_t i = 0; i < train->n_evaluated; i++) {
        const int64_t first = ng_train_evaluated(train, i);
        const int64_t before = first > 0 ? 1 : 0;
        const ng_status status = ng_tokens_read(
            text, train->valid, first - before, length + 1 + before, error);

        if (status != NG_OK)
            return status;
        for (int64_t j = 1 + before; j <= length + before; j++)
            sum += ng_trigram_loss(trigram, (uint8_t)(j < 2 ? 0 : text[j - 2]),
                                   (uint8_t)text[j - 1], (uint8_t)text[j]);
    }
    *loss = sum / (double)(train->n_evaluated * length);
    return NG_OK;
}

ng_status ng_train_measure_trigram(double *loss, const ng_train *train,
                                   ng_error *error)
{
    const size_t length = (size_t)train->config->sequence + 2;
    ng_trigram *trigram = NULL;

    *loss = NAN;
    if (train->text.format != NG_TOKENS_BYTES
        || train->valid->format != NG_TOKENS_BYTES || train->n_train < 100
        || train->n_train > TRIGRAM_MOST)
        return NG_OK;

    int32_t *text = malloc(length * sizeof *text);
    ng_status status = text == NULL ? ng_train_no_memory(error)
                                    : ng_trigram_fit(&trigram, &train->text,
                                                     train->n_train, error);

    if (status == NG_OK)
        status = measure(loss, trigram, train, text, error);
    ng_trigram_free(trigram);
    free(text);
    return status;
}
