/* SPDX-License-Identifier: Apache-2.0
 *
 * What the launchers count before a kernel runs: thread blocks of strides and of
 * groups of rows, division by a grid's constant, blocks of ragged rows. Against
 * the definitions, at random sizes and at the edges.
 */
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cuda/divider.cuh"
#include "cuda/grid.cuh"
#include "cuda/options.cuh"
#include "cuda/row_group.cuh"
#include "formats/layout.h"

namespace
{

int64_t looked;

void fail(const char *what, int64_t a, int64_t b, int64_t c)
{
    std::fprintf(stderr, "%s: %" PRId64 " %" PRId64 " %" PRId64 "\n", what, a,
                 b, c);
    std::exit(1);
}

/* xorshift64 (Marsaglia, "Xorshift RNGs", 2003) */
uint64_t state = UINT64_C(0x9E3779B97F4A7C15);

uint64_t word()
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Of any magnitude up to 2^bits - 1, edges among them. */
int64_t number(int bits)
{
    const int shift = 64 - bits + (int)(word() % (uint64_t)bits);
    const int64_t power = (int64_t)1 << word() % (uint64_t)bits;

    switch (word() % 4) {
    case 0:
        return power;
    case 1:
        return power - 1;
    default:
        return (int64_t)(word() >> shift);
    }
}

/* As few blocks as hold n pieces, but 1 to `most`. */
void blocks()
{
    const int64_t n = number(63), each = 1 + number(20), most = 1 + number(31);
    const int64_t got = ng_cuda_blocks(n, each, most);

    if (got < 1 || got > most)
        fail("blocks out of range", n, each, most);
    /* got - 1 do not hold n, unless there is nothing; got do, or are `most` */
    if (got > 1 && (got - 1) > (n - 1) / each)
        fail("too many blocks", n, each, got);
    if (got < most && n > 0 && (n - 1) / each >= got)
        fail("too few blocks", n, each, got);
    if (ng_cuda_blocks(n, each) > (unsigned)INT32_MAX)
        fail("past a grid", n, each, 0);
}

/* As the device has it: the upper half of n * magic. */
uint32_t divide(uint32_t n, const ng_cuda_divider &by)
{
    const uint64_t low = by.magic & 0xFFFFFFFF, high = by.magic >> 32;

    return by.magic != 0 ? (uint32_t)((n * high + (n * low >> 32)) >> 32) : n;
}

void divisions()
{
    const uint32_t d = (uint32_t)number(32) | (word() % 2 == 0);
    const uint32_t divisor = d != 0 ? d : UINT32_MAX;
    const ng_cuda_divider by = ng_cuda_divider_of(divisor);
    const uint32_t multiple = (uint32_t)(word() >> 32) / divisor * divisor;
    const uint32_t numerators[] = {0,
                                   1,
                                   UINT32_MAX,
                                   divisor,
                                   divisor - 1,
                                   multiple,
                                   multiple - 1,
                                   UINT32_MAX / divisor * divisor - 1,
                                   (uint32_t)number(32)};

    if (by.divisor != divisor)
        fail("divisor", divisor, by.divisor, 0);
    for (const uint32_t n : numerators)
        if (divide(n, by) != n / divisor)
            fail("division", n, divisor, divide(n, by));
}

/* A matrix whose groups fit has a thread for each place of each group, and no
 * thread whose number, or row, passes 32 bits. */
void row_groups()
{
    const int64_t rows = 1 + number(40), places = 1 + number(27);
    const int64_t group = (int64_t)1 << word() % 3, threads = 256;

    if (!ng_cuda_row_groups_fit(rows, places))
        return;
    looked++;

    const int64_t grid =
        ng_cuda_row_group_blocks(rows, places, (int)group, (int)threads);
    const int64_t wanted = (rows + group - 1) / group * places;
    const int64_t last = grid * threads - 1;

    if (grid * threads < wanted || (grid - 1) * threads >= wanted)
        fail("threads of row groups", rows, places, grid);
    if (last > UINT32_MAX || last / places * group + group - 1 > UINT32_MAX)
        fail("row groups past 32 bits", rows, places, grid);
}

/* Blocks by number: each row once, in order, none of two groups, and past the
 * last block none; within the bound that grids are made for. */
void row_blocks()
{
    const int n_groups = (int)(word() % 40);
    const int64_t size = 1 + number(8), spare = number(6);
    std::vector<int64_t> offsets(1, 0);

    for (int g = 0; g < n_groups; g++)
        offsets.push_back(offsets.back() + (word() % 3 == 0 ? 0 : number(10)));

    const ng_groups groups = {n_groups, offsets.data()};
    const bool ragged = word() % 4 != 0;
    ng_options options = {};

    options.groups = ragged ? &groups : nullptr;

    const int64_t rows = offsets.back() + spare;
    const int64_t used = ng_groups_rows(options.groups, rows);
    const int64_t count = ng_groups_blocks(options.groups, rows, size);
    const ng_cuda_options o = ng_cuda_options_of(&options);
    int64_t next = 0;

    if (ng_cuda_rows(o, rows) != used)
        fail("rows", rows, used, ng_cuda_rows(o, rows));
    if (ng_cuda_most_row_blocks(o, rows, size) < count)
        fail("fewer blocks than there are", rows, size, count);
    for (int64_t b = 0; b < count + 3; b++) {
        const ng_cuda_row_range r = ng_cuda_row_block(o, rows, size, b);

        if (b >= count) {
            if (r.first != r.last)
                fail("a block past the last", rows, size, b);
            continue;
        }
        if (r.first != next || r.last <= r.first || r.last - r.first > size)
            fail("a block", rows, size, b);
        for (int g = 0; g < n_groups && ragged; g++)
            if (r.first < offsets[(size_t)g] && r.last > offsets[(size_t)g])
                fail("a block of two groups", rows, size, b);
        next = r.last;
    }
    if (next != used)
        fail("rows left over", rows, size, next);
}

} // namespace

int main()
{
    for (int i = 0; i < 200000; i++) {
        blocks();
        divisions();
        row_groups();
        if (i % 20 == 0)
            row_blocks();
    }
    std::printf("%" PRId64 " matrices in groups of rows\n", looked);
    return looked < 1000;
}
