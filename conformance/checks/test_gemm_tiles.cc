/* SPDX-License-Identifier: Apache-2.0
 *
 * The walks of the grouped GEMMs over their tiles: every element of the result
 * belongs to one tile of one CTA, whatever the groups, and no tile reads a row
 * past its group's end. Counted over random groups, empty ones among them, for
 * pairs of CTAs that take every n-th tile.
 */
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <vector>

/* Their constructors' parameters are called as the members that they set. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "cuda/moe/gemm_block_tiles.cuh"
#include "cuda/moe/gemm_row_tiles.cuh"
#pragma GCC diagnostic pop

namespace
{

int64_t tiles_seen;

void fail(const char *what, int group, int row, int column)
{
    std::fprintf(stderr, "%s: group %d, row %d, block of columns %d\n", what,
                 group, row, column);
    std::exit(1);
}

/* xorshift64 (Marsaglia, "Xorshift RNGs", 2003) */
uint64_t state = UINT64_C(0x9E3779B97F4A7C15);

int below(int n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)n);
}

/* Offsets of groups: empty, of a few rows, at a block's edge, of many. */
std::vector<int64_t> groups_of(int n)
{
    std::vector<int64_t> offsets(1, 0);

    for (int g = 0; g < n; g++) {
        const int blocks = 128 * below(24);
        const int rows[] = {0, 1 + below(300), blocks,
                            blocks + (blocks > 0 ? -1 : 0), blocks + 1};

        offsets.push_back(offsets.back() + rows[below(5)]);
    }
    return offsets;
}

/* D [rows of all groups, columns]: once each. */
void rows_once(const std::vector<int64_t> &offsets, bool ragged, int columns,
               int band, int clusters)
{
    const int n_groups = (int)offsets.size() - 1, rows = (int)offsets.back();
    std::vector<int> times((size_t)rows * (size_t)columns);

    for (int rank = 0; rank < 2; rank++)
        for (int cluster = 0; cluster < clusters; cluster++) {
            ng_gemm_row_tiles tiles(ragged ? offsets.data() : nullptr,
                                    ragged ? n_groups : 1, rows, columns, band,
                                    rank);

            for (int tile = cluster; tiles.seek(tile); tile += clusters) {
                const int end = tiles.row + NG_GEMM_ROWS;

                tiles_seen++;
                if (tiles.skip < 0 || tiles.skip > NG_GEMM_ROWS
                    || tiles.row + tiles.skip < tiles.start || end > tiles.end)
                    fail("past its group", tiles.group, tiles.row,
                         tiles.col_block);
                /* the second CTA of a pair may have columns past the last */
                for (int row = tiles.row + tiles.skip;
                     row < end && tiles.col_block < columns; row++)
                    times[(size_t)row * (size_t)columns
                          + (size_t)tiles.col_block]++;
            }
        }
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++)
            if (times[(size_t)row * (size_t)columns + (size_t)column] != 1)
                fail("not once", -1, row, column);
}

/* D [groups, blocks of rows, blocks of columns]: once each. */
void blocks_once(const std::vector<int64_t> &offsets, int rows, int columns,
                 int band, int clusters)
{
    const int n_groups = (int)offsets.size() - 1;
    const size_t size = (size_t)rows * (size_t)columns;
    std::vector<int> times((size_t)n_groups * size);

    for (int rank = 0; rank < 2; rank++)
        for (int cluster = 0; cluster < clusters; cluster++) {
            ng_gemm_block_tiles tiles(offsets.data(), n_groups, 0, rows,
                                      columns, band, rank);

            for (int tile = cluster; tiles.seek(tile); tile += clusters) {
                const int g = tiles.group;
                int64_t first = 0;

                tiles_seen++;
                if (tiles.start != offsets[(size_t)g]
                    || tiles.end != offsets[(size_t)g + 1])
                    fail("another group's rows", g, tiles.start, tiles.end);
                for (int before = 0; before < g; before++)
                    first += (offsets[(size_t)before + 1]
                              - offsets[(size_t)before] + 127)
                             / 128;
                if (tiles.first_block != first)
                    fail("another group's blocks", g, tiles.first_block,
                         (int)first);
                if (tiles.row_block >= rows)
                    fail("past the matrix", g, tiles.row_block,
                         tiles.col_block);
                if (tiles.col_block < columns)
                    times[(size_t)g * size
                          + (size_t)tiles.row_block * (size_t)columns
                          + (size_t)tiles.col_block]++;
            }
        }
    for (int g = 0; g < n_groups; g++)
        for (size_t i = 0; i < size; i++)
            if (times[(size_t)g * size + i] != 1)
                fail("not once", g, (int)(i / (size_t)columns),
                     (int)(i % (size_t)columns));
}

} // namespace

int main()
{
    for (int i = 0; i < 400; i++) {
        const std::vector<int64_t> offsets = groups_of(1 + below(9));
        const int columns = 1 + below(40), band = 1 + below(9);
        const int clusters = 1 + below(70);

        rows_once(offsets, true, columns, band, clusters);
        rows_once(offsets, false, columns, band, clusters);
        blocks_once(offsets, 1 + below(20), columns, band, clusters);
    }
    std::printf("%" PRId64 " tiles\n", tiles_seen);
    return tiles_seen == 0;
}
