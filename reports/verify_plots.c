/* SPDX-License-Identifier: Apache-2.0
 *
 * Plots as SVG in a box of 360 by 190: the size at which they stand on a phone.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "reports/grouped_number.h"
#include "reports/text_escape.h"
#include "reports/verify_html.h"

enum {
    WIDTH = 360,
    HEIGHT = 190,
    LEFT = 46,
    RIGHT = 8,
    TOP = 8,
    BOTTOM = 34,
    INNER = WIDTH - LEFT - RIGHT,
    DEEP = HEIGHT - TOP - BOTTOM,
    FIRST_ULP = 8
};

static const char *name_of(const json_t *operation)
{
    return json_string_value(json_object_get(operation, "operation"));
}

/* A sum of counts as a count; of a file's, it may pass what one holds. */
static int64_t whole(double n)
{
    return n < 0x1p63 ? (int64_t)n : INT64_MAX;
}

static double row_number(const json_t *row, size_t i)
{
    return json_number_value(json_array_get(row, i));
}

/* Whether rows [binade, count, ...] can be drawn: at least one, of rising
 * binades that a double has, none empty. A file may hold anything. */
static bool are_rows(const json_t *rows)
{
    double last = -1100;
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) {
        if (!(row_number(row, 0) > last) || row_number(row, 0) > 1100
            || row_number(row, 1) < 1)
            return false;
        last = row_number(row, 0);
    }
    return json_array_size(rows) > 0;
}

static void begin_card(FILE *out, const json_t *operation)
{
    fputs("<div class=\"card\"><h3>", out);
    ng_print_escaped(out, NG_TO_HTML, name_of(operation));
    fputs("</h3>", out);
}

static void begin_plot(FILE *out, const json_t *operation, const char *what)
{
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
            HEIGHT);
    ng_print_escaped(out, NG_TO_HTML, name_of(operation));
    fprintf(out, ": %s\">", what);
}

static void end_card(FILE *out)
{
    fputs("</svg></div>\n", out);
}

static void label(FILE *out, double x, double y, const char *anchor,
                  const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x,
            y, anchor, text);
}

static void line(FILE *out, const char *class, double x1, double y1, double x2,
                 double y2)
{
    fprintf(out,
            "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
            "y2=\"%.1f\"/>",
            class, x1, y1, x2, y2);
}

/* ---- counts, on a logarithmic axis from 1 up ---- */

static double decades_of(double most)
{
    return most > 1 ? ceil(log10(most) + 1e-9) : 1;
}

/* The height of a bar: a count of 1 shows. */
static double bar_height(double n, double decades)
{
    return n < 1 ? 0 : DEEP * (log10(n) + 0.15) / (decades + 0.15);
}

static void count_axis(FILE *out, double decades)
{
    static const char *const powers[] = {
        "1",    "10",    "100", "1 k",  "10 k",  "100 k", "1 M",
        "10 M", "100 M", "1 G", "10 G", "100 G", "1 T"};
    const int step = decades > 6 ? 2 : 1;

    for (int d = 0; d <= (int)decades && d <= 12; d += step) {
        const double y = TOP + DEEP - bar_height(pow(10, d), decades);

        line(out, "grid", LEFT, y, WIDTH - RIGHT, y);
        label(out, LEFT - 5, y + 4, "end", powers[d]);
    }
}

static void bar(FILE *out, const char *class, double x, double width, double n,
                double decades, const char *title)
{
    const double height = bar_height(n, decades);
    char digits[32];

    fprintf(out,
            "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
            "height=\"%.2f\"><title>%s: %s</title></rect>",
            class, x, TOP + DEEP - height, width, height, title,
            ng_number_grouped(digits, sizeof digits, whole(n)));
}

/* ---- errors in ULPs ---- */

static bool has_ulp(const json_t *operation)
{
    return json_array_size(json_object_get(operation, "ulp")) > FIRST_ULP;
}

