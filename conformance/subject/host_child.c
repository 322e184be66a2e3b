/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* the registers of a signal's context */
#include "conformance/subject/host_child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include "conformance/subject/buffer.h"
#include "conformance/subject/host_device.h"
#include "conformance/subject/host_load.h"
#include "conformance/subject/host_wire.h"

enum { MAX_TENSORS = 2 * NG_MAX_TENSORS };

/* The process does one thing; its signal handler must find where. */
static ng_arena *arena;
static size_t arena_bytes;
static ng_buffer buffers[MAX_TENSORS];
static int n_buffers; /* of the call that runs */

static bool was_write(const void *context)
{
#ifdef __x86_64__
    const ucontext_t *c = context;

    return (c->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    (void)context;
    return false;
#endif
}

/* Say where the process was, then die of the signal as if nobody had asked. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    const uintptr_t address = (uintptr_t)info->si_addr;
    ng_wire_fault *fault = &arena->fault;

    if (info->si_code <= 0) { /* sent by someone: there is no address */
        raise(number);
        return;
    }
    fault->signal = number;
    fault->write = was_write(context);
    fault->null = address < 4096;
    fault->tensor = -1;
    for (int i = 0; i < n_buffers; i++)
        if (ng_buffer_holds(&buffers[i], address)) {
            fault->tensor = i;
            fault->byte = (int64_t)(address - (uintptr_t)buffers[i].data);
        }
    raise(number); /* its own action by now: SA_RESETHAND */
}

static void watch_faults(void)
{
    static unsigned char stack[65536];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {0};

    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND;
    action.sa_sigaction = on_fault;
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* Follow the arena where the program has let it grow. */
static bool map_arena(size_t bytes)
{
    if (arena != NULL && bytes == arena_bytes)
        return true;
    if (arena != NULL)
        munmap(arena, arena_bytes);
    void *map =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, NG_HOST_ARENA, 0);

    arena = map != MAP_FAILED ? map : NULL;
    arena_bytes = bytes;
    // cppcheck-suppress memleak
    return arena != NULL;
}

static unsigned char *arena_at(int64_t offset)
{
    return (unsigned char *)arena + offset;
}

/* Put every tensor where it is to lie. Returns false without memory. */
static bool place(const ng_wire_call *call)
{
    n_buffers = call->n_inputs + call->n_outputs;
    for (int i = 0; i < n_buffers; i++) {
        const ng_wire_tensor *t = &call->tensor[i];
        const size_t unit = ng_dtype_size(t->dtype);
        const size_t alignment =
            call->alignment > (int64_t)unit ? (size_t)call->alignment : unit;

        if (!ng_buffer_place(&buffers[i], t->span, alignment, call->at_end))
            return false;
        memcpy(buffers[i].data, arena_at(t->offset + NG_HOST_GUARD),
               (size_t)t->span);
    }
    return true;
}

/* Bring outputs, and the guards of all, back. Returns an input that has
 * changed. */
static int32_t collect(const ng_wire_call *call)
{
    int32_t written = -1;

    for (int i = 0; i < n_buffers; i++) {
        const ng_wire_tensor *t = &call->tensor[i];
        const ng_buffer *b = &buffers[i];
        unsigned char *to = arena_at(t->offset + NG_HOST_GUARD);

        memcpy(to - b->before, b->data - b->before, b->before);
        memcpy(to + t->span, b->data + t->span, b->after);
        if (i >= call->n_inputs)
            memcpy(to, b->data, (size_t)t->span);
        else if (written < 0 && memcmp(to, b->data, (size_t)t->span) != 0)
            written = i;
    }
    return written;
}

