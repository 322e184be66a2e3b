/* SPDX-License-Identifier: Apache-2.0
 *
 * One case of a check: a call whose inputs a stratum has made, with room for
 * outputs that are poisoned, guarded and compared byte for byte.
 */
#ifndef NG_CONFORMANCE_CHECKS_CASE_H
#define NG_CONFORMANCE_CHECKS_CASE_H

#include "conformance/checks/variant.h"
#include "conformance/subject/call.h"

typedef struct ng_case {
    ng_call call;
    const ng_variant *variant;
    uint64_t state;             /* of the case's own random numbers */
    bool odd_layout;            /* outputs get gaps between rows */
    bool failed;                /* out of memory while being made */
    void *block[3 * NG_MAX_TENSORS];
    int n_blocks;
} ng_case;

/* Start an empty case whose random numbers depend on seed, operation, stratum
 * and index, and on nothing else. */
void ng_case_begin(ng_case *c, const char *operation, const ng_variant *variant,
                   const char *stratum, int64_t index, uint64_t seed);

/* Free all memory of the case. */
void ng_case_end(ng_case *c);

/* Add an input and return its dense storage, zeroed; null (c->failed set) if
 * there is no memory. */
void *ng_case_input(ng_case *c, const char *name, ng_dtype dtype, int rank,
                    const int64_t *shape);

/* Add an output of that shape; its storage comes with ng_case_poison. With
 * c->odd_layout a matrix gets a random gap after each row, or is a transposed
 * plane where transposable is set and chance says so. */
void ng_case_output(ng_case *c, const char *name, ng_dtype dtype, int rank,
                    const int64_t *shape, bool transposable);

/* With c->odd_layout: move every matrix among the inputs to storage with a gap
 * after each row (half of the scale planes, after each column: transposed),
 * filled with 0xFF bytes (NaN in every format), which nothing may read into a
 * result. Call it when all inputs are filled. */
void ng_case_spread(ng_case *c);

void ng_case_attribute(ng_case *c, const char *name, int64_t value);

/* The next 64 random bits; a number below n; a chance of one in n. */
uint64_t ng_case_random(ng_case *c);
int64_t ng_case_below(ng_case *c, int64_t n);
bool ng_case_chance(ng_case *c, int n);

/* A set of storage for the outputs of a case. */
typedef struct ng_outputs {
    int n;
    unsigned char *block[NG_MAX_TENSORS];       /* guard, span, guard */
    int64_t span[NG_MAX_TENSORS];               /* bytes between the guards */
} ng_outputs;

enum { NG_GUARD_BYTES = 64 };

/* Allocate storage for every output of c, filled with the byte poison, and
 * point a copy of the call's outputs at it. Returns false without memory. */
bool ng_outputs_make(ng_outputs *outputs, ng_call *call, const ng_case *c,
                     unsigned char poison);
void ng_outputs_free(ng_outputs *outputs);

/* Copy every unit of the outputs of one call to those of another of the same
 * shapes and strides; gaps and guards stay. */
void ng_outputs_copy(const ng_call *to, const ng_call *from);

/* Where two sets of outputs of the same call first differ. */
typedef struct ng_difference {
    int64_t count;              /* differing units, guards and gaps as bytes */
    const char *tensor;         /* null: equal */
    bool outside;               /* in a guard or a gap, not in an element */
    int64_t index[NG_MAX_RANK]; /* of the first differing unit */
    uint64_t want, got;         /* its bits */
} ng_difference;

ng_difference ng_outputs_compare(const ng_call *want_call,
                                 const ng_outputs *want, const ng_call *got_call,
                                 const ng_outputs *got);

#endif
