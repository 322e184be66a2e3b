/* SPDX-License-Identifier: Apache-2.0
 *
 * Planted faults: the reference with one deviation each. The suite must find
 * every one of them and call it by its kind (`narrowgauge faults`). A fault
 * takes part as a plug-in that exports the operations it breaks, so nothing
 * tells it from a stranger's library.
 *
 * To add one: a function and a row in the file of its family.
 */
#ifndef NG_CONFORMANCE_FAULTS_FAULT_H
#define NG_CONFORMANCE_FAULTS_FAULT_H

#include "conformance/subject/elements.h"
#include "conformance/subject/subject.h"

enum { FAULT_MAX_OPERATIONS = 4, FAULT_MAX_TAKES = 5 };

typedef struct fault {
    const char *name;       /* what it does */
    const char *kind;       /* as ng_fault_kind_name has it */
    const char *field_case; /* of docs/cases.md: "L-12"; "" if of none */
    const char *operation[FAULT_MAX_OPERATIONS];
    const char *takes[FAULT_MAX_TAKES]; /* variants, as in plugin.h: no
                                           wider than the fault needs */
    ng_status (*run)(const ng_call *call);
} fault;

/* The reference, on the same call. */
ng_status fault_reference(const ng_call *call);

/* The reference under another value of one rule. */
ng_status fault_rule(const ng_call *call, ng_rule rule, int value);

/* Another array in the place of an input's of that name: the call, to change,
 * gets an equally strided copy, to be freed. Null if there is none, or no
 * memory. */
void *fault_copy_input(ng_call *call, const char *name, ng_tensor **tensor,
                       int64_t *units);

/* The value of a number or a code; and the largest of a block, in FP32. */
float fault_value(ng_dtype dtype, uint32_t bits);
float fault_amax(const ng_elements *x, const ng_block *b);

/* The two sides of a conversion: false if it is none. */
bool fault_sides(ng_elements *x, ng_elements *y, const ng_call *call);

/* The reference, then set(x, y, block) for every block of y. */
ng_status fault_blocks(const ng_call *call,
                       void (*set)(const ng_call *, const ng_elements *x,
                                   const ng_elements *y, const ng_block *));

/* The code of E2M1 or E4M3 nearest to x, ties to even, at most the largest. Of
 * a quotient of FP32 numbers in FP64 it is that of the exact one: a midpoint, 5
 * bits, times s differs from v by 2^-29 of it or not at all. */
uint32_t fault_nearest(ng_dtype dtype, double x);

/* Give a block that scale and code its elements under it, to nearest even. s is
 * a power of two where the scales are UE8M0. */
void fault_code_block(const ng_elements *x, const ng_elements *y,
                      const ng_block *b, float s);

/* The i-th fault, null past the last. */
const fault *ng_fault_at(int i);

/* Families, each ended by a row without a name. */
extern const fault faults_rounding[], faults_special[], faults_scale[],
    faults_layout[], faults_alignment[], faults_optim[], faults_groups[];

#endif
