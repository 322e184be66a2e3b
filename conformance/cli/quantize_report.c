/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/quantize_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "conformance/cli/complain.h"
#include "conformance/cli/rules_option.h"

enum { MAX_NAME_WIDTH = 32, HISTOGRAM_WIDTH = 40 };

/* A name from a file, cut to width from the left: its end tells more. */
static void name_text(char text[MAX_NAME_WIDTH + 1], const char *name)
{
    const size_t length = strlen(name);

    if (length <= MAX_NAME_WIDTH) {
        strcpy(text, name);
    } else {
        memcpy(text, "...", 3);
        strcpy(text + 3, name + length - MAX_NAME_WIDTH + 3);
    }
}

static void shape_text(char *text, size_t size, const ng_source *source)
{
    size_t used = 0;

    snprintf(text, size, "scalar");
    for (int axis = 0; axis < source->rank && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64,
                                 axis > 0 ? "x" : "", source->shape[axis]);
}

/* A share of n: "0", "<0.01 %", "1.25 %". */
static void share_text(char *text, size_t size, uint64_t count, int64_t n)
{
    const double share = n > 0 ? 100 * (double)count / (double)n : 0;

    if (count == 0)
        snprintf(text, size, "0");
    else if (share < 0.01)
        snprintf(text, size, "<0.01 %%");
    else
        snprintf(text, size, "%.2f %%", share);
}

static void snr_text(char *text, size_t size, const ng_error_statistics *s)
{
    const double snr = ng_error_statistics_snr(s);

    if (isnan(snr))
        snprintf(text, size, "no signal");
    else if (isinf(snr))
        snprintf(text, size, "exact");
    else
        snprintf(text, size, "%.2f", snr);
}

static int name_width(const ng_sources *sources)
{
    int width = (int)strlen("tensor");

    for (int i = 0; i < sources->n; i++) {
        const int length = (int)strlen(sources->list[i].name);

        if (length > width)
            width = length < MAX_NAME_WIDTH ? length : MAX_NAME_WIDTH;
    }
    return width;
}

static void print_tensor(const ng_source *source, const ng_error_statistics *s,
                         int width)
{
    char name[MAX_NAME_WIDTH + 1], shape[96], snr[32], ulp[32], saturated[16];
    char flushed[16], nan[48];

    name_text(name, source->name);
    shape_text(shape, sizeof shape, source);
    snr_text(snr, sizeof snr, s);
    snprintf(ulp, sizeof ulp, s->max_ulp < 1e6 ? "%.3f" : "%.2g", s->max_ulp);
    share_text(saturated, sizeof saturated, s->events.count[NG_EVENT_SATURATED],
               s->elements);
    share_text(flushed, sizeof flushed, s->events.count[NG_EVENT_FLUSHED],
               s->elements);
    share_text(nan, sizeof nan, (uint64_t)s->nan_scales, s->scales);
    printf("%-*s  %-6s  %-10s  %9s  %7s  %9s  %8s  %10s\n", width, name,
           ng_dtype_name(source->codes.dtype), shape, snr, ulp, saturated,
           flushed, nan);
}

static void print_histogram(const ng_source *source,
                            const ng_error_statistics *s, int width)
{
    char name[MAX_NAME_WIDTH + 1], bar[HISTOGRAM_WIDTH + 1], low_text[16];
    int low, high;

    name_text(name, source->name);
    printf("%-*s  ", width, name);
    if (s->scales == s->nan_scales + s->zero_scales) {
        puts(s->scales == 0 ? "no scales" : "no scale finite and not zero");
        return;
    }
    ng_scale_histogram_draw(bar, HISTOGRAM_WIDTH, &low, &high, s);
    snprintf(low_text, sizeof low_text, "2^%d", low);
    printf("%7s |%s| 2^%d, median 2^%d, %" PRId64 " scale%s\n", low_text, bar,
           high, ng_scale_histogram_median(s), s->scales,
           s->scales == 1 ? "" : "s");
}

void ng_quantize_print(const ng_sources *sources,
                       const ng_error_statistics *statistics,
                       const ng_quantize_plan *plan, const char *in,
                       const char *out)
{
    const int width = name_width(sources);
    char rules[1024];

    ng_rules_text(rules, sizeof rules, &plan->profile.rules, false);
    printf("%s  %s -> %s\nprofile %s %s, %s%s\n\n", plan->conversion->operation,
           in, out, plan->profile.name, plan->profile.version,
           rules[0] != '\0' ? "rules " : "default rules", rules);
    printf("%-*s  %-6s  %-10s  %9s  %7s  %9s  %8s  %10s\n", width, "tensor",
           "from", "shape", "SNR dB", "max ULP", "saturated", "flushed",
           "NaN blocks");
    for (int i = 0; i < sources->n; i++)
        print_tensor(&sources->list[i], &statistics[i], width);
    printf("\nscales of the %s by power of two (denser: more of them)\n",
           plan->conversion->to.kind == NG_SIDE_MATRIX ? "input" : "result");
    for (int i = 0; i < sources->n; i++)
        print_histogram(&sources->list[i], &statistics[i], width);
}

static json_t *shape_json(const ng_source *source)
{
    json_t *shape = json_array();

    for (int axis = 0; axis < source->rank; axis++)
        json_array_append_new(shape, json_integer(source->shape[axis]));
    return shape;
}

json_t *ng_quantize_json(const ng_sources *sources,
                         const ng_error_statistics *statistics,
                         const ng_quantize_plan *plan, const char *in,
                         const char *out)
{
    const ng_rules *rules = &plan->profile.rules;
    json_t *tensors = json_array(), *rule_values = json_object();

    for (int r = 0; r < NG_N_RULES; r++)
        json_object_set_new(rule_values, ng_rule_name((ng_rule)r),
                            json_string(ng_rule_value_name(
                                (ng_rule)r, ng_rules_get(rules, (ng_rule)r))));
    for (int i = 0; i < sources->n; i++) {
        const ng_source *source = &sources->list[i];
        json_t *object = json_pack(
            "{s:s, s:s, s:o, s:I, s:I}", "name", source->name, "dtype",
            ng_dtype_name(source->codes.dtype), "shape", shape_json(source),
            "rows", (json_int_t)source->rows, "cols", (json_int_t)source->cols);
        json_t *numbers = ng_error_statistics_json(&statistics[i]);

        json_object_update(object, numbers);
        json_decref(numbers);
        json_array_append_new(tensors, object);
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:i, s:o}",
                     "operation", plan->conversion->operation, "profile",
                     plan->profile.name, "profile_version",
                     plan->profile.version, "scales",
                     plan->conversion->to.kind == NG_SIDE_MATRIX
                         ? "none"
                         : ng_dtype_name(plan->scales),
                     "rules", rule_values, "in", in, "out", out, "skipped",
                     sources->n_skipped, "tensors", tensors);
}

void ng_quantize_say_skipped(const ng_sources *sources, const char *in)
{
    const int room = sizeof sources->skipped / sizeof *sources->skipped;
    const int shown = sources->n_skipped < room ? sources->n_skipped : room;

    for (int i = 0; i < shown; i++)
        ng_complain(0, "quantize", "%s: %s: skipped", in, sources->skipped[i]);
    if (sources->n_skipped > shown)
        ng_complain(0, "quantize", "%s: %d more tensors of other types skipped",
                    in, sources->n_skipped - shown);
}
