/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/verify_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "conformance/checks/verify_json.h"
#include "conformance/subject/build_digest.h"
#include "formats/version.h"

struct ng_verify_state {
    char *path;
    FILE *file;                 /* at its end, for appending */
    json_t *done;               /* object: chunk key -> its line */
    ng_profile profile;
};

enum { MAX_KEY = 512, MAX_LINE = 1 << 20, MAX_RULES = 1024 };

static void chunk_key(char *key, const ng_chunk_id *chunk)
{
    snprintf(key, MAX_KEY, "%s %" PRId64 " %s %" PRId64 "-%" PRId64,
             chunk->id.operation->name, chunk->id.variant,
             chunk->id.stratum->name, chunk->first, chunk->last);
}

/* "rounding=up! overflow=saturate ...", the pinned ones with a mark: variants
 * are numbered by what is left free, and a rule need not be an axis. */
static void print_rules(char text[MAX_RULES], const ng_profile *profile)
{
    size_t used = 0;

    for (int i = 0; i < NG_N_RULES && used < MAX_RULES; i++) {
        const ng_rule rule = (ng_rule)i;

        used += (size_t)snprintf(
            text + used, MAX_RULES - used, "%s%s=%s%s", i > 0 ? " " : "",
            ng_rule_name(rule),
            ng_rule_value_name(rule, ng_rules_get(&profile->rules, rule)),
            profile->pinned[rule] ? "!" : "");
    }
}

/* What must agree for two runs to be parts of one. */
static json_t *header_of(const ng_verify_plan *plan)
{
    char rules[MAX_RULES], build[NG_CHECKSUM_TEXT];

    print_rules(rules, plan->profile);
    ng_build_digest(build,
                    plan->host != NULL ? ng_host_library(plan->host) : NULL);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:s}",
                     "run", "narrowgauge verify",
                     "version", ng_version_text(),
                     "subject", plan->subject->name,
                     "profile", plan->profile->name,
                     "rules", rules,
                     "level", plan->level,
                     "seed", (json_int_t)plan->seed,
                     "shard", (json_int_t)plan->shard + 1,
                     "shards", (json_int_t)plan->n_shards,
                     "sample", (json_int_t)plan->sample,
                     "build", build);
}

/* Parts of one run; or, *rebuilt set, of the same run of another build, whose
 * results say nothing of this one. */
static ng_status check_header(bool *rebuilt, const char *path,
                              const json_t *got, const json_t *want,
                              ng_error *error)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)want, key, value)
        if (strcmp(key, "build") == 0)
            *rebuilt = !json_equal(value, json_object_get(got, key));
        else if (!json_equal(value, json_object_get(got, key)))
            return ng_fail(error, NG_BAD_FILE,
                           "%s: %s: belongs to another run; remove the file or "
                           "give another folder", path, key);
    return NG_OK;
}

/* Read the lines of an earlier run. *end is where the last whole line ends; 0:
 * there is nothing to go on from. */
static ng_status read_lines(ng_verify_state *state, const json_t *header,
                            long *end, ng_error *error)
{
    char *line = malloc(MAX_LINE);
    FILE *in = fopen(state->path, "rb");
    ng_status status = NG_OK;
    bool rebuilt = false;
    int number = 0;

    *end = 0;
    while (line != NULL && in != NULL && status == NG_OK && !rebuilt
           && fgets(line, MAX_LINE, in) != NULL && strchr(line, '\n') != NULL) {
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

        if (!json_is_object(object))
            status = ng_fail(error, NG_BAD_FILE, "%s:%d: line: not JSON",
                             state->path, number + 1);
        else if (number++ == 0)
            status =
                check_header(&rebuilt, state->path, object, header, error);
        else if (json_string_value(json_object_get(object, "chunk")) != NULL)
            json_object_set(state->done, json_string_value(
                                json_object_get(object, "chunk")), object);
        json_decref(object);
        *end = rebuilt ? 0 : ftell(in);
    }
    if (in != NULL)
        fclose(in);
    free(line);
    return status;
}

ng_status ng_verify_state_open(ng_verify_state **out, const ng_verify_plan *plan,
                               ng_error *error)
{
    ng_verify_state *state = calloc(1, sizeof *state);
    json_t *header = header_of(plan);
    ng_status status;
    long end = 0;

    if (state == NULL || header == NULL) {
        free(state);
        json_decref(header);
        return ng_fail(error, NG_NO_MEMORY, "verify: out of memory");
    }
    state->path = strdup(plan->state_path);
    state->done = json_object();
    state->profile = *plan->profile;
    status = read_lines(state, header, &end, error);
    if (status == NG_OK) {
        state->file = fopen(state->path, end > 0 ? "r+b" : "wb");
        if (state->file == NULL || fseek(state->file, end, SEEK_SET) != 0)
            status = ng_fail(error, NG_BAD_FILE, "%s: progress: %s",
                             state->path, strerror(errno));
        else if (end == 0
                 && (json_dumpf(header, state->file, JSON_COMPACT) != 0
                     || fputc('\n', state->file) == EOF
                     || fflush(state->file) != 0))
            status = ng_fail(error, NG_BAD_FILE, "%s: progress: %s",
                             state->path, strerror(errno));
    }
    json_decref(header);
    if (status != NG_OK) {
        ng_verify_state_close(state);
        return status;
    }
    *out = state;
    return NG_OK;
}

