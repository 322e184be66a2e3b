/* SPDX-License-Identifier: Apache-2.0
 *
 * What a shared library offers to be verified by
 *
 *     narrowgauge verify --subject ./path.so
 *
 * This header is all it needs: plain C, nothing to link. The library exports
 * one function, ng_plugin, which fills a table: its name, its operations with
 * their limits, and one function that performs any of them on named tensors.
 * docs/example_subject.c is a whole one in forty lines, docs/subjects.md the
 * guide; what each operation must return is in docs/semantics.md, and
 * `narrowgauge ops` lists names and tensors.
 *
 * Compatibility. NG_PLUGIN_ABI changes only if what is here now changes its
 * meaning. New fields come at the end of a structure and never move. The one
 * who reads a structure of the other's checks its size first: the program
 * states the sizes of what it passes, and the library those of its operations
 * (operation_size); a field beyond the size is not there, which means zero.
 * Operations, tensors, attributes, rules and types have names, so a new one
 * changes nothing here. A library ignores names that it does not know.
 *
 * The library runs in a process of its own, one call at a time, from one
 * thread. Everything passed to it lives until the call returns. */
#ifndef NARROWGAUGE_PLUGIN_H
#define NARROWGAUGE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NG_PLUGIN_ABI 1u

/* What the library's functions return. */
enum {
    NG_PLUGIN_OK = 0,
    NG_PLUGIN_REFUSED = 1,     /* the input is malformed; outputs untouched */
    NG_PLUGIN_NOT_COVERED = 2, /* no such operation: of what the table lists
                                  within its limits, a broken promise */
    NG_PLUGIN_FAILED = 3,      /* the library's own failure (a launch that CUDA
                                  refused) */
    NG_PLUGIN_CANNOT_RUN = 4 /* ng_plugin only: not on this machine (no GPU) */
};

/* Where an operation wants its buffers (ng_plugin_operation.memory). */
enum {
    NG_PLUGIN_HOST = 0,
    NG_PLUGIN_CUDA = 1  /* device memory of GPU 0, for every tensor ("offsets"
                           too): data is a CUDA device pointer, of the primary
                           context that the CUDA runtime uses. Work is queued
                           on the call's stream, for which the program waits
                           after run; then it looks at outputs, guards and
                           inputs. Without a GPU, or its driver, these
                           operations are not covered; a library that has no
                           others cannot run there. */
};

/* What an operation does not take (ng_plugin_operation.limits), a bit each. A
 * call beyond a limit is never made and counts as not covered. */
enum {
    NG_PLUGIN_DENSE_ONLY = 1,     /* no gaps between rows, no other strides */
    NG_PLUGIN_ROW_MAJOR_ONLY = 2, /* gaps, but the last axis has stride 1 */
    NG_PLUGIN_NO_GROUPS = 4,      /* no input "offsets" (ragged rows) */
    NG_PLUGIN_NO_NAN = 8,         /* no NaN among numbers, codes, scales */
    NG_PLUGIN_NO_INFINITY = 16,
    NG_PLUGIN_NO_EMPTY = 32,    /* no tensor without elements */
    NG_PLUGIN_CHECKS_INPUT = 64 /* no limit but an offer: malformed input
                                   (offsets that decrease, scales that are
                                   no power of two where that is declared)
                                   is answered with NG_PLUGIN_REFUSED. The
                                   others never see any. */
};

/* One array. The element at (i, j) is the unit i * stride[0] + j * stride[1]
 * after data. Units outside the shape belong to nobody and must stay. */
typedef struct ng_plugin_tensor {
    const char *name;      /* "x", "y.codes", "y.scales", "offsets" ... */
    const char *dtype;     /* of a unit: "fp32" "bf16" "fp16" "fp64" "u8"
                              "i8" "u16" "i16" "u32" "i32" "u64" "i64";
                              "e2m1x2" (two codes a byte, the even element
                              low), "e2m1" (one a byte), "e4m3", "ue8m0",
                              "ue8m0x4" (four in 32 bits, the first
                              lowest), "ue6m10" */
    uint32_t unit_bytes;   /* bytes of a unit: 1 for e2m1x2, 4 for ue8m0x4 */
    uint32_t rank;         /* 1 or 2 so far */
    const int64_t *shape;  /* units along each axis, 0 allowed */
    const int64_t *stride; /* units from one index to the next */
    void *data;            /* aligned for its unit, or as the operation
                              asked; inputs must stay as they are */
} ng_plugin_tensor;

/* A whole number beside the tensors: "cols" is the width of a packed tensor in
 * elements, "pow2" is 1 where FP32 scales are declared to be powers of two.
 * Hyper-parameters are the bits of an FP64 number. */
