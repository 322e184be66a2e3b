/* SPDX-License-Identifier: Apache-2.0
 *
 * What moved between an accepted run and this one, operation by operation.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/version.h"
#include "reports/gate.h"

/* The gravest first: three lines are printed. */
static const char *const kinds[] = {"new-failure", "lost-coverage",
                                    "changed-bits", "changed-errors",
                                    "changed-inputs"};
enum {
    NEW_FAILURE,
    LOST_COVERAGE,
    CHANGED_BITS,
    CHANGED_ERRORS,
    CHANGED_INPUTS,
    N_KINDS
};

const char *ng_gate_kind(int i)
{
    return i >= 0 && i < N_KINDS ? kinds[i] : NULL;
}

typedef struct comparison {
    const json_t *entry, *run;
    ng_waivers *waivers;
    const char *today;
    json_t *findings[N_KINDS];
    json_t *notes;
} comparison;

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* The operation of that name in a list; null if it is not there. */
static const json_t *named(const json_t *operations, const char *name)
{
    json_t *operation;
    size_t i;

    json_array_foreach(operations, i, operation)
        if (strcmp(text_of(operation, "operation"), name) == 0)
            return operation;
    return NULL;
}

/* A waiver that covers a finding today; marked. */
static json_t *waiver_for(comparison *c, const char *kind, const char *name)
{
    ng_waivers *all = c->waivers;

    for (int i = 0; all != NULL && i < all->n; i++) {
        ng_waiver *w = &all->waiver[i];

        if (strcmp(w->operation, name) != 0 || strcmp(w->kind, kind) != 0)
            continue;
        w->used = true;
        if (strcmp(w->until, c->today) >= 0)
            return json_pack("{s:s, s:s}", "until", w->until, "why", w->why);
    }
    return json_null();
}

/* Takes the reference to text. */
static void find(comparison *c, int kind, const char *name, json_t *text)
{
    if (text == NULL)
        text = json_string("?");
    json_array_append_new(c->findings[kind],
                          json_pack("{s:s, s:s, s:o, s:o}", "kind", kinds[kind],
                                    "operation", name, "text", text, "waiver",
                                    waiver_for(c, kinds[kind], name)));
}

/* ---- one operation ---- */

static void compare_failures(comparison *c, const char *name,
                             const json_t *before, const json_t *now)
{
    const json_int_t failed = number_of(now, "failed_cases");
    const json_int_t were = number_of(before, "failed_cases");
    const char *line =
        json_string_value(json_array_get(json_object_get(now, "failures"), 0));

    json_t *class;
    size_t i;

    json_array_foreach(json_object_get(now, "missing"), i, class)
        find(c, NEW_FAILURE, name,
             json_sprintf("claims to have met the class %s and did not",
                          json_string_value(class)));
    if (failed > were)
        find(c, NEW_FAILURE, name,
             json_sprintf(
                 "%" JSON_INTEGER_FORMAT
                 " failing cases, were %" JSON_INTEGER_FORMAT "%s%s%s%s",
                 failed, were, *text_of(now, "diagnosis") != '\0' ? "; " : "",
                 text_of(now, "diagnosis"), line != NULL ? "; " : "",
                 line != NULL ? line : ""));
}

static void compare_coverage(comparison *c, const char *name,
                             const json_t *before, const json_t *now)
{
    const json_t *events = json_object_get(now, "events");
    const json_t *met = json_object_get(before, "met");
    const json_int_t variants = number_of(now, "variants");
    const json_int_t beyond = number_of(now, "not_covered_cases");
    json_t *item;
    size_t i;

    if (variants < number_of(before, "variants"))
        find(c, LOST_COVERAGE, name,
             json_sprintf("%" JSON_INTEGER_FORMAT
                          " variants, were %" JSON_INTEGER_FORMAT,
                          variants, number_of(before, "variants")));
    else if (beyond > number_of(before, "not_covered_cases"))
        find(c, LOST_COVERAGE, name,
             json_sprintf("%" JSON_INTEGER_FORMAT
                          " cases beyond the subject's limits, were "
                          "%" JSON_INTEGER_FORMAT,
                          beyond, number_of(before, "not_covered_cases")));
    json_array_foreach(met, i, item)
        if (variants > 0 && number_of(events, json_string_value(item)) == 0)
            find(c, LOST_COVERAGE, name,
                 json_sprintf("no element of the class %s any more",
                              json_string_value(item)));
}

/* Names, comma-separated: "ties, special and 4 more". */
typedef struct name_list {
    char text[160];
    size_t used;
    int n, unnamed;
} name_list;

