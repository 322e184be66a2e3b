/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create, file seals */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conformance/subject/escape.h"
#include "conformance/subject/host_parts.h"

/* ---- the arena ----------------------------------------------------------- */

bool ng_host_grow_arena(ng_host *host, size_t wanted)
{
    size_t bytes = host->arena_bytes != 0 ? host->arena_bytes : 1 << 20;

    while (bytes < wanted)
        bytes *= 2;
    if (bytes == host->arena_bytes)
        return true;
    if (ftruncate(host->arena_fd, (off_t)bytes) != 0)
        return false;
    if (host->arena != NULL)
        munmap(host->arena, host->arena_bytes);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                     host->arena_fd, 0);

    host->arena = map != MAP_FAILED ? map : NULL;
    host->arena_bytes = host->arena != NULL ? bytes : 0;
    return host->arena != NULL;
}

bool ng_host_make_arena(ng_host *host)
{
    host->arena_fd =
        memfd_create("narrowgauge", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    /* Or a subject could cut it short under our feet, or seal it itself. */
    return host->arena_fd >= 0
           && fcntl(host->arena_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL)
                  == 0
           && ng_host_grow_arena(host, sizeof(ng_arena));
}

/* ---- the process --------------------------------------------------------- */

void ng_host_environment(ng_verdict *verdict, const char *what, int number)
{
    ng_verdict_set(verdict, NG_VERDICT_ENVIRONMENT, "%s: %s", what,
                   strerror(number));
}

void ng_host_end(ng_host *host, double grace, ng_verdict *verdict)
{
    const ng_wire_fault fault = host->arena->fault;
    const ng_wire_call *call = &host->arena->call;
    char where[128] = "", name[64];

    ng_process_end(&host->process, grace, verdict);
    if (host->socket >= 0)
        close(host->socket);
    host->socket = -1;
    ng_host_exec_close(host);
    if (verdict == NULL || verdict->kind != NG_VERDICT_CRASHED
        || fault.signal == 0)
        return;
    if (fault.tensor >= 0 && fault.tensor < 2 * NG_MAX_TENSORS) {
        const ng_wire_tensor *t = &call->tensor[fault.tensor];
        const bool before = fault.byte < 0;

        ng_escape(name, sizeof name, t->name, strnlen(t->name, sizeof t->name));
        /* Unsigned: the subject can write there, and what it likes. */
        const uint64_t at = (uint64_t)fault.byte;

        snprintf(where, sizeof where, "%lld bytes %s %s",
                 (long long)(before ? 0 - at : at - (uint64_t)t->span + 1),
                 before ? "before" : "past the end of", name);
        if (fault.write) {
            ng_verdict_set(verdict, NG_VERDICT_OUTSIDE, "wrote %s", where);
            return;
        }
    } else {
        snprintf(where, sizeof where, "%s",
                 fault.null ? "a null pointer" : "an address of no tensor");
    }
    ng_verdict_set(verdict, NG_VERDICT_CRASHED, "crashed: %s, %s %s",
                   fault.signal == SIGBUS ? "SIGBUS" : "SIGSEGV",
                   fault.write ? "writing to" : "reading", where);
}

bool ng_host_receive(ng_host *host, ng_wire_answer *answer, uint32_t sequence,
                     ng_verdict *verdict)
{
    const double deadline = ng_process_now() + host->timeout;
    ssize_t n = 0;

    switch (ng_process_wait(&host->process, host->socket, false, deadline)) {
    case NG_PROCESS_LATE:
        ng_host_end(host, 0, NULL);
        ng_verdict_set(verdict, NG_VERDICT_HUNG, "hung: no answer after %g s",
                       host->timeout);
        return false;
    case NG_PROCESS_READY:
        n = recv(host->socket, answer, sizeof *answer, MSG_DONTWAIT);
        break;
    default:
        break;
    }
    ng_process_drain(&host->process);
    if (n <= 0) {
        ng_host_end(host, 1, verdict);
        return false;
    }
    if (n != (ssize_t)sizeof *answer || answer->magic != NG_HOST_MAGIC
        || answer->sequence != sequence) {
        ng_host_end(host, 0, NULL);
        ng_verdict_set(verdict, NG_VERDICT_BAD_STATUS,
                       "wrote into its channel to the program");
        return false;
    }
    return true;
}

/* What an answer to loading says; false, *verdict set, unless it went well. */
static bool judge_loading(ng_host *host, int32_t status, ng_verdict *verdict)
{
    char text[200];

    ng_escape(text, sizeof text, host->arena->text,
              strnlen(host->arena->text, sizeof host->arena->text));
    switch (status) {
    case NG_LOADED:
        return true;
    case NG_LOAD_NO_LIBRARY:
        ng_verdict_set(verdict, NG_VERDICT_NOT_LOADED, "not loaded: %s", text);
        break;
    case NG_LOAD_NO_ENTRY:
        ng_verdict_set(verdict, NG_VERDICT_NO_ENTRY,
                       "missing symbol: no function ng_plugin");
        break;
    case NG_LOAD_ABI:
        ng_verdict_set(verdict, NG_VERDICT_WRONG_ABI, "wrong version: %s",
                       text);
        break;
    case NG_LOAD_CANNOT_RUN:
        if (*text != '\0')
            ng_verdict_set(verdict, NG_VERDICT_CANNOT_RUN,
                           "wants CUDA's device memory: %s", text);
        else
            ng_verdict_set(verdict, NG_VERDICT_CANNOT_RUN,
                           "says that it cannot run on this machine");
        break;
    case NG_LOAD_FAILED:
        ng_verdict_set(verdict, NG_VERDICT_FAILED, "failed to start: %s", text);
        break;
    default:
        ng_verdict_set(verdict, NG_VERDICT_BAD_TABLE, "bad table: %s", text);
        break;
    }
    return false;
}

bool ng_host_start(ng_host *host, ng_verdict *verdict)
{
    char *argv[] = {(char *)"narrowgauge", (char *)NG_HOST_COMMAND,
                    host->library, NULL};
    ng_wire_answer answer;
    int ends[2], status;

    if (host->command != NULL) {
        const bool started = ng_host_exec_start(host, verdict);

        if (!started)
            ng_host_end(host, 0, NULL);
        return started;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        ng_host_environment(verdict, "socket", errno);
        return false;
    }
    const ng_process_fd fds[] = {{ends[1], NG_HOST_SOCKET},
                                 {host->arena_fd, NG_HOST_ARENA}};

    memset(&host->arena->fault, 0, sizeof host->arena->fault);
    host->arena->text[0] = '\0';
    status = ng_process_start(&host->process, "/proc/self/exe", argv, fds, 2);
    close(ends[1]);
    host->socket = ends[0];
    if (status != 0) {
        close(host->socket);
        host->socket = -1;
        ng_host_environment(verdict, "a process for the subject", status);
        return false;
    }
    if (!ng_host_receive(host, &answer, 0, verdict))
        return false;
    if (!judge_loading(host, answer.status, verdict)) {
        ng_host_end(host, 0, NULL);
        return false;
    }
    return true;
}
