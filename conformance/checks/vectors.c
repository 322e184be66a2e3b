/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/vectors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/numbers.h"

enum { BLOCK = 32, MAX_TEXT = 256 };

static int64_t unit_of(const ng_tensor *t, int64_t i)
{
    int64_t unit = 0;

    for (int axis = t->rank - 1; axis >= 0; axis--) {
        unit += i % t->shape[axis] * t->stride[axis];
        i /= t->shape[axis];
    }
    return unit;
}

static uint64_t bits_of(const ng_tensor *t, int64_t i)
{
    const size_t size = ng_dtype_size(t->dtype);
    uint64_t bits = 0;

    memcpy(&bits, (const char *)t->data + unit_of(t, i) * (int64_t)size, size);
    return bits;
}

static int64_t units_of(const ng_tensor *t)
{
    int64_t units = 0, bytes = 0;

    ng_tensor_extent(&units, &bytes, t);
    return units;
}

/* ---- what the cases met -------------------------------------------------- */

static void count_numbers(ng_vectors_counts *counts, const ng_tensor *x)
{
    const ng_format *format;
    const int64_t n = units_of(x);
    const int64_t width = x->rank > 0 ? x->shape[x->rank - 1] : 1;

    if (x->dtype != NG_FP32 && x->dtype != NG_BF16 && x->dtype != NG_FP16)
        return;
    format = ng_number_format(x->dtype);
    for (int64_t begin = 0; begin < n;) {
        const int64_t left = width - begin % width;
        const int64_t end = begin + (left < BLOCK ? left : BLOCK);
        bool zero = true, nan = false, infinite = false;

        for (int64_t i = begin; i < end; i++) {
            const uint32_t magnitude =
                (uint32_t)bits_of(x, i) & ~ng_format_sign(format);

            zero &= magnitude == 0;
            nan |= magnitude > (uint32_t)format->infinity;
            infinite |= magnitude == (uint32_t)format->infinity;
        }
        counts->zero_blocks += zero;
        counts->nan_blocks += nan;
        counts->infinite_blocks += infinite;
        begin = end;
    }
}

static bool is_extreme(ng_dtype dtype, uint64_t bits)
{
    switch (dtype) {
    case NG_UE8M0:
        return bits == 0 || bits >= 0xFE;
    case NG_UE8M0X4:
        for (int i = 0; i < 4; i++)
            if (is_extreme(NG_UE8M0, bits >> 8 * i & 0xFF))
                return true;
        return false;
    case NG_FP32: /* subnormal, 2^127 and up */
        return (bits & 0x7F800000) == 0 || (bits & 0x7FFFFFFF) >= 0x7F000000;
    default:
        return bits == 0 || bits >= 0xFFFE;
    }
}

static void count_scales(ng_vectors_counts *counts, const ng_tensor *t)
{
    const char *dot = strrchr(t->name, '.');
    const int64_t n = units_of(t);

    for (int64_t i = 0; dot != NULL && strcmp(dot, ".scales") == 0 && i < n;
         i++)
        counts->extreme_scales += is_extreme(t->dtype, bits_of(t, i));
}

static void count_case(ng_vectors_counts *counts, const ng_call *call)
{
    const ng_tensor *offsets = ng_call_input(call, "offsets");
    const ng_tensor *x = ng_call_input(call, "x");

    counts->cases++;
    counts->elements += units_of(&call->output[0]);
    if (x != NULL)
        count_numbers(counts, x);
    for (int i = 0; i < call->n_inputs; i++)
        count_scales(counts, &call->input[i]);
    for (int i = 0; i < call->n_outputs; i++)
        count_scales(counts, &call->output[i]);
    counts->ragged_cases += offsets != NULL;
    for (int64_t g = 0; offsets != NULL && g + 1 < offsets->shape[0]; g++) {
        const int64_t *at = offsets->data;

        counts->empty_groups += at[g] == at[g + 1];
    }
}

/* ---- writing ------------------------------------------------------------- */

/* Types that not every reader of safetensors has go as whole numbers. */
static bool as_integer(ng_dtype dtype)
{
    return dtype == NG_BF16 || dtype == NG_E2M1X2 || dtype == NG_E4M3
           || dtype == NG_UE8M0;
}

