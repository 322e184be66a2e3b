/* SPDX-License-Identifier: Apache-2.0
 *
 * ng_comm over MPI, host memory. In narrowgauge-mpi.so, opened on demand; the
 * program has called MPI_Init by then. Errors of MPI itself end all ranks, as
 * MPI does unless told otherwise: a rank that is lost cannot be done without.
 */
#include "reference/train/comm_mpi.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPI counts in int; longer messages go in pieces, which keep their order. */
static const int64_t PIECE = INT64_C(1) << 30;

enum { TAG = 1 };

/* As ng_fail, of the library that this module does without. */
static ng_status fail(ng_error *error, ng_status status, const char *text)
{
    if (error != NULL)
        snprintf(error->text, sizeof error->text, "%s", text);
    return status;
}

static ng_status exchange_counts(void *context, int64_t *from,
                                 const int64_t *to, int64_t n, ng_error *error)
{
    (void)context;
    if (n < 0 || n > INT_MAX)
        return fail(error, NG_BAD_SHAPE, "mpi: too many counts");
    return MPI_Alltoall(to, (int)n, MPI_INT64_T, from, (int)n, MPI_INT64_T,
                        MPI_COMM_WORLD)
                   == MPI_SUCCESS
               ? NG_OK
               : fail(error, NG_BAD_FILE, "mpi: all-to-all failed");
}

static int64_t pieces(int64_t bytes)
{
    return (bytes + PIECE - 1) / PIECE;
}

/* Start to receive into `into` from a rank, or, where that is null, to send it
 * `data`; returns how many requests. */
static int64_t start(MPI_Request *requests, char *into, const char *data,
                     int64_t bytes, int peer)
{
    int64_t n = 0;

    for (int64_t at = 0; at < bytes; at += PIECE, n++) {
        const int64_t left = bytes - at;
        const int size = (int)(left < PIECE ? left : PIECE);

        if (into != NULL)
            MPI_Irecv(into + at, size, MPI_BYTE, peer, TAG, MPI_COMM_WORLD,
                      &requests[n]);
        else
            MPI_Isend(data + at, size, MPI_BYTE, peer, TAG, MPI_COMM_WORLD,
                      &requests[n]);
    }
    return n;
}

static int64_t sum(const int64_t *bytes, int n)
{
    int64_t total = 0;

    for (int i = 0; i < n; i++)
        total += bytes[i];
    return total;
}

static ng_status exchange(void *context, void *from, const int64_t *from_bytes,
                          const void *to, const int64_t *to_bytes,
                          ng_error *error)
{
    const ng_comm *comm = context;
    const int size = comm->size;
    int64_t most = 0, n = 0;
    bool fits = true;

    for (int r = 0; r < size; r++) {
        fits = fits && from_bytes[r] >= 0 && to_bytes[r] >= 0;
        most += pieces(from_bytes[r]) + pieces(to_bytes[r]);
    }
    if (!fits || most > INT_MAX
        || from_bytes[comm->rank] != to_bytes[comm->rank])
        return fail(error, NG_BAD_SHAPE, "mpi: bad counts");

    MPI_Request *requests = malloc(((size_t)most + 1) * sizeof(MPI_Request));

    if (requests == NULL)
        return fail(error, NG_NO_MEMORY, "mpi: out of memory");
    /* Each rank begins with its neighbour, so that not all send to one. */
    for (int step = 1; step < size; step++) {
        const int peer = (comm->rank + size - step) % size;

        n += start(requests + n, (char *)from + sum(from_bytes, peer), NULL,
                   from_bytes[peer], peer);
    }
    for (int step = 1; step < size; step++) {
        const int peer = (comm->rank + step) % size;

        n += start(requests + n, NULL, (const char *)to + sum(to_bytes, peer),
                   to_bytes[peer], peer);
    }
    if (to_bytes[comm->rank] > 0)
        memcpy((char *)from + sum(from_bytes, comm->rank),
               (const char *)to + sum(to_bytes, comm->rank),
               (size_t)to_bytes[comm->rank]);
    const bool done =
        MPI_Waitall((int)n, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
    free(requests);
    return done ? NG_OK : fail(error, NG_BAD_FILE, "mpi: exchange failed");
}

static void abort_all(void *context, int status)
{
    (void)context;
    MPI_Abort(MPI_COMM_WORLD, status);
    abort();
}

static void nothing(void *context)
{
    (void)context;
}

const ng_comm *ng_mpi_comm(void)
{
    static ng_comm comm;

    comm = (ng_comm){.name = "mpi",
                     .context = &comm,
                     .exchange_counts = exchange_counts,
                     .exchange = exchange,
                     .abort = abort_all,
                     .free = nothing};
    MPI_Comm_rank(MPI_COMM_WORLD, &comm.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm.size);
    return &comm;
}
