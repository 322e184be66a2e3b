/* SPDX-License-Identifier: Apache-2.0
 *
 * One case: make the inputs, let the specification and the subject work on
 * them, compare every byte.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conformance/checks/verify.h"
#include "formats/fp32.h"

const unsigned char ng_poison[2] = {0xA5, 0x5A};

static void describe_input(char *text, size_t size, const ng_call *call,
                           const ng_failure *failure)
{
    const ng_tensor *x = ng_call_input(call, "x");
    int64_t unit = 0;

    text[0] = '\0';
    if (x == NULL || x->rank != failure->rank)
        return;
    for (int axis = 0; axis < x->rank; axis++) {
        int64_t i = failure->difference.index[axis];

        if (axis == x->rank - 1 && strcmp(failure->tensor, "y.codes") == 0
            && strstr(call->operation, "mxfp4") != NULL)
            i *= 2;                     /* the even element of the byte */
        if (i >= x->shape[axis])
            return;
        unit += i * x->stride[axis];
    }
    if (x->dtype == NG_FP32) {
        const float value = ((const float *)x->data)[unit];

        snprintf(text, size, "x=%a(%08" PRIx32 ")", (double)value,
                 ng_fp32_bits(value));
    } else if (ng_dtype_size(x->dtype) == 2) {
        snprintf(text, size, "x=%s:%04x", ng_dtype_name(x->dtype),
                 ((const uint16_t *)x->data)[unit]);
    } else if (ng_dtype_size(x->dtype) == 1) {
        snprintf(text, size, "x=%s:%02x", ng_dtype_name(x->dtype),
                 ((const uint8_t *)x->data)[unit]);
    }
}

/* What is right for a call; under a hypothesis, what a subject with that mistake
 * would give. */
static ng_status answer(const ng_verify_plan *plan, const ng_call *call,
                        ng_bounds *bounds)
{
    const ng_specification right = {
        .subject = bounds != NULL ? plan->oracle : plan->expected,
        .bounds = bounds};

    return plan->hypothesis != NULL ? plan->hypothesis->run(call, &right)
                                    : ng_specified(&right, call);
}

static int rank_of(const ng_call *call, const char *tensor)
{
    const ng_tensor *t = ng_call_output(call, tensor);

    return t != NULL ? t->rank : 0;
}

/* Hold the bounded outputs of a finished run against the oracle. Returns whether
 * they are right; *failure is filled if not. */
static bool judge_run(ng_failure *failure, const ng_call *got_call,
                      ng_bounds bounds[NG_MAX_TENSORS],
                      const ng_verify_plan *plan)
{
    ng_call call = *got_call;
    ng_excess excess = {0};

    call.events = NULL;
    if (plan->expected_rules != NULL)
        call.rules = *plan->expected_rules;
    failure->want_status = answer(plan, &call, bounds);
    if (failure->want_status != failure->got_status) {
        failure->kind = NG_FAILURE_STATUS;
        failure->difference.count = 1;
        return false;
    }
    for (int i = 0; failure->got_status == NG_OK && i < call.n_outputs; i++)
        if (bounds[i].bound != NULL)
            ng_bounds_judge(&excess, &failure->judged, &call.output[i],
                            &bounds[i]);
    if (excess.tensor == NULL)
        return true;
    failure->kind = NG_FAILURE_BOUND;
    snprintf(failure->tensor, sizeof failure->tensor, "%s", excess.tensor);
    failure->rank = rank_of(&call, excess.tensor);
    failure->difference.count = excess.count;
    failure->difference.tensor = failure->tensor;
    memcpy(failure->difference.index, excess.index, sizeof excess.index);
    failure->difference.got = excess.got;
    failure->value = excess.value;
    failure->exact = excess.exact;
    failure->bound = excess.bound;
    return false;
}

static bool is_bounded(const ng_bounds bounds[NG_MAX_TENSORS])
{
    for (int i = 0; i < NG_MAX_TENSORS; i++)
        if (bounds[i].bound != NULL)
            return true;
    return false;
}

