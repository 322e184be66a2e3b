/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/verify_html.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "reports/grouped_number.h"
#include "reports/text_escape.h"
#include "reports/texts_table.h"
#include "reports/verify_report.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

static int64_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void html(FILE *out, const char *text)
{
    ng_print_escaped(out, NG_TO_HTML, text);
}

/* A style sheet or script that the build embeds. It is ours: not escaped. */
static void print_asset(FILE *out, const char *name)
{
    for (int i = 0; i < ng_n_asset_texts; i++)
        if (strcmp(ng_asset_texts[i].name, name) == 0)
            fwrite(ng_asset_texts[i].text, 1, ng_asset_texts[i].size, out);
}

static bool has_failed(const json_t *operation)
{
    return number_of(operation, "failed_cases") > 0
           || json_array_size(json_object_get(operation, "missing")) > 0;
}

static bool passed(const json_t *run)
{
    return json_is_true(json_object_get(run, "passed"));
}

/* ---- head ---- */

static void print_head(FILE *out, const json_t *run)
{
    /* Nothing is loaded, whatever stands in the page. */
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\""
          "default-src 'none'; style-src 'unsafe-inline'; "
          "script-src 'unsafe-inline'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, "
          "initial-scale=1\">\n<title>",
          out);
    fputs(passed(run) ? "passed: " : "FAILED: ", out);
    html(out, text_of(run, "subject"));
    fputs(", narrowgauge verify</title>\n<style>\n", out);
    print_asset(out, "page.css");
    fputs("</style>\n</head>\n", out);
}

static void tile(FILE *out, const char *class, const char *number,
                 const char *what)
{
    fprintf(out,
            "<div class=\"tile\"><b class=\"%s\">%s</b><span>%s</span>"
            "</div>\n",
            class, number, what);
}

static void print_tiles(FILE *out, const json_t *run)
{
    const json_t *operations = json_object_get(run, "operations");
    const int64_t differences = number_of(run, "differences");
    int64_t n_run = 0, n_equal = 0;
    char text[64];
    json_t *operation;
    size_t i;

    json_array_foreach(operations, i, operation) {
        n_run += number_of(operation, "cases") > 0;
        n_equal += number_of(operation, "cases") > 0 && !has_failed(operation);
    }
    fputs("<div class=\"tiles\">\n", out);
    snprintf(text, sizeof text, "%" PRId64 " of %" PRId64, n_equal, n_run);
    tile(out, n_equal == n_run ? "good" : "bad", text, "operations right");
    tile(out, differences > 0 ? "bad" : "",
         ng_number_grouped(text, sizeof text, differences), "differences");
    tile(out, "",
         ng_number_grouped(text, sizeof text, number_of(run, "elements")),
         "elements");
    tile(out, "", ng_number_grouped(text, sizeof text, number_of(run, "cases")),
         "cases");
    snprintf(text, sizeof text, "%.1f s",
             json_number_value(json_object_get(run, "seconds")));
    tile(out, "", text, "time");
    fputs("</div>\n", out);
}

static void fact(FILE *out, const char *name, const char *value)
{
    fprintf(out, "<dt>%s</dt><dd>", name);
    html(out, value);
    fputs("</dd>\n", out);
}

static void print_facts(FILE *out, const json_t *run)
{
    char text[64];

    fputs("<dl>\n", out);
    fact(out, "held against", text_of(run, "expected"));
    fact(out, "profile", text_of(run, "profile"));
    snprintf(text, sizeof text,
             "level %" PRId64 ", seed %" PRId64 ", shard %" PRId64
             " of %" PRId64 "%s",
             number_of(run, "level"), number_of(run, "seed"),
             number_of(run, "shard"), number_of(run, "shards"),
             json_is_true(json_object_get(run, "merged")) ? ", merged" : "");
    fact(out, "run", text);
    fact(out, "GPU", text_of(run, "gpu"));
    fact(out, "toolkit", text_of(run, "toolkit"));
    fact(out, "ended", text_of(run, "time"));
    fact(out, "narrowgauge", text_of(run, "version"));
    fputs("</dl>\n", out);
}

/* ---- failures ---- */

static int count_failures(const json_t *run)
{
    json_t *operation;
    size_t i;
    int n = json_object_get(run, "verdict") != NULL;

    json_array_foreach(json_object_get(run, "operations"), i, operation)
        n += has_failed(operation);
    return n;
}

static void print_lines(FILE *out, const json_t *lines, size_t first,
                        size_t last)
{
    fputs("<pre>", out);
    for (size_t i = first; i < last; i++) {
        html(out, json_string_value(json_array_get(lines, i)));
        fputc('\n', out);
    }
    fputs("</pre>\n", out);
}

