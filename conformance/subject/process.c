/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
#include "conformance/subject/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conformance/subject/escape.h"
#include "conformance/subject/orphans.h"

extern char **environ;

/* The processes that there are, so that they are not taken for what another one
 * left behind. Hosts come and go one after the other, or a few at a time. */
enum { MAX_PROCESSES = 64 };
static pid_t ours[MAX_PROCESSES];
static pthread_mutex_t ours_mutex = PTHREAD_MUTEX_INITIALIZER;

static int is_ours(int pid)
{
    for (int i = 0; i < MAX_PROCESSES; i++)
        if (ours[i] == pid)
            return 1;
    return 0;
}

static void replace_ours(pid_t from, pid_t to)
{
    for (int i = 0; i < MAX_PROCESSES; i++)
        if (ours[i] == from) {
            ours[i] = to;
            return;
        }
}

enum {
    SLICE_MS = 50, /* between looks whether it is still there */
    MAX_FDS = 3,
    HIGH_FD = 32
};

double ng_process_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool is_given(const ng_process_fd *fds, int n, int theirs)
{
    for (int i = 0; i < n; i++)
        if (fds[i].theirs == theirs)
            return true;
    return false;
}

/* Open a pipe whose other end becomes descriptor `theirs`. Returns that other
 * end, or -1. */
static int capture(ng_captured *captured, posix_spawn_file_actions_t *actions,
                   int theirs)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    captured->fd = ends[0];
    posix_spawn_file_actions_adddup2(actions, ends[1], theirs);
    return ends[1];
}

static void close_captured(ng_captured *captured)
{
    if (captured->fd >= 0)
        close(captured->fd);
    captured->fd = -1;
}

/* Whoever started this program may have had it ignore the ends of children,
 * which are then gone before anyone can ask how they came. */
static void want_children(void)
{
    struct sigaction now;

    if (sigaction(SIGCHLD, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_DFL);
}

/* Where memory runs out, the kernel is to end the subject, not this program.
 * What cannot be had (no /proc) is done without. */
static void give_first(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, "1000", 4) != 4)
        (void)0; /* some sandboxes refuse */
    close(fd);
}

int ng_process_start(ng_process *process, const char *program,
                     char *const argv[], const ng_process_fd *fds, int n)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    int output = -1, errors, status = 0;
    int high[MAX_FDS] = {-1, -1, -1}; /* out of the way of every `theirs` */

    memset(process, 0, sizeof *process);
    if (n < 0 || n > MAX_FDS)
        return EINVAL;
    process->output.fd = process->errors.fd = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (!is_given(fds, n, STDIN_FILENO))
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                         O_RDONLY, 0);
    if (!is_given(fds, n, STDOUT_FILENO)) {
        output = capture(&process->output, &actions, STDOUT_FILENO);
        status = output < 0 ? errno : 0;
    }
    errors = capture(&process->errors, &actions, STDERR_FILENO);
    if (errors < 0)
        status = errno;
    for (int i = 0; i < n && status == 0; i++) {
        high[i] = fcntl(fds[i].ours, F_DUPFD_CLOEXEC, HIGH_FD);
        if (high[i] < 0)
            status = errno;
        else
            posix_spawn_file_actions_adddup2(&actions, high[i], fds[i].theirs);
    }
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGCHLD);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP
                                              | POSIX_SPAWN_SETSIGMASK
                                              | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    want_children();
    ng_orphans_adopt();
    process->since = ng_orphans_now();
    pthread_mutex_lock(&ours_mutex);
    if (status == 0)
        status = posix_spawn(&process->pid, program, &actions, &attributes,
                             argv, environ);
    if (status == 0) {
        replace_ours(0, process->pid);
        give_first(process->pid);
    }
    pthread_mutex_unlock(&ours_mutex);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    for (int i = 0; i < n; i++)
        if (high[i] >= 0)
            close(high[i]);
    if (output >= 0)
        close(output);
    if (errors >= 0)
        close(errors);
    if (status != 0) {
        process->pid = 0;
        close_captured(&process->output);
        close_captured(&process->errors);
    }
    return status;
}

/* Keep the beginning of what can be read; the rest is read and dropped, a
 * bounded amount at a time, so that one who never stops printing cannot keep us
 * here. */
