/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/rounding_print.h"

#include <stdio.h>
#include <string.h>

#include "conformance/cli/code_text.h"
#include "formats/events.h"

enum {
    EXACT_DIGITS = 60,
    SHARE_DIGITS = 9,
    CELL_DIGITS = 12,
    CELL_WIDTH = 32,
    JSON_DIGITS = 400,
    JSON_ABOUT_DIGITS = 17
};

/* The value in full, or as it was typed where it has no short decimal. */
static void print_exact(const ng_rounding_view *view, const char *input)
{
    char text[NG_REAL_TEXT];

    if (ng_real_decimal(text, sizeof text, &view->x, EXACT_DIGITS)) {
        printf("  %-8s %s\n", "exact", text);
        return;
    }
    ng_real_text(text, sizeof text, &view->x);
    if (strncmp(text, "about", 5) == 0)
        printf("  %-8s %.60s (%s)\n", "exact", input, text);
    else
        printf("  %-8s %s\n", "exact", text);
}

static void print_neighbour(const char *label, const ng_neighbour *n,
                            const ng_rounding_view *view)
{
    const bool smallest = n == &view->toward_zero;
    const bool both = view->toward_zero.exists && view->away.exists;
    char code[NG_CODE_TEXT], value[NG_REAL_TEXT], distance[NG_REAL_TEXT];
    char share[NG_REAL_TEXT];

    if (!n->exists) {
        printf("  %-8s none: past the %s\n", label,
               smallest ? "smallest" : "largest finite");
        return;
    }
    ng_code_print(code, view->format, n->code);
    ng_real_text(value, sizeof value, &n->value);
    ng_real_text(distance, sizeof distance, &n->distance);
    if (n->has_code)
        printf("  %-8s %s  %s", label, code, value);
    else
        printf("  %-8s no code: the next slot would be %s", label, value);
    printf(", %s away", distance);
    if (both) {
        const bool exact =
            ng_real_decimal(share, sizeof share, &n->share, SHARE_DIGITS);

        printf(" (%s%s of the step)", exact ? "" : "about ", share);
    }
    putchar('\n');
}

static void print_neighbours(const ng_rounding_view *view)
{
    const bool negative = view->taken.negative;

    print_neighbour("below", negative ? &view->away : &view->toward_zero, view);
    print_neighbour("above", negative ? &view->toward_zero : &view->away, view);
}

void ng_rounding_print(const ng_rounding_view *view, const char *input)
{
    char code[NG_CODE_TEXT], value[NG_REAL_TEXT], why[256], events[128];

    ng_code_print(code, view->format, view->code);
    ng_real_text(value, sizeof value, &view->value);
    ng_rounding_view_why(why, sizeof why, view);
    ng_events_text(events, sizeof events, view->events);
    printf("%.60s to %s, %s, overflow %s\n", input, view->format->name,
           ng_rule_value_name(NG_RULE_ROUNDING, view->rules.rounding),
           ng_rule_value_name(NG_RULE_OVERFLOW, view->rules.overflow));
    print_exact(view, input);
    if (view->x.kind == NG_EXACT_FINITE && view->x.negative
        && !view->format->is_signed)
        printf("  %-8s the magnitude is encoded: %s has no sign\n", "note",
               view->format->name);
    if (view->x.kind == NG_EXACT_FINITE && !view->is_code)
        print_neighbours(view);
    printf("  %-8s %s  %s\n  %-8s %s\n  %-8s %s\n", "result", code, value,
           "why", why, "events", events);
}

bool ng_rounding_offers_mode(const ng_format *format, int rounding)
{
    return rounding == NG_NEAREST_EVEN
           || format != &ng_formats[NG_FORMAT_UE6M10];
}

bool ng_rounding_offers_overflow(const ng_format *format, int overflow)
{
    return overflow == NG_SATURATE
           || (format != &ng_formats[NG_FORMAT_UE6M10]
               && format != &ng_formats[NG_FORMAT_E2M1]);
}

/* The view under another mode and overflow rule. */
static void fill_mode(ng_rounding_view *view, int rounding, int overflow,
                      uint32_t random)
{
    static ng_real x; /* large; one thread prints */

    x = view->x;
    view->rules.rounding = rounding;
    view->rules.overflow = overflow;
    view->random = random;
    ng_rounding_view_fill(view, &x);
}

static void cell_text(char *cell, size_t size, const ng_rounding_view *view)
{
    char code[NG_CODE_TEXT], value[64];

    ng_code_print(code, view->format, view->code);
    const bool exact =
        ng_real_decimal(value, sizeof value, &view->value, CELL_DIGITS);
    snprintf(cell, size, "%s  %s%s", code, exact ? "" : "~", value);
}

/* The first random word that goes away from zero; 0 if none does. */
static uint32_t first_word_away(const ng_rounding_view *view)
{
    return view->toward_zero.exists && view->away.exists
               ? -ng_rounding_view_threshold(view)
               : 0;
}

/* A stochastic result for every word: one code, or two and where they part. */
static void open_stochastic_text(char *cell, size_t size,
                                 ng_rounding_view *view, int overflow)
{
    char low[NG_CODE_TEXT], high[NG_CODE_TEXT];

    fill_mode(view, NG_STOCHASTIC, overflow, UINT32_MAX);
    ng_code_print(high, view->format, view->code);
    fill_mode(view, NG_STOCHASTIC, overflow, 0);
    ng_code_print(low, view->format, view->code);
    const uint32_t word = first_word_away(view);
    if (strcmp(low, high) == 0 || word == 0)
        cell_text(cell, size, view);
    else
        snprintf(cell, size, "%s, %s from r = %08X on", low, high,
                 (unsigned)word);
}

