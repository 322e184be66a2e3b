/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations that the suite knows: one table row each, from which the
 * command line, the checks, the file forms and the reports all work.
 *
 * To add an operation: reference/.../ref_<op>.c, conformance/oracle/
 * oracle_<op>.c, a binding row for each (conformance/subject/), and a row here
 * with its axes and strata.
 */
#ifndef NG_CONFORMANCE_CHECKS_OPERATION_H
#define NG_CONFORMANCE_CHECKS_OPERATION_H

#include "conformance/checks/case.h"
#include "conformance/checks/variant.h"

/* A family of inputs with one purpose. Cases are numbered; each is made from
 * its number and the seed alone, so that any can be replayed or given to
 * another machine. */
typedef struct ng_stratum {
    const char *name;
    const char *purpose;
    int level;                  /* the lowest level that runs it */
    /* How many cases at this level; more levels only add cases at the end. */
    int64_t (*count)(const ng_variant *variant, int level);
    /* Add the inputs of case `index` to c and declare its outputs. */
    void (*fill)(ng_case *c, int64_t index);
} ng_stratum;

typedef struct ng_operation {
    const char *name;
    const char *summary;        /* one line */
    const char *signature;      /* tensors in and out, for people */
    bool exact;                 /* bit for bit; otherwise bounded */
    /* Whether an output is bounded in this variant; null: none is. Its exact
     * outputs are then functions of the bounded ones: what is expected of them
     * is asked for with those as the subject made them, inputs "made.NAME". */
    bool (*bounded)(const ng_variant *variant, const char *output);
    /* One order is stated to the bit, although another is right too: the
     * project's own writings must agree in every bit, and lie in the bound. */
    bool stated;
    const ng_axis *axes;
    int n_axes;
    /* Whether a combination of axis values exists; null: all do. */
    bool (*offers)(const ng_variant *variant);
    const ng_stratum *strata;   /* up to one without a name */
    unsigned claims;            /* events (1u << NG_EVENT_...) that a whole run
                                   of the operation must have met */
} ng_operation;

/* The operations by number; null past the last. */
const ng_operation *ng_operation_at(int i);
const ng_operation *ng_operation_find(const char *name);

/* Families of operations, one table a source file. */
extern const ng_operation ng_scalar_operations[];
extern const int ng_n_scalar_operations;
extern const ng_operation ng_block_operations[];
extern const int ng_n_block_operations;
extern const ng_operation ng_gemm_operations[];
extern const int ng_n_gemm_operations;
extern const ng_operation ng_swiglu_operations[];
extern const int ng_n_swiglu_operations;
extern const ng_operation ng_optim_operations[];
extern const int ng_n_optim_operations;

#endif
