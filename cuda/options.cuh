/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel gets of ng_options, by value, and its rows: all of a dense
 * tensor, those of the groups of a ragged one, whose offsets only the device
 * reads.
 */
#ifndef NG_CUDA_OPTIONS_CUH
#define NG_CUDA_OPTIONS_CUH

#include "cuda/bits.cuh"
#include "formats/options.h"

struct ng_cuda_options {
    ng_rules rules;
    ng_random random;
    int64_t n_groups;       /* of a ragged tensor */
    const int64_t *offsets; /* null: dense */
};

/* The defaults filled in; options may be null. */
inline ng_cuda_options ng_cuda_options_of(const ng_options *options)
{
    ng_cuda_options o = {ng_default_rules, {0, 0}, 0, nullptr};

    if (options == nullptr)
        return o;
    if (options->rules != nullptr)
        o.rules = *options->rules;
    o.random = options->random;
    if (options->groups != nullptr) {
        o.n_groups = options->groups->n_groups;
        o.offsets = options->groups->offsets;
    }
    return o;
}

/* How many of `rows` take part. */
NG_HOST_DEVICE int64_t ng_cuda_rows(const ng_cuda_options &o, int64_t rows)
{
    if (o.offsets == nullptr)
        return rows;

    const int64_t end = o.offsets[o.n_groups];

    return end < rows ? end : rows; /* offsets gone wrong stay inside */
}

/* Rows first .. last - 1 of the block of `size` rows with that number, counted
 * on from group to group: first = last past the last block. A walk over the
 * groups: callers with many blocks a thread ask once. */
struct ng_cuda_row_range {
    int64_t first, last;
};

NG_HOST_DEVICE ng_cuda_row_range ng_cuda_row_block(const ng_cuda_options &o,
                                                   int64_t rows, int64_t size,
                                                   int64_t block)
{
    int64_t first = 0, end = rows, group = 0;

    if (o.offsets != nullptr) {
        for (end = 0; group < o.n_groups; group++) {
            first = o.offsets[group];
            end = o.offsets[group + 1];
            const int64_t blocks = (end - first + size - 1) / size;

            if (block < blocks)
                break;
            block -= blocks;
        }
        if (group == o.n_groups)
            return {end, end};
    }
    first += block * size;
    if (first >= end)
        return {end, end};
    return {first, end - first < size ? end : first + size};
}

/* A bound on the blocks of `size` rows that the host can know: what grids are
 * made for. */
NG_HOST_DEVICE int64_t ng_cuda_most_row_blocks(const ng_cuda_options &o,
                                               int64_t rows, int64_t size)
{
    return o.offsets != nullptr ? rows / size + o.n_groups
                                : rows / size + (rows % size != 0);
}

#endif
