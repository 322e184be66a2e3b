/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/convert/ref_philox.h"
#include "reference/train/train_parts.h"

/* Apart from the streams of weights, phases and shuffles. */
static const uint64_t SAMPLE_STREAM = UINT64_C(3) << 61;

/* The token that a number r in [0, 1) falls on, where logit z has the share
 * exp((z - largest)/temperature) of their sum; temperature 0: the largest. NaN
 * logits have no share. */
static int32_t choose(const float *logits, int64_t n, double temperature,
                      double r)
{
    int64_t best = 0;
    double sum = 0.0;

    for (int64_t i = 1; i < n; i++)
        if (logits[i] > logits[best] || isnan(logits[best]))
            best = i;
    if (!(temperature > 0.0))
        return (int32_t)best;
    for (int turn = 0; turn < 2; turn++) {
        const double goal = r * sum;

        sum = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double share =
                exp(((double)logits[i] - (double)logits[best]) / temperature);

            sum += isnan(share) ? 0.0 : share;
            if (turn == 1 && sum > goal)
                return (int32_t)i;
        }
    }
    return (int32_t)best;
}

/* Append n tokens to the `given` first of `tokens`. */
static ng_status generate(int32_t *tokens, int64_t given, ng_train *train,
                          int64_t n, float *logits, ng_error *error)
{
    const ng_train_config *config = train->config;
    const int64_t most = config->sequence;

    for (int64_t i = given; i < given + n; i++) {
        const int64_t seen = i < most ? i : most;
        const double r = (double)ng_ref_philox((uint64_t)config->seed,
                                               SAMPLE_STREAM, (uint64_t)i)
                         * 0x1p-32;
        const ng_status status = ng_model_logits(
            logits, train->model, tokens + i - seen, seen, error);

        if (status != NG_OK)
            return status;
        tokens[i] =
            choose(logits, config->model.vocabulary, config->temperature, r);
    }
    return NG_OK;
}

/* What people see of n tokens: null without memory. */
static char *show(const int32_t *tokens, int64_t n, bool bytes)
{
    enum { WIDEST = 12 };
    char *text = malloc((size_t)n * WIDEST + 1), *at = text;

    if (text == NULL)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        if (!bytes)
            at += snprintf(at, WIDEST, "%s%" PRId32, i == 0 ? "" : " ",
                           tokens[i]);
        else
            *at++ = (char)(tokens[i] == '\n'
                                   || (tokens[i] >= 0x20 && tokens[i] < 0x7F)
                               ? tokens[i]
                               : '?');
    *at = '\0';
    return text;
}

ng_status ng_train_sample(char **text, ng_train *train, const char *prompt,
                          int64_t n, ng_error *error)
{
    const bool bytes = train->text.format == NG_TOKENS_BYTES;
    const size_t length = bytes ? strlen(prompt) : 0;
    const size_t given = length == 0 ? 1 : length;
    int32_t *tokens = calloc(given + (size_t)n, sizeof *tokens);
    float *logits =
        malloc((size_t)train->config->model.vocabulary * sizeof *logits);
    ng_status status = NG_OK;

    if (tokens == NULL || logits == NULL)
        status = ng_train_no_memory(error);
    else {
        if (length == 0 && bytes)
            tokens[0] = '\n';
        for (size_t i = 0; i < length; i++)
            tokens[i] = (unsigned char)prompt[i];
        status = generate(tokens, (int64_t)given, train, n, logits, error);
    }
    if (status == NG_OK) {
        *text = show(tokens, (int64_t)given + n, bytes);
        if (*text == NULL)
            status = ng_train_no_memory(error);
    }
    free(tokens);
    free(logits);
    return status;
}
