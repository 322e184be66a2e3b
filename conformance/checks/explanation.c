/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/explanation.h"

#include <stdio.h>
#include <string.h>

#include "conformance/checks/rule_words.h"
#include "conformance/checks/verify.h"
#include "conformance/subject/elements.h"

bool ng_explanation_is_some(const ng_explanation *x)
{
    return x->is_rule || x->is_rules || x->hypothesis != NULL
           || x->pattern != NULL || x->by_failure != NG_KIND_NONE;
}

bool ng_explanation_predicts(const ng_explanation *x)
{
    return x->is_rule || x->is_rules || x->hypothesis != NULL;
}

bool ng_explanation_give(ng_recorded *recorded, const ng_explanation *x,
                         const ng_case *c, const ng_verify_plan *plan)
{
    const ng_specification right = {.subject = plan->expected};
    ng_call call;

    if (!ng_explanation_predicts(x)
        || !ng_outputs_make(&recorded->outputs, &call, c, ng_poison[0]))
        return false;
    if (plan->expected_rules != NULL)
        call.rules = *plan->expected_rules;
    if (x->is_rules)
        call.rules = x->rules;
    if (x->is_rule)
        ng_rules_set(&call.rules, x->rule, x->value);
    recorded->status = x->hypothesis != NULL ? x->hypothesis->run(&call, &right)
                                             : ng_specified(&right, &call);
    return recorded->status == NG_OK;
}

static ng_fault_kind kind_of_failure(const ng_failure *failure)
{
    switch (failure->kind) {
    case NG_FAILURE_UNSTABLE:
        return NG_KIND_UNSTABLE;
    case NG_FAILURE_UNWRITTEN:
        return NG_KIND_UNWRITTEN;
    case NG_FAILURE_OUTSIDE:
        return NG_KIND_OUTSIDE;
    case NG_FAILURE_STATUS:
        return failure->want_status != NG_OK && failure->got_status == NG_OK
                   ? NG_KIND_NOT_REFUSED
                   : NG_KIND_NONE;
    default:
        return failure->verdict.kind == NG_VERDICT_OUTSIDE
                       || failure->verdict.kind == NG_VERDICT_INPUT
                   ? NG_KIND_OUTSIDE
                   : NG_KIND_NONE;
    }
}

/* The case passes once the expected side has the mistake too. */
static bool passes(const ng_explanation *x, const ng_failure *failed,
                   const ng_case *c, const ng_recorded *recorded,
                   const ng_verify_plan *plan)
{
    ng_verify_plan other = *plan;
    ng_rules rules =
        plan->expected_rules != NULL ? *plan->expected_rules : c->call.rules;
    ng_failure failure = {.id = failed->id};

    other.host = NULL;
    other.turn = 0;
    other.record = NULL;
    other.recorded = recorded;
    other.hypothesis = x->hypothesis;
    if (x->is_rule) {
        if (ng_rules_get(&rules, x->rule) == x->value)
            return false;
        ng_rules_set(&rules, x->rule, x->value);
        other.expected_rules = &rules;
    }
    if (x->is_rules)
        other.expected_rules = &x->rules;
    return ng_verify_made_case(&failure, c, &other);
}

/* ---- patterns ----------------------------------------------------------- */

static bool units_fit(const ng_pattern *pattern, const ng_call *want,
                      const ng_call *got, const ng_bounds *bounds, int i)
{
    ng_wrong_unit wrong = {.call = want,
                           .given = got,
                           .tensor = &want->output[i],
                           .poison = ng_poison[0]};
    const ng_tensor *t = wrong.tensor;
    int64_t units = 1;

    for (int axis = 0; axis < t->rank; axis++)
        units *= t->shape[axis];
    for (int64_t unit = 0; unit < units; unit++) {
        wrong.want = ng_unit_get(t, wrong.index);
        wrong.got = ng_unit_get(&got->output[i], wrong.index);
        const bool is_wrong =
            bounds != NULL && bounds->bound != NULL && bounds->bound[unit] >= 0
                ? !ng_bounds_hold(t->dtype, wrong.got, bounds, unit)
                : wrong.want != wrong.got;

        if (is_wrong && !pattern->fits(&wrong))
            return false;
        for (int axis = t->rank - 1; axis >= 0; axis--) {
            if (++wrong.index[axis] < t->shape[axis])
                break;
            wrong.index[axis] = 0;
        }
    }
    return true;
}