static void add_name(name_list *list, const char *name)
{
    list->n++;
    if (list->used + strlen(name) + 2 >= sizeof list->text) {
        list->unnamed++;
        return;
    }
    list->used += (size_t)snprintf(list->text + list->used,
                                   sizeof list->text - list->used, "%s%s",
                                   list->used > 0 ? ", " : "", name);
}

static json_t *listed(const name_list *list, const char *after)
{
    return list->unnamed > 0 ? json_sprintf("%d %s: %s and %d more%s", list->n,
                                            list->n == 1 ? "stratum" : "strata",
                                            list->text, list->unnamed, after)
                             : json_sprintf("%d %s: %s%s", list->n,
                                            list->n == 1 ? "stratum" : "strata",
                                            list->text, after);
}

static void compare_strata(comparison *c, const char *name,
                           const json_t *before, const json_t *now)
{
    name_list lost = {.n = 0}, others = {.n = 0}, bits = {.n = 0};
    const json_t *strata = json_object_get(now, "strata");
    const char *stratum;
    json_t *was;

    json_object_foreach(json_object_get(before, "strata"), stratum, was) {
        const json_t *is = json_object_get(strata, stratum);
        const json_int_t cases = number_of(is, "cases");

        if (cases < json_integer_value(json_array_get(was, 0)))
            add_name(&lost, stratum);
        else if (!json_equal(json_object_get(is, "inputs"),
                             json_array_get(was, 1)))
            add_name(&others, stratum);
        else if (!json_equal(json_object_get(is, "outputs"),
                             json_array_get(was, 2)))
            add_name(&bits, stratum);
    }
    /* Fewer variants have fewer cases: that has been said. */
    if (lost.n > 0
        && number_of(now, "variants") >= number_of(before, "variants"))
        find(c, LOST_COVERAGE, name, listed(&lost, ", fewer cases"));
    if (bits.n > 0)
        find(c, CHANGED_BITS, name, listed(&bits, ", same inputs"));
    if (others.n > 0)
        find(c, CHANGED_INPUTS, name,
             listed(&others, ", other inputs than the baseline's"));
}

/* Units at least one ULP off: the bins from the ninth on. */
static json_int_t whole_ulps(const json_t *ulp)
{
    json_int_t n = 0;

    for (size_t i = 8; i < json_array_size(ulp); i++)
        n += json_integer_value(json_array_get(ulp, i));
    return n;
}

static double share_of(const json_t *operation)
{
    const json_t *share = json_object_get(operation, "share");

    return json_is_string(share) ? (double)INFINITY : json_number_value(share);
}

/* Sums over binades, of a run or as a baseline has them. */
static void error_of(json_int_t sums[3], const json_t *operation)
{
    const json_t *error = json_object_get(operation, "error");
    json_t *row;
    size_t i;

    memset(sums, 0, 3 * sizeof *sums);
    if (json_is_integer(json_array_get(error, 0))) {
        for (i = 0; i < 3; i++)
            sums[i] = json_integer_value(json_array_get(error, i));
        return;
    }
    json_array_foreach(error, i, row) {
        const json_int_t most = json_integer_value(json_array_get(row, 3));

        sums[0] += json_integer_value(json_array_get(row, 1));
        sums[1] += json_integer_value(json_array_get(row, 2));
        sums[2] = most > sums[2] ? most : sums[2];
    }
}

/* In %, of a sum in units of 2^-20 over n elements. */
static double percent(json_int_t sum, json_int_t n)
{
    return n > 0 ? 100.0 * (double)sum / 1048576.0 / (double)n : 0;
}

static void compare_errors(comparison *c, const char *name,
                           const json_t *before, const json_t *now)
{
    const json_t *ulp = json_object_get(now, "ulp");
    const json_t *ulp_was = json_object_get(before, "ulp");
    json_int_t is[3], was[3];

    error_of(is, now);
    error_of(was, before);
    if (!json_equal(ulp, ulp_was)
        || !json_equal(json_object_get(now, "share"),
                       json_object_get(before, "share")))
        find(
            c, CHANGED_ERRORS, name,
            json_sprintf("largest error %.6g of the bound, was %.6g; "
                         "%" JSON_INTEGER_FORMAT
                         " units 1 ULP off or more, were %" JSON_INTEGER_FORMAT,
                         share_of(now), share_of(before), whole_ulps(ulp),
                         whole_ulps(ulp_was)));
    else if (memcmp(is, was, sizeof is) != 0)
        find(c, CHANGED_ERRORS, name,
             json_sprintf("mean error %.6g %%, was %.6g %%; largest %.6g %%, "
                          "was %.6g %%",
                          percent(is[1], is[0]), percent(was[1], was[0]),
                          percent(is[2], 1), percent(was[2], 1)));
}

