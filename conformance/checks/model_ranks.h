/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that are threads of one process, for tests of what ranks must not
 * change: an ng_comm that copies between them.
 */
#ifndef NG_CONFORMANCE_CHECKS_MODEL_RANKS_H
#define NG_CONFORMANCE_CHECKS_MODEL_RANKS_H

#include <pthread.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "reference/train/comm.h"

enum { MAX_RANKS = 8 };

typedef struct meeting {
    pthread_barrier_t barrier;
    int size;
    const void *payload[MAX_RANKS];
    const int64_t *counts[MAX_RANKS];
} meeting;

typedef struct member {
    meeting *all;
    int rank;
} member;

/* Everyone's next bytes for me, one rank after the other. */
static inline ng_status meet_and_copy(void *context, void *from,
                                      const int64_t *from_bytes, const void *to,
                                      const int64_t *to_bytes, ng_error *error)
{
    const member *me = context;
    meeting *all = me->all;
    char *out = from;
    ng_status status = NG_OK;

    all->payload[me->rank] = to;
    all->counts[me->rank] = to_bytes;
    pthread_barrier_wait(&all->barrier);
    for (int r = 0; r < all->size; r++) {
        const int64_t n = all->counts[r][me->rank];
        const char *in = all->payload[r];

        for (int q = 0; q < me->rank; q++)
            in += all->counts[r][q];
        if (n != from_bytes[r])
            status = ng_fail(error, NG_BAD_SHAPE, "ranks disagree");
        else if (n > 0)
            memcpy(out, in, (size_t)n);
        out += from_bytes[r];
    }
    pthread_barrier_wait(&all->barrier);
    return status;
}

static inline ng_status meet_and_count(void *context, int64_t *from,
                                       const int64_t *to, int64_t n,
                                       ng_error *error)
{
    const member *me = context;
    int64_t bytes[MAX_RANKS];

    for (int r = 0; r < me->all->size; r++)
        bytes[r] = n * (int64_t)sizeof *to;
    return meet_and_copy(context, from, bytes, to, bytes, error);
}

static inline ng_comm comm_of(member *me)
{
    return (ng_comm){.name = "threads",
                     .rank = me->rank,
                     .size = me->all->size,
                     .context = me,
                     .exchange_counts = meet_and_count,
                     .exchange = meet_and_copy};
}

/* Run work(argument of the rank, its comm) on so many threads. */
typedef struct rank_job {
    void (*work)(void *argument, const ng_comm *comm);
    void *argument;
    member me;
} rank_job;

static inline void *run_rank(void *context)
{
    rank_job *job = context;
    const ng_comm comm = comm_of(&job->me);

    job->work(job->argument, &comm);
    return NULL;
}

static inline void run_ranks(int size,
                             void (*work)(void *argument, const ng_comm *comm),
                             void *const *arguments)
{
    meeting all = {.size = size};
    rank_job jobs[MAX_RANKS];
    pthread_t threads[MAX_RANKS];

#ifdef _OPENMP
    /* Let the runtime meet this thread first, and not a rank's. LLVM's libomp
     * 14 numbers threads as it meets them, and a sanitizer's tool (archer) has
     * it read thread 0's record at the end of each critical section, in
     * whatever thread: a null pointer once a rank that was 0 has ended. */
    (void)omp_get_max_threads();
#endif
    pthread_barrier_init(&all.barrier, NULL, (unsigned)size);
    for (int r = 0; r < size; r++) {
        jobs[r] = (rank_job){work, arguments[r], {&all, r}};
        pthread_create(&threads[r], NULL, run_rank, &jobs[r]);
    }
    for (int r = 0; r < size; r++)
        pthread_join(threads[r], NULL);
    pthread_barrier_destroy(&all.barrier);
}

#endif
