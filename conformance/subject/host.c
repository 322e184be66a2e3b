/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/host.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conformance/subject/escape.h"
#include "conformance/subject/host_limits.h"
#include "conformance/subject/host_parts.h"
#include "conformance/subject/plugin.h"
#include "conformance/subject/process.h"

/* After so many the subject is not asked again: about this operation, or about
 * anything. Enough to see that it was no chance, few enough to come to an end.
 */
enum { MAX_DEATHS = 8, MAX_HANGS = 1, MAX_ALL_HANGS = 5 };

/* ---- one call ------------------------------------------------------------ */

static unsigned char *arena_at(const ng_host *host, int64_t offset)
{
    return (unsigned char *)host->arena + offset;
}

static int64_t span_of(const ng_tensor *t)
{
    int64_t last = 0;

    for (int axis = 0; axis < t->rank; axis++) {
        if (t->shape[axis] == 0)
            return 0;
        last += (t->shape[axis] - 1) * t->stride[axis];
    }
    return (last + 1) * (int64_t)ng_dtype_size(t->dtype);
}

/* Describe the call in the arena and copy the data there. */
static bool write_call(ng_host *host, const ng_call *call,
                       const ng_host_operation *operation)
{
    const int n = call->n_inputs + call->n_outputs;
    const ng_tensor *tensor[2 * NG_MAX_TENSORS];
    int64_t offset[2 * NG_MAX_TENSORS], at = (int64_t)sizeof(ng_arena);

    for (int i = 0; i < n; i++) {
        tensor[i] = i < call->n_inputs ? &call->input[i]
                                       : &call->output[i - call->n_inputs];
        offset[i] = at;
        at += (span_of(tensor[i]) + 2 * NG_HOST_GUARD + 7) / 8 * 8;
    }
    if (!ng_host_grow_arena(host, (size_t)at))
        return false;

    ng_wire_call *wire = &host->arena->call;

    snprintf(wire->operation, sizeof wire->operation, "%s", call->operation);
    wire->rules = call->rules;
    wire->random = call->random;
    wire->n_attributes = call->n_attributes;
    wire->n_inputs = call->n_inputs;
    wire->n_outputs = call->n_outputs;
    wire->memory = operation->memory;
    wire->alignment = operation->alignment;
    wire->at_end = call->foreign->repeat == 0;
    for (int i = 0; i < call->n_attributes; i++) {
        snprintf(wire->attribute[i].name, sizeof wire->attribute[i].name, "%s",
                 call->attribute[i].name);
        wire->attribute[i].value = call->attribute[i].value;
    }
    for (int i = 0; i < n; i++) {
        ng_wire_tensor *t = &wire->tensor[i];
        unsigned char *to = arena_at(host, offset[i]);

        snprintf(t->name, sizeof t->name, "%s", tensor[i]->name);
        t->dtype = tensor[i]->dtype;
        t->rank = tensor[i]->rank;
        memcpy(t->shape, tensor[i]->shape, sizeof t->shape);
        memcpy(t->stride, tensor[i]->stride, sizeof t->stride);
        t->offset = offset[i];
        t->span = span_of(tensor[i]);
        memset(to, NG_HOST_GUARD_BYTE, NG_HOST_GUARD);
        memcpy(to + NG_HOST_GUARD, tensor[i]->data, (size_t)t->span);
        memset(to + NG_HOST_GUARD + t->span, NG_HOST_GUARD_BYTE, NG_HOST_GUARD);
    }
    memset(&host->arena->fault, 0, sizeof host->arena->fault);
    return true;
}

static void judge_guards(const ng_call *call, int i, const unsigned char *at,
                         int64_t span, ng_verdict *verdict)
{
    for (int64_t byte = -NG_HOST_GUARD; byte < span + NG_HOST_GUARD; byte++) {
        if (byte == 0)
            byte = span; /* the data itself is not a guard */
        if (byte < span + NG_HOST_GUARD && at[byte] != NG_HOST_GUARD_BYTE) {
            ng_verdict_set(
                verdict, NG_VERDICT_OUTSIDE, "wrote %lld bytes %s %s",
                (long long)(byte < 0 ? -byte : byte - span + 1),
                byte < 0 ? "before" : "past the end of", call->output[i].name);
            return;
        }
    }
}

