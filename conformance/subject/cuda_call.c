/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/cuda_call.h"

#include <stdlib.h>
#include <string.h>

/* What a thread keeps: a stream, and host and device memory of one size with
 * the same layout, so that everything travels in one copy each way. */
typedef struct arena {
    void *stream, *workspace;
    unsigned char *host, *device;
    int64_t bytes;
} arena;

static _Thread_local arena mine;

/* At the start of the arena: what kernels count, and refuse. */
typedef struct header {
    ng_events events;
    int32_t refusal;
} header;

enum { ALIGNMENT = 256 };

/* A tensor's place: its span and guards lie at `at` in the arena. */
typedef struct place {
    int64_t at, bytes;
} place;

static int64_t round_up(int64_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Bytes from the first unit of a tensor to the end of its last one. */
static int64_t span_of(const ng_tensor *tensor)
{
    int64_t last = 0;

    for (int axis = 0; axis < tensor->rank; axis++) {
        if (tensor->shape[axis] == 0)
            return 0;
        last += (tensor->shape[axis] - 1) * tensor->stride[axis];
    }
    return (last + 1) * (int64_t)ng_dtype_size(tensor->dtype);
}

static ng_status grow(const ng_cuda_library *cuda, int64_t bytes)
{
    ng_status status;
    void *memory;

    if (mine.stream == NULL
        && (status = cuda->stream_create(&mine.stream)) != NG_OK)
        return status;
    if (mine.workspace == NULL
        && (status = cuda->allocate(&mine.workspace, NG_CUDA_CALL_WORKSPACE))
               != NG_OK)
        return status;
    if (bytes <= mine.bytes)
        return NG_OK;
    bytes += bytes / 2;
    cuda->free(mine.device);
    cuda->free_host(mine.host);
    mine.device = mine.host = NULL;
    mine.bytes = 0;
    if ((status = cuda->allocate(&memory, bytes)) != NG_OK)
        return status;
    mine.device = memory;
    if ((status = cuda->allocate_host(&memory, bytes)) != NG_OK)
        return status;
    mine.host = memory;
    mine.bytes = bytes;
    return NG_OK;
}

/* Give tensor its place after *end, its first unit `shift` units past a
 * boundary. */
static place put(int64_t *end, const ng_tensor *tensor, int64_t guard,
                 int shift)
{
    const int64_t size = (int64_t)ng_dtype_size(tensor->dtype);
    const int64_t data = round_up(*end + guard) + shift * size;
    const place p = {data - guard, span_of(tensor) + 2 * guard};

    *end = p.at + p.bytes;
    return p;
}

/* Whether the suite asks for buffers off their boundaries: by the poison. */
static int shift_of(const ng_call *call)
{
    if (call->guard == 0 || call->n_outputs == 0)
        return 0;
    return ((const unsigned char *)call->output[0].data)[-1] % 2 == 0;
}

/* Copy a tensor into the arena, as far as p reaches, and point a copy of its
 * descriptor at the device's side of it. */
static void move_in(ng_tensor *tensor, place p, int64_t guard)
{
    if (p.bytes > 0)
        memcpy(mine.host + p.at, (const char *)tensor->data - guard,
               (size_t)p.bytes);
    tensor->data = mine.device + p.at + guard;
}

/* Move an output back; where the counted run's bytes (of second, if there is
 * one) are others, store what neither gave. */
static void move_out(const ng_tensor *tensor, place first, const place *second,
                     int64_t guard)
{
    unsigned char *to = (unsigned char *)tensor->data - guard;

    memcpy(to, mine.host + first.at, (size_t)first.bytes);
    if (second == NULL)
        return;
    const unsigned char *other = mine.host + second->at;

    for (int64_t i = 0; i < first.bytes; i++)
        if (to[i] != other[i])
            to[i] ^= (to[i] ^ 1) != other[i] ? 1 : 2;
}

/* Move a device tensor out of the arena into memory of its own, or back. */
static ng_status move_apart(const ng_cuda_library *cuda, ng_tensor *tensor,
                            void **own)
{
    const int64_t bytes = span_of(tensor);
    void *arena_data = tensor->data;
    ng_status status = cuda->allocate(own, bytes);

    if (status == NG_OK)
        status = cuda->copy(*own, arena_data, bytes, mine.stream);
    if (status == NG_OK)
        tensor->data = *own;
    return status;
}

static ng_status run_apart(const ng_cuda_library *cuda, ng_cuda_run *run,
                           const void *row, const ng_call *device_call,
                           const ng_cuda_launch *launch)
{
    ng_call apart = *device_call;
    void *own[2 * NG_MAX_TENSORS] = {NULL};
    ng_status status = NG_OK;

    for (int i = 0; i < apart.n_inputs && status == NG_OK; i++)
        status = move_apart(cuda, &apart.input[i], &own[i]);
    for (int i = 0; i < apart.n_outputs && status == NG_OK; i++)
        status = move_apart(cuda, &apart.output[i], &own[NG_MAX_TENSORS + i]);
    if (status == NG_OK)
        status = run(row, &apart, launch);
    for (int i = 0; i < apart.n_outputs && status == NG_OK; i++)
        status = cuda->copy(device_call->output[i].data, apart.output[i].data,
                            span_of(&apart.output[i]), mine.stream);
    cuda->synchronize(mine.stream);
    for (int i = 0; i < 2 * NG_MAX_TENSORS; i++)
        cuda->free(own[i]);
    return status;
}

ng_status ng_cuda_call(const ng_cuda_library *cuda, const ng_call *call,
                       ng_cuda_run *run, const void *row)
{
    place input[NG_MAX_TENSORS], output[2][NG_MAX_TENSORS];
    const int n_runs = call->events != NULL ? 2 : 1;
    const int shift = shift_of(call);
    int64_t end = round_up((int64_t)sizeof(header));
    ng_status status;

    for (int r = 0; r < n_runs; r++)
        for (int i = 0; i < call->n_outputs; i++)
            output[r][i] = put(&end, &call->output[i], call->guard, shift);
    const int64_t back = end; /* this much is copied back */

    for (int i = 0; i < call->n_inputs; i++) {
        const bool offsets = strcmp(call->input[i].name, "offsets") == 0;

        input[i] = put(&end, &call->input[i], 0, offsets ? 0 : shift);
    }
    if ((status = grow(cuda, end)) != NG_OK)
        return status;

    header *head = (header *)(void *)mine.host;
    header *device_head = (header *)(void *)mine.device;
    ng_cuda_launch launch = {.stream = mine.stream,
                             .workspace = mine.workspace,
                             .workspace_bytes = NG_CUDA_CALL_WORKSPACE,
                             .refusal = &device_head->refusal};
    ng_call device_call[2];

    memset(head, 0, sizeof *head);
    for (int r = 0; r < n_runs; r++) {
        device_call[r] = *call;
        device_call[r].events = NULL;
        for (int i = 0; i < call->n_outputs; i++)
            move_in(&device_call[r].output[i], output[r][i], call->guard);
        for (int i = 0; i < call->n_inputs; i++)
            move_in(&device_call[r].input[i], input[i], 0);
    }
    status = cuda->copy(mine.device, mine.host, end, mine.stream);
    for (int r = 0; r < n_runs && status == NG_OK; r++) {
        launch.events = r > 0 ? &device_head->events : NULL;
        status = getenv("NARROWGAUGE_CUDA_APART") != NULL
                     ? run_apart(cuda, run, row, &device_call[r], &launch)
                     : run(row, &device_call[r], &launch);
    }
    if (status == NG_OK)
        status = cuda->copy(mine.host, mine.device, back, mine.stream);
    /* Also of a call that was refused: the copies still read the arena. */
    const ng_status ended = cuda->synchronize(mine.stream);

    if (status != NG_OK || (status = ended) != NG_OK)
        return status;
    for (int i = 0; i < call->n_outputs; i++)
        move_out(&call->output[i], output[0][i],
                 n_runs > 1 ? &output[1][i] : NULL, call->guard);
    if (call->events != NULL)
        ng_events_add(call->events, &head->events);
    return (ng_status)head->refusal;
}
