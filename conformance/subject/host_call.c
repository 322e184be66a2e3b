/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "conformance/subject/escape.h"
#include "conformance/subject/host_parts.h"
#include "conformance/subject/plugin.h"

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

static void judge_guards(const ng_tensor *t, const unsigned char *at,
                         int64_t span, ng_verdict *verdict)
{
    for (int64_t byte = -NG_HOST_GUARD; byte < span + NG_HOST_GUARD; byte++) {
        if (byte == 0)
            byte = span; /* the data itself is not a guard */
        if (byte < span + NG_HOST_GUARD && at[byte] != NG_HOST_GUARD_BYTE) {
            ng_verdict_set(verdict, NG_VERDICT_OUTSIDE,
                           "wrote %lld bytes %s %s",
                           (long long)(byte < 0 ? -byte : byte - span + 1),
                           byte < 0 ? "before" : "past the end of", t->name);
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
        if (out >= 0)
            memcpy(t->data, data, (size_t)span);
        if (verdict->kind == NG_VERDICT_NONE)
            judge_guards(t, data, span, verdict);
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

ng_status ng_host_ask(ng_host *host, const ng_call *call,
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