/* Whether every unit that the subject got wrong lies where the pattern says. */
static bool fits(const ng_pattern *pattern, const ng_failure *failure,
                 const ng_case *c, const ng_recorded *recorded,
                 const ng_verify_plan *plan)
{
    ng_bounds bounds[NG_MAX_TENSORS] = {{NULL, NULL}};
    ng_outputs right = {0}, given = {0};
    ng_call want, got;
    bool all = false;

    if (recorded->status != NG_OK
        || !ng_outputs_make(&right, &want, c, ng_poison[0])
        || !ng_outputs_make(&given, &got, c, ng_poison[0]))
        goto done;
    if (plan->expected_rules != NULL)
        want.rules = got.rules = *plan->expected_rules;
    for (int i = 0; i < recorded->outputs.n; i++)
        memcpy(given.block[i], recorded->outputs.block[i],
               (size_t)given.span[i] + 2 * NG_GUARD_BYTES);
    if (plan->oracle != NULL && failure->id.operation->bounded != NULL
        && (!ng_bounds_make(bounds, c, failure->id.operation)
            || plan->oracle->bounds(&got, bounds) != NG_OK))
        goto done;
    if (plan->expected->run(&want) != NG_OK)
        goto done;
    all = true;
    for (int i = 0; all && i < want.n_outputs; i++)
        all = units_fit(pattern, &want, &got, &bounds[i], i);
done:
    ng_bounds_free(bounds);
    ng_outputs_free(&right);
    ng_outputs_free(&given);
    return all;
}

bool ng_explanation_holds(const ng_explanation *x, const ng_failure *failure,
                          const ng_case *c, const ng_recorded *recorded,
                          const ng_verify_plan *plan)
{
    const bool in_elements = failure->kind == NG_FAILURE_BITS
                             || failure->kind == NG_FAILURE_BOUND
                             || failure->kind == NG_FAILURE_UNWRITTEN;

    if (x->by_failure != NG_KIND_NONE)
        return kind_of_failure(failure) == x->by_failure;
    if (failure->kind == NG_FAILURE_UNSTABLE)
        return false; /* what it gave once says nothing */
    if (x->pattern != NULL)
        return in_elements && fits(x->pattern, failure, c, recorded, plan);
    return ng_explanation_is_some(x) && passes(x, failure, c, recorded, plan);
}

/* "parts in 2 rules at once: rounding, e2m1.zero" */
static void rules_words(char *text, size_t size, const ng_explanation *x)
{
    const char *between = ": ";
    int n = 0;

    for (int r = 0; r < NG_N_RULES; r++)
        n += x->parts[r];
    size_t used = (size_t)snprintf(text, size, "parts in %d rules at once", n);
    for (int r = 0; r < NG_N_RULES; r++)
        if (x->parts[r] && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", between,
                                     ng_rule_name((ng_rule)r));
            between = ", ";
        }
}

void ng_explanation_words(char *text, size_t size, const ng_explanation *x)
{
    char words[128];

    if (x->is_rules) {
        rules_words(text, size, x);
    } else if (x->is_rule) {
        ng_rule_words(words, sizeof words, x->rule, x->asked, x->value);
        snprintf(text, size, "%s: rule %s (%s): acts like \"%s\"", words,
                 ng_rule_name(x->rule), ng_rule_meaning(x->rule),
                 ng_rule_value_name(x->rule, x->value));
    } else if (x->hypothesis != NULL) {
        snprintf(text, size, "%s: %s", ng_fault_kind_name(x->kind),
                 x->hypothesis->words);
    } else if (x->pattern != NULL) {
        snprintf(text, size, "%s: wrong only %s", ng_fault_kind_name(x->kind),
                 x->pattern->words);
    } else {
        snprintf(text, size, "%s: %s", ng_fault_kind_name(x->by_failure),
                 x->by_failure == NG_KIND_UNSTABLE
                     ? "two runs of the same input differ"
                 : x->by_failure == NG_KIND_UNWRITTEN
                     ? "outputs are left as they were"
                 : x->by_failure == NG_KIND_NOT_REFUSED
                     ? "what should be refused is answered"
                     : "bytes are written that belong to no output");
    }
}
