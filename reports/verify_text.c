/* SPDX-License-Identifier: Apache-2.0
 *
 * A verify run as text: first what is wrong, in words and in the smallest input
 * that shows it, then the table, then the cases.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "reports/grouped_number.h"
#include "reports/terminal_text.h"
#include "reports/text_escape.h"
#include "reports/verify_report.h"

enum { INDENT = 5 };

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

static int64_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static void line(FILE *out, const char *text)
{
    ng_print_escaped(out, NG_TO_TERMINAL, text);
    fputc('\n', out);
}

/* ---- what is wrong ------------------------------------------------------- */

/* What the subject itself did in the first failing case: "crashed: SIGSEGV ..."
 * ends its line; "" where it answered. Nothing before that has a blank in it. */
static const char *did(const json_t *operation)
{
    static const char mark[] = " subject ";
    const char *text = json_string_value(
        json_array_get(json_object_get(operation, "failures"), 0));
    const char *found = text != NULL ? strstr(text, mark) : NULL;

    return found != NULL ? found + sizeof mark - 1 : "";
}

static void print_finding(FILE *out, const json_t *operation,
                          const char *folder)
{
    const char *name = text_of(operation, "operation");
    const int64_t failed = number_of(operation, "failed_cases");

    if (failed == 0)
        return;
    if (*text_of(operation, "diagnosis") != '\0')
        ng_print_paragraph(out, INDENT, "%s: %s", name,
                           text_of(operation, "diagnosis"));
    else if (*did(operation) != '\0')
        ng_print_paragraph(out, INDENT, "%s: %s", name, did(operation));
    else
        ng_print_paragraph(out, INDENT,
                           "%s: %" PRId64 " of %" PRId64 " case%s differ", name,
                           failed, number_of(operation, "cases"),
                           plural(number_of(operation, "cases")));
    if (*text_of(operation, "shrunk") != '\0')
        ng_print_paragraph(out, INDENT, "%*sshrunk to %s", INDENT, "",
                           text_of(operation, "shrunk"));
    if (folder != NULL && *text_of(operation, "replay") != '\0')
        ng_print_paragraph(out, INDENT, "%*srun it again with --replay %s/%s",
                           INDENT, "", folder, text_of(operation, "replay"));
    fputc('\n', out);
}

/* ---- the table ----------------------------------------------------------- */

enum { NAME, VARIANTS, CASES, ELEMENTS, DIFFERENCES, N_COLUMNS };

static const char *const heading[N_COLUMNS] = {"operation", "variants", "cases",
                                               "elements", "differences"};

static const char *cell(char digits[32], const json_t *operation, int column)
{
    return column == NAME
               ? text_of(operation, heading[NAME])
               : ng_number_grouped(digits, 32,
                                   number_of(operation, heading[column]));
}

static void print_row(FILE *out, const int width[N_COLUMNS],
                      const json_t *operation)
{
    char digits[32], verdict[64];

    for (int c = 0; c < N_COLUMNS; c++)
        fprintf(out, c == NAME ? "%-*s" : " %*s", width[c],
                operation == NULL ? heading[c] : cell(digits, operation, c));
    if (operation != NULL)
        fprintf(out, "  %s", ng_verify_verdict(verdict, operation));
    fputc('\n', out);
}

/* Columns as narrow as what stands in them, for a terminal of 80. */
static void print_table(FILE *out, const json_t *operations)
{
    int width[N_COLUMNS];
    char digits[32];
    json_t *operation;
    size_t i;

    bool any = false;

    json_array_foreach(operations, i, operation)
        any |= number_of(operation, "variants") > 0;
    if (!any)
        return;
    for (int c = 0; c < N_COLUMNS; c++) {
        width[c] = (int)strlen(heading[c]);
        json_array_foreach(operations, i, operation) {
            const int wide = (int)strlen(cell(digits, operation, c));

            if (number_of(operation, "variants") > 0 && wide > width[c])
                width[c] = wide;
        }
    }
    print_row(out, width, NULL);
    json_array_foreach(operations, i, operation)
        if (number_of(operation, "variants") > 0)
            print_row(out, width, operation);
    fputc('\n', out);
}

/* ---- the cases, and what was met ----------------------------------------- */