/* What is expected of the rest of a bounded run: the bounded outputs as the
 * subject made them, and the exact ones that follow from these. */
static ng_status expect_rest(const ng_verify_plan *plan, ng_call *want_call,
                             const ng_call *got_call,
                             const ng_bounds bounds[NG_MAX_TENSORS])
{
    bool all = true;

    for (int i = 0; i < want_call->n_outputs; i++)
        all = all && bounds[i].bound != NULL;
    if (!all) {
        ng_bounds_give(want_call, got_call, bounds);
        return answer(plan, want_call, NULL);
    }
    for (int i = 0; i < want_call->n_outputs; i++)
        ng_bounds_copy(&want_call->output[i], &got_call->output[i], &bounds[i]);
    return NG_OK;
}

/* One run's expected side, over outputs filled with ng_poison[repeat]: made before
 * the subject is asked. */
typedef struct expectation {
    int repeat;
    bool made;                  /* false: out of memory */
    bool in_bits;               /* all outputs, as the expected side has them */
    ng_bounds bounds[NG_MAX_TENSORS];
    ng_call call;
    ng_outputs outputs;
    ng_events events;
    ng_status status;
} expectation;

static void expect(expectation *e, const ng_case *c,
                   const ng_operation *operation, const ng_verify_plan *plan,
                   int repeat)
{
    memset(e, 0, sizeof *e);
    e->repeat = repeat;
    e->made = (plan->oracle == NULL || ng_bounds_make(e->bounds, c, operation))
              && ng_outputs_make(&e->outputs, &e->call, c, ng_poison[repeat]);
    if (!e->made)
        return;
    if (plan->expected_rules != NULL)
        e->call.rules = *plan->expected_rules;
    e->in_bits = plan->oracle == NULL || !is_bounded(e->bounds)
                 || (operation->stated && plan->subject->trusted);

    /* One in another process must know the answer to a malformed call before it
     * is asked. */
    e->call.events = e->in_bits ? &e->events : NULL;
    if (e->in_bits || plan->host != NULL)
        e->status = answer(plan, &e->call, NULL);
    e->call.events = &e->events;
}

static void expect_end(expectation *e)
{
    ng_bounds_free(e->bounds);
    ng_outputs_free(&e->outputs);
}

/* Ask a subject in another process. Returns false where there is no answer to
 * compare. */
static bool ask_foreign(ng_failure *failure, ng_call *call,
                        const ng_verify_plan *plan, const expectation *e)
{
    ng_foreign foreign = {.host = plan->host, .repeat = e->repeat,
                          .expected = e->status};

    call->foreign = &foreign;
    failure->got_status = plan->subject->run(call);
    call->foreign = NULL;
    failure->verdict = foreign.verdict;
    failure->not_covered = failure->got_status == NG_NOT_COVERED
                           && foreign.verdict.kind == NG_VERDICT_NONE;
    if (foreign.verdict.kind == NG_VERDICT_NONE
        || foreign.verdict.kind == NG_VERDICT_PRINTED)
        return !failure->not_covered;
    failure->kind = NG_FAILURE_SUBJECT;
    failure->difference.count = 1;
    return false;
}

/* What the subject gives, or has given. Returns false as above. */
static bool ask(ng_failure *failure, ng_call *call, ng_outputs *outputs,
                const ng_verify_plan *plan, const expectation *e)
{
    if (plan->recorded != NULL) {
        failure->got_status = plan->recorded->status;
        for (int i = 0; i < plan->recorded->outputs.n; i++)
            memcpy(outputs->block[i], plan->recorded->outputs.block[i],
                   (size_t)outputs->span[i] + 2 * NG_GUARD_BYTES);
        return true;
    }
    if (plan->host != NULL && !ask_foreign(failure, call, plan, e))
        return false;
    if (plan->host == NULL)
        failure->got_status = plan->subject->run(call);
    return true;
}

