/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/data.h"

#include <stdlib.h>

#include "formats/files/file_error.h"
#include "formats/files/input_file.h"
#include "reference/convert/ref_philox.h"

static const uint64_t SHUFFLE_STREAMS = UINT64_C(1) << 63;

ng_status ng_text_read(ng_text *out, const char *path, ng_error *error)
{
    ng_input_file file;
    ng_status status = ng_input_open(&file, path, error);

    if (status != NG_OK)
        return status;

    uint8_t *tokens = malloc((size_t)file.size + 1);

    if (tokens == NULL)
        status = ng_file_fail(error, NG_NO_MEMORY, path, NULL, "text",
                              "out of memory");
    else if (file.size == 0)
        status =
            ng_file_fail(error, NG_BAD_FILE, path, NULL, "text", "is empty");
    else
        status = ng_input_read(tokens, &file, 0, (size_t)file.size, error);
    if (status == NG_OK)
        *out = (ng_text){tokens, file.size};
    else
        free(tokens);
    ng_input_close(&file);
    return status;
}

void ng_text_free(ng_text *text)
{
    if (text == NULL)
        return;
    free(text->tokens);
    *text = (ng_text){0};
}

/* Each round exchanges the halves and adds to one a function of the other,
 * which can be undone: so any function gives a permutation of the 2 *
 * half_bits. */
static uint64_t permute(uint64_t x, int half_bits, uint64_t seed,
                        uint64_t stream)
{
    enum { ROUNDS = 6 };
    const uint64_t mask = (UINT64_C(1) << half_bits) - 1;
    uint64_t left = x >> half_bits, right = x & mask;

    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t word = ng_ref_philox(seed, stream, round << 32 | right);
        const uint64_t sum = (left ^ word) & mask;

        left = right;
        right = sum;
    }
    return left << half_bits | right;
}

int64_t ng_shuffled(uint64_t seed, uint64_t epoch, int64_t n, int64_t index)
{
    int half_bits = 1;
    uint64_t x = (uint64_t)index;

    while ((UINT64_C(1) << (2 * half_bits)) < (uint64_t)n)
        half_bits++;
    /* The walk along a cycle that starts below n comes back below n. */
    do
        x = permute(x, half_bits, seed, SHUFFLE_STREAMS + epoch);
    while (x >= (uint64_t)n);
    return (int64_t)x;
}

int64_t ng_sample(uint64_t seed, int64_t n, int64_t k)
{
    return ng_shuffled(seed, (uint64_t)(k / n), n, k % n);
}
