/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/verify_report.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/files/atomic_write.h"
#include "reports/grouped_number.h"
#include "reports/text_escape.h"
#include "reports/verify_html.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

static int64_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* "CRASHED, HUNG": what the subject did, but for what it was not asked. */
static void print_verdicts(char text[64], const json_t *verdicts)
{
    size_t used = 0;
    const char *name;
    json_t *count;

    text[0] = '\0';
    json_object_foreach((json_t *)verdicts, name, count) {
        if (strcmp(name, "not asked") == 0)
            continue;
        if (used + strlen(name) + 3 > 64)
            break;
        used += (size_t)sprintf(text + used, "%s%s", used > 0 ? ", " : "", name);
    }
    for (char *c = text; *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
}

const char *ng_verify_verdict(char text[64], const json_t *operation)
{
    const int64_t bounded = number_of(operation, "bounded");
    const json_t *verdicts = json_object_get(operation, "verdicts");

    if (number_of(operation, "variants") == 0)
        return "not covered";
    if (json_object_size(verdicts) > 0) {
        print_verdicts(text, verdicts);
        return text;
    }
    if (number_of(operation, "failed_cases") > 0)
        return "DIFFERS";
    if (number_of(operation, "cases") == 0)
        return "not covered";
    if (json_array_size(json_object_get(operation, "missing")) > 0)
        return "CLASS EMPTY";
    if (bounded == 0)
        return "equal";
    snprintf(text, 64, "%.3g of bound",
             json_number_value(json_object_get(operation, "share")));
    return text;
}

ng_status ng_verify_report_folder(const char *folder, ng_error *error)
{
    struct stat info;

    if (mkdir(folder, 0777) == 0
        || (errno == EEXIST && stat(folder, &info) == 0
            && S_ISDIR(info.st_mode)))
        return NG_OK;
    return ng_fail(error, NG_BAD_FILE, "%s: folder: %s", folder,
                   errno == EEXIST ? "there is a file of that name"
                                   : strerror(errno));
}

static void row(FILE *out, const char *label, const char *text)
{
    fprintf(out, "| %s | ", label);
    ng_print_escaped(out, NG_TO_MARKDOWN, text);
    fputs(" |\n", out);
}

/* What one operation does wrong, the smallest input that shows it, some cases. */
static void print_markdown_failures(FILE *out, const json_t *operation)
{
    const json_t *failures = json_object_get(operation, "failures");
    json_t *line;
    size_t k;

    if (json_array_size(failures) == 0)
        return;
    fputs("\n## ", out);
    ng_print_escaped(out, NG_TO_MARKDOWN, text_of(operation, "operation"));
    fputs("\n\n", out);
    ng_print_escaped(out, NG_TO_MARKDOWN, text_of(operation, "diagnosis"));
    fputs("\n\n```\n", out);
    if (*text_of(operation, "shrunk") != '\0') {
        fputs("shrunk to ", out);
        ng_print_escaped(out, NG_TO_CODE, text_of(operation, "shrunk"));
        fputc('\n', out);
    }
    if (*text_of(operation, "replay") != '\0') {
        fputs("run it again with --replay ", out);
        ng_print_escaped(out, NG_TO_CODE, text_of(operation, "replay"));
        fputs(", in this folder\n", out);
    }
    json_array_foreach(failures, k, line)
        if (k < 5) {
            ng_print_escaped(out, NG_TO_CODE, json_string_value(line));
            fputc('\n', out);
        }
    fputs("```\n", out);
}

/* The operations that the subject has; the others in one fold, for of a plug-in
 * they are most. */
static void print_markdown_table(FILE *out, const json_t *operations)
{
    char a[32], b[32], verdict[64];
    const char *separator = "";
    int absent = 0;
    json_t *operation;
    size_t i;

    fputs("\n## Operations\n\n"
          "| operation | variants | not covered | elements | differences | |\n"
          "|---|---:|---:|---:|---:|---|\n", out);
    json_array_foreach(operations, i, operation) {
        if (number_of(operation, "variants") == 0) {
            absent++;
            continue;
        }
        fputs("| ", out);
        ng_print_escaped(out, NG_TO_MARKDOWN, text_of(operation, "operation"));
        fprintf(out, " | %" PRId64 " | %" PRId64 " | %s | %s | ",
                number_of(operation, "variants"),
                number_of(operation, "not_covered"),
                ng_number_grouped(a, sizeof a, number_of(operation, "elements")),
                ng_number_grouped(b, sizeof b,
                                  number_of(operation, "differences")));
        ng_print_escaped(out, NG_TO_MARKDOWN,
                         ng_verify_verdict(verdict, operation));
        fputs(" |\n", out);
    }
    if (absent == 0)
        return;
    fprintf(out, "\n<details><summary>%d operation%s not covered by the subject"
            "</summary>\n\n", absent, absent == 1 ? "" : "s");
    json_array_foreach(operations, i, operation)
        if (number_of(operation, "variants") == 0) {
            fputs(separator, out);
            ng_print_escaped(out, NG_TO_MARKDOWN,
                             text_of(operation, "operation"));
            separator = ", ";
        }
    fputs("\n\n</details>\n", out);
}

/* A Markdown summary that fits a CI step: what is wrong comes first. */
static void print_markdown(FILE *out, const json_t *run)
{
    const json_t *operations = json_object_get(run, "operations");
    json_t *operation;
    size_t i;

    fprintf(out, "# narrowgauge verify: %s\n",
            json_is_true(json_object_get(run, "passed")) ? "passed" : "FAILED");
    if (json_object_get(run, "verdict") != NULL) {
        fputs("\nThe subject cannot be used: ", out);
        ng_print_escaped(out, NG_TO_MARKDOWN,
                         text_of(json_object_get(run, "verdict"), "text"));
        fputc('\n', out);
    }
    json_array_foreach(operations, i, operation)
        print_markdown_failures(out, operation);
    print_markdown_table(out, operations);
    fputs("\n| | |\n|---|---|\n", out);
    row(out, "subject", text_of(run, "subject"));
    row(out, "held against", text_of(run, "expected"));
    row(out, "profile", text_of(run, "profile"));
    fprintf(out, "| level | %d |\n| seed | %" PRId64 " |\n",
            (int)number_of(run, "level"), number_of(run, "seed"));
    row(out, "GPU", text_of(run, "gpu"));
    row(out, "toolkit", text_of(run, "toolkit"));
    row(out, "version", text_of(run, "version"));
    row(out, "time", text_of(run, "time"));
}

static void print_json(FILE *out, const json_t *run)
{
    json_dumpf(run, out, JSON_INDENT(2));
    fputc('\n', out);
}

/* Write the file `stem` + `suffix`. */
static ng_status write_part(const char *stem, const char *suffix,
                            void (*print)(FILE *, const json_t *),
                            const json_t *run, ng_error *error)
{
    ng_atomic_file file = {0};
    char path[4096];

    if ((size_t)snprintf(path, sizeof path, "%s%s", stem, suffix) >= sizeof path)
        return ng_fail(error, NG_BAD_FILE, "%s: name: too long", stem);

    const ng_status status = ng_atomic_begin(&file, path, error);

    if (status != NG_OK)
        return status;
    print(file.stream, run);
    return ng_atomic_commit(&file, error);
}

ng_status ng_verify_report_pages(const char *stem, const json_t *run,
                                 ng_error *error)
{
    const ng_status status = write_part(stem, ".md", print_markdown, run, error);

    return status == NG_OK ? write_part(stem, ".html", ng_verify_html_print,
                                        run, error)
                           : status;
}

ng_status ng_verify_report_write(const char *folder, const json_t *run,
                                 ng_error *error)
{
    const int64_t shards = number_of(run, "shards");
    ng_status status = ng_verify_report_folder(folder, error);
    char stem[4096];

    /* Ranks of one mpirun were merged, and are whole again. */
    if (shards > 1 && !json_is_true(json_object_get(run, "merged")))
        snprintf(stem, sizeof stem, "%s/verify-%" PRId64 "-of-%" PRId64, folder,
                 number_of(run, "shard"), shards);
    else
        snprintf(stem, sizeof stem, "%s/verify", folder);
    if (status == NG_OK)
        status = write_part(stem, ".json", print_json, run, error);
    return status == NG_OK ? ng_verify_report_pages(stem, run, error) : status;
}
