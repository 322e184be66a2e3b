/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of a training run: who there is, and one way to exchange bytes. A
 * table, like the backend: one process (ng_comm_self), MPI (a module opened on
 * demand), NCCL later. No arithmetic: sums over ranks are made by
 * reference/train/tree_sum.h, from what exchange brings, in a fixed tree.
 * Every call is collective: all ranks make it, with empty payloads if need be.
 * A rank that gives up calls abort, so that the others do not wait for ever.
 */
#ifndef NG_REFERENCE_TRAIN_COMM_H
#define NG_REFERENCE_TRAIN_COMM_H

#include <stdint.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_comm {
    const char *name; /* "self", "mpi" */
    int rank, size;   /* 0 <= rank < size */
    void *context;    /* first argument of every function */

    /* Give each rank n numbers, and get n from each: from[size][n],
     * to[size][n]; host memory. */
    ng_status (*exchange_counts)(void *context, int64_t *from,
                                 const int64_t *to, int64_t n, ng_error *error);
    /* Give rank r the next to_bytes[r] bytes of `to`, and get from_bytes[r] of
     * it; both sides agree on the counts, which may be 0. Memory of the
     * backend that the comm was made for. What a rank sends itself is copied
     * and counts as not sent. */
    ng_status (*exchange)(void *context, void *from, const int64_t *from_bytes,
                          const void *to, const int64_t *to_bytes,
                          ng_error *error);
    /* End every rank of the run with an exit status. Does not return where
     * there are others. */
    void (*abort)(void *context, int status);
    void (*free)(void *context);
} ng_comm;

/* One process: nothing ever leaves it. Never freed. */
const ng_comm *ng_comm_self(void);

/* How n shards are shared out: rank r has the consecutive shards *first ..
 * *last - 1, floor(r n / size) up to floor((r + 1) n / size); none if there are
 * more ranks than shards. The waves of a step: the largest number that any rank
 * has. */
void ng_comm_share(int64_t *first, int64_t *last, int64_t n, int rank,
                   int size);
int64_t ng_comm_waves(int64_t n, int size);

#ifdef __cplusplus
}
#endif

#endif
