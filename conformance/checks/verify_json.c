/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/verify_json.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "conformance/checks/tally_json.h"
#include "formats/version.h"

json_t *ng_number_json(double x)
{
    if (isnan(x))
        return json_string("nan");
    if (isinf(x))
        return json_string(x > 0 ? "inf" : "-inf");
    return json_real(x);
}

double ng_number_of_json(const json_t *value)
{
    const char *text = json_string_value(value);

    if (text == NULL)
        return json_number_value(value);
    return strcmp(text, "inf") == 0    ? (double)INFINITY
           : strcmp(text, "-inf") == 0 ? -(double)INFINITY
                                       : (double)NAN;
}

static json_t *event_names(unsigned events)
{
    json_t *names = json_array();

    for (int e = 0; e < NG_N_EVENTS; e++)
        if ((events >> e & 1u) != 0)
            json_array_append_new(names,
                                  json_string(ng_event_name((ng_event)e)));
    return names;
}

static json_t *event_counts(const ng_events *events)
{
    json_t *counts = json_object();

    for (int e = 0; e < NG_N_EVENTS; e++)
        json_object_set_new(counts, ng_event_name((ng_event)e),
                            json_integer((json_int_t)events->count[e]));
    return counts;
}

/* Whether the profile leaves every rule that is an axis of the operation free,
 * so that all its variants ran and the classes it claims can be asked for. */
static bool is_free(const ng_operation *operation, const ng_profile *profile)
{
    for (int i = 0; i < operation->n_axes; i++)
        if (operation->axes[i].kind == NG_AXIS_RULE
            && profile->pinned[operation->axes[i].rule])
            return false;
    return true;
}

/* The verdicts there were, by name. */
static json_t *verdict_counts(const int64_t verdicts[NG_N_VERDICTS])
{
    json_t *counts = json_object();

    for (int v = 0; v < NG_N_VERDICTS; v++)
        if (verdicts[v] > 0)
            json_object_set_new(counts, ng_verdict_name((ng_verdict_kind)v),
                                json_integer((json_int_t)verdicts[v]));
    return counts;
}

static json_t *operation_json(const ng_operation_result *r,
                              const ng_profile *profile)
{
    json_t *failures = json_array();
    char line[1536];

    for (int i = 0; i < r->n_failures; i++) {
        ng_failure_print(line, sizeof line, &r->failure[i]);
        json_array_append_new(failures, json_string(line));
    }
    json_t *operation =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I,"
                     " s:o, s:o, s:o, s:o, s:o, s:f, s:s, s:s, s:o}",
                     "operation", r->operation->name,
                     "class", r->operation->exact ? "exact" : "bounded",
                     "variants", (json_int_t)r->variants,
                     "not_covered", (json_int_t)r->not_covered,
                     "not_covered_cases", (json_int_t)r->not_covered_cases,
                     "cases", (json_int_t)r->cases,
                     "elements", (json_int_t)r->elements,
                     "failed_cases", (json_int_t)r->failed_cases,
                     "differences", (json_int_t)r->differences,
                     "bounded", (json_int_t)r->judged.bounded,
                     "unclaimed", (json_int_t)r->judged.unclaimed,
                     "share", ng_number_json(r->judged.share),
                     "verdicts", verdict_counts(r->verdicts),
                     "events", event_counts(&r->events),
                     "claims", event_names(is_free(r->operation, profile)
                                               ? r->operation->claims : 0),
                     "missing", json_array(),
                     "seconds", r->seconds,
                     "diagnosis", r->diagnosis,
                     "shrunk", r->shrunk,
                     "failures", failures);

    /* what the mistake is called; absent where it has no name */
    if (r->explanation.kind != NG_KIND_NONE)
        json_object_set_new(
            operation, "kind",
            json_string(ng_fault_kind_name(r->explanation.kind)));
    if (*r->small_case != '\0')
        json_object_set_new(operation, "replay", json_string(r->small_case));
    json_object_update_new(operation, ng_tally_json(r));
    return operation;
}

static json_int_t total(const json_t *run, const char *key)
{
    const json_t *operations = json_object_get(run, "operations");
    json_int_t sum = 0;

    for (size_t i = 0; i < json_array_size(operations); i++)
        sum += json_integer_value(
            json_object_get(json_array_get(operations, i), key));
    return sum;
}

/* Whether every stratum and, but for what the profile pins, every variant had
 * its chance. */
static bool is_whole(const ng_verify_plan *plan)
{
    return plan->stratum == NULL && plan->n_axes == 0;
}

/* List the classes that an operation claims to have met and has not. Returns
 * how many. */
static size_t find_missing(json_t *operation)
{
    const json_t *claims = json_object_get(operation, "claims");
    const json_t *events = json_object_get(operation, "events");
    json_t *missing = json_object_get(operation, "missing");
    json_t *claim;
    size_t i;

    json_array_clear(missing);
    if (json_integer_value(json_object_get(operation, "variants")) == 0
        || json_integer_value(json_object_get(operation, "not_covered")) > 0
        || json_integer_value(json_object_get(operation,
                                              "not_covered_cases")) > 0)
        return 0;
    json_array_foreach(claims, i, claim)
        if (json_integer_value(json_object_get(events,
                                               json_string_value(claim))) == 0)
            json_array_append(missing, claim);
    return json_array_size(missing);
}

