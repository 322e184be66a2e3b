/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as subject: requests on its standard input, answers on its standard
 * output. A message is its length in bytes (8, little-endian) and so many bytes
 * of safetensors; docs/subjects.md says what is in it.
 */
#define _GNU_SOURCE /* pipe2, memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conformance/subject/escape.h"
#include "conformance/subject/exec_message.h"
#include "conformance/subject/host_parts.h"
#include "formats/files/safetensors.h"

static const uint64_t max_message = UINT64_C(1) << 30;

/* ---- the pipes ----------------------------------------------------------- */

static void gone(ng_verdict *verdict)
{
    ng_verdict_set(verdict, NG_VERDICT_EXITED, "closed its channel");
}

static bool late(const ng_host *host, ng_verdict *verdict)
{
    ng_verdict_set(verdict, NG_VERDICT_HUNG, "hung: no answer after %g s",
                   host->timeout);
    return false;
}

static bool send_message(ng_host *host, const unsigned char *message,
                         size_t size, double deadline, ng_verdict *verdict)
{
    for (size_t sent = 0; sent < size;) {
        switch (ng_process_wait(&host->process, host->to, true, deadline)) {
        case NG_PROCESS_LATE:
            return late(host, verdict);
        case NG_PROCESS_ENDED:
            gone(verdict);
            return false;
        default:
            break;
        }
        const ssize_t n =
            send(host->to, message + sent, size - sent, MSG_NOSIGNAL);

        if (n > 0)
            sent += (size_t)n;
        else if (n < 0 && errno != EAGAIN && errno != EINTR) {
            gone(verdict);
            return false;
        }
    }
    return true;
}

static bool receive_bytes(ng_host *host, unsigned char *to, size_t size,
                          double deadline, ng_verdict *verdict)
{
    for (size_t got = 0; got < size;) {
        switch (ng_process_wait(&host->process, host->from, false, deadline)) {
        case NG_PROCESS_LATE:
            return late(host, verdict);
        case NG_PROCESS_ENDED:
            gone(verdict);
            return false;
        default:
            break;
        }
        const ssize_t n = read(host->from, to + got, size - got);

        if (n > 0)
            got += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            gone(verdict);
            return false;
        }
    }
    return true;
}

/* Read a message as a file; hostile like any other. */
static bool receive_message(ng_host *host, ng_tensor_file *answer,
                            double deadline, ng_verdict *verdict)
{
    uint64_t size = 0;
    char path[64], shown[64];
    unsigned char head[8];
    ng_error error;
    bool good = false;

    if (!receive_bytes(host, head, sizeof head, deadline, verdict))
        return false;
    memcpy(&size, head, sizeof size);
    if (size < 8 || size > max_message) {
        ng_escape(shown, sizeof shown, (const char *)head, sizeof head);
        ng_verdict_set(verdict, NG_VERDICT_BAD_STATUS,
                       "its answer begins with no length: %s", shown);
        return false;
    }
    const int fd = memfd_create("answer", MFD_CLOEXEC);
    unsigned char *map =
        fd >= 0 && ftruncate(fd, (off_t)size) == 0
            ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
            : MAP_FAILED;

    if (map == MAP_FAILED) {
        ng_verdict_set(verdict, NG_VERDICT_ENVIRONMENT, "out of memory");
    } else {
        if (receive_bytes(host, map, size, deadline, verdict)) {
            snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
            good = ng_safetensors_read(answer, path, &error) == NG_OK;
            if (!good) {
                char text[200];
                const char *what = strstr(error.text, ": ");

                ng_escape(text, sizeof text, what != NULL ? what + 2 : "",
                          what != NULL ? strlen(what + 2) : 0);
                ng_verdict_set(verdict, NG_VERDICT_BAD_STATUS,
                               "its answer is no safetensors: %s", text);
            }
        }
        munmap(map, size);
    }
    if (fd >= 0)
        close(fd);
    return good;
}

static bool exchange(ng_host *host, ng_tensor_file *answer, const ng_call *call,
                     ng_verdict *verdict)
{
    const double deadline = ng_process_now() + host->timeout;
    size_t size;
    unsigned char *message = ng_exec_message(&size, call);
    bool good = false;

    if (message == NULL)
        ng_verdict_set(verdict, NG_VERDICT_ENVIRONMENT, "out of memory");
    else
        good = send_message(host, message, size, deadline, verdict)
               && receive_message(host, answer, deadline, verdict);
    free(message);
    return good;
}

