/* SPDX-License-Identifier: Apache-2.0
 *
 * cases.md L-25: four ranks exchange rows by uneven counts; one has nothing to
 * send, one gets nothing. Started by itself the program starts mpirun.
 *   send counts, a row = from   2 1 0 1 | 0 0 0 0 | 3 1 0 0 | 0 2 0 2
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reference/train/comm_mpi.h"

enum { RANKS = 4, H = 5, MOST = 16, ROUNDS = 3 };

static const int64_t counts[RANKS][RANKS] = {
    {2, 1, 0, 1}, {0, 0, 0, 0}, {3, 1, 0, 0}, {0, 2, 0, 2}};

static int failed;

static void expect(int rank, bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "FAIL rank %d: %s\n", rank, what);
    failed = 1;
}

/* Number h of row i of those that `from` sends to `to`. */
static float value(int from, int to, int64_t i, int h)
{
    return (float)(1000 * from + 100 * to + 10 * (int)i) + 0.25f * (float)h;
}

/* Rows there, and the same rows back: each pair's own order is kept. */
static void there_and_back(const ng_comm *comm)
{
    static float to[MOST][H], from[MOST + 1][H], back[MOST + 1][H];
    const int me = comm->rank;
    int64_t to_bytes[RANKS], from_bytes[RANKS], n_to = 0, n_from = 0;
    ng_error error = {{0}};

    for (int r = 0; r < RANKS; r++) {
        to_bytes[r] = counts[me][r] * (int64_t)sizeof *to;
        from_bytes[r] = counts[r][me] * (int64_t)sizeof *to;
        for (int64_t i = 0; i < counts[me][r]; i++, n_to++)
            for (int h = 0; h < H; h++)
                to[n_to][h] = value(me, r, i, h);
        n_from += counts[r][me];
    }
    memset(from, 0xA5, sizeof from);
    memset(back, 0xA5, sizeof back);
    expect(me,
           comm->exchange(comm->context, from, from_bytes, to, to_bytes, &error)
               == NG_OK,
           error.text);
    n_from = 0;
    for (int r = 0; r < RANKS; r++)
        for (int64_t i = 0; i < counts[r][me]; i++, n_from++)
            for (int h = 0; h < H; h++)
                expect(me, from[n_from][h] == value(r, me, i, h),
                       "another row arrived");
    expect(me, me != 2 || n_from == 0, "rank 2 holds rows");
    for (size_t i = 0; i < sizeof from[0]; i++)
        expect(me, ((unsigned char *)from[n_from])[i] == 0xA5,
               "a row past the last was written");
    expect(
        me,
        comm->exchange(comm->context, back, to_bytes, from, from_bytes, &error)
            == NG_OK,
        error.text);
    expect(me, memcmp(back, to, (size_t)n_to * sizeof *to) == 0,
           "the rows do not come back");
}

static void exchange_counts(const ng_comm *comm)
{
    int64_t to[RANKS][2], from[RANKS][2];
    ng_error error = {{0}};

    for (int r = 0; r < RANKS; r++) {
        to[r][0] = counts[comm->rank][r];
        to[r][1] = INT64_MIN + comm->rank;
    }
    expect(comm->rank,
           comm->exchange_counts(comm->context, from[0], to[0], 2, &error)
               == NG_OK,
           error.text);
    for (int r = 0; r < RANKS; r++)
        expect(comm->rank,
               from[r][0] == counts[r][comm->rank]
                   && from[r][1] == INT64_MIN + r,
               "other counts");
}

/* Counts that cannot be: every rank refuses them by itself, nothing is sent and
 * nothing written; the next exchange is as good as the first. */
static void bad_counts(const ng_comm *comm)
{
    static const int64_t bad[3] = {-1, 3, INT64_MAX / 4};
    const int me = comm->rank;
    char in[8] = "before", out[8] = {0};
    ng_error error = {{0}};
    int64_t n = 7;

    expect(me,
           comm->exchange_counts(comm->context, &n, &n, -1, &error)
                   == NG_BAD_SHAPE
               && strcmp(error.text, "mpi: too many counts") == 0 && n == 7,
           "negative counts are taken");
    for (int i = 0; i < 3; i++) {
        int64_t to_bytes[RANKS] = {0}, from_bytes[RANKS] = {0};

        /* of another rank, of oneself, or more pieces than can be counted */
        (i == 1 ? from_bytes : to_bytes)[i == 1 ? me : (me + 1) % RANKS] =
            bad[i];
        if (i == 2)
            for (int r = 0; r < RANKS; r++)
                to_bytes[r] = from_bytes[r] = bad[i];
        error.text[0] = '\0';
        expect(
            me,
            comm->exchange(comm->context, in, from_bytes, out, to_bytes, &error)
                    == NG_BAD_SHAPE
                && strcmp(error.text, "mpi: bad counts") == 0
                && strcmp(in, "before") == 0,
            "bad counts are taken");
    }
}

/* Shards go to ranks in order, none twice, none left out. */
static void shares(void)
{
    for (int size = 1; size < 9; size++)
        for (int64_t n = 0; n < 12; n++) {
            int64_t first, last = 0, most = 0;

            for (int r = 0; r < size; r++) {
                const int64_t before = last;

                ng_comm_share(&first, &last, n, r, size);
                expect(0, first == before && last >= first, "shares");
                most = last - first > most ? last - first : most;
            }
            expect(0, last == n && ng_comm_waves(n, size) == most, "waves");
        }
}

int main(int argc, char **argv)
{
    if (getenv("OMPI_COMM_WORLD_SIZE") == NULL) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
        setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
        execlp("mpirun", "mpirun", "-n", "4", argv[0], (char *)NULL);
        puts("SKIP: no mpirun");
        return 77;
    }
    MPI_Init(&argc, &argv);

    const ng_comm *comm = ng_mpi_comm();
    int worst = 99;

    if (comm->size == RANKS) {
        for (int round = 0; round < ROUNDS; round++) {
            there_and_back(comm);
            exchange_counts(comm);
            bad_counts(comm);
        }
        shares();
        MPI_Allreduce(&failed, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return worst;
}
