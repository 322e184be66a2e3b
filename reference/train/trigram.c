/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/trigram.h"

#include <math.h>
#include <stdlib.h>

enum {
    BYTES = 256,
    ORDERS = 4,   /* of the terms: none, one, two, three bytes */
    SIZES = 20,   /* of N(ab): 0, 1, 2-3, 4-7, ... */
    ROUNDS = 50,  /* of expectation maximisation */
    HELD_OUT = 10 /* a tenth */
};

struct ng_trigram {
    uint32_t n3[BYTES][BYTES][BYTES], context3[BYTES][BYTES];
    uint32_t n2[BYTES][BYTES], context2[BYTES];
    uint32_t n1[BYTES], context1;
    double weight[SIZES][ORDERS];
};

static void count(ng_trigram *t, const int32_t *text, int64_t from, int64_t to)
{
    for (int64_t i = from < 2 ? 2 : from; i < to; i++) {
        const int32_t a = text[i - 2], b = text[i - 1], c = text[i];

        t->n3[a][b][c]++;
        t->context3[a][b]++;
        t->n2[b][c]++;
        t->context2[b]++;
        t->n1[c]++;
        t->context1++;
    }
}

static int size_of(uint32_t n)
{
    int size = 0;

    while (n > 0 && size < SIZES - 1) {
        n >>= 1;
        size++;
    }
    return size;
}

/* The four terms times their weights; returns their sum, p. */
static double terms(double part[ORDERS], const ng_trigram *t, int a, int b,
                    int c)
{
    const double *w = t->weight[size_of(t->context3[a][b])];
    double owed = w[3], sum;

    part[3] = part[2] = 0.0;
    if (t->context3[a][b] > 0) {
        part[3] = owed * t->n3[a][b][c] / t->context3[a][b];
        owed = 0.0;
    }
    owed += w[2];
    if (t->context2[b] > 0) {
        part[2] = owed * t->n2[b][c] / t->context2[b];
        owed = 0.0;
    }
    part[1] = (owed + w[1]) * t->n1[c] / t->context1;
    part[0] = w[0] / BYTES;
    sum = 0.0;
    for (int order = 0; order < ORDERS; order++)
        sum += part[order];
    return sum;
}

/* Each round sets a weight to its mean share of p over the held-out text. */
static void choose_weights(ng_trigram *t, const int32_t *text, int64_t from,
                           int64_t to)
{
    for (int size = 0; size < SIZES; size++)
        for (int order = 0; order < ORDERS; order++)
            t->weight[size][order] = 1.0 / ORDERS;
    for (int round = 0; round < ROUNDS; round++) {
        double share[SIZES][ORDERS] = {{0.0}}, n[SIZES] = {0.0};

        for (int64_t i = from; i < to; i++) {
            double part[ORDERS];
            const int32_t a = text[i - 2], b = text[i - 1];
            const int size = size_of(t->context3[a][b]);
            const double p = terms(part, t, a, b, text[i]);

            for (int order = 0; order < ORDERS; order++)
                share[size][order] += part[order] / p;
            n[size] += 1.0;
        }
        /* One count of each keeps every p above 0. */
        for (int size = 0; size < SIZES; size++)
            for (int order = 0; order < ORDERS; order++)
                t->weight[size][order] =
                    (share[size][order] + 1.0) / (n[size] + ORDERS);
    }
}

ng_status ng_trigram_fit(ng_trigram **out, const ng_tokens *tokens, int64_t n,
                         ng_error *error)
{
    const int64_t held_out = n - n / HELD_OUT;

    if (tokens->format != NG_TOKENS_BYTES)
        return ng_fail(error, NG_BAD_DTYPE, "%s: tokens: are no bytes",
                       tokens->file.path);
    if (n < 100 || n > UINT32_MAX)
        return ng_fail(error, NG_BAD_SHAPE, "%s: tokens: too few or too many",
                       tokens->file.path);

    ng_trigram *t = calloc(1, sizeof *t);
    int32_t *text = calloc((size_t)n, sizeof *text);
    ng_status status = NG_NO_MEMORY; /* of either */

    if (t == NULL || text == NULL)
        (void)ng_fail(error, status, "trigram: out of memory");
    else
        status = ng_tokens_read(text, tokens, 0, n, error);
    if (status == NG_OK) {
        count(t, text, 0, held_out);
        choose_weights(t, text, held_out, n);
        count(t, text, held_out, n);
        *out = t;
    } else
        free(t);
    free(text);
    return status;
}

void ng_trigram_free(ng_trigram *trigram)
{
    free(trigram);
}

double ng_trigram_loss(const ng_trigram *trigram, uint8_t a, uint8_t b,
                       uint8_t c)
{
    double part[ORDERS];

    return -log(terms(part, trigram, a, b, c));
}
