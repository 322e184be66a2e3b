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

/* Hold the bounded outputs of a finished run against the oracle's bounds.
 * Returns whether they are right; *failure is filled if not. */
static bool judge_run(ng_failure *failure, const ng_call *call,
                      ng_bounds bounds[NG_MAX_TENSORS])
{
    ng_excess excess = {0};

    if (failure->want_status != failure->got_status) {
        failure->kind = NG_FAILURE_STATUS;
        failure->difference.count = 1;
        return false;
    }
    for (int i = 0; failure->got_status == NG_OK && i < call->n_outputs; i++)
        if (bounds[i].bound != NULL)
            ng_bounds_judge(&excess, &failure->judged, &call->output[i],
                            &bounds[i]);
    if (excess.tensor == NULL)
        return true;
    failure->kind = NG_FAILURE_BOUND;
    snprintf(failure->tensor, sizeof failure->tensor, "%s", excess.tensor);
    failure->rank = rank_of(call, excess.tensor);
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
    bool is_bounded;            /* some output has bounds */
    ng_bounds bounds[NG_MAX_TENSORS];   /* the first run's, which has them */
    ng_call call;
    ng_outputs outputs;
    ng_events events;
    ng_status status, bounds_status;
} expectation;

static void expect(expectation *e, const ng_case *c,
                   const ng_operation *operation, const ng_verify_plan *plan)
{
    memset(e, 0, sizeof *e);
    e->made = (plan->oracle == NULL || ng_bounds_make(e->bounds, c, operation))
              && ng_outputs_make(&e->outputs, &e->call, c, ng_poison[0]);
    if (!e->made)
        return;
    if (plan->expected_rules != NULL)
        e->call.rules = *plan->expected_rules;
    e->is_bounded = plan->oracle != NULL && is_bounded(e->bounds);
    e->in_bits =
        !e->is_bounded || (operation->stated && plan->subject->trusted);
    if (e->is_bounded)
        e->status = e->bounds_status = answer(plan, &e->call, e->bounds);
    e->call.events = &e->events;
    if (e->in_bits)
        e->status = answer(plan, &e->call, NULL);
}

/* The same over another poison. Most operations write every unit: then this
 * has the first one's. Ragged rows end before the tensor does, and only the
 * operation knows what it leaves there, so it is asked once more. */
static void expect_again(expectation *e, const expectation *first,
                         const ng_case *c, const ng_verify_plan *plan)
{
    *e = *first;
    e->repeat = 1;
    e->outputs = (ng_outputs){0};
    e->made = first->made
              && ng_outputs_make(&e->outputs, &e->call, c, ng_poison[1]);
    if (!e->made || !e->in_bits)
        return;
    e->call.rules = first->call.rules;
    e->call.events = NULL;      /* counted already */
    if (first->status == NG_OK && ng_call_input(&c->call, "offsets") == NULL)
        ng_outputs_copy(&e->call, &first->call);
    else
        e->status = answer(plan, &e->call, NULL);
}

static void expect_end(expectation *e)
{
    if (e->repeat == 0)
        ng_bounds_free(e->bounds);
    ng_outputs_free(&e->outputs);
}

/* One run of the subject: what it gave, before that is compared. */
typedef struct trial {
    bool made;                  /* false: out of memory */
    bool answered;              /* there is something to compare */
    ng_failure failure;         /* status and verdict; why there is nothing */
    ng_call call;
    ng_outputs outputs;
    ng_events events;
} trial;

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

/* Room for a run's outputs. */
static void prepare(trial *t, const ng_failure *failure, const ng_case *c,
                    const expectation *e)
{
    *t = (trial){.failure = *failure};
    t->made =
        e->made
        && ng_outputs_make(&t->outputs, &t->call, c, ng_poison[e->repeat]);
    if (t->made) {
        t->call.events = &t->events;
        return;
    }
    t->failure.kind = NG_FAILURE_STATUS;
    t->failure.want_status = NG_OK;
    t->failure.got_status = NG_NO_MEMORY;
}

/* What the subject gives, or has given. */
static void ask(trial *t, const ng_verify_plan *plan, const expectation *e)
{
    if (!t->made)
        return;
    t->failure.want_status = e->status;
    t->answered = true;
    if (plan->recorded != NULL) {
        t->failure.got_status = plan->recorded->status;
        for (int i = 0; i < plan->recorded->outputs.n; i++)
            memcpy(t->outputs.block[i], plan->recorded->outputs.block[i],
                   (size_t)t->outputs.span[i] + 2 * NG_GUARD_BYTES);
    } else if (plan->host != NULL) {
        t->answered = ask_foreign(&t->failure, &t->call, plan, e);
    } else {
        t->failure.got_status = plan->subject->run(&t->call);
    }
}

/* Compare one run of the subject with the specification's. Returns whether it
 * is right; t->failure is filled if not. */
