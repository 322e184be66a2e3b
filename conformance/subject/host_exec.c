/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as subject: requests on its standard input, answers on its standard
 * output. A message is its length in bytes (8, little-endian) and so many bytes
 * of safetensors; docs/subjects.md says what is in it.
 */
#define _GNU_SOURCE /* pipe2, memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "conformance/subject/escape.h"
#include "conformance/subject/host_parts.h"
#include "conformance/subject/plugin.h"
#include "formats/files/safetensors.h"

enum { MAX_KEY = 256 };
static const uint64_t max_message = UINT64_C(1) << 30;

/* ---- safetensors to memory ----------------------------------------------- */

/* Types that not every reader has go as whole numbers, as `vectors` writes
 * them. */
static const char *file_type(ng_dtype dtype, bool *plain)
{
    static const char *const names[NG_N_DTYPES] = {
        [NG_U8] = "U8",    [NG_I8] = "I8",   [NG_U16] = "U16",
        [NG_I16] = "I16",  [NG_U32] = "U32", [NG_I32] = "I32",
        [NG_U64] = "U64",  [NG_I64] = "I64", [NG_FP16] = "F16",
        [NG_FP32] = "F32", [NG_FP64] = "F64"};
    const size_t size = ng_dtype_size(dtype);

    *plain = names[dtype] != NULL;
    return *plain ? names[dtype] : size == 1 ? "U8" : size == 2 ? "U16" : "U32";
}

static void set_text(json_t *metadata, const char *prefix, const char *name,
                     const char *value)
{
    char key[MAX_KEY];

    snprintf(key, sizeof key, "%s%s", prefix, name);
    json_object_set_new(metadata, key, json_string(value));
}

static void set_number(json_t *metadata, const char *prefix, const char *name,
                       uint64_t value, bool is_signed)
{
    char text[32];

    if (is_signed)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)value);
    else
        snprintf(text, sizeof text, "%" PRIu64, value);
    set_text(metadata, prefix, name, text);
}

/* Unit i of a tensor in row-major order, counted by its strides. */
static int64_t unit_of(const ng_tensor *t, int64_t i)
{
    int64_t unit = 0;

    for (int axis = t->rank - 1; axis >= 0; axis--) {
        unit += i % t->shape[axis] * t->stride[axis];
        i /= t->shape[axis];
    }
    return unit;
}

static json_t *shape_json(const ng_tensor *t)
{
    json_t *shape = json_array();

    for (int axis = 0; axis < t->rank; axis++)
        json_array_append_new(shape, json_integer(t->shape[axis]));
    return shape;
}

/* Input i, or after those output i: outputs go along with what they hold. */
static const ng_tensor *tensor_of(const ng_call *call, int i)
{
    return i < call->n_inputs ? &call->input[i]
                              : &call->output[i - call->n_inputs];
}

/* The message of a call, or of a greeting (call is null). Returns null without
 * memory; the caller frees it. */
static unsigned char *make_message(size_t *size, const ng_call *call)
{
    const int n = call != NULL ? call->n_inputs + call->n_outputs : 0;
    json_t *header = json_object(), *metadata = json_object();
    int64_t data = 0, units, bytes;
    unsigned char *message = NULL;
    bool plain;

    set_text(metadata, "", "request", call != NULL ? "call" : "hello");
    set_text(metadata, "", "protocol", "narrowgauge-exec-1");
    if (call != NULL) {
        set_text(metadata, "", "operation", call->operation);
        set_number(metadata, "", "random.seed", call->random.seed, false);
        set_number(metadata, "", "random.stream", call->random.stream, false);
        for (int r = 0; r < NG_N_RULES; r++)
            set_text(metadata, "rule.", ng_rule_name((ng_rule)r),
                     ng_rule_value_name(
                         (ng_rule)r, ng_rules_get(&call->rules, (ng_rule)r)));
        for (int i = 0; i < call->n_attributes; i++)
            set_number(metadata, "attribute.", call->attribute[i].name,
                       (uint64_t)call->attribute[i].value, true);
        for (int i = 0; i < n; i++) {
            const ng_tensor *t = tensor_of(call, i);
            const char *type = file_type(t->dtype, &plain);

            ng_tensor_extent(&units, &bytes, t);
            const int64_t end = data + bytes;

            if (!plain)
                set_text(metadata, "dtype.", t->name, ng_dtype_name(t->dtype));
            json_object_set_new(header, t->name,
                                json_pack("{s:s, s:o, s:[I, I]}", "dtype", type,
                                          "shape", shape_json(t),
                                          "data_offsets", (json_int_t)data,
                                          (json_int_t)end));
            data = end;
        }
    }
    json_object_set_new(header, "__metadata__", metadata);

    char *text = json_dumps(header, JSON_COMPACT);

    json_decref(header);
    if (text != NULL) {
        const uint64_t length = strlen(text);
        const uint64_t whole = 8 + length + (uint64_t)data;
        unsigned char *at;

        *size = 8 + whole;
        message = malloc(*size);
        if (message != NULL) {
            memcpy(message, &whole, 8); /* little-endian machines */
            memcpy(message + 8, &length, 8);
            memcpy(message + 16, text, length);
            at = message + 16 + length;
            for (int i = 0; i < n; i++) {
                const ng_tensor *t = tensor_of(call, i);
                const size_t unit = ng_dtype_size(t->dtype);

                ng_tensor_extent(&units, &bytes, t);
                for (int64_t u = 0; u < units; u++, at += unit)
                    memcpy(at,
                           (const char *)t->data
                               + unit_of(t, u) * (int64_t)unit,
                           unit);
            }
        }
    }
    free(text);
    return message;
}

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
    unsigned char *message = make_message(&size, call);
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