static void print_failure(FILE *out, const json_t *operation)
{
    enum { SHOWN = 3 };
    const json_t *lines = json_object_get(operation, "failures");
    const size_t n = json_array_size(lines);
    char a[32], b[32];
    json_t *class;
    size_t i;

    fputs("<div class=\"failure\"><h3>", out);
    html(out, text_of(operation, "operation"));
    if (*text_of(operation, "kind") != '\0') {
        fputs(" <span class=\"pill bad\">", out);
        html(out, text_of(operation, "kind"));
        fputs("</span>", out);
    }
    fputs("</h3>\n", out);
    if (*text_of(operation, "diagnosis") != '\0') {
        fputs("<p class=\"why\">", out);
        html(out, text_of(operation, "diagnosis"));
        fputs("</p>\n", out);
    }
    json_array_foreach(json_object_get(operation, "missing"), i, class) {
        fputs("<p class=\"why\">claims to have met the class ", out);
        html(out, json_string_value(class));
        fputs(" and did not</p>\n", out);
    }
    if (*text_of(operation, "shrunk") != '\0') {
        fputs("<p>The smallest case: <code>", out);
        html(out, text_of(operation, "shrunk"));
        fputs("</code>", out);
        if (*text_of(operation, "replay") != '\0') {
            fputs(", run again with <code>--replay ", out);
            html(out, text_of(operation, "replay"));
            fputs("</code>, in this folder", out);
        }
        fputs("</p>\n", out);
    }
    fprintf(
        out, "<p class=\"quiet\">%s of %s cases differ</p>\n",
        ng_number_grouped(a, sizeof a, number_of(operation, "failed_cases")),
        ng_number_grouped(b, sizeof b, number_of(operation, "cases")));
    if (n > 0)
        print_lines(out, lines, 0, n < SHOWN ? n : SHOWN);
    if (n > SHOWN) {
        fprintf(out, "<details><summary>%zu more lines</summary>\n", n - SHOWN);
        print_lines(out, lines, SHOWN, n);
        fputs("</details>\n", out);
    }
    fputs("</div>\n", out);
}

static void print_failures(FILE *out, const json_t *run)
{
    const json_t *verdict = json_object_get(run, "verdict");
    json_t *operation;
    size_t i;

    if (count_failures(run) == 0)
        return;
    fputs(
        "<h2 id=\"failures\">Failures</h2>\n"
        "<p>Each line is a whole case: <code>narrowgauge verify --replay "
        "LINE</code>, with the same subject and profile, runs it again.</p>\n",
        out);
    if (verdict != NULL) {
        fputs("<div class=\"failure\"><h3>The subject cannot be used</h3>\n"
              "<p class=\"why\">",
              out);
        html(out, text_of(verdict, "kind"));
        fputs(": ", out);
        html(out, text_of(verdict, "text"));
        fputs("</p></div>\n", out);
    }
    json_array_foreach(json_object_get(run, "operations"), i, operation)
        if (has_failed(operation))
            print_failure(out, operation);
}

/* ---- the table ---- */

static void count_cell(FILE *out, int64_t n)
{
    char text[32];

    fprintf(out, "<td data-v=\"%" PRId64 "\">%s</td>", n,
            ng_number_grouped(text, sizeof text, n));
}

/* "equal"; of a bounded operation the largest error over its bound. */
static void print_result(FILE *out, const json_t *operation)
{
    char verdict[64];
    const bool ran = number_of(operation, "variants") > 0;
    const json_t *share = json_object_get(operation, "share");

    fprintf(out, "<td class=\"left %s\">",
            has_failed(operation) ? "bad"
            : ran                 ? "good"
                                  : "quiet");
    if (ran && !has_failed(operation) && number_of(operation, "bounded") > 0
        && json_is_number(share))
        fprintf(out, "%.3g of bound", json_number_value(share));
    else
        html(out, ng_verify_verdict(verdict, operation));
    fputs("</td>", out);
}

static void print_row(FILE *out, const json_t *operation)
{
    const double seconds =
        json_number_value(json_object_get(operation, "seconds"));

    fputs("<tr><th scope=\"row\">", out);
    html(out, text_of(operation, "operation"));
    fputs("</th>", out);
    print_result(out, operation);
    fputs("<td class=\"left\">", out);
    html(out, text_of(operation, "class"));
    fputs("</td>", out);
    count_cell(out, number_of(operation, "differences"));
    count_cell(out, number_of(operation, "elements"));
    count_cell(out, number_of(operation, "cases"));
    count_cell(out, number_of(operation, "variants"));
    count_cell(out, number_of(operation, "not_covered"));
    fprintf(out, "<td data-v=\"%.6f\">%.2f</td></tr>\n", seconds, seconds);
}

/* Operations that the subject lacks, in one fold: of a plug-in, most. */
static void print_not_covered(FILE *out, const json_t *operations)
{
    const char *separator = "";
    int n = 0;
    json_t *operation;
    size_t i;

    json_array_foreach(operations, i, operation)
        n += number_of(operation, "variants") == 0;
    if (n == 0)
        return;
    fprintf(out,
            "<details><summary>%d operation%s not covered by the subject"
            "</summary><p class=\"quiet\">",
            n, n == 1 ? "" : "s");
    json_array_foreach(operations, i, operation)
        if (number_of(operation, "variants") == 0) {
            fputs(separator, out);
            html(out, text_of(operation, "operation"));
            separator = ", ";
        }
    fputs("</p></details>\n", out);
}

