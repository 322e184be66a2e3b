/* SPDX-License-Identifier: Apache-2.0
 *
 * narrowgauge-mpi.so: the only part of the program that links MPI; opened on
 * demand by ranks.c.
 */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/ranks.h"

extern const ng_ranks_functions ng_mpi_functions;

static int rank_here, ranks_in_all;

static int begin(int *rank, int *size)
{
    int provided;

    /* Threads of OpenMP work between the calls; only one calls. */
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided)
        != MPI_SUCCESS)
        return -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_in_all);
    *rank = rank_here;
    *size = ranks_in_all;
    return 0;
}

static int gather(const char *text, char ***texts)
{
    const size_t length = strlen(text) + 1;

    *texts = NULL;
    if (rank_here != 0) {
        if (length > INT_MAX)
            return -1;
        return MPI_Send(text, (int)length, MPI_CHAR, 0, 0, MPI_COMM_WORLD)
               == MPI_SUCCESS ? 0 : -1;
    }
    *texts = calloc((size_t)ranks_in_all, sizeof **texts);
    if (*texts == NULL)
        return -1;
    (*texts)[0] = strdup(text);
    for (int from = 1; from < ranks_in_all; from++) {
        MPI_Status status;
        int size;

        if (MPI_Probe(from, 0, MPI_COMM_WORLD, &status) != MPI_SUCCESS)
            return -1;
        MPI_Get_count(&status, MPI_CHAR, &size);
        (*texts)[from] = malloc((size_t)size);
        if ((*texts)[from] == NULL
            || MPI_Recv((*texts)[from], size, MPI_CHAR, from, 0, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return -1;
    }
    return (*texts)[0] != NULL ? 0 : -1;
}

static int largest(int value)
{
    int result = value;

    MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return result;
}

static void end(void)
{
    MPI_Finalize();
}

const ng_ranks_functions ng_mpi_functions = {begin, gather, largest, end};
