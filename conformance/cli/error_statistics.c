/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/error_statistics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void take_row(ng_error_statistics *s, const ng_block_values *y,
                     const ng_block_values *x, int64_t r)
{
    double signal = 0, noise = 0;

    for (int64_t c = 0; c < x->cols; c++) {
        const double before = ng_block_value(x, r, c);
        const double after = ng_block_value(y, r, c);
        const double error = fabs(after - before);

        if (!isfinite(before) || !isfinite(after))
            continue;
        s->compared++;
        signal += before * before;
        noise += error * error;
        s->max_error = fmax(s->max_error, error);
        if (error == 0)
            continue;
        const double ulps =
            error / ng_block_ulp(y, before, ng_block_scale_value(y, r, c));
        if (ulps > s->max_ulp) {
            s->max_ulp = ulps;
            s->max_ulp_at[0] = r;
            s->max_ulp_at[1] = c;
        }
    }
    s->signal += signal;
    s->noise += noise;
}

static void take_scales(ng_error_statistics *s, const ng_block_values *of)
{
    for (int64_t i = 0; of->scales != NULL && i < of->scale_lines; i++)
        for (int64_t j = 0; j < of->scale_count; j++) {
            const double scale = ng_block_scale_at(of, i, j);

            s->scales++;
            if (!isfinite(scale))
                s->nan_scales++;
            else if (scale == 0)
                s->zero_scales++;
            else
                s->exponent[ilogb(scale) - NG_SCALE_LOWEST]++;
        }
}

void ng_error_statistics_take(ng_error_statistics *statistics,
                              const ng_block_values *y,
                              const ng_block_values *x)
{
    statistics->elements = x->rows * x->cols;
    for (int64_t r = 0; r < x->rows; r++)
        take_row(statistics, y, x, r);
    take_scales(statistics, y->scales != NULL ? y : x);
}

double ng_error_statistics_snr(const ng_error_statistics *statistics)
{
    if (statistics->signal == 0)
        return NAN;
    if (statistics->noise == 0)
        return INFINITY;
    return 10 * log10(statistics->signal / statistics->noise);
}

/* JSON has neither infinity nor NaN: they are strings. */
static json_t *real_json(double value)
{
    return isnan(value)   ? json_string("nan")
           : isinf(value) ? json_string(value > 0 ? "inf" : "-inf")
                          : json_real(value);
}

static json_t *exponents_json(const ng_error_statistics *s)
{
    json_t *object = json_object();
    char name[16];

    for (int i = 0; i < NG_N_SCALE_EXPONENTS; i++)
        if (s->exponent[i] != 0) {
            snprintf(name, sizeof name, "%d", NG_SCALE_LOWEST + i);
            json_object_set_new(object, name, json_integer(s->exponent[i]));
        }
    return object;
}

static json_t *events_json(const ng_events *events)
{
    json_t *object = json_object();

    for (int e = 0; e < NG_N_EVENTS; e++)
        json_object_set_new(object, ng_event_name((ng_event)e),
                            json_integer((json_int_t)events->count[e]));
    return object;
}

json_t *ng_error_statistics_json(const ng_error_statistics *s)
{
    const double n = s->elements > 0 ? (double)s->elements : 1;

    return json_pack(
        "{s:I, s:I, s:o, s:f, s:f, s:[I,I], s:f, s:f, s:I, s:I, s:I, s:o, s:o}",
        "elements", (json_int_t)s->elements, "compared",
        (json_int_t)s->compared, "snr_db",
        real_json(ng_error_statistics_snr(s)), "max_error", s->max_error,
        "max_ulp", s->max_ulp, "max_ulp_at", (json_int_t)s->max_ulp_at[0],
        (json_int_t)s->max_ulp_at[1], "share_saturated",
        (double)s->events.count[NG_EVENT_SATURATED] / n, "share_flushed",
        (double)s->events.count[NG_EVENT_FLUSHED] / n, "scales",
        (json_int_t)s->scales, "nan_scales", (json_int_t)s->nan_scales,
        "zero_scales", (json_int_t)s->zero_scales, "scale_exponents",
        exponents_json(s), "events", events_json(&s->events));
}

void ng_scale_histogram_draw(char *text, int width, int *low, int *high,
                             const ng_error_statistics *s)
{
    static const char shade[] = ".:-=+*#%@";
    const int n_shades = sizeof shade - 1;
    int64_t sum[NG_N_SCALE_EXPONENTS] = {0}, most = 0;

    *low = NG_N_SCALE_EXPONENTS;
    *high = -1;
    for (int i = 0; i < NG_N_SCALE_EXPONENTS; i++)
        if (s->exponent[i] != 0) {
            *low = i < *low ? i : *low;
            *high = i;
        }
    const int per_cell = *high < *low ? 1 : (*high - *low) / width + 1;
    for (int i = *low; i <= *high; i++) {
        sum[(i - *low) / per_cell] += s->exponent[i];
        if (sum[(i - *low) / per_cell] > most)
            most = sum[(i - *low) / per_cell];
    }
    const int cells = *high < *low ? 0 : (*high - *low) / per_cell + 1;
    for (int i = 0; i < cells; i++)
        text[i] = sum[i] == 0 ? ' ' : shade[(sum[i] * n_shades - 1) / most];
    text[cells] = '\0';
    *low += NG_SCALE_LOWEST;
    *high += NG_SCALE_LOWEST;
}

int ng_scale_histogram_median(const ng_error_statistics *s)
{
    const int64_t finite = s->scales - s->nan_scales - s->zero_scales;
    int64_t seen = 0;

    for (int i = 0; i < NG_N_SCALE_EXPONENTS; i++) {
        seen += s->exponent[i];
        if (2 * seen >= finite)
            return NG_SCALE_LOWEST + i;
    }
    return 0;
}