static bool same_cases(const json_t *before, const json_t *now)
{
    const json_t *strata = json_object_get(now, "strata");
    const char *name;
    json_t *was;

    json_object_foreach(json_object_get(before, "strata"), name, was)
        if (!json_equal(
                json_object_get(json_object_get(strata, name), "inputs"),
                json_array_get(was, 1)))
            return false;
    return number_of(before, "cases") == number_of(now, "cases");
}

static void compare_operation(comparison *c, const json_t *before)
{
    const char *name = text_of(before, "operation");
    const json_t *now = named(json_object_get(c->run, "operations"), name);

    if (number_of(before, "variants") == 0)
        return;
    if (now == NULL || number_of(now, "variants") == 0) {
        find(c, LOST_COVERAGE, name, json_string("not in this run"));
        return;
    }
    compare_failures(c, name, before, now);
    compare_coverage(c, name, before, now);
    compare_strata(c, name, before, now);
    if (same_cases(before, now))
        compare_errors(c, name, before, now);
}

/* ---- the whole ---- */

/* Operations that the baseline lacks: no regression, unless they fail. */
static void note_new_operations(comparison *c)
{
    const json_t *known = json_object_get(c->entry, "operations");
    json_t *operation;
    size_t i;

    json_array_foreach(json_object_get(c->run, "operations"), i, operation) {
        const char *name = text_of(operation, "operation");
        const json_t *before = named(known, name);

        if (number_of(operation, "variants") == 0
            || number_of(before, "variants") > 0)
            continue;
        json_array_append_new(c->notes,
                              json_sprintf("%s is not in the baseline", name));
        compare_failures(c, name, NULL, operation);
    }
}

static void note_waivers(comparison *c)
{
    for (int i = 0; c->waivers != NULL && i < c->waivers->n; i++) {
        const ng_waiver *w = &c->waivers->waiver[i];

        if (!w->used && strcmp(w->until, c->today) >= 0)
            json_array_append_new(c->notes,
                                  json_sprintf("%s:%d: waives nothing: %s %s",
                                               c->waivers->shown, w->line,
                                               w->operation, w->kind));
    }
}

/* A waiver that has expired is a failure, whatever it once covered. */
static json_t *expired(const comparison *c)
{
    json_t *list = json_array();

    for (int i = 0; c->waivers != NULL && i < c->waivers->n; i++) {
        const ng_waiver *w = &c->waivers->waiver[i];

        if (strcmp(w->until, c->today) < 0)
            json_array_append_new(
                list, json_sprintf("%s:%d: %s %s: expired on %s: %s",
                                   c->waivers->shown, w->line, w->operation,
                                   w->kind, w->until, w->why));
    }
    return list;
}

static json_int_t count_waived(const json_t *findings)
{
    json_int_t n = 0;
    json_t *finding;
    size_t i;

    json_array_foreach(findings, i, finding)
        n += json_is_object(json_object_get(finding, "waiver"));
    return n;
}

json_t *ng_gate_compare(const json_t *entry, const json_t *run,
                        ng_waivers *waivers, const char *today)
{
    comparison c = {.entry = entry,
                    .run = run,
                    .waivers = waivers,
                    .today = today,
                    .notes = json_array()};
    const json_t *history = json_object_get(entry, "history");
    const json_t *verdict = json_object_get(run, "verdict");
    json_t *findings = json_array(), *operation, *late;
    size_t i;

    for (int k = 0; k < N_KINDS; k++)
        c.findings[k] = json_array();
    if (verdict != NULL)
        find(&c, NEW_FAILURE, "load", json_string(text_of(verdict, "text")));
    json_array_foreach(json_object_get(entry, "operations"), i, operation)
        compare_operation(&c, operation);
    note_new_operations(&c);
    note_waivers(&c);
    late = expired(&c);
    for (int k = 0; k < N_KINDS; k++) {
        json_array_extend(findings, c.findings[k]);
        json_decref(c.findings[k]);
    }

    const json_int_t waived = count_waived(findings);
    const json_int_t regressions =
        (json_int_t)(json_array_size(findings) + json_array_size(late))
        - waived;

    return json_pack(
        "{s:s, s:s, s:O, s:O, s:O, s:O, s:i, s:o, s:o, s:o, s:I,"
        " s:I, s:b}",
        "schema", "narrowgauge-gate-1", "version", ng_version_text(), "subject",
        json_object_get(run, "subject"), "key", json_object_get(entry, "key"),
        "accepted", json_array_get(history, json_array_size(history) - 1),
        "time", json_object_get(run, "time"), "operations",
        (int)json_array_size(json_object_get(entry, "operations")), "findings",
        findings, "expired", late, "notes", c.notes, "regressions", regressions,
        "waived", waived, "passed", regressions == 0);
}