static int64_t integer_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

bool ng_verify_state_skip(ng_verify_state *state, const ng_chunk_id *chunk,
                          ng_operation_result *result)
{
    char key[MAX_KEY];
    json_t *line, *events, *value;
    size_t i;

    if (state == NULL)
        return false;
    chunk_key(key, chunk);
    line = json_object_get(state->done, key);
    if (line == NULL)
        return false;
    result->cases += integer_of(line, "cases");
    result->elements += integer_of(line, "elements");
    result->failed_cases += integer_of(line, "failed");
    result->differences += integer_of(line, "differences");
    ng_judgement_add(&result->judged,
                     &(ng_judgement){
                         .bounded = integer_of(line, "bounded"),
                         .unclaimed = integer_of(line, "unclaimed"),
                         .share = ng_number_of_json(
                             json_object_get(line, "share"))});
    ng_measurement measured;

    ng_measurement_of_json(&measured, json_object_get(line, "measured"));
    ng_measurement_add(&result->measured, &measured);
    result->not_covered_cases += integer_of(line, "not_covered");
    json_array_foreach(json_object_get(line, "verdicts"), i, value)
        if (i < NG_N_VERDICTS)
            result->verdicts[i] += json_integer_value(value);
    events = json_object_get(line, "events");
    json_array_foreach(events, i, value)
        if (i < NG_N_EVENTS)
            result->events.count[i] += (uint64_t)json_integer_value(value);

    /* Failures come back as their replayable lines: run them again. */
    json_array_foreach(json_object_get(line, "failures"), i, value) {
        ng_failure *kept = &result->failure[result->n_failures];
        ng_case_id id;

        if (result->n_failures < NG_MAX_KEPT_FAILURES
            && json_string_value(value) != NULL
            && ng_failure_parse(&id, json_string_value(value), &state->profile,
                                NULL) == NG_OK) {
            memset(kept, 0, sizeof *kept);
            kept->id = id;
            snprintf(kept->replayed, sizeof kept->replayed, "%s",
                     json_string_value(value));
            result->n_failures++;
        }
    }
    return true;
}

ng_status ng_verify_state_add(ng_verify_state *state, const ng_chunk_id *chunk,
                              const ng_operation_result *part, ng_error *error)
{
    char key[MAX_KEY], text[1024];
    json_t *line, *events, *verdicts, *failures;
    bool written;

    if (state == NULL)
        return NG_OK;
    chunk_key(key, chunk);
    events = json_array();
    verdicts = json_array();
    failures = json_array();
    for (int v = 0; v < NG_N_VERDICTS; v++)
        json_array_append_new(verdicts,
                              json_integer((json_int_t)part->verdicts[v]));
    for (int e = 0; e < NG_N_EVENTS; e++)
        json_array_append_new(
            events, json_integer((json_int_t)part->events.count[e]));
    for (int i = 0; i < part->n_failures; i++) {
        ng_failure_print(text, sizeof text, &part->failure[i]);
        json_array_append_new(failures, json_string(text));
    }
    line = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o,"
                     " s:o, s:o}",
                     "chunk", key,
                     "cases", (json_int_t)part->cases,
                     "elements", (json_int_t)part->elements,
                     "failed", (json_int_t)part->failed_cases,
                     "differences", (json_int_t)part->differences,
                     "not_covered", (json_int_t)part->not_covered_cases,
                     "bounded", (json_int_t)part->judged.bounded,
                     "unclaimed", (json_int_t)part->judged.unclaimed,
                     "share", ng_number_json(part->judged.share),
                     "measured", ng_measurement_json(&part->measured),
                     "verdicts", verdicts, "events", events, "failures",
                     failures);
    written = line != NULL && json_dumpf(line, state->file, JSON_COMPACT) == 0
              && fputc('\n', state->file) != EOF && fflush(state->file) == 0;
    json_decref(line);
    return written ? NG_OK
                   : ng_fail(error, NG_BAD_FILE, "%s: progress: %s",
                             state->path, strerror(errno));
}

void ng_verify_state_close(ng_verify_state *state)
{
    if (state == NULL)
        return;
    if (state->file != NULL)
        fclose(state->file);
    json_decref(state->done);
    free(state->path);
    free(state);
}