/* ---- the greeting -------------------------------------------------------- */

static const char *text_of(const ng_tensor_file *file, const char *key,
                           const char *name)
{
    char full[MAX_KEY];
    const char *text;

    snprintf(full, sizeof full, "%s%s", key, name);
    text = ng_tensor_file_metadata(file, full);
    return text != NULL ? text : "";
}

/* The next word of *text, cut at blanks. Returns false at the end. */
static bool next_word(char *word, size_t size, const char **text)
{
    *text += strspn(*text, " ,\n\t");
    const size_t length = strcspn(*text, " ,\n\t");

    if (length == 0)
        return false;
    snprintf(word, size, "%.*s", (int)length, *text);
    *text += length;
    return true;
}

static bool read_limits(ng_host_operation *operation, const char *text)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } limits[] = {{"no-groups", NG_PLUGIN_NO_GROUPS},
                  {"no-nan", NG_PLUGIN_NO_NAN},
                  {"no-infinity", NG_PLUGIN_NO_INFINITY},
                  {"no-empty", NG_PLUGIN_NO_EMPTY},
                  {"checks-input", NG_PLUGIN_CHECKS_INPUT}};
    char word[NG_HOST_MAX_TEXT];

    while (next_word(word, sizeof word, &text)) {
        size_t i = 0;

        while (i < sizeof limits / sizeof *limits
               && strcmp(word, limits[i].name) != 0)
            i++;
        if (i == sizeof limits / sizeof *limits)
            return false;
        operation->limits |= limits[i].bit;
    }
    return true;
}

static bool read_operation(ng_host_operation *operation,
                           const ng_tensor_file *answer)
{
    const char *takes = text_of(answer, "takes.", operation->name);
    char word[NG_HOST_MAX_TAKE];

    while (next_word(word, sizeof word, &takes)) {
        if (operation->n_takes == NG_HOST_MAX_TAKES
            || !ng_host_take_is_known(word))
            return false;
        memcpy(operation->takes[operation->n_takes++], word, sizeof word);
    }
    return read_limits(operation, text_of(answer, "limits.", operation->name));
}

static bool read_facts(ng_host_facts *facts, const ng_tensor_file *answer,
                       ng_verdict *verdict)
{
    const char *operations = text_of(answer, "", "operations");
    char word[NG_HOST_MAX_TEXT];

    memset(facts, 0, sizeof *facts);
    snprintf(facts->name, sizeof facts->name, "%s",
             text_of(answer, "", "name"));
    snprintf(facts->version, sizeof facts->version, "%s",
             text_of(answer, "", "version"));
    while (facts->n_operations < NG_HOST_MAX_OPERATIONS
           && next_word(word, sizeof word, &operations)) {
        ng_host_operation *operation = &facts->operation[facts->n_operations++];

        memcpy(operation->name, word, sizeof word);
        if (!read_operation(operation, answer)) {
            ng_verdict_set(verdict, NG_VERDICT_BAD_TABLE,
                           "bad greeting: takes or limits of operation %d",
                           facts->n_operations - 1);
            return false;
        }
    }
    if (facts->name[0] != '\0' && facts->n_operations > 0)
        return true;
    ng_verdict_set(verdict, NG_VERDICT_BAD_TABLE,
                   "bad greeting: no name, or no operations");
    return false;
}

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

    const bool good = exchange(host, &answer, NULL, verdict)
                      && read_facts(&host->arena->facts, &answer, verdict);

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
        memcpy((char *)to->data + unit_of(to, i) * (int64_t)size,
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

    said = text_of(&answer, "", "status");
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