/* Append a tensor as CASE/NAME; units that are no part of the answer as 0. */
static ng_status add_tensor(ng_tensor_file *file, const char *label,
                            const ng_tensor *t, const ng_tensor *other)
{
    const size_t size = ng_dtype_size(t->dtype);
    const int64_t n = units_of(t);
    char name[MAX_TEXT], key[MAX_TEXT + 8];
    void *data;
    ng_status status;

    snprintf(name, sizeof name, "%s/%s", label, t->name);
    status = ng_tensor_file_add_tensor(&data, file, name, t->dtype, t->rank,
                                       t->shape);
    if (status != NG_OK)
        return status;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = bits_of(t, i);

        if (other == NULL || bits == bits_of(other, i))
            memcpy((char *)data + i * (int64_t)size, &bits, size);
    }
    if (!as_integer(t->dtype))
        return NG_OK;
    snprintf(key, sizeof key, "dtype.%s", name);
    return ng_tensor_file_add_metadata(file, key, ng_dtype_name(t->dtype));
}

static ng_status add_number(ng_tensor_file *file, const char *label,
                            const char *name, uint64_t value, bool is_signed)
{
    char key[2 * MAX_TEXT], text[32];

    snprintf(key, sizeof key, "%s/%s", label, name);
    if (is_signed)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)value);
    else
        snprintf(text, sizeof text, "%" PRIu64, value);
    return ng_tensor_file_add_metadata(file, key, text);
}

static ng_status add_inputs(ng_tensor_file *file, const char *label,
                            const ng_call *call)
{
    ng_status status = NG_OK;

    for (int i = 0; i < call->n_inputs && status == NG_OK; i++)
        status = add_tensor(file, label, &call->input[i], NULL);
    for (int i = 0; i < call->n_attributes && status == NG_OK; i++)
        status = add_number(file, label, call->attribute[i].name,
                            (uint64_t)call->attribute[i].value, true);
    if (status == NG_OK)
        status =
            add_number(file, label, "random.seed", call->random.seed, false);
    return status == NG_OK ? add_number(file, label, "random.stream",
                                        call->random.stream, false)
                           : status;
}

/* The expected outputs over both poisons: what differs has not been written. */
typedef struct answer {
    ng_outputs outputs[2];
    ng_call call[2];
    ng_status status;
} answer;

static void answer_end(answer *a)
{
    ng_outputs_free(&a->outputs[0]);
    ng_outputs_free(&a->outputs[1]);
}

static bool answer_make(answer *a, ng_events *events, const ng_case *c,
                        const ng_verify_plan *plan)
{
    memset(a, 0, sizeof *a);
    for (int i = 0; i < 2; i++) {
        if (!ng_outputs_make(&a->outputs[i], &a->call[i], c, ng_poison[i]))
            return false;
        a->call[i].events = i == 0 ? events : NULL;
        a->status = plan->expected->run(&a->call[i]);
    }
    return true;
}

static ng_status add_case(ng_tensor_file *inputs, ng_tensor_file *expected,
                          ng_vectors_counts *counts, const ng_case *c,
                          const char *label, const ng_verify_plan *plan)
{
    answer a;
    ng_events events = {0};
    ng_status status = NG_NO_MEMORY;

    if (!c->failed && answer_make(&a, &events, c, plan)) {
        status = NG_OK;
        /* A malformed input has no outputs to compare: it is no vector. */
        if (a.status == NG_OK) {
            status = add_inputs(inputs, label, &c->call);
            for (int i = 0; i < a.call[0].n_outputs && status == NG_OK; i++)
                status = add_tensor(expected, label, &a.call[0].output[i],
                                    &a.call[1].output[i]);
            count_case(counts, &a.call[0]);
            ng_events_add(&counts->events, &events);
        }
    }
    if (!c->failed)
        answer_end(&a);
    return status;
}

static ng_status describe(ng_tensor_file *file, const ng_operation *operation,
                          const ng_variant *variant, const ng_verify_plan *plan)
{
    char text[MAX_TEXT];
    ng_status status;

    status = ng_tensor_file_add_metadata(file, "format", NG_VECTORS_FORMAT);
    if (status == NG_OK)
        status =
            ng_tensor_file_add_metadata(file, "operation", operation->name);
    if (status == NG_OK)
        status =
            ng_tensor_file_add_metadata(file, "profile", plan->profile->name);
    ng_variant_print(text, sizeof text, variant);
    if (status == NG_OK)
        status = ng_tensor_file_add_metadata(file, "variant", text);
    snprintf(text, sizeof text, "%" PRIu64, plan->seed);
    if (status == NG_OK)
        status = ng_tensor_file_add_metadata(file, "seed", text);
    for (int r = 0; r < NG_N_RULES && status == NG_OK; r++) {
        snprintf(text, sizeof text, "rule.%s", ng_rule_name((ng_rule)r));
        status = ng_tensor_file_add_metadata(
            file, text,
            ng_rule_value_name((ng_rule)r,
                               ng_rules_get(&variant->rules, (ng_rule)r)));
    }
    return status;
}

