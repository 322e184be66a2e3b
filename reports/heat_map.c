/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the mismatches are: a row an operation, a column a value of a rule, a
 * type or a layout, a cell the share of the cases with that value that failed.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "reports/text_escape.h"
#include "reports/verify_html.h"

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static bool ran(const json_t *operation)
{
    return number_of(operation, "cases") > 0
           && json_object_size(json_object_get(operation, "axes")) > 0;
}

/* Axes and their values that some operation ran, in the order met: {axis:
 * {value: true}}. */
static json_t *columns_of(const json_t *operations)
{
    json_t *columns = json_object(), *operation, *values, *tally;
    const char *axis, *value;
    size_t i;

    json_array_foreach(operations, i, operation)
        json_object_foreach(json_object_get(operation, "axes"), axis, values)
            json_object_foreach(values, value, tally) {
                if (number_of(tally, "cases") == 0)
                    continue;
                if (json_object_get(columns, axis) == NULL)
                    json_object_set_new(columns, axis, json_object());
                json_object_set_new(json_object_get(columns, axis), value,
                                    json_true());
            }
    return columns;
}

static void print_head(FILE *out, const json_t *columns)
{
    const char *axis, *value;
    json_t *values, *unused;

    fputs("<thead><tr><th rowspan=\"2\" class=\"left\">operation</th>", out);
    json_object_foreach((json_t *)columns, axis, values) {
        fprintf(out, "<th class=\"axis\" colspan=\"%zu\">",
                json_object_size(values));
        ng_print_escaped(out, NG_TO_HTML, axis);
        fputs("</th>", out);
    }
    fputs("</tr><tr>", out);
    json_object_foreach((json_t *)columns, axis, values)
        json_object_foreach(values, value, unused) {
            fputs("<th class=\"value\"><span>", out);
            ng_print_escaped(out, NG_TO_HTML, value);
            fputs("</span></th>", out);
        }
    fputs("</tr></thead>\n", out);
}

static void print_cell(FILE *out, const json_t *tally)
{
    const json_int_t cases = number_of(tally, "cases");
    const json_int_t failed = number_of(tally, "failed_cases");

    if (cases <= 0) {
        fputs("<td class=\"none\"></td>", out);
        return;
    }
    fprintf(out,
            "<td class=\"%s\" title=\"%" JSON_INTEGER_FORMAT
            " of %" JSON_INTEGER_FORMAT " cases differ\"",
            failed > 0 ? "hit" : "zero", failed, cases);
    if (failed > 0) {
        const double share = fmin((double)failed / (double)cases, 1);

        fprintf(out, " style=\"background:rgba(var(--bad-rgb),%.2f)\">",
                0.18 + 0.6 * sqrt(share));
        if (share < 0.01) /* neither none nor all but where it is so */
            fputs("&lt;1", out);
        else if (share > 0.99 && share < 1)
            fputs("&gt;99", out);
        else
            fprintf(out, "%.0f", 100 * share);
        fputs("</td>", out);
    } else {
        fputs(">&middot;</td>", out);
    }
}

static void print_row(FILE *out, const json_t *operation, const json_t *columns)
{
    const json_t *axes = json_object_get(operation, "axes");
    const char *axis, *value;
    json_t *values, *unused;

    fputs("<tr><th scope=\"row\">", out);
    ng_print_escaped(
        out, NG_TO_HTML,
        json_string_value(json_object_get(operation, "operation")));
    fputs("</th>", out);
    json_object_foreach((json_t *)columns, axis, values)
        json_object_foreach(values, value, unused)
            print_cell(out,
                       json_object_get(json_object_get(axes, axis), value));
    fputs("</tr>\n", out);
}

void ng_heat_map(FILE *out, const json_t *operations)
{
    json_t *columns = columns_of(operations), *operation;
    size_t i;

    fputs("<div class=\"table\" tabindex=\"0\" role=\"region\" "
          "aria-label=\"Failed cases by operation and rule\">"
          "<table class=\"heat\">\n",
          out);
    print_head(out, columns);
    fputs("<tbody>\n", out);
    json_array_foreach(operations, i, operation)
        if (ran(operation))
            print_row(out, operation, columns);
    fputs("</tbody></table></div>\n", out);
    json_decref(columns);
}