void ng_host_exec_close(ng_host *host)
{
    if (host->to >= 0)
        close(host->to);
    if (host->from >= 0)
        close(host->from);
    host->to = host->from = -1;
}

/* ---- the program -------------------------------------------------------- */

bool ng_host_exec_start(ng_host *host, ng_verdict *verdict)
{
    char *argv[] = {(char *)"sh", (char *)"-c", host->command, NULL};
    ng_tensor_file answer = {0};
    int to[2] = {-1, -1}, from[2] = {-1, -1}, status = 0;

    memset(&host->arena->fault, 0, sizeof host->arena->fault);
    /* A socket to it: a write to a pipe that is closed would be a signal. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0
        || pipe2(from, O_CLOEXEC) != 0) {
        status = errno;
    } else {
        const ng_process_fd fds[] = {{to[0], STDIN_FILENO},
                                     {from[1], STDOUT_FILENO}};

        status = ng_process_start(&host->process, "/bin/sh", argv, fds, 2);
    }
    if (to[0] >= 0)
        close(to[0]);
    if (from[1] >= 0)
        close(from[1]);
    host->to = to[1];
    host->from = from[0];
    if (status != 0) {
        ng_host_exec_close(host);
        ng_verdict_set(verdict, NG_VERDICT_ENVIRONMENT,
                       "a process for the subject: %s", strerror(status));
        return false;
    }
    fcntl(host->to, F_SETFL, O_NONBLOCK);
    fcntl(host->from, F_SETFL, O_NONBLOCK);

    const bool good =
        exchange(host, &answer, NULL, verdict)
        && ng_host_exec_facts(&host->arena->facts, &answer, verdict);

    ng_tensor_file_free(&answer);
    if (!good && verdict->kind == NG_VERDICT_EXITED)
        ng_process_end(&host->process, 1, verdict);
    return good;
}

/* ---- one call ------------------------------------------------------------ */

static bool take_output(const ng_tensor *to, const ng_tensor_file *answer,
                        ng_verdict *verdict)
{
    const ng_tensor *from = ng_tensor_file_find(answer, to->name);
    const size_t size = ng_dtype_size(to->dtype);
    int64_t units, bytes;
    bool same = from != NULL && from->rank == to->rank
                && ng_dtype_size(from->dtype) == size;

    for (int axis = 0; same && axis < to->rank; axis++)
        same = from->shape[axis] == to->shape[axis];
    if (!same || ng_tensor_extent(&units, &bytes, to) != NG_OK) {
        ng_verdict_set(verdict, NG_VERDICT_BAD_STATUS,
                       from == NULL ? "its answer lacks %s"
                                    : "its answer has %s in another shape or "
                                      "unit size",
                       to->name);
        return false;
    }
    for (int64_t i = 0; i < units; i++)
        memcpy((char *)to->data + ng_exec_unit(to, i) * (int64_t)size,
               (const char *)from->data + i * (int64_t)size, size);
    return true;
}

ng_status ng_host_exec_ask(ng_host *host, const ng_call *call,
                           ng_verdict *verdict)
{
    ng_tensor_file answer = {0};
    const char *said;

    if (!exchange(host, &answer, call, verdict)) {
        ng_tensor_file_free(&answer);
        return NG_NOT_COVERED;
    }
    ng_status status = NG_NOT_COVERED;

    said = ng_exec_text(&answer, "", "status");
    if (strcmp(said, "refused") == 0) {
        if (call->foreign->expected != NG_OK)
            status = call->foreign->expected;
        else
            ng_verdict_set(verdict, NG_VERDICT_REFUSED,
                           "refused good input within its limits");
    } else if (strcmp(said, "not covered") == 0) {
        ng_verdict_set(verdict, NG_VERDICT_LACKS,
                       "lists the operation, then says that it lacks it");
    } else if (strcmp(said, "failed") == 0) {
        ng_verdict_set(verdict, NG_VERDICT_FAILED, "says that it failed");
    } else if (said[0] != '\0' && strcmp(said, "ok") != 0) {
        ng_verdict_set(verdict, NG_VERDICT_BAD_STATUS,
                       "answered with a status that is none");
    } else {
        status = NG_OK;
        for (int i = 0; i < call->n_outputs && status == NG_OK; i++)
            if (!take_output(&call->output[i], &answer, verdict))
                status = NG_NOT_COVERED;
    }
    ng_tensor_file_free(&answer);
    return status;
}
