/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
#include "conformance/cli/study_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/stop_signal.h"

extern char **environ;

enum { LINE = 512, NAME = 64, LOOK_MS = 200 };

/* A run that is under way; pid 0: none. */
typedef struct process {
    pid_t pid;
    int fd; /* what it prints */
    int64_t run;
    char line[LINE]; /* not yet ended by a line feed */
    size_t n;
} process;

typedef struct state {
    const ng_study_pool *pool;
    process slots[NG_STUDY_MAX_JOBS];
    int64_t next, running, done;
    bool told; /* the signal was handed on */
    int exit_status;
} state;

static void note(state *s, int exit_status)
{
    if (s->exit_status == NG_EXIT_OK)
        s->exit_status = exit_status;
}

/* ---- starting ----------------------------------------------------------- */

/* In a process group of its own: a terminal's Ctrl-C reaches this process, which
 * hands it on once; a second signal would kill before the checkpoint. */
static int spawn(process *p, char *const argv[], int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed;

    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    failed = posix_spawn(&p->pid, "/proc/self/exe", &actions, &attributes,
                         argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed)
        p->pid = 0;
    return failed;
}

static int start(process *p, const ng_study_pool *pool, int64_t run)
{
    char shard[NAME], jobs[] = "--jobs=1", program[] = "narrowgauge";
    char command[] = "study";
    char **argv = calloc((size_t)pool->argc + 5, sizeof *argv);
    int ends[2], n = 0, failed;

    if (argv == NULL)
        return ENOMEM;
    snprintf(shard, sizeof shard, "--shard=%" PRId64 "/%" PRId64, run + 1,
             pool->n_runs);
    argv[n++] = program;
    argv[n++] = command;
    for (int i = 1; i < pool->argc; i++)
        argv[n++] = pool->argv[i];
    argv[n++] = jobs;
    argv[n++] = shard;
    if (pipe2(ends, O_CLOEXEC) != 0)
        failed = errno;
    else {
        p->run = run;
        p->n = 0;
        p->fd = ends[0];
        failed = spawn(p, argv, ends[1]);
        close(ends[1]);
        if (failed)
            close(ends[0]);
    }
    free(argv);
    return failed;
}

static bool is_mine(const ng_study_pool *pool, int64_t run)
{
    return run % pool->n_shards == pool->shard;
}

/* How many are mine. */
static int64_t share(const ng_study_pool *pool)
{
    return (pool->n_runs - pool->shard + pool->n_shards - 1) / pool->n_shards;
}

static void fill(state *s)
{
    const ng_study_pool *pool = s->pool;

    for (int64_t i = 0; i < pool->at_once; i++) {
        int failed;

        while (s->next < pool->n_runs && !is_mine(pool, s->next))
            s->next++;
        if (s->next == pool->n_runs || s->exit_status != NG_EXIT_OK || ng_stop)
            return;
        if (s->slots[i].pid != 0)
            continue;
        failed = start(&s->slots[i], pool, s->next);
        if (failed) {
            note(s, ng_complain(NG_EXIT_ENVIRONMENT, "study",
                                "a process for a run: %s", strerror(failed)));
            return;
        }
        s->next++;
        s->running++;
    }
}

/* ---- what they print ---------------------------------------------------- */

static void print_line(const state *s, process *p)
{
    char name[NAME];

    s->pool->name(name, sizeof name, p->run, s->pool->context);
    if (p->n > 0)
        fprintf(stderr, "%s: %.*s\n", name, (int)p->n, p->line);
    p->n = 0;
}

/* Returns false at the end of what it prints. */
static bool forward(const state *s, process *p)
{
    char text[LINE];
    const ssize_t n = read(p->fd, text, sizeof text);

    for (ssize_t i = 0; i < n; i++) {
        if (text[i] == '\n' || p->n == sizeof p->line)
            print_line(s, p);
        if (text[i] != '\n')
            p->line[p->n++] = text[i];
    }
    if (n <= 0)
        print_line(s, p);
    return n > 0 || (n < 0 && errno == EINTR);
}

static void finish(state *s, process *p)
{
    int status = 0;

    close(p->fd);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
    s->running--;
    if (WIFSIGNALED(status))
        note(s, ng_complain(NG_EXIT_ENVIRONMENT, "study",
                            "run %" PRId64 " was killed by signal %d",
                            p->run + 1, WTERMSIG(status)));
    else
        note(s, WEXITSTATUS(status));
    if (status == 0)
        s->done++;
    if (status == 0 && !s->pool->quiet)
        fprintf(stderr, "%" PRId64 " of %" PRId64 " runs done\n", s->done,
                share(s->pool));
}

static void listen_to(state *s)
{
    struct pollfd fds[NG_STUDY_MAX_JOBS];
    process *of[NG_STUDY_MAX_JOBS];
    nfds_t n = 0;

    for (int i = 0; i < NG_STUDY_MAX_JOBS; i++) {
        if (s->slots[i].pid == 0)
            continue;
        of[n] = &s->slots[i];
        fds[n++] = (struct pollfd){.fd = s->slots[i].fd, .events = POLLIN};
    }
    if (poll(fds, n, LOOK_MS) <= 0)
        return;
    for (nfds_t i = 0; i < n; i++)
        if (fds[i].revents != 0 && !forward(s, of[i]))
            finish(s, of[i]);
}

/* ------------------------------------------------------------------------- */

static void hand_on_signal(state *s)
{
    if (!ng_stop || s->told)
        return;
    s->told = true;
    for (int i = 0; i < NG_STUDY_MAX_JOBS; i++)
        if (s->slots[i].pid != 0)
            kill(s->slots[i].pid, SIGTERM);
}

static void share_processors(int64_t at_once)
{
    const int64_t n = sysconf(_SC_NPROCESSORS_ONLN);
    char threads[NAME];

    snprintf(threads, sizeof threads, "%" PRId64,
             n > at_once ? n / at_once : 1);
    setenv("OMP_NUM_THREADS", threads, 0);
    /* Threads that wait must not take the processors of those that work. */
    setenv("OMP_WAIT_POLICY", "passive", 0);
}

int ng_study_pool_run(const ng_study_pool *pool)
{
    state *s = calloc(1, sizeof *s);
    int exit_status;

    if (s == NULL)
        return ng_complain(NG_EXIT_ENVIRONMENT, "study", "out of memory");
    s->pool = pool;
    share_processors(pool->at_once);
    for (fill(s); s->running > 0; fill(s)) {
        listen_to(s);
        hand_on_signal(s);
    }
    if (ng_stop)
        note(s, NG_EXIT_ENVIRONMENT);
    exit_status = s->exit_status;
    free(s);
    return exit_status;
}
