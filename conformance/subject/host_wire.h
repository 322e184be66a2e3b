/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program and the process of a plug-in say to each other. Both are the
 * same program, so these are plain structures: requests and answers are small
 * messages on a socket, everything else lies in memory that both map (the
 * arena), which begins with an ng_arena.
 */
#ifndef NG_CONFORMANCE_SUBJECT_HOST_WIRE_H
#define NG_CONFORMANCE_SUBJECT_HOST_WIRE_H

#include "conformance/subject/call.h"

/* The hidden command that the program starts itself with: COMMAND LIBRARY. */
#define NG_HOST_COMMAND "subject-process"

enum {
    NG_HOST_SOCKET = 3, /* descriptors of the process */
    NG_HOST_ARENA = 4,
    NG_HOST_MAGIC = 0x4E475355,
    NG_HOST_GUARD = 64, /* bytes before and after an output */
    NG_HOST_GUARD_BYTE = 0xC3,
    NG_HOST_MAX_OPERATIONS = 256,
    NG_HOST_MAX_TEXT = 64,
    NG_HOST_MAX_TAKES = 16,
    NG_HOST_MAX_TAKE = 128
};

/* A plug-in's own description of an operation; plugin.h says what it means. */
typedef struct ng_host_operation {
    char name[NG_HOST_MAX_TEXT];
    uint32_t memory, limits;
    int n_takes;
    char takes[NG_HOST_MAX_TAKES][NG_HOST_MAX_TAKE];
    int64_t row_multiple, col_multiple, group_multiple, alignment;
} ng_host_operation;

typedef struct ng_host_facts {
    char name[NG_HOST_MAX_TEXT], version[NG_HOST_MAX_TEXT];
    int32_t has_device; /* NG_PLUGIN_CUDA can be had, where an operation asks */
    int n_operations;
    ng_host_operation operation[NG_HOST_MAX_OPERATIONS];
} ng_host_facts;

typedef struct ng_wire_tensor {
    char name[NG_MAX_NAME];
    ng_dtype dtype;
    int rank;
    int64_t shape[NG_MAX_RANK], stride[NG_MAX_RANK];
    int64_t offset; /* in the arena, of NG_HOST_GUARD bytes, then */
    int64_t span;   /* so many of data, then NG_HOST_GUARD again */
} ng_wire_tensor;

typedef struct ng_wire_call {
    char operation[NG_HOST_MAX_TEXT];
    ng_rules rules;
    ng_random random;
    int n_attributes, n_inputs, n_outputs;
    struct {
        char name[NG_HOST_MAX_TEXT];
        int64_t value;
    } attribute[NG_MAX_ATTRIBUTES];
    ng_wire_tensor tensor[2 * NG_MAX_TENSORS]; /* inputs, then outputs */
    uint32_t memory;
    int64_t alignment;
    bool at_end; /* buffers end where the next page is missing;
                    else they begin after a missing one */
} ng_wire_call;

/* Where the process was when a signal for bad memory struck it. */
typedef struct ng_wire_fault {
    int signal;   /* 0: none */
    int write;    /* it wrote, as far as the machine tells */
    int null;     /* in the first page */
    int tensor;   /* the one nearby, -1: none */
    int64_t byte; /* the address, counted from its data */
} ng_wire_fault;

typedef struct ng_arena {
    ng_host_facts facts;
    ng_wire_call call;
    ng_wire_fault fault;
    char text[512]; /* why loading failed, or what an answer's device
                       says; not yet escaped */
} ng_arena;

typedef struct ng_wire_request {
    uint32_t magic, sequence;
    uint64_t arena_bytes;
} ng_wire_request;

/* How loading went. */
enum {
    NG_LOADED,
    NG_LOAD_NO_LIBRARY,
    NG_LOAD_NO_ENTRY,
    NG_LOAD_ABI,
    NG_LOAD_TABLE,
    NG_LOAD_CANNOT_RUN,
    NG_LOAD_FAILED
};

/* What became of a call's device memory. */
enum {
    NG_DEVICE_FINE,   /* nothing was wrong, or none was asked for */
    NG_DEVICE_NONE,   /* it could not be had: the call was not made */
    NG_DEVICE_FAILED  /* an error after the call, which has to be its own */
};

typedef struct ng_wire_answer {
    uint32_t magic, sequence;
    int32_t status;        /* NG_LOADED ..., or what the plug-in returned */
    int32_t input_written; /* an input's number, -1: none */
    int32_t device;        /* NG_DEVICE_FINE ...; after another one the process
                              ends */
} ng_wire_answer;

#endif
