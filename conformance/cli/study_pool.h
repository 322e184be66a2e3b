/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of a study side by side: a process each, since a run is a few threads'
 * work and a study has many runs.
 */
#ifndef NG_CONFORMANCE_CLI_STUDY_POOL_H
#define NG_CONFORMANCE_CLI_STUDY_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What to start: this program as "narrowgauge study ARGUMENT... --jobs=1
 * --shard=I/N" for run I - 1 of the N = n_runs there are, where I - 1 mod
 * n_shards is shard. */
typedef struct ng_study_pool {
    int argc; /* this command's own arguments, argv[0] its name */
    char *const *argv;
    int64_t n_runs, shard, n_shards;
    int64_t at_once; /* processes, 1 up to NG_STUDY_MAX_JOBS */
    bool quiet;      /* not a line for each run that is done */
    /* The name of a run, for what it prints. */
    void (*name)(char *text, size_t size, int64_t run, void *context);
    void *context;
} ng_study_pool;

enum { NG_STUDY_MAX_JOBS = 64 };

/* Start them, at_once of them at a time, and wait for all. Each line that they
 * print comes out on standard error behind the run's name. OMP_NUM_THREADS,
 * unless the caller has set it, is an even share of the processors. SIGINT and
 * SIGTERM (ng_stop_catch) are handed on: each run ends with a checkpoint. After
 * a run that failed no other is started.
 * Returns NG_EXIT_OK, or the exit status of the first one that failed. */
int ng_study_pool_run(const ng_study_pool *pool);

#endif