static void print_cases(FILE *out, const json_t *operation, int max_failures)
{
    const json_t *missing = json_object_get(operation, "missing");
    const int64_t failed = number_of(operation, "failed_cases");
    json_t *text;
    size_t i;

    json_array_foreach(json_object_get(operation, "failures"), i, text)
        if ((int)i < max_failures)
            line(out, json_string_value(text));
    if (failed > max_failures)
        ng_print_paragraph(out, INDENT,
                           "%*s... %" PRId64 " failing case%s of %s in all",
                           INDENT, "", failed, plural(failed),
                           text_of(operation, "operation"));
    json_array_foreach(missing, i, text)
        ng_print_paragraph(
            out, INDENT, "FAIL op=%s claims to have met \"%s\" and did not",
            text_of(operation, "operation"), json_string_value(text));
}

static void print_events(FILE *out, const json_t *operations)
{
    const json_t *first =
        json_object_get(json_array_get(operations, 0), "events");
    const char *name;
    char met[512] = "met:";
    size_t used = strlen(met);
    json_t *value, *operation;

    json_object_foreach((json_t *)first, name, value) {
        int64_t sum = 0;
        char digits[32];
        size_t i;

        json_array_foreach(operations, i, operation)
            sum += number_of(json_object_get(operation, "events"), name);
        if (used < sizeof met)
            used += (size_t)snprintf(
                met + used, sizeof met - used, "%s %s %s",
                value
                        == json_object_iter_value(
                            json_object_iter((json_t *)first))
                    ? ""
                    : ",",
                ng_number_grouped(digits, sizeof digits, sum), name);
    }
    if (first != NULL)
        ng_print_paragraph(out, INDENT, "%s", met);
}

/* What was left out, and the last line. */
static void print_end(FILE *out, const json_t *run)
{
    int64_t not_covered = 0, covered = 0, absent = 0, beyond = 0, not_asked = 0;
    char a[32], b[32];
    json_t *operation;
    size_t i;

    json_array_foreach(json_object_get(run, "operations"), i, operation) {
        const bool has = number_of(operation, "variants") > 0;

        not_covered += number_of(operation, "not_covered");
        beyond += number_of(operation, "not_covered_cases");
        not_asked +=
            number_of(json_object_get(operation, "verdicts"), "not asked");
        covered += has;
        absent += !has;
    }
    if (number_of(run, "elements") == 0
        && json_object_get(run, "verdict") == NULL)
        fputs("nothing was verified: the subject covers none of it\n", out);
    if (not_covered > 0)
        fprintf(out,
                "not covered by the subject: %" PRId64
                " operation%s whole, %" PRId64 " variant%s in all\n",
                absent, plural(absent), not_covered, plural(not_covered));
    if (beyond > 0)
        fprintf(out, "beyond its limits, so not covered: %" PRId64 " case%s\n",
                beyond, plural(beyond));
    if (not_asked > 0)
        fprintf(out,
                "not asked after it had failed too often: %" PRId64 " case%s\n",
                not_asked, plural(not_asked));
    ng_print_paragraph(
        out, INDENT,
        "%s: %s difference%s in %s elements, %" PRId64 " operation%s, %.1f s",
        json_is_true(json_object_get(run, "passed")) ? "PASSED" : "FAILED",
        ng_number_grouped(a, sizeof a, number_of(run, "differences")),
        plural(number_of(run, "differences")),
        ng_number_grouped(b, sizeof b, number_of(run, "elements")), covered,
        plural(covered), json_number_value(json_object_get(run, "seconds")));
}

void ng_verify_report_print(FILE *out, const json_t *run, int max_failures,
                            const char *folder)
{
    const json_t *operations = json_object_get(run, "operations");
    const json_t *verdict = json_object_get(run, "verdict");
    json_t *operation;
    size_t i;

    ng_print_paragraph(
        out, INDENT,
        "narrowgauge %s: %s against %s, profile %s, level %d, seed %" PRId64,
        text_of(run, "version"), text_of(run, "subject"),
        text_of(run, "expected"), text_of(run, "profile"),
        (int)number_of(run, "level"), number_of(run, "seed"));
    fputc('\n', out);
    if (verdict != NULL)
        ng_print_paragraph(out, INDENT, "the subject cannot be used: %s",
                           text_of(verdict, "text"));
    json_array_foreach(operations, i, operation)
        print_finding(out, operation, folder);
    print_table(out, operations);
    json_array_foreach(operations, i, operation)
        print_cases(out, operation, max_failures);
    print_events(out, operations);
    print_end(out, run);
}