/* "[1/8, 1/4) ULP". */
static void ulp_range(char text[48], size_t bin, size_t n)
{
    static const char *const eighths[] = {"0",   "1/8", "1/4", "3/8", "1/2",
                                          "5/8", "3/4", "7/8", "1"};

    if (bin < FIRST_ULP)
        snprintf(text, 48, "%s to %s ULP", eighths[bin], eighths[bin + 1]);
    else if (bin + 1 < n)
        snprintf(text, 48, "%.0f to %.0f ULP", ldexp(1, (int)bin - FIRST_ULP),
                 ldexp(1, (int)bin - FIRST_ULP + 1));
    else
        snprintf(text, 48, "%.0f ULP and more", ldexp(1, (int)bin - FIRST_ULP));
}

static void plot_ulp(FILE *out, const json_t *operation)
{
    const json_t *ulp = json_object_get(operation, "ulp");
    const size_t n = json_array_size(ulp);
    const double step = (double)INNER / (double)n;
    double most = 0, sum = 0, inside = 0;
    char text[48], digits[32];

    for (size_t i = 0; i < n; i++) {
        const double count = row_number(ulp, i);

        most = fmax(most, count);
        sum += count;
        inside += i < FIRST_ULP ? count : 0;
    }

    const double decades = decades_of(most);

    begin_card(out, operation);
    fprintf(out, "<p>%s units, %.*f %% within 1 ULP</p>",
            ng_number_grouped(digits, sizeof digits, whole(sum)),
            inside < sum ? 3 : 0, /* never 100.000 */
            sum > 0 ? floor(1e5 * (inside / sum)) / 1e3 : 0);
    begin_plot(out, operation, "errors in ULPs");
    count_axis(out, decades);
    for (size_t i = 0; i < n; i++) {
        ulp_range(text, i, n);
        if (row_number(ulp, i) > 0)
            bar(out, i < FIRST_ULP ? "bar" : "bar far",
                LEFT + (double)i * step + 1, step - 2, row_number(ulp, i),
                decades, text);
        if (i % 4 == 0) {
            if (i < FIRST_ULP)
                snprintf(text, sizeof text, "%s", i == 0 ? "0" : "1/2");
            else
                snprintf(text, sizeof text, "%.0f",
                         ldexp(1, (int)i - FIRST_ULP));
            label(out, LEFT + (double)i * step, HEIGHT - BOTTOM + 15, "middle",
                  text);
        }
    }
    line(out, "mark", LEFT + FIRST_ULP * step, TOP, LEFT + FIRST_ULP * step,
         TOP + DEEP);
    label(out, LEFT + INNER / 2.0, HEIGHT - 4, "middle", "error, ULP");
    end_card(out);
}

/* ---- relative errors by magnitude ---- */

static bool has_error(const json_t *operation)
{
    return are_rows(json_object_get(operation, "error"));
}

static double mean_of(const json_t *row)
{
    return row_number(row, 2) / row_number(row, 1) / 0x1p20;
}

static double most_of(const json_t *row)
{
    return row_number(row, 3) / 0x1p20;
}

/* What a plot shows: rows [first, last) of the histogram, their binades and one
 * past them, errors from 2^bottom to 2^top. */
typedef struct error_view {
    const json_t *rows;
    size_t first, last;
    int low, high;
    double step, bottom, top;
} error_view;

/* Where all is lost, at both ends, the magnitude says one thing only: four
 * binades of that are enough. */
static void choose_rows(error_view *v)
{
    enum { KEPT = 4 };
    const size_t n = json_array_size(v->rows);
    size_t first = 0, last = n;

    while (first < n && mean_of(json_array_get(v->rows, first)) >= 0.99)
        first++;
    while (last > 0 && mean_of(json_array_get(v->rows, last - 1)) >= 0.99)
        last--;
    v->first = first < n && first > KEPT ? first - KEPT : 0;
    v->last = last > 0 && last + KEPT < n ? last + KEPT : n;
}