ng_status ng_vectors_variant(ng_tensor_file *inputs, ng_tensor_file *expected,
                             ng_vectors_counts *counts,
                             const ng_operation *operation,
                             const ng_variant *variant,
                             const ng_verify_plan *plan)
{
    ng_status status = describe(inputs, operation, variant, plan);

    if (status == NG_OK)
        status = describe(expected, operation, variant, plan);
    for (const ng_stratum *s = operation->strata; s->name != NULL; s++) {
        const int64_t n = s->level <= plan->level
                                  && (plan->stratum == NULL
                                      || strcmp(plan->stratum, s->name) == 0)
                              ? s->count(variant, plan->level)
                              : 0;

        for (int64_t i = 0; i < n && status == NG_OK; i++) {
            char label[MAX_TEXT];
            ng_case c;

            snprintf(label, sizeof label, "%s.%" PRId64, s->name, i);
            ng_case_begin(&c, operation->name, variant, s->name, i, plan->seed);
            s->fill(&c, i);
            status = add_case(inputs, expected, counts, &c, label, plan);
            ng_case_end(&c);
        }
    }
    return status;
}

/* ---- reading what came back ---------------------------------------------- */

static const ng_tensor *actual_of(const ng_tensor_file *actual,
                                  const ng_case_id *id, const char *tensor)
{
    char name[MAX_TEXT];

    snprintf(name, sizeof name, "%s.%" PRId64 "/%s", id->stratum->name,
             id->index, tensor);
    return ng_tensor_file_find(actual, name);
}

static bool same_shape(const ng_tensor *a, const ng_tensor *b)
{
    bool same = a->rank == b->rank
                && ng_dtype_size(a->dtype) == ng_dtype_size(b->dtype);

    for (int axis = 0; same && axis < a->rank; axis++)
        same = a->shape[axis] == b->shape[axis];
    return same;
}

/* Put what came back where the specification writes. */
static void scatter(const ng_tensor *to, const ng_tensor *from,
                    const ng_tensor *other)
{
    const size_t size = ng_dtype_size(to->dtype);
    const int64_t n = units_of(to);

    for (int64_t i = 0; i < n; i++)
        if (bits_of(to, i) == bits_of(other, i)) {
            const uint64_t bits = bits_of(from, i);

            memcpy((char *)to->data + unit_of(to, i) * (int64_t)size, &bits,
                   size);
        }
}

static ng_status recall(answer *a, const ng_case_id *id,
                        const ng_tensor_file *actual, ng_error *error)
{
    int found = 0;

    for (int i = 0; i < a->call[0].n_outputs; i++)
        found += actual_of(actual, id, a->call[0].output[i].name) != NULL;
    if (found == 0)
        return NG_NOT_COVERED;
    for (int i = 0; i < a->call[0].n_outputs; i++) {
        const ng_tensor *to = &a->call[0].output[i];
        const ng_tensor *from = actual_of(actual, id, to->name);

        if (from == NULL)
            return ng_fail(error, NG_BAD_FILE, "%s.%" PRId64 "/%s is missing",
                           id->stratum->name, id->index, to->name);
        if (!same_shape(to, from))
            return ng_fail(error, NG_BAD_FILE,
                           "%s.%" PRId64 "/%s is of another shape or unit size",
                           id->stratum->name, id->index, to->name);
        scatter(to, from, &a->call[1].output[i]);
    }
    return NG_OK;
}

ng_status ng_vectors_recall(ng_recorded *recorded, const ng_case_id *id,
                            const ng_variant *variant,
                            const ng_verify_plan *plan,
                            const ng_tensor_file *actual, ng_error *error)
{
    ng_case c;
    answer a = {.status = NG_OK};
    ng_events events = {0};
    ng_status status = NG_NO_MEMORY;

    ng_case_begin(&c, id->operation->name, variant, id->stratum->name,
                  id->index, id->seed);
    id->stratum->fill(&c, id->index);
    if (!c.failed && answer_make(&a, &events, &c, plan))
        status = recall(&a, id, actual, error);
    if (status == NG_OK) {
        recorded->status = NG_OK;
        recorded->outputs = a.outputs[0];
        a.outputs[0].n = 0;
    }
    answer_end(&a);
    ng_case_end(&c);
    return status;
}
