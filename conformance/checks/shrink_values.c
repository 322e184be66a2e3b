/* SPDX-License-Identifier: Apache-2.0
 *
 * Simpler values, each move tried by itself: many at once first.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/recoding.h"
#include "conformance/checks/shrink.h"

/* Elements of a tensor that are looked at one by one. */
enum { MAX_SINGLE = 48 };

const ng_format *ng_small_format(ng_dtype dtype)
{
    const ng_format *format = ng_format_of(dtype); /* FP32's of integers, too */

    return dtype == NG_FP32 || format != &ng_formats[NG_FORMAT_FP32] ? format
                                                                     : NULL;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_scale(const ng_small_tensor *t)
{
    return ends_with(t->like.name, ".scales")
           || ends_with(t->like.name, ".scale");
}

/* One move: an element's simpler value; `by` says how far it goes. */
typedef uint64_t move(const ng_format *format, uint64_t element, int by);

static uint64_t to_zero(const ng_format *format, uint64_t element, int by)
{
    (void)format, (void)element, (void)by;
    return 0;
}

static uint64_t to_one(const ng_format *format, uint64_t element, int by)
{
    (void)element, (void)by;
    return format == NULL ? 1 : (uint64_t)format->bias << format->fraction_bits;
}

static uint64_t to_magnitude(const ng_format *format, uint64_t element, int by)
{
    (void)by;
    return format == NULL ? element
                          : element & ~(uint64_t)ng_format_sign(format);
}

static bool is_number(const ng_format *format, uint64_t element)
{
    return (element & ~(uint64_t)ng_format_sign(format)) <= format->max_finite;
}

static uint64_t without_specials(const ng_format *format, uint64_t element,
                                 int by)
{
    (void)by;
    return format == NULL || is_number(format, element) ? element : 0;
}

/* The exponent field, as if there were no subnormals; zero has none. */
static int field_of(const ng_format *format, uint64_t element)
{
    uint64_t magnitude = to_magnitude(format, element, 0);
    int field = (int)(magnitude >> format->fraction_bits);

    if (field > 0 || !format->has_subnormals || magnitude == 0)
        return field;
    for (field = 1; magnitude >> format->fraction_bits == 0; field--)
        magnitude <<= 1;
    return field;
}

/* Its exponent shifted; what would leave the normal numbers becomes zero, or
 * stays; what is no number stays. */
static uint64_t shifted(const ng_format *format, uint64_t element, int by)
{
    const int p = format->fraction_bits;
    const uint64_t sign = element & ng_format_sign(format);
    const int was = field_of(format, element);
    uint64_t magnitude = element ^ sign;

    if (!is_number(format, element) || magnitude == 0 || by == 0)
        return element;
    if (was + by <= 0)
        return sign;
    if (format->has_subnormals && magnitude >> p == 0)
        magnitude <<= 1 - was; /* the leading one becomes the implicit one */
    magnitude =
        (uint64_t)(was + by) << p | (magnitude & ((UINT64_C(1) << p) - 1));
    return is_number(format, magnitude) ? sign | magnitude : element;
}

static uint64_t without_low_bits(const ng_format *format, uint64_t element,
                                 int by)
{
    if (format != NULL && !is_number(format, element))
        return element;
    return element & ~((UINT64_C(1) << by) - 1);
}

static uint64_t without_high_bits(const ng_format *format, uint64_t element,
                                  int by)
{
    return format != NULL ? element : element & ((UINT64_C(1) << by) - 1);
}

/* Make the move on n elements of input i from `first` on. */
static bool try_move(ng_search *s, int i, int64_t first, int64_t n, move *make,
                     int by)
{
    const ng_format *format = ng_small_format(s->best.input[i].like.dtype);
    ng_small small;
    bool changed = false;

    for (int64_t k = first; !changed && k < first + n; k++) {
        const uint64_t element = s->best.input[i].element[k];

        changed = make(format, element, by) != element;
    }
    if (!changed || s->tries >= NG_SHRINK_TRIES
        || !ng_small_copy(&small, &s->best))
        return false;
    for (int64_t k = first; k < first + n; k++) {
        uint64_t *element = &small.input[i].element[k];

        *element = make(format, *element, by);
    }
    return ng_search_try(s, &small);
}

/* All of them, else each half: about log n tries for each that must stay. */
static void move_most(ng_search *s, int i, int64_t first, int64_t n, move *make)
{
    if (n <= 0 || try_move(s, i, first, n, make, 0) || n == 1)
        return;
    move_most(s, i, first, n / 2, make);
    move_most(s, i, first + n / 2, n - n / 2, make);
}

/* Shift all exponents so that the largest number lies in [1, 2). */
static void bring_near_one(ng_search *s, int i)
{
    const ng_small_tensor *t = &s->best.input[i];
    const ng_format *format = ng_small_format(t->like.dtype);
    const int64_t n = ng_small_count(t);
    uint64_t largest = 0;

    if (format == NULL)
        return;
    for (int64_t k = 0; k < n; k++) {
        const uint64_t magnitude = to_magnitude(format, t->element[k], 0);

        if (is_number(format, magnitude) && magnitude > largest)
            largest = magnitude;
    }
    if (largest > 0)
        try_move(s, i, 0, n, shifted, format->bias - field_of(format, largest));
}

/* Bring one exponent as near to that of 1 as it can come, by halves. */
static void approach_one(ng_search *s, int i, int64_t k)
{
    const ng_format *format = ng_small_format(s->best.input[i].like.dtype);
    int step = format->bias - field_of(format, s->best.input[i].element[k]);

    while (step != 0) {
        const int left =
            format->bias - field_of(format, s->best.input[i].element[k]);

        if (abs(step) > abs(left))
            step = left;
        if (step == 0 || !try_move(s, i, k, 1, shifted, step))
            step /= 2;
    }
}

static void simplify_one(ng_search *s, int i, int64_t k)
{
    const ng_format *format = ng_small_format(s->best.input[i].like.dtype);
    const int bits = format != NULL ? format->fraction_bits : 63;

    if (try_move(s, i, k, 1, to_one, 0))
        return;
    try_move(s, i, k, 1, to_magnitude, 0);
    if (format != NULL && is_number(format, s->best.input[i].element[k])
        && to_magnitude(format, s->best.input[i].element[k], 0) != 0)
        approach_one(s, i, k);
    for (int b = bits; b > 0; b--)
        if (try_move(s, i, k, 1, without_low_bits, b))
            break;
    for (int b = 1; format == NULL && b <= bits; b++)
        if (try_move(s, i, k, 1, without_high_bits, b))
            break;
}

static void simplify_tensor(ng_search *s, int i)
{
    const bool scale = is_scale(&s->best.input[i]);
    const int64_t n = ng_small_count(&s->best.input[i]);
    int looked_at = 0;

    if (s->best.input[i].element == NULL)
        return;
    move_most(s, i, 0, n, scale ? to_one : to_zero);
    bring_near_one(s, i);
    for (int64_t k = 0; k < n && looked_at < MAX_SINGLE; k++) {
        const uint64_t element = s->best.input[i].element[k];
        const ng_format *format = ng_small_format(s->best.input[i].like.dtype);

        if (element == (scale ? to_one(format, 0, 0) : 0))
            continue;
        looked_at++;
        simplify_one(s, i, k);
    }
}

/* ---- attributes and the random stream --------------------------------------- */

static bool try_attribute(ng_search *s, int i, int64_t value)
{
    ng_small small;

    if (s->best.attribute[i].value == value || s->tries >= NG_SHRINK_TRIES
        || !ng_small_copy(&small, &s->best))
        return false;
    small.attribute[i].value = value;
    return ng_search_try(s, &small);
}

static int64_t bits_of(double x)
{
    int64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void simplify_attribute(ng_search *s, int i)
{
    static const char *const flags[] = {"nesterov", "lr_decoupled", "linear",
                                        "momentum.linear", "variance.linear"};
    static const char *const numbers[] = {"lr",    "lr0",         "beta1",
                                          "beta2", "momentum",    "dampening",
                                          "eps",   "weight_decay"};
    static const double simple[] = {0, 1, 0.5, 0.25};
    static const int64_t steps[] = {1, 2, 3, 10, 100, 1000, INT64_C(1) << 32};
    const char *name = s->best.attribute[i].name;

    if (strcmp(name, "t") == 0)
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
            if (s->best.attribute[i].value == steps[k]
                || try_attribute(s, i, steps[k]))
                break;
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        if (strcmp(name, flags[k]) == 0)
            try_attribute(s, i, 0);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        for (size_t v = 0; strcmp(name, numbers[k]) == 0
                           && v < sizeof simple / sizeof *simple;
             v++)
            if (s->best.attribute[i].value == bits_of(simple[v])
                || try_attribute(s, i, bits_of(simple[v])))
                break;
}

static void simplify_random(ng_search *s)
{
    ng_small small;

    if ((s->best.random.seed | s->best.random.stream) == 0
        || !ng_small_copy(&small, &s->best))
        return;
    small.random = (ng_random){.seed = 0};
    ng_search_try(s, &small);
}

/* The moves in their order, each of them on every input before the next: zeros
 * under a scale that is NaN are no simpler than a number under 1. */
void ng_search_calm(ng_search *s)
{
    static const struct {
        bool of_scales, of_others;
        move *make;
    } moves[] = {{true, false, to_one},
                 {true, true, without_specials},
                 {false, true, to_zero}};

    for (size_t m = 0; m < sizeof moves / sizeof *moves; m++)
        for (int i = 0; i < s->best.n_inputs; i++) {
            const ng_small_tensor *t = &s->best.input[i];

            if (t->element != NULL
                && (is_scale(t) ? moves[m].of_scales : moves[m].of_others))
                try_move(s, i, 0, ng_small_count(t), moves[m].make, 0);
        }
}

void ng_search_simplify(ng_search *s)
{
    simplify_random(s);
    for (int i = 0; i < s->best.n_attributes; i++)
        simplify_attribute(s, i);
    for (int i = 0; i < s->best.n_inputs; i++)
        simplify_tensor(s, i);
}