/* data: where the tensors lie; stream: of device memory, else null. */
static int32_t run(const ng_wire_call *call, void *const *data, void *stream)
{
    ng_plugin_tensor tensor[MAX_TENSORS];
    const ng_plugin_tensor *tensors[MAX_TENSORS];
    ng_plugin_attribute attribute[NG_MAX_ATTRIBUTES];
    const ng_plugin_attribute *attributes[NG_MAX_ATTRIBUTES];
    ng_plugin_rule rule[NG_N_RULES];
    const ng_plugin_rule *rules[NG_N_RULES];

    for (int i = 0; i < call->n_inputs + call->n_outputs; i++) {
        const ng_wire_tensor *t = &call->tensor[i];

        tensor[i] =
            (ng_plugin_tensor){.name = t->name,
                               .dtype = ng_dtype_name(t->dtype),
                               .unit_bytes = (uint32_t)ng_dtype_size(t->dtype),
                               .rank = (uint32_t)t->rank,
                               .shape = t->shape,
                               .stride = t->stride,
                               .data = data[i]};
        tensors[i] = &tensor[i];
    }
    for (int i = 0; i < call->n_attributes; i++) {
        attribute[i] = (ng_plugin_attribute){call->attribute[i].name,
                                             call->attribute[i].value};
        attributes[i] = &attribute[i];
    }
    for (int i = 0; i < NG_N_RULES; i++) {
        rule[i] = (ng_plugin_rule){
            ng_rule_name((ng_rule)i),
            ng_rule_value_name((ng_rule)i,
                               ng_rules_get(&call->rules, (ng_rule)i))};
        rules[i] = &rule[i];
    }

    const ng_plugin_call plugin_call = {.size = sizeof plugin_call,
                                        .tensor_size = sizeof *tensor,
                                        .operation = call->operation,
                                        .n_inputs = (uint32_t)call->n_inputs,
                                        .n_outputs = (uint32_t)call->n_outputs,
                                        .n_attributes =
                                            (uint32_t)call->n_attributes,
                                        .n_rules = NG_N_RULES,
                                        .input = tensors,
                                        .output = tensors + call->n_inputs,
                                        .attribute = attributes,
                                        .rule = rules,
                                        .seed = call->random.seed,
                                        .random_stream = call->random.stream,
                                        .stream = stream};

    return ng_host_table.run(&plugin_call);
}

static bool answer(uint32_t sequence, ng_wire_answer a)
{
    a.magic = NG_HOST_MAGIC;
    a.sequence = sequence;
    fflush(NULL); /* what was printed comes before the answer */
    ssize_t n;

    do
        n = send(NG_HOST_SOCKET, &a, sizeof a, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof a)
        return true;
    fputs("the channel to the program is closed\n", stderr);
    return false;
}

/* One call over memory of this process. Returns false without memory. */
static bool run_on_host(ng_wire_answer *a, const ng_wire_call *call)
{
    void *data[MAX_TENSORS];

    if (!place(call))
        return false;
    for (int i = 0; i < n_buffers; i++)
        data[i] = buffers[i].data;
    a->status = run(call, data, NULL);
    n_buffers = call->n_inputs + call->n_outputs;
    a->input_written = collect(call);
    return true;
}

/* The same over the GPU's. */
static void run_on_device(ng_wire_answer *a, const ng_wire_call *call)
{
    void *data[MAX_TENSORS];
    char text[sizeof arena->text];

    n_buffers = 0;
    if (!ng_host_device_place(data, (unsigned char *)arena, call, text,
                              sizeof text)) {
        a->device = NG_DEVICE_NONE;
    } else {
        a->status = run(call, data, ng_host_device_stream());
        if (!ng_host_device_collect(&a->input_written, (unsigned char *)arena,
                                    call, text, sizeof text))
            a->device = NG_DEVICE_FAILED;
    }
    if (a->device != NG_DEVICE_FINE)
        memcpy(arena->text, text, sizeof text);
}

static pid_t program;

static void on_parent_death(int number)
{
    (void)number;
    if (getppid() != program)
        kill(getpid(), SIGKILL);
}

/* Not to outlive the program. The kernel sends the signal when the thread that
 * started this process ends, which one of OpenMP's may do long before. */
static void watch_parent(void)
{
    struct sigaction action = {.sa_flags = (int)SA_RESTART};

    program = getppid();
    action.sa_handler = on_parent_death;
    sigaction(SIGRTMAX, &action, NULL);
    prctl(PR_SET_PDEATHSIG, SIGRTMAX);
}

/* The next request; a timer or a profiler of the library's may interrupt. */
static bool receive(ng_wire_request *request)
{
    ssize_t n;

    do
        n = recv(NG_HOST_SOCKET, request, sizeof *request, 0);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *request;
}

int ng_host_child(const char *library)
{
    const struct rlimit no_core = {0, 0};
    ng_wire_request request = {0};

    watch_parent();
    close_range(NG_HOST_ARENA + 1, ~0u, 0); /* what the program inherited */
    setrlimit(RLIMIT_CORE, &no_core);
    if (!map_arena(sizeof *arena))
        return 1;
    watch_faults();
    if (!answer(0, (ng_wire_answer){
                       .status = ng_host_load(&arena->facts, arena->text,
                                              sizeof arena->text, library)}))
        return 1;
    while (receive(&request)) {
        if (request.magic != NG_HOST_MAGIC || !map_arena(request.arena_bytes))
            return 1;

        /* A copy: the plug-in may write where it should not. */
        const ng_wire_call call = arena->call;
        ng_wire_answer a = {.input_written = -1};

        if (call.memory == NG_PLUGIN_CUDA)
            run_on_device(&a, &call);
        else if (!run_on_host(&a, &call))
            return 1;
        if (!answer(request.sequence, a))
            return 1;
        if (a.device != NG_DEVICE_FINE)
            break; /* the context is of no more use */
    }
    ng_host_device_close();
    return 0;
}
