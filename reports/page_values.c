/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/page_values.h"

#include <math.h>
#include <stdlib.h>

double ng_page_number(const json_t *value)
{
    return json_is_string(value)   ? strtod(json_string_value(value), NULL)
           : json_is_number(value) ? json_number_value(value)
                                   : NAN;
}

double ng_page_member(const json_t *object, const char *name)
{
    return ng_page_number(json_object_get(object, name));
}

const char *ng_page_text(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));

    return value != NULL ? value : "";
}

void ng_page_print_interval(FILE *out, const json_t *mean, const char *format)
{
    if (!isfinite(ng_page_member(mean, "mean"))) {
        fputs("-", out);
        return;
    }
    fprintf(out, format, ng_page_member(mean, "mean"));
    if (!isfinite(ng_page_member(mean, "low")))
        return;
    fputs(" [", out);
    fprintf(out, format, ng_page_member(mean, "low"));
    fputs(", ", out);
    fprintf(out, format, ng_page_member(mean, "high"));
    fputs("]", out);
}

void ng_page_print_curves(FILE *out, const json_t *steps, const json_t *curves)
{
    static const char *const names[] = {"loss", "deviation", "low", "high"};
    size_t i;
    json_t *step;

    json_array_foreach(steps, i, step) {
        fprintf(out, "%.0f", ng_page_number(step));
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            const double x = ng_page_number(
                json_array_get(json_object_get(curves, names[j]), i));

            if (isfinite(x))
                fprintf(out, " %.6g", x);
            else
                fputs(" NaN", out);
        }
        fputc('\n', out);
    }
    fputs("EOD\n", out);
}