/* Take the outputs, and look at what must not have changed. */
static void read_outputs(ng_host *host, const ng_call *call,
                         const ng_wire_answer *answer, ng_verdict *verdict)
{
    int64_t at = (int64_t)sizeof(ng_arena);

    for (int i = 0; i < call->n_inputs + call->n_outputs; i++) {
        const int out = i - call->n_inputs;
        const ng_tensor *t = out < 0 ? &call->input[i] : &call->output[out];
        const int64_t span = span_of(t);
        const unsigned char *data = arena_at(host, at + NG_HOST_GUARD);

        at += (span + 2 * NG_HOST_GUARD + 7) / 8 * 8;
        if (out < 0)
            continue;
        memcpy(t->data, data, (size_t)span);
        if (verdict->kind == NG_VERDICT_NONE)
            judge_guards(call, out, data, span, verdict);
    }
    if (verdict->kind == NG_VERDICT_NONE && answer->input_written >= 0
        && answer->input_written < call->n_inputs)
        ng_verdict_set(verdict, NG_VERDICT_INPUT, "wrote to its input %s",
                       call->input[answer->input_written].name);
}

/* What the plug-in returned, as a status; or a verdict. */
static ng_status judge_status(const ng_call *call, int32_t status,
                              ng_verdict *verdict)
{
    switch (status) {
    case NG_PLUGIN_OK:
        return NG_OK;
    case NG_PLUGIN_REFUSED:
        if (call->foreign->expected != NG_OK)
            return call->foreign->expected; /* any refusal will do */
        ng_verdict_set(verdict, NG_VERDICT_REFUSED,
                       "refused good input within its limits");
        break;
    case NG_PLUGIN_NOT_COVERED:
        ng_verdict_set(verdict, NG_VERDICT_LACKS,
                       "lists the operation, then says that it lacks it");
        break;
    case NG_PLUGIN_FAILED:
        ng_verdict_set(verdict, NG_VERDICT_FAILED, "says that it failed");
        break;
    default:
        ng_verdict_set(verdict, NG_VERDICT_BAD_STATUS,
                       "returned %d, which is no status", (int)status);
        break;
    }
    return NG_NOT_COVERED;
}

/* An error of CUDA: the process has ended itself, for its context is lost. */
static void judge_device(ng_host *host, int32_t device, ng_verdict *verdict)
{
    char text[200];

    ng_escape(text, sizeof text, host->arena->text,
              strnlen(host->arena->text, sizeof host->arena->text));
    ng_host_end(host, 1, NULL);
    if (device == NG_DEVICE_NONE)
        ng_verdict_set(verdict, NG_VERDICT_ENVIRONMENT, "device memory: %s",
                       text);
    else
        ng_verdict_set(verdict, NG_VERDICT_CRASHED, "crashed on the GPU: %s",
                       text);
}

/* Standard output is for the program: once an operation, say what came there.
 */
static void judge_printing(ng_host *host, ng_verdict *verdict)
{
    ng_captured *output = &host->process.output;
    char text[160];

    if (output->n == 0)
        return;
    if (verdict->kind == NG_VERDICT_NONE && !host->printed) {
        ng_escape(text, sizeof text, output->text, output->n);
        ng_verdict_set(verdict, NG_VERDICT_PRINTED,
                       "printed on standard output: %s", text);
        host->printed = true;
    }
    output->n = 0;
}

static ng_status ask(ng_host *host, const ng_call *call,
                     const ng_host_operation *operation, ng_verdict *verdict)
{
    ng_wire_request request = {.magic = NG_HOST_MAGIC};
    ng_wire_answer answer;

    if (host->process.pid == 0 && !ng_host_start(host, verdict))
        return NG_NOT_COVERED;
    if (host->command != NULL) {
        const ng_status status = ng_host_exec_ask(host, call, verdict);

        if (verdict->kind == NG_VERDICT_EXITED)
            ng_host_end(host, 1, verdict); /* how it ended, in full */
        else if (ng_verdict_is_failure(verdict->kind)
                 && verdict->kind != NG_VERDICT_FAILED
                 && verdict->kind != NG_VERDICT_REFUSED
                 && verdict->kind != NG_VERDICT_LACKS)
            ng_host_end(host, 0, NULL);
        return status;
    }
    if (!write_call(host, call, operation)) {
        ng_verdict_set(verdict, NG_VERDICT_ENVIRONMENT, "out of memory");
        return NG_NOT_COVERED;
    }
    request.sequence = ++host->sequence;
    request.arena_bytes = host->arena_bytes;
    if (send(host->socket, &request, sizeof request, MSG_NOSIGNAL) < 0) {
        ng_host_end(host, 1, verdict);
        return NG_NOT_COVERED;
    }
    if (!ng_host_receive(host, &answer, request.sequence, verdict))
        return NG_NOT_COVERED;

    if (answer.device != NG_DEVICE_FINE) {
        judge_device(host, answer.device, verdict);
        return NG_NOT_COVERED;
    }
    const ng_status status = judge_status(call, answer.status, verdict);

    read_outputs(host, call, &answer, verdict);
    judge_printing(host, verdict);
    return status;
}

