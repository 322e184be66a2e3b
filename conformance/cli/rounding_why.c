/* SPDX-License-Identifier: Apache-2.0
 *
 * The words that `round` explains a result with.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conformance/cli/code_text.h"
#include "conformance/cli/rounding_view.h"
#include "formats/events.h"

void ng_events_text(char *text, size_t size, unsigned events)
{
    size_t used = 0;

    snprintf(text, size, "none");
    for (int e = 0; e < NG_N_EVENTS; e++)
        if ((events >> e & 1u) != 0 && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     used > 0 ? ", " : "",
                                     ng_event_name((ng_event)e));
}

static const char *why_nan(const ng_rounding_view *view)
{
    return view->format->nan != NG_NO_CODE
               ? "a NaN gives the canonical NaN"
               : "the format has no NaN: rule e2m1.nan names the code, and the "
                 "flag says so";
}

/* A result past the largest finite, or an infinity. */
static void why_overflow(char *text, size_t size, const ng_rounding_view *view)
{
    const ng_format *format = view->format;
    const bool infinite = view->x.kind == NG_EXACT_INFINITE;
    const bool largest =
        (view->code & ~ng_format_sign(format)) == format->max_finite;
    const char *end =
        view->rules.overflow == NG_SATURATE || format->infinity == NG_NO_CODE
            ? "the largest finite"
            : "infinity";

    if (!largest)
        end = format->infinity != NG_NO_CODE ? "infinity"
                                             : "NaN, for want of an infinity";
    else if (view->rules.overflow == NG_IEEE && format->nan != NG_NO_CODE)
        end = "the largest finite: this rounding goes no further";
    snprintf(text, size, "%s; overflow \"%s\" gives %s",
             infinite ? "an infinity"
                      : "rounds to a value past the largest finite",
             ng_rule_value_name(NG_RULE_OVERFLOW, view->rules.overflow), end);
}

static void why_nearest(char *text, size_t size, const ng_rounding_view *view,
                        const char *result)
{
    const int side = ng_real_compare_magnitude(&view->toward_zero.distance,
                                               &view->away.distance);

    if (side != 0)
        snprintf(text, size, "%s is the nearer", result);
    else if (view->rules.rounding == NG_NEAREST_EVEN)
        snprintf(text, size,
                 "a tie, half way between the two: %s is the even "
                 "code",
                 result);
    else
        snprintf(text, size, "a tie, half way between the two: %s is %s zero",
                 result,
                 view->rules.rounding == NG_NEAREST_ZERO ? "toward"
                                                         : "away from");
}

static void why_stochastic(char *text, size_t size,
                           const ng_rounding_view *view)
{
    const uint32_t t = ng_rounding_view_threshold(view);
    const bool away = (uint64_t)t + view->random >= UINT64_C(1) << 32;

    snprintf(text, size,
             "floor(2^32 t) + r = 0x%08" PRIX32 " + 0x%08" PRIX32 " %s 2^32: "
             "%s zero",
             t, view->random, away ? ">=" : "<", away ? "away from" : "toward");
}

static void why_between(char *text, size_t size, const ng_rounding_view *view)
{
    char result[NG_CODE_TEXT];

    ng_code_print(result, view->format, view->code);
    switch (view->rules.rounding) {
    case NG_NEAREST_EVEN:
    case NG_NEAREST_AWAY:
    case NG_NEAREST_ZERO:
        why_nearest(text, size, view, result);
        break;
    case NG_STOCHASTIC:
        why_stochastic(text, size, view);
        break;
    default:
        snprintf(text, size, "%s is the one %s", result,
                 view->rules.rounding == NG_TOWARD_ZERO ? "toward zero"
                 : view->rules.rounding == NG_UP        ? "above"
                                                        : "below");
    }
}

void ng_rounding_view_why(char *text, size_t size, const ng_rounding_view *view)
{
    if (view->x.kind == NG_EXACT_NAN)
        snprintf(text, size, "%s", why_nan(view));
    else if (view->x.kind == NG_EXACT_INFINITE
             || (view->events >> NG_EVENT_SATURATED & 1u) != 0)
        why_overflow(text, size, view);
    else if (view->is_code)
        snprintf(text, size, "the value is exactly this code's");
    else if (!view->toward_zero.exists)
        snprintf(text, size,
                 "everything below the smallest value, zero "
                 "included, becomes it, in every mode");
    else if (!view->away.has_code && !view->away.exists)
        snprintf(text, size,
                 "the largest finite: this rounding goes no "
                 "further");
    else
        why_between(text, size, view);
}