/* Compare one run of the subject with the specification's. */
static bool compare_run(ng_failure *failure, const ng_case *c,
                        const ng_verify_plan *plan, expectation *e)
{
    ng_events events = {0};
    ng_outputs got = {0};
    ng_call call;
    bool same = false;

    if (!e->made || !ng_outputs_make(&got, &call, c, ng_poison[e->repeat])) {
        failure->kind = NG_FAILURE_STATUS;
        failure->want_status = NG_OK;
        failure->got_status = NG_NO_MEMORY;
        goto done;
    }
    call.events = &events;
    failure->want_status = e->status;
    if (!ask(failure, &call, &got, plan, e))
        goto done;
    if (plan->oracle != NULL && is_bounded(e->bounds)
        && !judge_run(failure, &call, e->bounds, plan))
        goto done;
    if (!e->in_bits)
        failure->want_status =
            failure->got_status != NG_OK
                ? failure->got_status
                : expect_rest(plan, &e->call, &call, e->bounds);
    if (failure->want_status != failure->got_status) {
        failure->kind = NG_FAILURE_STATUS;
        failure->difference.count = 1;
        goto done;
    }
    failure->difference = ng_outputs_compare(&e->call, &e->outputs, &call, &got);
    if (failure->difference.tensor != NULL) {
        failure->kind = failure->difference.outside ? NG_FAILURE_OUTSIDE
                                                    : NG_FAILURE_BITS;
        snprintf(failure->tensor, sizeof failure->tensor, "%s",
                 failure->difference.tensor);
        failure->rank = failure->difference.outside
                            ? 1
                            : rank_of(&call, failure->tensor);
        if (!failure->difference.outside)
            describe_input(failure->input, sizeof failure->input, &c->call,
                           failure);
        goto done;
    }
    for (int i = 0; e->in_bits && plan->subject->counts_events
                    && plan->recorded == NULL && i < NG_N_EVENTS; i++)
        if (e->events.count[i] != events.count[i]) {
            failure->kind = NG_FAILURE_EVENTS;
            failure->event = (ng_event)i;
            failure->difference.count = 1;
            failure->difference.want = e->events.count[i];
            failure->difference.got = events.count[i];
            goto done;
        }
    same = failure->verdict.kind == NG_VERDICT_NONE;
    if (!same) {                        /* right, but it printed */
        failure->kind = NG_FAILURE_SUBJECT;
        failure->difference.count = 1;
    }
done:
    if (plan->measure != NULL && e->repeat == 0 && got.n > 0
        && failure->kind != NG_FAILURE_SUBJECT && !failure->not_covered)
        ng_measure(plan->measure, c, &call, &got, failure->got_status, e->bounds,
                   call.rules.rounding == NG_NEAREST_EVEN
                       || plan->profile->pinned[NG_RULE_ROUNDING]);
    if (plan->record != NULL && e->repeat == 0) {
        plan->record->status = failure->got_status;
        plan->record->outputs = got;
    } else {
        ng_outputs_free(&got);
    }
    return same;
}

static bool is_of_element(const ng_failure *failure)
{
    return failure->kind == NG_FAILURE_BITS || failure->kind == NG_FAILURE_BOUND;
}

/* Whether the element that failed holds what was there before run `repeat`. */
static bool holds_poison(const ng_failure *failure, const ng_call *call,
                         int repeat)
{
    const ng_tensor *t = ng_call_output(call, failure->tensor);
    uint64_t bits = 0;

    if (t == NULL)
        return false;
    memset(&bits, ng_poison[repeat], ng_dtype_size(t->dtype));
    return failure->difference.got == bits;
}

/* Whether two runs left the same in every byte of the element, or what was there
 * before each: then it was not written, or not all of it. */