/* ---- as a subject -------------------------------------------------------- */

static const ng_host_operation *find(const ng_host *host, const char *name)
{
    for (int i = 0; i < host->facts.n_operations; i++)
        if (strcmp(host->facts.operation[i].name, name) == 0)
            return &host->facts.operation[i];
    return NULL;
}

bool ng_host_takes_rule(const ng_host *host, const char *name, ng_rule rule,
                        int value)
{
    const ng_host_operation *operation = find(host, name);

    return operation != NULL && ng_host_takes_value(operation, rule, value);
}

static bool covers(const ng_call *call)
{
    const ng_host_operation *operation =
        call->foreign != NULL ? find(call->foreign->host, call->operation)
                              : NULL;

    return operation != NULL
           && (operation->memory == NG_PLUGIN_HOST
               || call->foreign->host->facts.has_device)
           && ng_host_takes(operation, call);
}

static bool is_malformed(const ng_host_operation *operation,
                         const ng_call *call)
{
    return call->foreign->expected != NG_OK
           && (operation->limits & NG_PLUGIN_CHECKS_INPUT) == 0;
}

/* Deaths and hangs are counted an operation at a time. */
static void count(ng_host *host, const ng_verdict *verdict)
{
    const bool died =
        host->process.pid == 0 && verdict->kind != NG_VERDICT_ENVIRONMENT;

    host->deaths += died;
    host->hangs += verdict->kind == NG_VERDICT_HUNG;
    host->all_hangs += verdict->kind == NG_VERDICT_HUNG;
}

static ng_status run(const ng_call *call)
{
    ng_host *host = call->foreign->host;
    const ng_host_operation *operation = find(host, call->operation);
    ng_verdict *verdict = &call->foreign->verdict;
    ng_status status = NG_NOT_COVERED;

    *verdict = (ng_verdict){0};
    if (!covers(call) || is_malformed(operation, call)
        || (call->foreign->expected == NG_OK
            && !ng_host_within_limits(operation, call)))
        return NG_NOT_COVERED;
    pthread_mutex_lock(&host->mutex);
    if (strcmp(host->operation, call->operation) != 0) {
        snprintf(host->operation, sizeof host->operation, "%s",
                 call->operation);
        host->deaths = host->hangs = 0;
        host->printed = false;
    }
    if (host->deaths >= MAX_DEATHS || host->hangs >= MAX_HANGS
        || host->all_hangs >= MAX_ALL_HANGS) {
        ng_verdict_set(verdict, NG_VERDICT_GIVEN_UP,
                       "not asked: it failed too often");
    } else {
        status = ask(host, call, operation, verdict);
        count(host, verdict);
    }
    pthread_mutex_unlock(&host->mutex);
    return status;
}

const ng_subject *ng_host_subject(const ng_host *host)
{
    return &host->subject;
}

void ng_host_restart_turns(ng_host *host)
{
    if (host != NULL)
        host->turn = 1;
}

void ng_host_await_turn(ng_host *host, int64_t turn)
{
    if (host == NULL || turn == 0)
        return;
    pthread_mutex_lock(&host->turn_mutex);
    while (host->turn < turn)
        pthread_cond_wait(&host->turned, &host->turn_mutex);
    pthread_mutex_unlock(&host->turn_mutex);
}

void ng_host_end_turn(ng_host *host, int64_t turn)
{
    if (host == NULL || turn == 0)
        return;
    ng_host_await_turn(host, turn);
    pthread_mutex_lock(&host->turn_mutex);
    if (host->turn == turn) { /* else it has ended already */
        host->turn = turn + 1;
        pthread_cond_broadcast(&host->turned);
    }
    pthread_mutex_unlock(&host->turn_mutex);
}