static void judge(json_t *run)
{
    const json_t *operations = json_object_get(run, "operations");
    const bool shard = json_integer_value(json_object_get(run, "shards")) > 1
                       && !json_is_true(json_object_get(run, "merged"));
    const bool whole = json_is_true(json_object_get(run, "whole")) && !shard;
    /* What ran nothing has not passed; but of more shards than there is work
     * for, some have none, and the others all of it. */
    bool passed =
        total(run, "failed_cases") == 0
        && (total(run, "cases") > 0 || (shard && total(run, "variants") > 0));

    for (size_t i = 0; whole && i < json_array_size(operations); i++)
        if (find_missing(json_array_get(operations, i)) > 0)
            passed = false;
    json_object_set_new(run, "cases", json_integer(total(run, "cases")));
    json_object_set_new(run, "elements", json_integer(total(run, "elements")));
    json_object_set_new(run, "differences",
                        json_integer(total(run, "differences")));
    json_object_set_new(run, "passed", json_boolean(passed));
}

json_t *ng_verify_json(const ng_operation_result *result, int n,
                       const ng_verify_plan *plan, double seconds)
{
    json_t *operations = json_array();
    json_t *run;
    char now[32];
    const time_t t = time(NULL);
    struct tm utc;

    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    for (int i = 0; i < n; i++)
        json_array_append_new(operations,
                              operation_json(&result[i], plan->profile));
    run = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:I,"
                    " s:b, s:f, s:o}",
                    "schema", "narrowgauge-verify-2",
                    "version", ng_version_text(),
                    "time", now,
                    "subject", plan->subject->name,
                    "expected", plan->expected != NULL ? plan->expected->name : "",
                    "profile", plan->profile->name,
                    "level", plan->level,
                    "seed", (json_int_t)plan->seed,
                    "shard", (json_int_t)plan->shard + 1,
                    "shards", (json_int_t)plan->n_shards,
                    "sample", (json_int_t)plan->sample,
                    "whole", is_whole(plan),
                    "seconds", seconds,
                    "operations", operations);
    if (run != NULL)
        judge(run);
    return run;
}

static void add_integer(json_t *sum, const json_t *part, const char *key)
{
    json_object_set_new(
        sum, key, json_integer(json_integer_value(json_object_get(sum, key))
                               + json_integer_value(json_object_get(part, key))));
}

static void merge_operation(json_t *sum, const json_t *part)
{
    static const char *const counts[] = {"cases", "elements", "failed_cases",
                                         "differences", "bounded", "unclaimed",
                                         "not_covered_cases"};
    const double share = ng_number_of_json(json_object_get(part, "share"));
    json_t *events = json_object_get(sum, "events");
    const json_t *more = json_object_get(part, "events");
    json_t *failures = json_object_get(sum, "failures");
    const char *name;
    json_t *value;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        add_integer(sum, part, counts[i]);
    if (share > ng_number_of_json(json_object_get(sum, "share")))
        json_object_set(sum, "share", json_object_get(part, "share"));
    json_object_foreach((json_t *)more, name, value)
        add_integer(events, more, name);
    json_object_foreach(json_object_get(part, "verdicts"), name, value)
        add_integer(json_object_get(sum, "verdicts"),
                    json_object_get(part, "verdicts"), name);
    ng_tally_json_merge(sum, part);
    json_array_extend(failures, json_object_get(part, "failures"));
    if (*json_string_value(json_object_get(sum, "diagnosis")) == '\0') {
        json_object_set(sum, "diagnosis", json_object_get(part, "diagnosis"));
        if (json_object_get(part, "kind") != NULL)
            json_object_set(sum, "kind", json_object_get(part, "kind"));
    }
    if (*json_string_value(json_object_get(sum, "shrunk")) == '\0') {
        json_object_set(sum, "shrunk", json_object_get(part, "shrunk"));
        if (json_object_get(part, "replay") != NULL)
            json_object_set(sum, "replay", json_object_get(part, "replay"));
    }
}

void ng_verify_json_merge(json_t *sum, const json_t *part)
{
    json_t *operations = json_object_get(sum, "operations");
    const json_t *others = json_object_get(part, "operations");

    for (size_t i = 0; i < json_array_size(operations); i++)
        merge_operation(json_array_get(operations, i),
                        json_array_get(others, i));
    json_object_set_new(sum, "merged", json_true());
    judge(sum);
}

/* Whether a verdict of that name says that the subject failed to run. */
static bool names_failure(const char *name)
{
    for (int v = 0; v < NG_N_VERDICTS; v++)
        if (strcmp(name, ng_verdict_name((ng_verdict_kind)v)) == 0)
            return ng_verdict_is_failure((ng_verdict_kind)v);
    return false;
}

bool ng_verify_json_subject_failed(const json_t *run)
{
    const json_t *operations = json_object_get(run, "operations");
    const char *name;
    json_t *operation, *value;
    size_t i;

    json_array_foreach(operations, i, operation)
        json_object_foreach(json_object_get(operation, "verdicts"), name, value)
            if (names_failure(name))
                return true;
    return false;
}

bool ng_verify_json_environment_failed(const json_t *run)
{
    const json_t *operations = json_object_get(run, "operations");
    json_t *operation;
    size_t i;

    json_array_foreach(operations, i, operation)
        if (json_object_get(json_object_get(operation, "verdicts"),
                            ng_verdict_name(NG_VERDICT_ENVIRONMENT))
            != NULL)
            return true;
    return false;
}

bool ng_verify_json_passed(const json_t *run)
{
    return json_is_true(json_object_get(run, "passed"));
}