static bool keeps_poison(const ng_failure *first, const ng_failure *second,
                         const ng_call *call)
{
    const ng_tensor *t = ng_call_output(call, first->tensor);
    bool any = false;

    for (size_t i = 0; t != NULL && i < ng_dtype_size(t->dtype); i++) {
        const unsigned one = first->difference.got >> 8 * i & 0xFF;
        const unsigned other = second->difference.got >> 8 * i & 0xFF;

        if (one != other && (one != ng_poison[0] || other != ng_poison[1]))
            return false;
        any = any || one != other;
    }
    return any;
}

/* The first run was wrong in an element: what a second run, over another poison,
 * says of that. */
static void classify(ng_failure *first, const ng_failure *second,
                     bool second_passed, const ng_call *call)
{
    if (!second_passed && second->kind == NG_FAILURE_SUBJECT
        && second->verdict.kind != NG_VERDICT_PRINTED
        && second->verdict.kind != NG_VERDICT_GIVEN_UP)
        *first = *second;
    else if (!second_passed && is_of_element(second)
             && keeps_poison(first, second, call))
        first->kind = NG_FAILURE_UNWRITTEN;
    else if (second_passed
             || (is_of_element(second)
                 && second->difference.got != first->difference.got))
        first->kind = NG_FAILURE_UNSTABLE;
}

/* A stranger runs twice. Returns whether both runs were right, or neither was
 * covered. */
static bool run_twice(ng_failure *failure, const ng_case *c,
                      const ng_verify_plan *plan, expectation expected[2])
{
    ng_failure second = *failure;

    if (!compare_run(failure, c, plan, &expected[0])) {
        if (is_of_element(failure) && !failure->not_covered) {
            const bool passed = compare_run(&second, c, plan, &expected[1]);

            classify(failure, &second, passed, &c->call);
        }
        return failure->not_covered;
    }
    if (compare_run(&second, c, plan, &expected[1])) {
        ng_judgement_add(&failure->judged, &second.judged);
        return true;
    }
    if (is_of_element(&second))
        second.kind = holds_poison(&second, &c->call, 1) ? NG_FAILURE_UNWRITTEN
                                                         : NG_FAILURE_UNSTABLE;
    *failure = second;
    return false;
}

/* Both sides of a case that has been made. */
static bool run_case(ng_failure *failure, ng_events *seen, const ng_case *c,
                     const ng_verify_plan *plan)
{
    const bool once = plan->subject->trusted || plan->recorded != NULL;
    const int n = once ? 1 : 2;
    expectation expected[2];
    bool passed;

    for (int i = 0; i < n; i++)
        expect(&expected[i], c, failure->id.operation, plan, i);
    ng_host_await_turn(plan->host, plan->turn);
    passed = once ? compare_run(failure, c, plan, &expected[0])
                  : run_twice(failure, c, plan, expected);
    *seen = expected[0].events;
    for (int i = 0; i < n; i++)
        expect_end(&expected[i]);
    return passed;
}

bool ng_verify_made_case(ng_failure *failure, const ng_case *c,
                         const ng_verify_plan *plan)
{
    ng_events seen;

    return run_case(failure, &seen, c, plan);
}

bool ng_verify_case(ng_failure *failure, ng_events *events, int64_t *elements,
                    const ng_case_id *id, const ng_variant *variant,
                    const ng_verify_plan *plan)
{
    ng_case c;
    ng_events seen = {0};
    int64_t bytes;
    bool passed;

    memset(failure, 0, sizeof *failure);
    failure->id = *id;
    *elements = 0;
    ng_case_begin(&c, id->operation->name, variant, id->stratum->name, id->index,
                  id->seed);
    id->stratum->fill(&c, id->index);
    ng_case_spread(&c);
    if (c.failed) {
        failure->kind = NG_FAILURE_STATUS;
        failure->got_status = NG_NO_MEMORY;
        passed = false;
    } else {
        passed = run_case(failure, &seen, &c, plan);
        ng_events_add(events, &seen);
        ng_tensor_extent(elements, &bytes, &c.call.output[0]);
    }
    if (!passed)
        ng_variant_print(failure->variant, sizeof failure->variant, variant);
    ng_case_end(&c);
    return passed;
}
