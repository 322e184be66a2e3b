/* SPDX-License-Identifier: Apache-2.0
 *
 * Greedy: drop rows, then columns, in halves and then one by one; then zero
 * numbers, bring the rest near 1, and clear their fraction bits; keep what
 * still fails. It ends at the first input from which no such step leads on.
 */
#include "conformance/checks/shrink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/block_case.h"
#include "conformance/checks/numbers.h"

enum { MAX_TRIES = 600, MAX_SHOWN = 8 };

/* What is left: numbers in row-major order, or n of them (rows 0). */
typedef struct input {
    bool is_matrix;
    int64_t rows, cols;
    uint32_t *code;
} input;

typedef struct search {
    const ng_verify_plan *plan;
    const ng_variant *variant;
    const ng_failure *first;
    const ng_format *format;
    ng_dtype dtype;
    input best;
    ng_failure failure; /* of best */
    int tries;
} search;

/* Declare the tensors of the case for an input and put the numbers there. */
static bool make(ng_case *c, const search *s, const input *in)
{
    const ng_case_id *id = &s->first->id;

    ng_case_begin(c, id->operation->name, s->variant, id->stratum->name,
                  id->index, id->seed);
    if (in->is_matrix) {
        ng_block_case b;

        if (!ng_block_begin(&b, c, in->rows, in->cols, NG_DENSE, NULL))
            return false;
        for (int64_t i = 0; i < in->rows * in->cols; i++)
            ng_block_put(&b, i / in->cols, i % in->cols, in->code[i]);
        return true;
    }
    ng_case original;
    const int64_t shape[1] = {in->cols};
    uint32_t *x = ng_case_input(c, "x", s->dtype, 1, shape);

    if (x == NULL)
        return false;
    memcpy(x, in->code, (size_t)in->cols * sizeof *x);

    /* The output is of the type that the case has. */
    ng_case_begin(&original, id->operation->name, s->variant, id->stratum->name,
                  id->index, id->seed);
    id->stratum->fill(&original, id->index);
    const ng_dtype to = original.call.output[0].dtype;

    ng_case_end(&original);
    ng_case_output(c, "y", to, 1, shape, false);
    return !c->failed;
}

/* Whether the subject still gives wrong bits for it; then it is the best. Takes
 * the numbers either way. */
static bool fails(search *s, input *in)
{
    ng_failure failure = {.id = s->first->id};
    ng_verify_plan plan = *s->plan;
    ng_case c;
    bool failed = false;

    plan.turn = 0;
    if (s->tries++ < MAX_TRIES) {
        failed = make(&c, s, in) && !ng_verify_made_case(&failure, &c, &plan)
                 && failure.kind == NG_FAILURE_BITS;
        ng_case_end(&c);
    }
    if (!failed) {
        free(in->code);
        return false;
    }
    free(s->best.code);
    s->best = *in;
    s->failure = failure;
    return true;
}

static input copy_of(const input *from)
{
    input to = *from;
    const size_t n = (size_t)((to.is_matrix ? to.rows : 1) * to.cols);

    to.code = malloc(n * sizeof *to.code + 1);
    if (to.code != NULL)
        memcpy(to.code, from->code, n * sizeof *to.code);
    return to;
}

/* Try without n rows (or columns) from `first` on. */
static bool try_without(search *s, bool row, int64_t first, int64_t n)
{
    input in = copy_of(&s->best);
    const int64_t rows = in.is_matrix ? in.rows : 1, cols = in.cols;
    int64_t at = 0;

    if (in.code == NULL)
        return false;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            const int64_t i = row ? r : c;

            if (i < first || i >= first + n)
                in.code[at++] = s->best.code[r * cols + c];
        }
    *(row ? &in.rows : &in.cols) -= n;
    return fails(s, &in);
}

static void drop(search *s, bool row)
{
    int64_t size = row ? s->best.rows : s->best.cols;

    for (int64_t n = size / 2; n >= 1; n /= 2)
        for (int64_t first = 0;;) {
            size = row ? s->best.rows : s->best.cols;
            if (first + n > size || size <= 1)
                break;
            if (n >= size || !try_without(s, row, first, n))
                first += n;
        }
}

static bool try_code(search *s, int64_t i, uint32_t code)
{
    input in;

    if (s->best.code[i] == code)
        return false;
    in = copy_of(&s->best);
    if (in.code == NULL)
        return false;
    in.code[i] = code;
    return fails(s, &in);
}

static bool is_number(const search *s, uint32_t code)
{
    return (code & ~ng_format_sign(s->format)) < (uint32_t)s->format->infinity;
}

/* Shift all exponents so that the largest number lies in [1, 2). */
static void try_near_one(search *s)
{
    const int64_t n = (s->best.is_matrix ? s->best.rows : 1) * s->best.cols;
    const int p = s->format->fraction_bits;
    const uint32_t sign = ng_format_sign(s->format);
    input in = copy_of(&s->best);
    int64_t largest = 0;

    for (int64_t i = 0; in.code != NULL && i < n; i++)
        if (is_number(s, in.code[i]) && (int64_t)(in.code[i] & ~sign) > largest)
            largest = in.code[i] & ~sign;

    const int64_t shift = s->format->bias - (largest >> p);

    for (int64_t i = 0; in.code != NULL && i < n; i++) {
        const int64_t field = (in.code[i] & ~sign) >> p;

        if (field > 0 && is_number(s, in.code[i]) && field + shift > 0)
            in.code[i] = (uint32_t)(in.code[i] + shift * (INT64_C(1) << p));
        else if (is_number(s, in.code[i]))
            in.code[i] &= sign;
    }
    if (in.code != NULL && shift != 0)
        fails(s, &in);
    else
        free(in.code);
}