static void drain(ng_captured *captured)
{
    char rest[4096];

    for (int turn = 0; captured->fd >= 0 && turn < 64; turn++) {
        const size_t room = sizeof captured->text - captured->n;
        // cppcheck-suppress legacyUninitvar
        char *to = room > 0 ? captured->text + captured->n : rest;
        const ssize_t n = read(captured->fd, to, room > 0 ? room : sizeof rest);

        if (n <= 0)
            return;
        if (room > 0)
            captured->n += (size_t)n;
    }
}

void ng_process_drain(ng_process *process)
{
    drain(&process->output);
    drain(&process->errors);
}

static bool is_gone(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0
           && info.si_pid == pid;
}

ng_process_event ng_process_wait(ng_process *process, int fd, bool to_write,
                                 double deadline)
{
    struct pollfd wait[3] = {{.fd = fd, .events = to_write ? POLLOUT : POLLIN},
                             {.fd = process->output.fd, .events = POLLIN},
                             {.fd = process->errors.fd, .events = POLLIN}};

    for (;;) {
        const double left = deadline - ng_process_now();
        const int slice = left <= 0               ? 0
                          : left * 1e3 < SLICE_MS ? (int)(left * 1e3) + 1
                                                  : SLICE_MS;
        const int n = poll(wait, 3, slice);

        ng_process_drain(process);
        for (int i = 1; i < 3; i++) /* closed: poll would not wait for it */
            if ((wait[i].revents & (POLLHUP | POLLERR)) != 0
                && (wait[i].revents & POLLIN) == 0)
                wait[i].fd = -1;
        if (n > 0 && (wait[0].revents & (POLLIN | POLLOUT)) != 0)
            return NG_PROCESS_READY;
        if (n > 0 && wait[0].revents != 0)
            return NG_PROCESS_ENDED;
        if (n == 0 && is_gone(process->pid)) {
            const bool ready = poll(wait, 1, 0) > 0
                               && (wait[0].revents & (POLLIN | POLLOUT)) != 0;

            return ready ? NG_PROCESS_READY : NG_PROCESS_ENDED;
        }
        if (left <= 0)
            return NG_PROCESS_LATE;
    }
}

/* "SIGSEGV" for the signals that a crash comes with. */
static const char *signal_name(char *text, size_t size, int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
        {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"},
        {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGPIPE, "SIGPIPE"},
        {SIGSYS, "SIGSYS"},   {SIGINT, "SIGINT"},   {SIGXCPU, "SIGXCPU"},
        {SIGXFSZ, "SIGXFSZ"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    snprintf(text, size, "signal %d", number);
    return text;
}

/* The last words on standard error, as ` (it said: ...)`. */
static void last_words(char *text, size_t size, const ng_captured *errors)
{
    size_t end = errors->n, begin;
    char escaped[120];

    text[0] = '\0';
    while (end > 0 && strchr(" \n\r\t", errors->text[end - 1]) != NULL)
        end--;
    begin = end;
    while (begin > 0 && errors->text[begin - 1] != '\n')
        begin--;
    if (end == begin)
        return;
    ng_escape(escaped, sizeof escaped, errors->text + begin, end - begin);
    snprintf(text, size, " (it said: %s)", escaped);
}

void ng_process_end(ng_process *process, double grace, ng_verdict *verdict)
{
    const double deadline = ng_process_now() + grace;
    const struct timespec moment = {.tv_nsec = 1000000};
    char words[160], name[32];
    bool killed = false;
    int status = 0;

    if (process->pid == 0)
        return;
    while (!is_gone(process->pid) && ng_process_now() < deadline) {
        ng_process_drain(process);
        nanosleep(&moment, NULL);
    }
    killed = !is_gone(process->pid);
    kill(-process->pid, SIGKILL); /* its own children too */
    kill(process->pid, SIGKILL);
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    pthread_mutex_lock(&ours_mutex);
    replace_ours(process->pid, 0);
    ng_orphans_end(process->since, is_ours);
    pthread_mutex_unlock(&ours_mutex);
    ng_process_drain(process);
    last_words(words, sizeof words, &process->errors);
    if (verdict != NULL && killed)
        ng_verdict_set(verdict, NG_VERDICT_EXITED,
                       "closed its channel to the program%s", words);
    else if (verdict != NULL && WIFSIGNALED(status))
        ng_verdict_set(verdict, NG_VERDICT_CRASHED, "crashed: %s%s",
                       signal_name(name, sizeof name, WTERMSIG(status)), words);
    else if (verdict != NULL)
        ng_verdict_set(verdict, NG_VERDICT_EXITED, "exited with status %d%s",
                       WEXITSTATUS(status), words);
    close_captured(&process->output);
    close_captured(&process->errors);
    process->pid = 0;
}
