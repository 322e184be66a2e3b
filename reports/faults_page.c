/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/faults_page.h"

#include <stdbool.h>
#include <string.h>

#include "reports/page_file.h"

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text != NULL ? text : "";
}

static bool is_true(const json_t *row, const char *key)
{
    return json_is_true(json_object_get(row, key));
}

static int level_of(const json_t *row)
{
    return (int)json_integer_value(json_object_get(row, "level"));
}

static double seconds_of(const json_t *row)
{
    return json_number_value(json_object_get(row, "seconds"));
}

typedef struct sums {
    size_t n, detected, named, kinds;
    double seconds;
} sums;

static sums sum(const json_t *rows)
{
    sums s = {.n = json_array_size(rows)};

    for (size_t i = 0; i < s.n; i++) {
        const json_t *row = json_array_get(rows, i);
        bool is_new = true;

        for (size_t k = 0; k < i; k++)
            is_new = is_new
                     && strcmp(text_of(json_array_get(rows, k), "kind"),
                               text_of(row, "kind"))
                            != 0;
        s.detected += is_true(row, "detected");
        s.named += is_true(row, "named");
        s.kinds += is_new;
        s.seconds += seconds_of(row);
    }
    return s;
}

void ng_faults_print(FILE *out, const json_t *rows)
{
    const sums s = sum(rows);

    fprintf(out, "%-38s %-26s %-8s level  seconds\n", "fault", "kind", "");
    for (size_t i = 0; i < s.n; i++) {
        const json_t *row = json_array_get(rows, i);
        const bool named = is_true(row, "named");

        fprintf(out, "%-38s %-26s %-8s %5d %8.2f\n", text_of(row, "fault"),
                text_of(row, "kind"),
                named                      ? "named"
                : is_true(row, "detected") ? "FOUND"
                                           : "MISSED",
                level_of(row), seconds_of(row));
        if (!named && is_true(row, "detected"))
            fprintf(out, "     called %s: %s\n",
                    *text_of(row, "called") != '\0' ? text_of(row, "called")
                                                    : "nothing",
                    text_of(row, "diagnosis"));
    }
    fprintf(out,
            "%zu planted faults of %zu kinds: %zu found, %zu named, %.1f s\n",
            s.n, s.kinds, s.detected, s.named, s.seconds);
}

const char *ng_faults_not_here(int i)
{
    static const char *const reasons[] = {
        "L-24 (ties and NaN rows of the router): the router is no operation"
        " that a subject can be asked for; checks/test_model_moe.c holds the"
        " reference's",
        "L-25 (a rank that receives nothing): it takes several processes, a"
        " subject is one; checks/test_exchange.c and test_train_ranks.sh",
        "L-28 (local to global token index): no operation takes shards of a"
        " sequence",
    };

    return i >= 0 && i < (int)(sizeof reasons / sizeof *reasons) ? reasons[i]
                                                                 : NULL;
}

static void print_page(FILE *out, const json_t *rows)
{
    const sums s = sum(rows);

    fprintf(
        out,
        "# Planted faults\n\n"
        "%zu implementations with one mistake each, of %zu kinds: %zu found,"
        " %zu called by their kind, %.0f s in all. `narrowgauge faults"
        " --report reports` makes this page and [faults.json](faults.json);"
        " the faults are in conformance/faults/, the field cases in"
        " [cases.md](../docs/cases.md). Each is a plug-in like any"
        " other.\n\n"
        "| fault | case | kind | found | named | level | seconds |"
        " diagnosis |\n|---|---|---|---|---|---:|---:|---|\n",
        s.n, s.kinds, s.detected, s.named, s.seconds);
    for (size_t i = 0; i < s.n; i++) {
        const json_t *row = json_array_get(rows, i);

        fprintf(out, "| %s | %s | %s | %s | %s | %d | %.2f | %s |\n",
                text_of(row, "fault"), text_of(row, "case"),
                text_of(row, "kind"), is_true(row, "detected") ? "yes" : "NO",
                is_true(row, "named") ? "yes" : "NO", level_of(row),
                seconds_of(row), text_of(row, "diagnosis"));
    }
    fputs("\nNot planted:\n", out);
    for (int i = 0; ng_faults_not_here(i) != NULL; i++)
        fprintf(out, "- %s.\n", ng_faults_not_here(i));
}

static void print_json(FILE *out, const json_t *rows)
{
    json_dumpf(rows, out, JSON_INDENT(1));
    fputc('\n', out);
}

ng_status ng_faults_page_write(const char *directory, const json_t *rows,
                               ng_error *error)
{
    const ng_status status =
        ng_page_write(directory, "faults.json", print_json, rows, error);

    return status != NG_OK
               ? status
               : ng_page_write(directory, "faults.md", print_page, rows, error);
}