static error_view view_of(const json_t *operation)
{
    error_view v = {.rows = json_object_get(operation, "error")};
    double least = 2, most = 1;

    choose_rows(&v);
    for (size_t i = v.first; i < v.last; i++) {
        const json_t *row = json_array_get(v.rows, i);

        least = mean_of(row) > 0 ? fmin(least, mean_of(row)) : least;
        most = fmax(most, most_of(row));
    }
    v.low = (int)row_number(json_array_get(v.rows, v.first), 0);
    v.high = (int)row_number(json_array_get(v.rows, v.last - 1), 0) + 1;
    v.step = (double)INNER / (v.high - v.low);
    v.top = log2(fmin(most, 2)) + 0.2;
    v.bottom = fmax(floor(log2(least)) - 1, -19);
    return v;
}

static double error_x(const error_view *v, double binade)
{
    return LEFT + (binade - v->low) * v->step;
}

static double error_y(const error_view *v, double error)
{
    const double e = error > 0 ? fmax(log2(error), v->bottom) : v->bottom;

    return TOP + DEEP * (v->top - fmin(e, v->top)) / (v->top - v->bottom);
}

static void error_line(FILE *out, const char *class, const error_view *v,
                       double (*value)(const json_t *))
{
    double last = -HUGE_VAL;

    fprintf(out, "<path class=\"%s\" d=\"", class);
    for (size_t i = v->first; i < v->last; i++) {
        const json_t *row = json_array_get(v->rows, i);
        const double b = row_number(row, 0);

        fprintf(out, "%c%.1f %.1fH%.1f", b > last + 1 ? 'M' : 'L',
                error_x(v, b), error_y(v, value(row)), error_x(v, b + 1));
        last = b;
    }
    fputs("\"/>", out);
}

static void error_axis(FILE *out, const error_view *v)
{
    static const struct {
        double value;
        const char *text;
    } marks[] = {{1, "100 %"},     {0.1, "10 %"},    {0.01, "1 %"},
                 {0.001, "0.1 %"}, {1e-4, "0.01 %"}, {1e-5, "0.001 %"}};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const double y = error_y(v, marks[i].value);

        if (log2(marks[i].value) < v->bottom)
            break;
        line(out, "grid", LEFT, y, WIDTH - RIGHT, y);
        label(out, LEFT - 5, y + 4, "end", marks[i].text);
    }
}

/* A step of the labels that leaves five or so. */
static int label_step(int binades)
{
    int step = 1;

    while (binades / step > 6)
        step *= 2;
    return step;
}

static void binade_axis(FILE *out, int low, int high, double step,
                        const char *what)
{
    const int every = label_step(high - low);

    for (int b = low; b <= high; b++) {
        const double x = LEFT + (b - low) * step;

        if (b % every == 0 && x < WIDTH - RIGHT - 6)
            fprintf(out,
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">2"
                    "<tspan dy=\"-4\" font-size=\"8\">%d</tspan></text>",
                    x, HEIGHT - BOTTOM + 16, b);
    }
    label(out, LEFT + INNER / 2.0, HEIGHT - 4, "middle", what);
}

static void error_tips(FILE *out, const error_view *v)
{
    for (size_t i = v->first; i < v->last; i++) {
        const json_t *row = json_array_get(v->rows, i);

        fprintf(out,
                "<rect x=\"%.1f\" y=\"%d\" width=\"%.2f\" height=\"%d\" "
                "fill-opacity=\"0\"><title>2^%.0f: mean %.4g %%, largest %.4g "
                "%%, %.0f elements</title></rect>",
                error_x(v, row_number(row, 0)), TOP, v->step, DEEP,
                row_number(row, 0), 100 * mean_of(row), 100 * most_of(row),
                row_number(row, 1));
    }
}

