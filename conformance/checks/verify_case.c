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

/* Two byte patterns that no run leaves by chance in the same place: what both
 * runs leave as it was has not been written. */
static const unsigned char poison[2] = {0xA5, 0x5A};

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
    failure->want_status = plan->oracle->bounds(&call, bounds);
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
        return plan->expected->run(want_call);
    }
    for (int i = 0; i < want_call->n_outputs; i++)
        ng_bounds_copy(&want_call->output[i], &got_call->output[i], &bounds[i]);
    return NG_OK;
}

/* Compare one run of the subject with the specification's. */
static bool compare_run(ng_failure *failure, const ng_case *c,
                        const ng_verify_plan *plan, unsigned char fill,
                        ng_events *want_events)
{
    const ng_operation *operation = failure->id.operation;
    ng_bounds bounds[NG_MAX_TENSORS] = {{NULL, NULL}};
    bool in_bits = true;        /* all outputs, as the expected side has them */
    ng_events got_events = {0};
    ng_outputs want = {0}, got = {0};
    ng_call want_call, got_call;
    bool same = false;

    memset(want_events, 0, sizeof *want_events);
    if ((plan->oracle != NULL && !ng_bounds_make(bounds, c, operation))
        || !ng_outputs_make(&want, &want_call, c, fill)
        || !ng_outputs_make(&got, &got_call, c, fill)) {
        failure->kind = NG_FAILURE_STATUS;
        failure->want_status = NG_OK;
        failure->got_status = NG_NO_MEMORY;
        goto done;
    }
    if (plan->expected_rules != NULL)
        want_call.rules = *plan->expected_rules;
    want_call.events = want_events;
    got_call.events = &got_events;
    failure->got_status = plan->subject->run(&got_call);
    if (plan->oracle != NULL && is_bounded(bounds)) {
        if (!judge_run(failure, &got_call, bounds, plan))
            goto done;
        in_bits = operation->stated && plan->subject->trusted;
    }
    failure->want_status =
        in_bits ? plan->expected->run(&want_call)
        : failure->got_status != NG_OK
            ? failure->got_status
            : expect_rest(plan, &want_call, &got_call, bounds);
    if (failure->want_status != failure->got_status) {
        failure->kind = NG_FAILURE_STATUS;
        failure->difference.count = 1;
        goto done;
    }
    failure->difference = ng_outputs_compare(&want_call, &want, &got_call, &got);
    if (failure->difference.tensor != NULL) {
        failure->kind = failure->difference.outside ? NG_FAILURE_OUTSIDE
                                                    : NG_FAILURE_BITS;
        snprintf(failure->tensor, sizeof failure->tensor, "%s",
                 failure->difference.tensor);
        failure->rank = failure->difference.outside
                            ? 1
                            : rank_of(&want_call, failure->tensor);
        if (!failure->difference.outside)
            describe_input(failure->input, sizeof failure->input, &c->call,
                           failure);
        goto done;
    }
    for (int e = 0; in_bits && plan->subject->counts_events && e < NG_N_EVENTS;
         e++)
        if (want_events->count[e] != got_events.count[e]) {
            failure->kind = NG_FAILURE_EVENTS;
            failure->event = (ng_event)e;
            failure->difference.count = 1;
            failure->difference.want = want_events->count[e];
            failure->difference.got = got_events.count[e];
            goto done;
        }
    same = true;
done:
    ng_bounds_free(bounds);
    ng_outputs_free(&want);
    ng_outputs_free(&got);
    return same;
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
        passed = compare_run(failure, &c, plan, poison[0], &seen);
        /* A stranger runs twice, over another poison. */
        if (passed && !plan->subject->trusted
            && !compare_run(failure, &c, plan, poison[1], &seen)) {
            if (failure->kind == NG_FAILURE_BITS)
                failure->kind = NG_FAILURE_UNSTABLE;
            passed = false;
        }
        ng_events_add(events, &seen);
        ng_tensor_extent(elements, &bytes, &c.call.output[0]);
    }
    if (!passed)
        ng_variant_print(failure->variant, sizeof failure->variant, variant);
    ng_case_end(&c);
    return passed;
}
