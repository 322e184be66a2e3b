/* SPDX-License-Identifier: Apache-2.0
 *
 * One way to account for failures: a rule followed in another value, a
 * hypothesis, a pattern, or how the cases failed. Diagnosis looks for the best;
 * shrinking takes care that it stays the same.
 */
#ifndef NG_CONFORMANCE_CHECKS_EXPLANATION_H
#define NG_CONFORMANCE_CHECKS_EXPLANATION_H

#include <stddef.h>

#include "conformance/checks/hypothesis.h"

struct ng_case;
struct ng_failure;
struct ng_recorded;
struct ng_verify_plan;

/* All zero: none. At most one of the first five says something. */
typedef struct ng_explanation {
    bool is_rule; /* this rule has this value, not the one asked */
    ng_rule rule;
    int asked, value;
    bool is_rules; /* all of `rules`, which part in these at once */
    ng_rules rules;
    bool parts[NG_N_RULES];
    const ng_hypothesis *hypothesis;
    const ng_pattern *pattern;
    ng_fault_kind by_failure; /* every case failed in this way: two runs
                                 differ, an output is unwritten, ... */
    ng_fault_kind kind;       /* what it is called, whichever it is */
} ng_explanation;

bool ng_explanation_is_some(const ng_explanation *x);

/* Whether it accounts for all that the subject gave for a case (`recorded`, the
 * failure being what that was judged as). */
bool ng_explanation_holds(const ng_explanation *x,
                          const struct ng_failure *failure,
                          const struct ng_case *c,
                          const struct ng_recorded *recorded,
                          const struct ng_verify_plan *plan);

/* Whether a subject of which only this is known can stand in for the one that is
 * gone: a rule or a hypothesis says every byte, a pattern does not. */
bool ng_explanation_predicts(const ng_explanation *x);

/* Fill *recorded (all zero; its outputs are then the caller's to free) with what
 * such a subject gives for a case. Returns false where it predicts nothing or
 * there is no memory. */
bool ng_explanation_give(struct ng_recorded *recorded, const ng_explanation *x,
                         const struct ng_case *c,
                         const struct ng_verify_plan *plan);

/* What the subject does, in words: "ties go away from zero: rule rounding ...".
 */
void ng_explanation_words(char *text, size_t size, const ng_explanation *x);

#endif