static bool compare_run(trial *t, const ng_case *c, const ng_verify_plan *plan,
                        expectation *e)
{
    ng_failure *failure = &t->failure;

    if (!t->answered)
        return false;
    if (e->is_bounded) {
        failure->want_status = e->bounds_status;
        if (!judge_run(failure, &t->call, e->bounds))
            return false;
    }
    failure->want_status = e->in_bits ? e->status
                           : failure->got_status != NG_OK
                               ? failure->got_status
                               : expect_rest(plan, &e->call, &t->call,
                                             e->bounds);
    if (failure->want_status != failure->got_status) {
        failure->kind = NG_FAILURE_STATUS;
        failure->difference.count = 1;
        return false;
    }
    failure->difference =
        ng_outputs_compare(&e->call, &e->outputs, &t->call, &t->outputs);
    if (failure->difference.tensor != NULL) {
        failure->kind = failure->difference.outside ? NG_FAILURE_OUTSIDE
                                                    : NG_FAILURE_BITS;
        snprintf(failure->tensor, sizeof failure->tensor, "%s",
                 failure->difference.tensor);
        failure->rank = failure->difference.outside
                            ? 1
                            : rank_of(&t->call, failure->tensor);
        if (!failure->difference.outside)
            describe_input(failure->input, sizeof failure->input, &c->call,
                           failure);
        return false;
    }
    for (int i = 0; e->in_bits && plan->subject->counts_events
                    && plan->recorded == NULL && i < NG_N_EVENTS; i++)
        if (e->events.count[i] != t->events.count[i]) {
            failure->kind = NG_FAILURE_EVENTS;
            failure->event = (ng_event)i;
            failure->difference.count = 1;
            failure->difference.want = e->events.count[i];
            failure->difference.got = t->events.count[i];
            return false;
        }
    if (failure->verdict.kind == NG_VERDICT_NONE)
        return true;
    failure->kind = NG_FAILURE_SUBJECT; /* right, but it printed */
    failure->difference.count = 1;
    return false;
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

/* Both runs lie within the bounds: are they the same? The order of a sum is free,
 * but one and the same; and a unit of which nothing is claimed must be written. */
static bool is_steady(ng_failure *failure, const trial runs[2],
                      const expectation *e)
{
    const ng_call *one = &runs[0].call, *other = &runs[1].call;

    if (!e->is_bounded || failure->got_status != NG_OK)
        return true;
    for (int i = 0; i < one->n_outputs; i++) {
        ng_difference difference = {0};

        if (e->bounds[i].bound == NULL)
            continue;
        difference.count = ng_bounds_part(&difference, &one->output[i],
                                          &other->output[i], &e->bounds[i]);
        if (difference.count == 0)
            continue;

        snprintf(failure->tensor, sizeof failure->tensor, "%s",
                 difference.tensor);
        failure->difference = difference;
        failure->difference.tensor = failure->tensor;
        failure->rank = one->output[i].rank;

        ng_failure first = *failure;

        first.difference.got = difference.want;
        failure->kind = keeps_poison(&first, failure, one)
                            ? NG_FAILURE_UNWRITTEN
                            : NG_FAILURE_UNSTABLE;
        return false;
    }
    return true;
}

/* Measure and keep the first run, where that is wanted, and free it. */
static void trial_end(trial *t, const ng_case *c, const ng_verify_plan *plan,
                      const expectation *e)
{
    if (plan->measure != NULL && t->outputs.n > 0
        && t->failure.kind != NG_FAILURE_SUBJECT && !t->failure.not_covered)
        ng_measure(plan->measure, c, &t->call, &t->outputs,
                   t->failure.got_status, e->bounds,
                   t->call.rules.rounding == NG_NEAREST_EVEN
                       || plan->profile->pinned[NG_RULE_ROUNDING]);
    if (plan->record != NULL) {
        plan->record->status = t->failure.got_status;
        plan->record->outputs = t->outputs;
    } else {
        ng_outputs_free(&t->outputs);
    }
}

/* What one run, or two of a stranger, say of a case. Returns whether all is
 * right, or the case was not covered. */
static bool judge_runs(ng_failure *failure, trial runs[2],
                       expectation expected[2], const ng_case *c,
                       const ng_verify_plan *plan, bool once)
{
    ng_failure *second = &runs[1].failure;
    const bool first_passed = compare_run(&runs[0], c, plan, &expected[0]);

    *failure = runs[0].failure;
    if (once)
        return first_passed;
    if (!first_passed) {
        if (runs[0].answered && is_of_element(failure))
            classify(failure, second,
                     compare_run(&runs[1], c, plan, &expected[1]), &c->call);
        return failure->not_covered;
    }
    if (compare_run(&runs[1], c, plan, &expected[1])) {
        ng_judgement_add(&failure->judged, &second->judged);
        return is_steady(failure, runs, &expected[0]);
    }
    if (is_of_element(second))
        second->kind = holds_poison(second, &c->call, 1)
                           ? NG_FAILURE_UNWRITTEN
                           : NG_FAILURE_UNSTABLE;
    *failure = *second;
    return false;
}

/* Both sides of a case that has been made. A stranger runs twice, the second
 * time unless the first gave no answer. Only the asking takes turns: threads
 * that share a process compute and compare beside each other. */
static bool run_case(ng_failure *failure, ng_events *seen, const ng_case *c,
                     const ng_verify_plan *plan)
{
    const bool once = plan->subject->trusted || plan->recorded != NULL;
    expectation expected[2];
    trial runs[2];
    bool passed;

    expect(&expected[0], c, failure->id.operation, plan);
    prepare(&runs[0], failure, c, &expected[0]);
    if (!once) {
        expect_again(&expected[1], &expected[0], c, plan);
        prepare(&runs[1], failure, c, &expected[1]);
    }
    ng_host_await_turn(plan->host, plan->turn);
    ask(&runs[0], plan, &expected[0]);
    if (!once && runs[0].answered)
        ask(&runs[1], plan, &expected[1]);
    ng_host_end_turn(plan->host, plan->turn);
    passed = judge_runs(failure, runs, expected, c, plan, once);
    *seen = expected[0].events;
    trial_end(&runs[0], c, plan, &expected[0]);
    if (!once) {
        ng_outputs_free(&runs[1].outputs);
        expect_end(&expected[1]);
    }
    expect_end(&expected[0]);
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