static void print_table(FILE *out, const json_t *operations)
{
    json_t *operation;
    size_t i;

    fputs("<h2 id=\"operations\">Operations</h2>\n"
          "<p>Press a heading to sort. Bounded operations: the largest error "
          "over "
          "its derived bound.</p>\n"
          "<div class=\"table\" tabindex=\"0\" role=\"region\" "
          "aria-label=\"Operations\"><table class=\"sorts\">\n"
          "<thead><tr><th class=\"left\">operation</th>"
          "<th class=\"left\">result</th><th class=\"left\">class</th>"
          "<th>differences</th><th>elements</th><th>cases</th><th>variants</th>"
          "<th>not covered</th><th>seconds</th></tr></thead>\n<tbody>\n",
          out);
    json_array_foreach(operations, i, operation)
        if (number_of(operation, "variants") > 0)
            print_row(out, operation);
    fputs("</tbody></table></div>\n", out);
    print_not_covered(out, operations);
}

/* ---- plots ---- */

typedef struct section {
    const char *id, *title, *words;
    int (*count)(const json_t *);
    void (*print)(FILE *, const json_t *);
} section;

static int count_axes(const json_t *operations)
{
    json_t *operation;
    size_t i;
    int n = 0;

    json_array_foreach(operations, i, operation)
        n += number_of(operation, "cases") > 0
             && json_object_size(json_object_get(operation, "axes")) > 0;
    return n;
}

static const section sections[] = {
    {"map", "Mismatches by rule",
     "Cases that failed, in %, by operation and by the value of each rule, "
     "type "
     "and layout. A dot: cases ran, none failed. Hatched: no such variant.",
     count_axes, ng_heat_map},
    {"ulp", "Errors in ULPs",
     "Bounded outputs against the exact value in MPFR, counted on a "
     "logarithmic "
     "scale. Dashed: 1 ULP. Sums that cancel are many ULPs of a small result "
     "off, and within their bound.",
     ng_plot_count_ulp, ng_plot_ulp},
    {"error", "Quantisers: error by magnitude",
     "Relative error of what was encoded or quantised in a nearest rounding, "
     "by "
     "the magnitude of the element under its scale. "
     "<span class=\"key\"></span>mean, <span class=\"key "
     "most\"></span>largest. "
     "To the left small values fall to zero (100 %), to the right they stop at "
     "the largest finite one.",
     ng_plot_count_error, ng_plot_error},
    {"scales", "Scales chosen",
     "Scales by power of two, counted on a logarithmic scale.",
     ng_plot_count_scales, ng_plot_scales},
};
enum { N_SECTIONS = sizeof sections / sizeof *sections };

static void print_nav(FILE *out, const json_t *run)
{
    const json_t *operations = json_object_get(run, "operations");

    fputs("<nav>", out);
    if (count_failures(run) > 0)
        fprintf(out, "<a href=\"#failures\">Failures (%d)</a>",
                count_failures(run));
    fputs("<a href=\"#operations\">Operations</a>", out);
    for (int i = 0; i < N_SECTIONS; i++)
        if (sections[i].count(operations) > 0)
            fprintf(out, "<a href=\"#%s\">%s</a>", sections[i].id,
                    sections[i].title);
    fputs("</nav>\n", out);
}

void ng_verify_html_print(FILE *out, const json_t *run)
{
    const json_t *operations = json_object_get(run, "operations");

    print_head(out, run);
    fputs("<body>\n<main>\n<h1>", out);
    html(out, text_of(run, "subject"));
    fprintf(out,
            " <span class=\"pill %s\">%s</span></h1>\n"
            "<div class=\"sub\">narrowgauge verify: every operation, in every "
            "variant, bit for bit</div>\n",
            passed(run) ? "good" : "bad", passed(run) ? "passed" : "FAILED");
    print_tiles(out, run);
    print_facts(out, run);
    print_nav(out, run);
    print_failures(out, run);
    print_table(out, operations);
    for (int i = 0; i < N_SECTIONS; i++)
        if (sections[i].count(operations) > 0) {
            fprintf(out, "<h2 id=\"%s\">%s</h2>\n<p>%s</p>\n", sections[i].id,
                    sections[i].title, sections[i].words);
            sections[i].print(out, operations);
        }
    fputs("<footer>Made from <code>verify.json</code>, which has all of these "
          "numbers; <code>narrowgauge report DIR</code> makes this page again. "
          "</footer>\n</main>\n<script>\n",
          out);
    print_asset(out, "page.js");
    fputs("</script>\n</body>\n</html>\n", out);
}
