/* SPDX-License-Identifier: Apache-2.0
 *
 * What may be wrong with a subject, as something that can be tried: a
 * hypothesis does what a subject with that mistake would do, starting from what
 * is right, and explains a failure if every byte is then the subject's.
 *
 * A pattern is weaker. It only says where wrong units lie, and explains a
 * failure if all of them lie there.
 */
#ifndef NG_CONFORMANCE_CHECKS_HYPOTHESIS_H
#define NG_CONFORMANCE_CHECKS_HYPOTHESIS_H

#include "conformance/checks/fault_kind.h"
#include "conformance/subject/subject.h"
#include "formats/format.h"

/* Who knows what is right: bits, or bounds where a unit is held to one. */
typedef struct ng_specification {
    const ng_subject *subject;
    ng_bounds *bounds; /* not null: fill these, not the outputs */
} ng_specification;

/* What is right for a call. */
ng_status ng_specified(const ng_specification *right, const ng_call *call);

typedef struct ng_hypothesis {
    ng_fault_kind kind;
    const char *words; /* "the even element lies in the high half" */
    /* Fill the outputs of call as a subject with the mistake would. Asks for
     * what is right of this call or a changed one, and changes the answer. One
     * that changes the answer itself cannot speak of bounds. Returns
     * NG_NOT_COVERED where the mistake cannot happen. */
    ng_status (*run)(const ng_call *call, const ng_specification *right);
} ng_hypothesis;

/* A unit that is wrong. */
typedef struct ng_wrong_unit {
    const ng_call *call;     /* the outputs are the right ones */
    const ng_call *given;    /* the same call with the subject's */
    const ng_tensor *tensor; /* the output it belongs to */
    int64_t index[NG_MAX_RANK];
    uint64_t want, got;
    unsigned char poison; /* what outputs held before */
} ng_wrong_unit;

typedef struct ng_pattern {
    ng_fault_kind kind;
    const char *words;
    bool (*fits)(const ng_wrong_unit *wrong);
} ng_pattern;

/* By families, one source file each. Where several explain as much, the one
 * that comes first is named, so the simpler comes first. */
typedef struct ng_hypotheses {
    const ng_hypothesis *list;
    int n;
} ng_hypotheses;
typedef struct ng_patterns {
    const ng_pattern *list;
    int n;
} ng_patterns;

extern const ng_hypotheses ng_layout_hypotheses;    /* order of things */
extern const ng_hypotheses ng_special_hypotheses;   /* zeros, NaN, ends */
extern const ng_hypotheses ng_rounding_hypotheses;  /* of elements */
extern const ng_hypotheses ng_scale_hypotheses;     /* of blocks */
extern const ng_hypotheses ng_alignment_hypotheses; /* under a larger scale */
extern const ng_hypotheses ng_index_hypotheses; /* whose scale, which word */
extern const ng_hypotheses ng_optim_hypotheses; /* weights and states */
extern const ng_patterns ng_place_patterns;     /* where it is wrong */

/* ---- for those files ---------------------------------------------------- */

/* A call asked otherwise: inputs that can be changed. */
typedef struct ng_changed {
    ng_call call;
    void *block[NG_MAX_TENSORS];
    int n_blocks;
} ng_changed;

/* Start with the call as it is; end with freeing what was copied. */
void ng_changed_begin(ng_changed *c, const ng_call *call);
void ng_changed_end(ng_changed *c);

/* A private copy of an input, to change. Null if the call has none, or no
 * memory. */
ng_tensor *ng_changed_input(ng_changed *c, const char *name);

/* Call change(value) on every unit of an input. Returns whether it is there and
 * anything changed. */
bool ng_changed_units(ng_changed *c, const char *name,
                      uint64_t (*change)(ng_dtype, uint64_t));

/* The value of a code. */
double ng_code_value(const ng_format *format, uint32_t code);

/* The value of a number of that type, or of a code; NaN stays NaN. */
double ng_value_of(ng_dtype dtype, uint32_t bits);

#endif
