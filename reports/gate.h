/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a number moved: a verify run against what was accepted before.
 * Everything here works on JSON: the run's (reports/schema/verify.schema.json),
 * the baselines' (baseline.schema.json), the outcome (gate.schema.json).
 */
#ifndef NG_REPORTS_GATE_H
#define NG_REPORTS_GATE_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "formats/status.h"

/* ---- waivers: what may differ, and until when ---- */

enum { NG_MAX_WAIVERS = 256 };

typedef struct ng_waiver {
    char operation[64], kind[32], until[11], why[256]; /* until: YYYY-MM-DD */
    int line; /* of the file, where it begins */
    bool used;
} ng_waiver;

typedef struct ng_waivers {
    const char *path; /* the caller's */
    char shown[256];  /* it again, what is not ASCII as '?' */
    int n;
    ng_waiver waiver[NG_MAX_WAIVERS];
} ng_waivers;

/* Read a waiver file: a field a line, "name value", '#' for comments. A waiver
 * begins with `operation`; kind, until and why must follow.
 * Returns NG_BAD_FILE with "PATH:LINE: FIELD: what is wrong" otherwise. */
ng_status ng_waivers_read(ng_waivers *waivers, const char *path,
                          ng_error *error);

/* Whether a text is a day of the calendar, YYYY-MM-DD. */
bool ng_is_day(const char *text);

/* Kinds of findings by number, the gravest first; null past the last. */
const char *ng_gate_kind(int i);

/* ---- baselines ---- */

/* Read a file of baselines; a missing one, where that is allowed, is an empty
 * one. Null with a line in *error otherwise. */
json_t *ng_baseline_read(ng_status *status, const char *path, bool may_lack,
                         ng_error *error);

/* The entry for a run: of its subject, profile, level, seed, sample, GPU and
 * toolkit. Borrowed; null if there is none. */
json_t *ng_baseline_find(const json_t *baselines, const json_t *run);

/* Put the run in the place of its entry, or add one, with a line of history:
 * why, and the texts of the outcome's findings (outcome may be null). Returns
 * false without memory. */
bool ng_baseline_accept(json_t *baselines, const json_t *run,
                        const json_t *outcome, const char *why);

/* Write them, whole or not at all. */
ng_status ng_baseline_write(const char *path, const json_t *baselines,
                            ng_error *error);

/* ---- the comparison ---- */

/* Hold a run to its entry. today (YYYY-MM-DD) decides which waivers have
 * expired; those used are marked. A new object, or null without memory. */
json_t *ng_gate_compare(const json_t *entry, const json_t *run,
                        ng_waivers *waivers, const char *today);

/* Print a line on what was compared, the three findings that matter most, and
 * the verdict. */
void ng_gate_print(FILE *out, const json_t *outcome);

/* A Markdown table of all findings, for the summary of a CI step. */
ng_status ng_gate_markdown(const char *path, const json_t *outcome,
                           ng_error *error);

/* JUnit XML: a test case a finding and an expired waiver; one that passes
 * where there is none. */
ng_status ng_gate_junit(const char *path, const json_t *outcome,
                        ng_error *error);

#endif
