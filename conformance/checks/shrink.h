/* SPDX-License-Identifier: Apache-2.0
 *
 * A failing case made small: the fewest rows, columns, lines and groups, and in
 * them the simplest values, at which the subject still makes the same mistake
 * (what the diagnosis found, not just any), for every operation alike.
 *
 * Greedy: leave out, in halves and then one by one; then zero elements, bring
 * scales and numbers to 1, clear signs and fraction bits; again while anything
 * changes. The subject and the specification are asked at most NG_SHRINK_TRIES
 * times, and once more for each of several rules in which the subject parts, to
 * say which of them the small case takes; never about a case larger than the
 * first, and no clock decides: the same subject gives the same small case.
 */
#ifndef NG_CONFORMANCE_CHECKS_SHRINK_H
#define NG_CONFORMANCE_CHECKS_SHRINK_H

#include "conformance/checks/small_case.h"

enum { NG_SHRINK_TRIES = 500 };

/* Shrink the first kept failure of which that is possible: result->explanation
 * holds for it, or without one it fails in the same way in the same output.
 * Those of a subject that died or hung stay as they are. Where the subject is gone
 * (plan->recall) and the explanation predicts it, what does so is asked instead,
 * and the description says so. Describe what is left in
 * result->shrunk: inputs, and what is wanted and got; "" where there is none, or
 * where nobody can be asked. With plan->small_cases, write it
 * there (small_file.h) and its folder and name to result->small_case.
 * Returns NG_OK, or NG_BAD_FILE with a line in *error. */
ng_status ng_shrink(ng_operation_result *result, const ng_verify_plan *plan,
                    ng_error *error);

/* ---- between its files ------------------------------------------------------ */

typedef struct ng_search {
    const ng_verify_plan *plan;
    const ng_variant *variant;
    const ng_explanation *explanation;
    ng_failure first;   /* the failure to keep */
    ng_failure failure; /* of best */
    ng_small best;
    int tries;
} ng_search;

/* Whether the subject still makes the mistake; then *candidate is the best.
 * Takes its memory either way. */
bool ng_search_try(ng_search *s, ng_small *candidate);

/* shrink_values.c: simpler values in s->best, all of a tensor at once (before
 * anything is left out), and one by one. */
void ng_search_calm(ng_search *s);
void ng_search_simplify(ng_search *s);

/* The format of an element, null of an integer. */
const ng_format *ng_small_format(ng_dtype dtype);

/* shrink_words.c: "x[1,1] fp32 = 1.25(3fa00000): y.codes[0,0] want=06 got=07".
 */
void ng_search_words(char *to, size_t size, const ng_search *s);

#endif