const char *ng_host_without_device(const ng_host *host)
{
    return host->without_device;
}

const char *ng_host_operation_name(const ng_host *host, int i)
{
    return i >= 0 && i < host->facts.n_operations
               ? host->facts.operation[i].name
               : NULL;
}

/* Keep what the first loading said, its texts escaped. Names of operations that
 * do not survive that are no names of ours. */
static void keep_facts(ng_host *host)
{
    char name[NG_HOST_MAX_TEXT * 4], version[NG_HOST_MAX_TEXT * 4];
    ng_host_facts *facts = &host->facts;

    *facts = host->arena->facts;
    if (!facts->has_device)
        ng_escape(host->without_device, sizeof host->without_device,
                  host->arena->text,
                  strnlen(host->arena->text, sizeof host->arena->text));
    ng_escape(name, sizeof name, facts->name,
              strnlen(facts->name, sizeof facts->name));
    ng_escape(version, sizeof version, facts->version,
              strnlen(facts->version, sizeof facts->version));
    snprintf(host->name, sizeof host->name, "%s %s", name, version);
    if (facts->n_operations < 0 || facts->n_operations > NG_HOST_MAX_OPERATIONS)
        facts->n_operations = 0;
    for (int i = 0; i < facts->n_operations; i++) {
        ng_host_operation *operation = &facts->operation[i];
        char escaped[NG_HOST_MAX_TEXT];

        ng_escape(escaped, sizeof escaped, operation->name,
                  strnlen(operation->name, sizeof operation->name));
        memcpy(operation->name, escaped, sizeof escaped);
        if (operation->n_takes > NG_HOST_MAX_TAKES)
            operation->n_takes = NG_HOST_MAX_TAKES;
        for (int k = 0; k < NG_HOST_MAX_TAKES; k++) {
            operation->takes[k][NG_HOST_MAX_TAKE - 1] = '\0';
            if (k < operation->n_takes
                && strchr(operation->takes[k], '=') == NULL)
                operation->n_takes = k; /* the loader checked; this holds */
        }                               /*   though the arena was struck */
    }
}

static ng_host *open_host(const char *library, const char *command,
                          double timeout, ng_verdict *verdict)
{
    ng_host *host = calloc(1, sizeof *host);

    *verdict = (ng_verdict){0};
    if (host == NULL) {
        ng_host_environment(verdict, "subject", ENOMEM);
        return NULL;
    }
    pthread_mutex_init(&host->mutex, NULL);
    pthread_mutex_init(&host->turn_mutex, NULL);
    pthread_cond_init(&host->turned, NULL);
    /* Its threads share the processors with ours, which wait for it: spinning
     * at a barrier would take them away. Read by its OpenMP when it starts. */
    setenv("OMP_WAIT_POLICY", "passive", 0);
    host->socket = host->arena_fd = host->to = host->from = -1;
    host->timeout = timeout;
    host->library = strdup(library);
    host->command = command != NULL ? strdup(command) : NULL;
    if (host->library == NULL || (command != NULL && host->command == NULL)
        || !ng_host_make_arena(host))
        ng_host_environment(verdict, "shared memory", errno);
    else if (ng_host_start(host, verdict)) {
        keep_facts(host);
        host->subject = (ng_subject){.name = host->name,
                                     .description = host->library,
                                     .covers = covers,
                                     .run = run};
        return host;
    }
    ng_host_close(host);
    return NULL;
}

ng_host *ng_host_open(const char *library, double timeout, ng_verdict *verdict)
{
    return open_host(library, NULL, timeout, verdict);
}

ng_host *ng_host_open_command(const char *command, double timeout,
                              ng_verdict *verdict)
{
    return open_host("", command, timeout, verdict);
}

void ng_host_close(ng_host *host)
{
    if (host == NULL)
        return;
    if (host->socket >= 0)
        close(host->socket);
    /* One that has device memory sees that, and gives it back. */
    ng_process_end(&host->process, host->facts.has_device ? 2 : 0, NULL);
    if (host->arena != NULL)
        munmap(host->arena, host->arena_bytes);
    if (host->arena_fd >= 0)
        close(host->arena_fd);
    pthread_cond_destroy(&host->turned);
    pthread_mutex_destroy(&host->turn_mutex);
    pthread_mutex_destroy(&host->mutex);
    ng_host_exec_close(host);
    free(host->command);
    free(host->library);
    free(host);
}