typedef struct ng_plugin_attribute {
    const char *name;
    int64_t value;
} ng_plugin_attribute;

/* A rule and its value: "rounding", "nearest-even". `narrowgauge ops --rules`
 * lists them. Every call carries all rules, read or not. */
typedef struct ng_plugin_rule {
    const char *name, *value;
} ng_plugin_rule;

/* One call. Arrays of pointers, so that what they point at can grow. */
typedef struct ng_plugin_call {
    uint32_t size;         /* bytes of this structure in the program */
    uint32_t tensor_size;  /* bytes of an ng_plugin_tensor there */
    const char *operation; /* "quantize_mxfp4" ... */
    uint32_t n_inputs, n_outputs, n_attributes, n_rules;
    const ng_plugin_tensor *const *input;
    const ng_plugin_tensor *const *output;
    const ng_plugin_attribute *const *attribute;
    const ng_plugin_rule *const *rule;
    uint64_t seed, random_stream; /* of stochastic rounding: Philox */
    void *stream;                 /* the cudaStream_t of NG_PLUGIN_CUDA: work is
                                     queued there; the program waits for it. Null
                                     otherwise. */
} ng_plugin_call;

/* One operation that the library has. Zero is a good value for every field
 * after the name. */
typedef struct ng_plugin_operation {
    const char *name;
    uint32_t memory; /* NG_PLUGIN_HOST ... */
    uint32_t limits; /* NG_PLUGIN_DENSE_ONLY | ... */
    /* What rules, types and attributes it takes: texts "name=value|value...",
     * the last one null; null: all. The name is a rule's ("rounding"), a
     * tensor's ("x", its types) or an attribute's ("pow2"; one that a call
     * lacks is 0). What is not named is not limited. */
    const char *const *takes;
    int64_t row_multiple;   /* rows are a multiple of this, cols of that; */
    int64_t col_multiple;   /*   0 or 1: any. Of rank 1: the length. */
    int64_t group_multiple; /* so is the size of every group of rows */
    int64_t alignment;      /* a power of two up to 4096: every tensor's data
                               lies at a multiple of it; 0: as its units ask */
} ng_plugin_operation;

/* The table. The program sets abi and size before the call; the library sets
 * all fields, abi to its own NG_PLUGIN_ABI. Texts and arrays belong to the
 * library and stay. */
typedef struct ng_plugin_table {
    uint32_t abi;
    uint32_t size;           /* bytes of this structure in the program; the
                                library leaves it */
    const char *name;        /* shown in reports; up to 63 bytes */
    const char *version;     /* likewise */
    uint32_t n_operations;   /* up to 256 */
    uint32_t operation_size; /* sizeof(ng_plugin_operation) */
    const ng_plugin_operation *operations;
    int32_t (*run)(const ng_plugin_call *call); /* NG_PLUGIN_OK ... */
} ng_plugin_table;

/* What the library exports. Returns NG_PLUGIN_OK, NG_PLUGIN_CANNOT_RUN or
 * NG_PLUGIN_FAILED. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int32_t
ng_plugin(ng_plugin_table *table);

/* ---- to find one's way in a call; null, or otherwise, if it is not there -- */

static inline const ng_plugin_tensor *
ng_plugin_find(const ng_plugin_tensor *const *list, uint32_t n,
               const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(list[i]->name, name) == 0)
            return list[i];
    return NULL;
}

static inline const ng_plugin_tensor *
ng_plugin_input(const ng_plugin_call *call, const char *name)
{
    return ng_plugin_find(call->input, call->n_inputs, name);
}

static inline const ng_plugin_tensor *
ng_plugin_output(const ng_plugin_call *call, const char *name)
{
    return ng_plugin_find(call->output, call->n_outputs, name);
}

static inline int64_t ng_plugin_number(const ng_plugin_call *call,
                                       const char *name, int64_t otherwise)
{
    for (uint32_t i = 0; i < call->n_attributes; i++)
        if (strcmp(call->attribute[i]->name, name) == 0)
            return call->attribute[i]->value;
    return otherwise;
}

/* The value of a rule, as text. */
static inline const char *ng_plugin_rule_of(const ng_plugin_call *call,
                                            const char *name)
{
    for (uint32_t i = 0; i < call->n_rules; i++)
        if (strcmp(call->rule[i]->name, name) == 0)
            return call->rule[i]->value;
    return NULL;
}

/* The unit at (row, col) of a matrix; cast it to the unit's type. */
static inline void *ng_plugin_at(const ng_plugin_tensor *t, int64_t row,
                                 int64_t col)
{
    return (char *)t->data
           + (row * t->stride[0] + col * t->stride[1]) * (int64_t)t->unit_bytes;
}

#ifdef __cplusplus
}
#endif

#endif
