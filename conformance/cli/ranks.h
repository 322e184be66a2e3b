/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of an MPI run. The program does not link MPI: under mpirun it opens
 * narrowgauge-mpi.so, which does, so that it also runs where MPI is missing.
 */
#ifndef NG_CONFORMANCE_CLI_RANKS_H
#define NG_CONFORMANCE_CLI_RANKS_H

#include <stdbool.h>

#include "formats/status.h"
#include "reference/train/comm.h"

typedef struct ng_ranks {
    int rank, size;             /* 0 and 1 without MPI */
    void *module;
} ng_ranks;

/* Find out whether mpirun started this process among others, and join them.
 * Returns NG_BAD_FILE, a line in *error, if it did and the module cannot be
 * opened: each rank would otherwise do the whole work. */
ng_status ng_ranks_begin(ng_ranks *ranks, ng_error *error);

/* Collect one text a rank at rank 0: texts[size], to be freed one by one and as
 * a whole; null at the other ranks. Returns false if it failed. */
bool ng_ranks_gather(const ng_ranks *ranks, const char *text, char ***texts);

/* The same ranks as a training run exchanges bytes with them; null if the module
 * is too old to. Valid until ng_ranks_end. */
const ng_comm *ng_ranks_comm(const ng_ranks *ranks);

/* The largest exit status among the ranks, at each of them. */
int ng_ranks_worst(const ng_ranks *ranks, int status);

/* Leave the ranks, agreeing on one exit status: the worst. */
int ng_ranks_end(ng_ranks *ranks, int status);

/* What narrowgauge-mpi.so exports. */
typedef struct ng_ranks_functions {
    int (*begin)(int *rank, int *size);
    int (*gather)(const char *text, char ***texts);
    int (*largest)(int value);
    void (*end)(void);
} ng_ranks_functions;

#endif