static void plot_error(FILE *out, const json_t *operation)
{
    const error_view v = view_of(operation);
    const bool scaled = strncmp(name_of(operation), "encode_", 7) != 0;
    double elements = 0;
    char digits[32];
    json_t *row;
    size_t i;

    json_array_foreach(v.rows, i, row)
        elements += row_number(row, 1);
    begin_card(out, operation);
    fprintf(out, "<p>%s elements</p>",
            ng_number_grouped(digits, sizeof digits, whole(elements)));
    begin_plot(out, operation, "relative error by magnitude");
    error_axis(out, &v);
    error_line(out, "most", &v, most_of);
    error_line(out, "mean", &v, mean_of);
    error_tips(out, &v);
    binade_axis(out, v.low, v.high, v.step, scaled ? "|x| / scale" : "|x|");
    end_card(out);
}

/* ---- scales ---- */

static const json_t *binades_of(const json_t *operation)
{
    return json_object_get(json_object_get(operation, "scales"), "binades");
}

static bool has_scales(const json_t *operation)
{
    return are_rows(binades_of(operation));
}

static void plot_scales(FILE *out, const json_t *operation)
{
    const json_t *scales = json_object_get(operation, "scales");
    const json_t *binades = binades_of(operation);
    const size_t n = json_array_size(binades);
    const int low = (int)row_number(json_array_get(binades, 0), 0);
    const int high = (int)row_number(json_array_get(binades, n - 1), 0) + 1;
    const double step = (double)INNER / (high - low);
    double most = 0, sum = 0;
    char text[32], a[32], b[32], c[32];

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, row_number(json_array_get(binades, i), 1));
        sum += row_number(json_array_get(binades, i), 1);
    }

    const double decades = decades_of(most);

    begin_card(out, operation);
    fprintf(
        out, "<p>%s finite, %s NaN, %s zero</p>",
        ng_number_grouped(a, sizeof a, whole(sum)),
        ng_number_grouped(b, sizeof b,
                          json_integer_value(json_object_get(scales, "nan"))),
        ng_number_grouped(c, sizeof c,
                          json_integer_value(json_object_get(scales, "zero"))));
    begin_plot(out, operation, "scales by power of two");
    count_axis(out, decades);
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(binades, i);
        const double gap = step > 4 ? 1 : -0.3; /* no seams */

        snprintf(text, sizeof text, "2^%.0f", row_number(row, 0));
        bar(out, "bar", LEFT + (row_number(row, 0) - low) * step, step - gap,
            row_number(row, 1), decades, text);
    }
    binade_axis(out, low, high, step, "scale");
    end_card(out);
}

/* ---- cards ---- */

static int count(const json_t *operations, bool (*has)(const json_t *))
{
    json_t *operation;
    size_t i;
    int n = 0;

    json_array_foreach(operations, i, operation)
        n += has(operation);
    return n;
}

static void plot(FILE *out, const json_t *operations,
                 bool (*has)(const json_t *),
                 void (*one)(FILE *, const json_t *))
{
    json_t *operation;
    size_t i;

    fputs("<div class=\"cards\">\n", out);
    json_array_foreach(operations, i, operation)
        if (has(operation))
            one(out, operation);
    fputs("</div>\n", out);
}

int ng_plot_count_ulp(const json_t *operations)
{
    return count(operations, has_ulp);
}

int ng_plot_count_error(const json_t *operations)
{
    return count(operations, has_error);
}

int ng_plot_count_scales(const json_t *operations)
{
    return count(operations, has_scales);
}

void ng_plot_ulp(FILE *out, const json_t *operations)
{
    plot(out, operations, has_ulp, plot_ulp);
}

void ng_plot_error(FILE *out, const json_t *operations)
{
    plot(out, operations, has_error, plot_error);
}

void ng_plot_scales(FILE *out, const json_t *operations)
{
    plot(out, operations, has_scales, plot_scales);
}
