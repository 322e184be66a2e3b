/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "formats/files/atomic_write.h"
#include "reports/gate.h"
#include "reports/text_escape.h"

enum { MAX_LINES = 3 };

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void show(FILE *out, ng_medium medium, const json_t *object,
                 const char *key)
{
    ng_print_escaped(out, medium, text_of(object, key));
}

static bool is_waived(const json_t *finding)
{
    return json_is_object(json_object_get(finding, "waiver"));
}

/* "2 new-failure, 1 changed-bits, 1 expired waiver": what was not waived. */
static void print_counts(FILE *out, const json_t *outcome)
{
    const json_t *findings = json_object_get(outcome, "findings");
    const size_t expired = json_array_size(json_object_get(outcome, "expired"));
    const char *kind, *separator = "";
    json_t *finding;
    size_t i;

    for (int k = 0; (kind = ng_gate_kind(k)) != NULL; k++) {
        int n = 0;

        json_array_foreach(findings, i, finding)
            n += !is_waived(finding)
                 && strcmp(text_of(finding, "kind"), kind) == 0;
        if (n > 0) {
            fprintf(out, "%s%d %s", separator, n, kind);
            separator = ", ";
        }
    }
    if (expired > 0)
        fprintf(out, "%s%zu expired waiver%s", separator, expired,
                expired > 1 ? "s" : "");
}

static void print_verdict(FILE *out, const json_t *outcome)
{
    const json_int_t regressions = number_of(outcome, "regressions");
    const json_int_t waived = number_of(outcome, "waived");

    if (regressions > 0) {
        fprintf(out, "FAILED: %" JSON_INTEGER_FORMAT " regression%s (",
                regressions, regressions == 1 ? "" : "s");
        print_counts(out, outcome);
        fputc(')', out);
    } else {
        fprintf(out,
                "PASSED: nothing moved in %" JSON_INTEGER_FORMAT " operations",
                number_of(outcome, "operations"));
    }
    if (waived > 0)
        fprintf(out, ", %" JSON_INTEGER_FORMAT " waived", waived);
    fputc('\n', out);
}

void ng_gate_print(FILE *out, const json_t *outcome)
{
    const json_t *key = json_object_get(outcome, "key");
    const json_t *accepted = json_object_get(outcome, "accepted");
    json_t *item;
    size_t i;
    int n = 0;

    fputs("gate: ", out);
    show(out, NG_TO_TERMINAL, outcome, "subject");
    fputs(", profile ", out);
    show(out, NG_TO_TERMINAL, key, "profile");
    fprintf(out, ", level %d, GPU ", (int)number_of(key, "level"));
    show(out, NG_TO_TERMINAL, key, "gpu");
    fputs(", toolkit ", out);
    show(out, NG_TO_TERMINAL, key, "toolkit");
    fputs("; baseline of ", out);
    show(out, NG_TO_TERMINAL, accepted, "time");
    fputs(": ", out);
    show(out, NG_TO_TERMINAL, accepted, "why");
    fputc('\n', out);
    json_array_foreach(json_object_get(outcome, "findings"), i, item)
        if (!is_waived(item) && n++ < MAX_LINES) {
            fputs("REGRESSION ", out);
            show(out, NG_TO_TERMINAL, item, "kind");
            fputc(' ', out);
            show(out, NG_TO_TERMINAL, item, "operation");
            fputs(": ", out);
            show(out, NG_TO_TERMINAL, item, "text");
            fputc('\n', out);
        }
    json_array_foreach(json_object_get(outcome, "expired"), i, item)
        if (n++ < MAX_LINES) {
            fputs("REGRESSION expired-waiver ", out);
            ng_print_escaped(out, NG_TO_TERMINAL, json_string_value(item));
            fputc('\n', out);
        }
    if (n > MAX_LINES)
        fprintf(out,
                "     ... %d more; --markdown, --junit and --json have "
                "them all\n",
                n - MAX_LINES);
    json_array_foreach(json_object_get(outcome, "notes"), i, item) {
        fputs("note: ", out);
        ng_print_escaped(out, NG_TO_TERMINAL, json_string_value(item));
        fputc('\n', out);
    }
    print_verdict(out, outcome);
}

static void row(FILE *out, const char *label, const char *text)
{
    fprintf(out, "| %s | ", label);
    ng_print_escaped(out, NG_TO_MARKDOWN, text);
    fputs(" |\n", out);
}

static void print_findings(FILE *out, const json_t *outcome)
{
    const json_t *findings = json_object_get(outcome, "findings");
    json_t *item;
    size_t i;

    if (json_array_size(findings) == 0)
        return;
    fputs("\n| | kind | operation | what |\n|---|---|---|---|\n", out);
    json_array_foreach(findings, i, item) {
        const json_t *waiver = json_object_get(item, "waiver");

        fputs(is_waived(item) ? "| waived | " : "| **regression** | ", out);
        show(out, NG_TO_MARKDOWN, item, "kind");
        fputs(" | ", out);
        show(out, NG_TO_MARKDOWN, item, "operation");
        fputs(" | ", out);
        show(out, NG_TO_MARKDOWN, item, "text");
        if (is_waived(item)) {
            fputs("; until ", out);
            show(out, NG_TO_MARKDOWN, waiver, "until");
            fputs(": ", out);
            show(out, NG_TO_MARKDOWN, waiver, "why");
        }
        fputs(" |\n", out);
    }
}

static void print_list(FILE *out, const char *label, const json_t *list)
{
    json_t *item;
    size_t i;

    if (json_array_size(list) > 0)
        fputc('\n', out);
    json_array_foreach(list, i, item) {
        fprintf(out, "- %s", label);
        ng_print_escaped(out, NG_TO_MARKDOWN, json_string_value(item));
        fputc('\n', out);
    }
}

static void print_markdown(FILE *out, const json_t *outcome)
{
    const json_t *key = json_object_get(outcome, "key");
    const json_t *accepted = json_object_get(outcome, "accepted");

    fputs("# narrowgauge gate: ", out);
    print_verdict(out, outcome);
    fputs("\n| | |\n|---|---|\n", out);
    row(out, "subject", text_of(outcome, "subject"));
    row(out, "profile", text_of(key, "profile"));
    fprintf(out, "| level | %d |\n", (int)number_of(key, "level"));
    row(out, "GPU", text_of(key, "gpu"));
    row(out, "toolkit", text_of(key, "toolkit"));
    row(out, "baseline accepted", text_of(accepted, "time"));
    row(out, "because", text_of(accepted, "why"));
    row(out, "run", text_of(outcome, "time"));
    print_findings(out, outcome);
    print_list(out, "**expired waiver** ", json_object_get(outcome, "expired"));
    print_list(out, "", json_object_get(outcome, "notes"));
}

ng_status ng_gate_markdown(const char *path, const json_t *outcome,
                           ng_error *error)
{
    ng_atomic_file file = {0};
    const ng_status status = ng_atomic_begin(&file, path, error);

    if (status != NG_OK)
        return status;
    print_markdown(file.stream, outcome);
    return ng_atomic_commit(&file, error);
}