static void print_mode(ng_rounding_view *v, int mode, bool has_random)
{
    const uint32_t random = v->random;
    char cell[NG_N_OVERFLOWS][NG_REAL_TEXT + NG_CODE_TEXT];

    for (int overflow = 0; overflow < NG_N_OVERFLOWS; overflow++) {
        cell[overflow][0] = '\0';
        if (!ng_rounding_offers_overflow(v->format, overflow))
            continue;
        if (mode == NG_STOCHASTIC && !has_random) {
            open_stochastic_text(cell[overflow], sizeof *cell, v, overflow);
        } else {
            fill_mode(v, mode, overflow, random);
            cell_text(cell[overflow], sizeof *cell, v);
        }
    }
    printf("  %-14s", ng_rule_value_name(NG_RULE_ROUNDING, mode));
    if (cell[NG_IEEE][0] == '\0')
        printf("  %s\n", cell[NG_SATURATE]);
    else
        printf("  %-*s  %s\n", CELL_WIDTH, cell[NG_SATURATE],
               strcmp(cell[NG_SATURATE], cell[NG_IEEE]) == 0 ? "the same"
                                                             : cell[NG_IEEE]);
}

void ng_rounding_print_modes(const ng_rounding_view *view, const char *input,
                             bool has_random)
{
    static ng_rounding_view v; /* large; one thread prints */

    printf("%.60s to %s in every mode\n", input, view->format->name);
    print_exact(view, input);
    if (view->x.kind == NG_EXACT_FINITE && !view->is_code)
        print_neighbours(view);
    if (ng_rounding_offers_overflow(view->format, NG_IEEE))
        printf("\n  %-14s  %-*s  %s\n", "mode", CELL_WIDTH, "overflow saturate",
               "overflow ieee");
    else
        printf("\n  %-14s  %s\n", "mode", "result");
    v = *view;
    for (int mode = 0; mode < NG_N_ROUNDINGS; mode++)
        if (ng_rounding_offers_mode(view->format, mode))
            print_mode(&v, mode, has_random);
}

/* In full; "about ..." where no decimal of reasonable length is exact. */
static json_t *decimal_json(const ng_real *x)
{
    char text[NG_REAL_TEXT];

    if (!ng_real_decimal(text, sizeof text, x, JSON_DIGITS)) {
        strcpy(text, "about ");
        ng_real_decimal(text + 6, sizeof text - 6, x, JSON_ABOUT_DIGITS);
    }
    return json_string(text);
}

static json_t *neighbour_json(const ng_neighbour *n,
                              const ng_rounding_view *view)
{
    char code[NG_CODE_TEXT];
    json_t *object;

    if (!n->exists)
        return json_null();
    ng_code_print(code, view->format, n->code);
    object = json_pack("{s:o, s:o, s:o}", "code",
                       n->has_code ? json_string(code) : json_null(), "value",
                       decimal_json(&n->value), "distance",
                       decimal_json(&n->distance));
    if (view->toward_zero.exists && view->away.exists)
        json_object_set_new(object, "share", decimal_json(&n->share));
    return object;
}

/* What depends on the mode. */
static json_t *result_json(const ng_rounding_view *view)
{
    char code[NG_CODE_TEXT], why[256];
    json_t *events = json_array();

    for (int e = 0; e < NG_N_EVENTS; e++)
        if ((view->events >> e & 1u) != 0)
            json_array_append_new(events,
                                  json_string(ng_event_name((ng_event)e)));
    ng_code_print(code, view->format, view->code);
    ng_rounding_view_why(why, sizeof why, view);
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:o, s:s, s:o}", "mode",
        ng_rule_value_name(NG_RULE_ROUNDING, view->rules.rounding), "overflow",
        ng_rule_value_name(NG_RULE_OVERFLOW, view->rules.overflow), "code",
        code, "value", decimal_json(&view->value), "why", why, "events",
        events);
    if (view->rules.rounding == NG_STOCHASTIC) {
        json_object_set_new(object, "random", json_integer(view->random));
        json_object_set_new(object, "first_word_away",
                            first_word_away(view) == 0
                                ? json_null()
                                : json_integer(first_word_away(view)));
    }
    return object;
}

static json_t *input_json(const ng_rounding_view *view, const char *input)
{
    const bool negative = view->taken.negative;
    const ng_neighbour *below = negative ? &view->away : &view->toward_zero;
    const ng_neighbour *above = negative ? &view->toward_zero : &view->away;

    return json_pack("{s:s, s:s, s:o, s:b, s:o, s:o}", "format",
                     view->format->name, "input", input, "exact",
                     decimal_json(&view->x), "is_code", view->is_code, "below",
                     neighbour_json(below, view), "above",
                     neighbour_json(above, view));
}

json_t *ng_rounding_json(const ng_rounding_view *view, const char *input)
{
    json_t *object = input_json(view, input), *result = result_json(view);

    json_object_update(object, result);
    json_decref(result);
    return object;
}

json_t *ng_rounding_modes_json(const ng_rounding_view *view, const char *input)
{
    static ng_rounding_view v; /* large; one thread prints */
    json_t *object = input_json(view, input), *modes = json_array();

    v = *view;
    for (int mode = 0; mode < NG_N_ROUNDINGS; mode++)
        for (int overflow = 0; overflow < NG_N_OVERFLOWS; overflow++)
            if (ng_rounding_offers_mode(view->format, mode)
                && ng_rounding_offers_overflow(view->format, overflow)) {
                fill_mode(&v, mode, overflow, view->random);
                json_array_append_new(modes, result_json(&v));
            }
    json_object_set_new(object, "modes", modes);
    return object;
}
