/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "conformance/checks/shrink.h"

enum { MAX_SHOWN = 8 };

typedef struct text {
    char *to;
    size_t size, used;
} text;

/* snprintf at the end, never past it. */
#define SAY(t, ...)                                                   \
    ((t)->used += (size_t)snprintf(                                   \
         (t)->to + ((t)->used < (t)->size ? (t)->used : (t)->size),   \
         (t)->size - ((t)->used < (t)->size ? (t)->used : (t)->size), \
         __VA_ARGS__))

static int hex_digits(ng_dtype dtype)
{
    return dtype == NG_E2M1X2    ? 1
           : dtype == NG_UE8M0X4 ? 2
                                 : 2 * (int)ng_dtype_size(dtype);
}

/* A value, or the name of what is none. */
static void say_value(text *t, const ng_format *format, uint64_t element)
{
    const double value = ng_code_value(format, (uint32_t)element);

    if (isnan(value))
        SAY(t, "nan");
    else if (isinf(value))
        SAY(t, value < 0 ? "-inf" : "inf");
    else
        SAY(t, "%.9g", value);
}

static void say_element(text *t, ng_dtype dtype, uint64_t element)
{
    const ng_format *format = ng_small_format(dtype);

    if (format == NULL) {
        SAY(t, "%0*" PRIx64, hex_digits(dtype), element);
        return;
    }
    say_value(t, format, element);
    SAY(t, "(%0*" PRIx64 ")", hex_digits(dtype), element);
}

/* "name[2,1] fp32 = 1(3f800000) 0(00000000)"; of many, those that are not 0. */
static void say_input(text *t, const ng_small_tensor *x)
{
    const int64_t n = ng_small_count(x);
    const bool all = n <= MAX_SHOWN;
    int shown = 0;

    SAY(t, "%s[%" PRId64, x->like.name, x->extent[0]);
    if (x->like.rank > 1)
        SAY(t, ",%" PRId64, x->extent[1]);
    SAY(t, "] %s%s", ng_dtype_name(x->like.dtype), n > 0 ? " =" : "");
    for (int64_t i = 0; i < n && shown < MAX_SHOWN; i++) {
        if (!all && x->element[i] == 0)
            continue;
        shown++;
        if (!all && x->like.rank > 1)
            SAY(t, " [%" PRId64 ",%" PRId64 "]", i / x->extent[1],
                i % x->extent[1]);
        else if (!all)
            SAY(t, " [%" PRId64 "]", i);
        SAY(t, " ");
        say_element(t, x->like.dtype, x->element[i]);
    }
    if (!all) {
        int64_t rest = 0;

        for (int64_t i = 0; i < n; i++)
            rest += x->element[i] != 0;
        SAY(t, rest > shown ? " ..." : shown > 0 ? ", else 0" : " 0");
    }
}

static void say_offsets(text *t, const ng_small *s)
{
    int64_t at = 0;

    SAY(t, "offsets = 0");
    for (int64_t g = 0; g < s->n_groups && g < MAX_SHOWN; g++)
        SAY(t, " %" PRId64, at += s->group[g]);
    if (s->n_groups > MAX_SHOWN)
        SAY(t, " ...");
}

/* Settings of an optimizer that are not 0; the others follow from sizes and variant. */
static void say_attribute(text *t, const ng_attribute *a, const char *between)
{
    static const char *const numbers[] = {"lr",    "lr0",         "beta1",
                                          "beta2", "momentum",    "dampening",
                                          "eps",   "weight_decay"};
    static const char *const integers[] = {
        "t",      "nesterov",        "lr_decoupled",
        "linear", "momentum.linear", "variance.linear",
        "kind"};
    double number;

    memcpy(&number, &a->value, sizeof number);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(a->name, numbers[i]) == 0)
            SAY(t, "%s%s=%.9g", between, a->name, number);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        if (strcmp(a->name, integers[i]) == 0)
            SAY(t, "%s%s=%" PRIu64, between, a->name, (uint64_t)a->value);
}

/* "(6 instead of 4)": of packed elements, the first that differs. Nothing where
 * these are the bytes that were there before, or both are NaN. */
static void say_values(text *t, const ng_search *s)
{
    const ng_difference *d = &s->failure.difference;
    const ng_small_tensor *y = NULL;
    uint64_t want = d->want, got = d->got, poison = 0;

    for (int i = 0; i < s->best.n_outputs; i++)
        if (strcmp(s->best.output[i].like.name, s->failure.tensor) == 0)
            y = &s->best.output[i];
    const ng_format *format = y != NULL ? ng_small_format(y->like.dtype) : NULL;

    if (format == NULL)
        return;
    const int bits = 4 * hex_digits(y->like.dtype);
    const uint32_t mask = (uint32_t)((UINT64_C(1) << bits) - 1);

    memset(&poison, ng_poison[0], ng_dtype_size(y->like.dtype));
    while (want != got && ((want ^ got) & mask) == 0) {
        want >>= bits;
        got >>= bits;
    }
    if (d->want == poison
        || (isnan(ng_code_value(format, (uint32_t)want & mask))
            && isnan(ng_code_value(format, (uint32_t)got & mask))))
        return;
    SAY(t, " (");
    say_value(t, format, got & mask);
    SAY(t, " instead of ");
    say_value(t, format, want & mask);
    SAY(t, ")");
}

void ng_search_words(char *to, size_t size, const ng_search *s)
{
    text t = {.to = to, .size = size};
    const char *between = "";
    ng_failure failure = s->failure;
    char line[512];

    for (int i = 0; i < s->best.n_inputs; i++) {
        if (s->best.input[i].element != NULL) {
            SAY(&t, "%s", between);
            say_input(&t, &s->best.input[i]);
        } else if (s->best.n_groups >= 0) {
            SAY(&t, "%s", between);
            say_offsets(&t, &s->best);
        } else {
            continue;
        }
        between = ", ";
    }
    for (int i = 0; i < s->best.n_attributes; i++)
        if (s->best.attribute[i].value != 0) {
            say_attribute(&t, &s->best.attribute[i], between);
            between = ", ";
        }
    failure.input[0] = '\0'; /* it has been said */
    ng_failure_print_fault(line, sizeof line, &failure);
    SAY(&t, ": %s", strncmp(line, "at=", 3) == 0 ? line + 3 : line);
    if (s->failure.kind == NG_FAILURE_BITS)
        say_values(&t, s);
}
