/* SPDX-License-Identifier: Apache-2.0
 *
 * Baselines: what was accepted, when and why; an entry for each subject, set of
 * rules, GPU and toolkit.
 */
#include <string.h>
#include <unistd.h>

#include "formats/files/atomic_write.h"
#include "reports/gate.h"
#include "reports/json_schema.h"

enum { MAX_SUBJECT = 256, MAX_CHANGES = 16, MAX_HISTORY = 100 };

static const char schema_name[] = "narrowgauge-baseline-1";

json_t *ng_baseline_read(ng_status *status, const char *path, bool may_lack,
                         ng_error *error)
{
    if (may_lack && access(path, F_OK) != 0) {
        *status = NG_OK;
        return json_pack("{s:s, s:[]}", "schema", schema_name, "entries");
    }
    return ng_schema_read(status, path, "baseline", error);
}

/* The subject's name without its version, which may change. */
static json_t *subject_of(const json_t *run)
{
    const char *name = json_string_value(json_object_get(run, "subject"));

    return json_stringn(name, strcspn(name, " "));
}

static json_t *key_of(const json_t *run)
{
    static const char *const members[] = {"profile", "level", "seed",
                                          "sample",  "gpu",   "toolkit"};
    json_t *key = json_pack("{s:o}", "subject", subject_of(run));

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_object_set(key, members[i], json_object_get(run, members[i]));
    return key;
}

static json_int_t place_of(const json_t *entries, const json_t *key)
{
    for (size_t i = 0; i < json_array_size(entries); i++)
        if (json_equal(json_object_get(json_array_get(entries, i), "key"), key))
            return (json_int_t)i;
    return -1;
}

json_t *ng_baseline_find(const json_t *baselines, const json_t *run)
{
    const json_t *entries = json_object_get(baselines, "entries");
    json_t *key = key_of(run);
    const json_int_t at = place_of(entries, key);

    json_decref(key);
    return at < 0 ? NULL : json_array_get(entries, (size_t)at);
}

/* Sums over binades: [elements, sum of errors, largest error]. */
static json_t *total_error(const json_t *operation)
{
    json_int_t n = 0, sum = 0, most = 0;
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(operation, "error"), i, row) {
        const json_int_t here = json_integer_value(json_array_get(row, 3));

        n += json_integer_value(json_array_get(row, 1));
        sum += json_integer_value(json_array_get(row, 2));
        most = here > most ? here : most;
    }
    return json_pack("[I, I, I]", n, sum, most);
}

/* Strata that ran: [cases, digest of inputs, digest of outputs]. */
static json_t *strata_of(const json_t *operation)
{
    json_t *strata = json_object();
    const char *name;
    json_t *s;

    json_object_foreach(json_object_get(operation, "strata"), name, s)
        if (json_integer_value(json_object_get(s, "cases")) > 0)
            json_object_set_new(strata, name,
                                json_pack("[O, O, O]",
                                          json_object_get(s, "cases"),
                                          json_object_get(s, "inputs"),
                                          json_object_get(s, "outputs")));
    return strata;
}

/* Classes of inputs that were met. */
static json_t *met_of(const json_t *operation)
{
    json_t *met = json_array(), *count;
    const char *name;

    json_object_foreach(json_object_get(operation, "events"), name, count)
        if (json_integer_value(count) > 0)
            json_array_append_new(met, json_string(name));
    return met;
}

/* What the gate holds a later run to. */
static json_t *keep(const json_t *operation)
{
    static const char *const members[] = {"operation",
                                          "class",
                                          "variants",
                                          "not_covered",
                                          "not_covered_cases",
                                          "cases",
                                          "elements",
                                          "failed_cases",
                                          "share",
                                          "ulp"};
    json_t *kept = json_object();

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_object_set(kept, members[i],
                        json_object_get(operation, members[i]));
    json_object_set_new(kept, "met", met_of(operation));
    json_object_set_new(kept, "error", total_error(operation));
    json_object_set_new(kept, "strata", strata_of(operation));
    return kept;
}

static json_t *change_of(const json_t *finding)
{
    return json_sprintf(
        "%s %s: %s", json_string_value(json_object_get(finding, "kind")),
        json_string_value(json_object_get(finding, "operation")),
        json_string_value(json_object_get(finding, "text")));
}

static json_t *changes_of(const json_t *outcome)
{
    const json_t *findings = json_object_get(outcome, "findings");
    const size_t n = json_array_size(findings);
    json_t *changes = json_array();

    for (size_t i = 0; i < n && i < MAX_CHANGES; i++)
        json_array_append_new(changes, change_of(json_array_get(findings, i)));
    if (n > MAX_CHANGES)
        json_array_append_new(
            changes, json_sprintf("... and %zu more", n - MAX_CHANGES));
    return changes;
}

bool ng_baseline_accept(json_t *baselines, const json_t *run,
                        const json_t *outcome, const char *why)
{
    json_t *entries = json_object_get(baselines, "entries");
    json_t *key = key_of(run), *operations = json_array(), *operation;
    const json_int_t at = place_of(entries, key);
    json_t *history = NULL, *entry;
    size_t i;

    if (at >= 0)
        history = json_deep_copy(
            json_object_get(json_array_get(entries, (size_t)at), "history"));
    if (history == NULL)
        history = json_array();
    while (json_array_size(history) >= MAX_HISTORY)
        json_array_remove(history, 0);
    json_array_append_new(history,
                          json_pack("{s:O, s:O, s:s, s:o}", "time",
                                    json_object_get(run, "time"), "version",
                                    json_object_get(run, "version"), "why", why,
                                    "changes", changes_of(outcome)));
    json_array_foreach(json_object_get(run, "operations"), i, operation)
        json_array_append_new(operations, keep(operation));
    entry = json_pack("{s:o, s:o, s:o}", "key", key, "history", history,
                      "operations", operations);
    return entry != NULL
           && (at >= 0 ? json_array_set_new(entries, (size_t)at, entry)
                       : json_array_append_new(entries, entry))
                  == 0;
}

/* A line an operation, so that a change is a short diff. */
static void print(FILE *out, const json_t *baselines)
{
    const json_t *entries = json_object_get(baselines, "entries");
    json_t *entry, *row;
    size_t i, k;

    fprintf(out, "{\"schema\": \"%s\",\n \"entries\": [", schema_name);
    json_array_foreach(entries, i, entry) {
        fprintf(out, "%s\n  {\"key\": ", i > 0 ? "," : "");
        json_dumpf(json_object_get(entry, "key"), out, 0);
        fputs(",\n   \"history\": [", out);
        json_array_foreach(json_object_get(entry, "history"), k, row) {
            fputs(k > 0 ? ",\n    " : "\n    ", out);
            json_dumpf(row, out, 0);
        }
        fputs("],\n   \"operations\": [", out);
        json_array_foreach(json_object_get(entry, "operations"), k, row) {
            fputs(k > 0 ? ",\n    " : "\n    ", out);
            json_dumpf(row, out, JSON_COMPACT);
        }
        fputs("]}", out);
    }
    fputs("]}\n", out);
}

ng_status ng_baseline_write(const char *path, const json_t *baselines,
                            ng_error *error)
{
    ng_atomic_file file = {0};
    const ng_status status = ng_atomic_begin(&file, path, error);

    if (status != NG_OK)
        return status;
    print(file.stream, baselines);
    return ng_atomic_commit(&file, error);
}
