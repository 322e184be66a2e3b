/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/rounding_view.h"

#include <string.h>

#include "formats/events.h"

/* The value of a magnitude code in the format continued upward, by the
 * definition in formats/format.h. */
static ng_exact slot(const ng_format *format, uint32_t magnitude)
{
    const int p = format->fraction_bits;
    const uint32_t one = UINT32_C(1) << p;
    const int field = (int)(magnitude >> p);

    if (field == 0 && format->has_subnormals)
        return (ng_exact){.significand = magnitude,
                          .exponent = 1 - format->bias - p};
    return (ng_exact){.significand = one | (magnitude & (one - 1)),
                      .exponent = field - format->bias - p};
}

static void set_neighbour(ng_neighbour *n, const ng_rounding_view *view,
                          uint32_t magnitude)
{
    ng_exact value = slot(view->format, magnitude);

    value.negative = view->taken.negative;
    n->exists = true;
    n->has_code = magnitude <= view->format->max_finite;
    n->code =
        magnitude | (view->taken.negative ? ng_format_sign(view->format) : 0);
    ng_real_from_exact(&n->value, value);
    ng_real_distance(&n->distance, &view->taken, &n->value);
}

/* share = distance / step, the step a power of two. */
static void set_shares(ng_rounding_view *view)
{
    ng_neighbour *const both[] = {&view->toward_zero, &view->away};
    ng_real step;

    ng_real_distance(&step, &view->toward_zero.value, &view->away.value);
    for (int i = 0; i < 2; i++) {
        ng_real *share = &both[i]->share;

        share->kind = NG_EXACT_FINITE;
        share->negative = false;
        ng_natural_multiply(&share->top, &both[i]->distance.top, &step.bottom);
        ng_natural_multiply(&share->bottom, &both[i]->distance.bottom,
                            &step.top);
    }
}

static void find_neighbours(ng_rounding_view *view)
{
    static const ng_rules cut = {.rounding = NG_TOWARD_ZERO,
                                 .overflow = NG_SATURATE};
    const ng_format *format = view->format;
    unsigned events = 0;
    const uint32_t magnitude =
        ng_exact_round(format, ng_real_to_exact(&view->taken), &cut, 0, &events)
        & ~ng_format_sign(format);

    set_neighbour(&view->toward_zero, view, magnitude);
    view->is_code = ng_natural_is_zero(&view->toward_zero.distance.top);
    if (view->is_code) {
        view->toward_zero.exists = false;
    } else if (ng_real_compare_magnitude(&view->taken, &view->toward_zero.value)
               < 0) {
        view->away = view->toward_zero; /* below UE8M0's smallest */
        view->toward_zero.exists = false;
    } else {
        set_neighbour(&view->away, view, magnitude + 1);
        if (ng_real_compare_magnitude(&view->taken, &view->away.value) > 0)
            view->away.exists = false; /* past the slot as well */
        else
            set_shares(view);
    }
}

void ng_rounding_view_fill(ng_rounding_view *view, const ng_real *x)
{
    view->x = view->taken = *x;
    if (!view->format->is_signed)
        view->taken.negative = false;
    view->is_code = false;
    view->toward_zero.exists = view->away.exists = false;
    if (x->kind == NG_EXACT_FINITE)
        find_neighbours(view);
    view->events = 0;
    view->code = ng_exact_round(view->format, ng_real_to_exact(x), &view->rules,
                                view->random, &view->events);
    ng_real_from_exact(&view->value, ng_exact_decode(view->format, view->code));
}

uint32_t ng_rounding_view_threshold(const ng_rounding_view *view)
{
    const ng_exact t = ng_real_to_exact(&view->toward_zero.share);
    const int shift = -(t.exponent + 32); /* t < 1, so shift > 29 */

    return shift < 64 ? (uint32_t)(t.significand >> shift) : 0;
}