static void simplify(search *s)
{
    const int64_t n = (s->best.is_matrix ? s->best.rows : 1) * s->best.cols;
    const uint32_t sign = ng_format_sign(s->format);

    for (int64_t i = 0; i < n; i++)
        try_code(s, i, 0);
    try_near_one(s);
    for (int64_t i = 0; i < n; i++) {
        if (!is_number(s, s->best.code[i]) || s->best.code[i] == 0)
            continue;
        try_code(s, i, s->best.code[i] & ~sign);
        for (int bits = s->format->fraction_bits; bits > 0; bits--)
            if (try_code(s, i, s->best.code[i] & ~((UINT32_C(1) << bits) - 1)))
                break;
    }
}

/* "x[1,2] fp32 = 0x1p+0(3f800000) 0x0p+0(00000000): want ..." */
static void describe(ng_operation_result *result, const search *s)
{
    const input *in = &s->best;
    const int64_t n = (in->is_matrix ? in->rows : 1) * in->cols;
    const uint32_t sign = ng_format_sign(s->format);
    const ng_difference *d = &s->failure.difference;
    char *text = result->shrunk;
    const size_t size = sizeof result->shrunk;
    size_t used;

    if (!in->is_matrix)
        used = (size_t)snprintf(text, size, "x[%" PRId64 "] %s =", in->cols,
                                ng_dtype_name(s->dtype));
    else
        used = (size_t)snprintf(text, size,
                                "x[%" PRId64 ",%" PRId64 "] %s =", in->rows,
                                in->cols, ng_dtype_name(s->dtype));
    for (int64_t i = 0; i < n && i < MAX_SHOWN; i++) {
        const double value = ng_number_value(s->format, in->code[i] & ~sign);

        if (is_number(s, in->code[i]))
            used +=
                (size_t)snprintf(text + used, size - used, " %g(%0*" PRIx32 ")",
                                 (in->code[i] & sign) != 0 ? -value : value,
                                 (int)ng_dtype_size(s->dtype) * 2, in->code[i]);
        else
            used +=
                (size_t)snprintf(text + used, size - used, " (%0*" PRIx32 ")",
                                 (int)ng_dtype_size(s->dtype) * 2, in->code[i]);
    }
    used += (size_t)snprintf(text + used, size - used, "%s: %s[",
                             n > MAX_SHOWN ? " ..." : "", s->failure.tensor);
    for (int axis = 0; axis < s->failure.rank; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64,
                                 axis > 0 ? "," : "", d->index[axis]);
    snprintf(text + used, size - used, "] want=%02" PRIx64 " got=%02" PRIx64,
             d->want, d->got);
}

/* The numbers of the original case, if it is one of those that can be shrunk.
 */
static bool begin(search *s)
{
    const ng_case_id *id = &s->first->id;
    const ng_tensor *x;
    ng_case c;
    bool good = false;

    ng_case_begin(&c, id->operation->name, s->variant, id->stratum->name,
                  id->index, id->seed);
    id->stratum->fill(&c, id->index);
    x = ng_call_input(&c.call, "x");
    if (!c.failed && x != NULL && c.call.n_inputs == 1
        && strncmp(id->operation->name, x->rank == 2 ? "quantize_" : "encode_",
                   x->rank == 2 ? 9 : 7)
               == 0) {
        s->dtype = x->dtype;
        s->format = ng_number_format(x->dtype);
        s->best = (input){.is_matrix = x->rank == 2,
                          .rows = x->rank == 2 ? x->shape[0] : 0,
                          .cols = x->shape[x->rank - 1]};
        const int64_t n = (s->best.is_matrix ? s->best.rows : 1) * s->best.cols;

        s->best.code = calloc((size_t)n + 1, sizeof *s->best.code);
        for (int64_t i = 0; s->best.code != NULL && i < n; i++)
            memcpy(&s->best.code[i],
                   (const char *)x->data + i * (int64_t)ng_dtype_size(x->dtype),
                   ng_dtype_size(x->dtype));
        good = s->best.code != NULL;
    }
    ng_case_end(&c);
    return good;
}

void ng_shrink(ng_operation_result *result, const ng_verify_plan *plan)
{
    search s = {.plan = plan};
    ng_variant variant;
    input whole;

    result->shrunk[0] = '\0';
    if (plan->recall != NULL)
        return;
    for (int i = 0; i < result->n_failures && s.best.code == NULL; i++) {
        const ng_case_id *id = &result->failure[i].id;

        s.first = &result->failure[i];
        s.variant = &variant;
        if (s.first->kind != NG_FAILURE_BITS
            || !ng_variant_at(&variant, id->operation->axes,
                              id->operation->n_axes, plan->profile, id->variant)
            || !begin(&s))
            continue;
    }
    if (s.best.code == NULL)
        return;

    /* As it is, dense: where that does not fail, the layout was the reason. */
    whole = copy_of(&s.best);
    if (whole.code != NULL && fails(&s, &whole)) {
        if (s.best.is_matrix)
            drop(&s, true);
        drop(&s, false);
        simplify(&s);
        describe(result, &s);
    }
    free(s.best.code);
}
