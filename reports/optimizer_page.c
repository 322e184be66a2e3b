/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/optimizer_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/page_file.h"
#include "reports/page_values.h"

static void print_intro(FILE *out, const json_t *study)
{
    const json_t *s = json_object_get(study, "setting");
    const json_t *t = json_object_get(s, "text");
    const json_t *model = json_object_get(s, "model");

    fprintf(
        out,
        "# Optimizers: 24-bit weights and 8-bit states, measured\n\n"
        "Written by `study-optimizers` from `optimizers.json`; all figures "
        "are the CPU reference's.\n"
        "Task: predict a byte of a real text (%s, %.0f bytes, XXH3 %s) from "
        "the %.0f before it; %.0f parameters\n"
        "(embedding %.0f, hidden %.0f, SiLU), %.0f steps of %.0f bytes, "
        "%.0f seeds. The last tenth of the text is for validation.\n"
        "Every run computes with BF16 weights and gradients; runs of a seed "
        "start alike and see the same samples.\n\n",
        ng_page_text(t, "name"), ng_page_member(t, "bytes"),
        ng_page_text(t, "xxh3"), ng_page_member(model, "context"),
        ng_page_member(model, "parameters"), ng_page_member(model, "embedding"),
        ng_page_member(model, "hidden"), ng_page_member(s, "steps"),
        ng_page_member(s, "batch"), ng_page_member(s, "seeds"));
}

static void print_recipes(FILE *out, const json_t *study, const char *optimizer)
{
    size_t i;
    json_t *row;

    fprintf(out,
            "\n### %s\n\n![%s](optimizers-%s.svg)\n\n"
            "| recipe | what is kept between steps | bytes/parameter | without "
            "gradients | validation loss | deviation from fp32, %% "
            "| diverged |\n|---|---|---|---|---|---|---|\n",
            optimizer, optimizer, optimizer);
    json_array_foreach(json_object_get(study, "summary"), i, row) {
        const json_t *loss = json_object_get(row, "loss");

        if (strcmp(ng_page_text(row, "optimizer"), optimizer) != 0)
            continue;
        fprintf(out, "| %s | %s | %.4f | %.4f | ", ng_page_text(row, "recipe"),
                ng_page_text(row, "meaning"),
                ng_page_member(row, "bytes_per_parameter"),
                ng_page_member(row, "saved_bytes_per_parameter"));
        if (isfinite(ng_page_member(loss, "mean")))
            fprintf(out, "%.4f (sd %.4f) | ", ng_page_member(loss, "mean"),
                    ng_page_member(loss, "sd"));
        else
            fputs("- | ", out);
        if (strcmp(ng_page_text(row, "recipe"), "fp32") == 0)
            fputs("0", out);
        else
            ng_page_print_interval(
                out, json_object_get(row, "deviation_percent"), "%+.3f");
        fprintf(out, " | %.0f of %.0f |\n", ng_page_member(row, "diverged"),
                ng_page_member(row, "seeds"));
    }
}

static void print_training(FILE *out, const json_t *study)
{
    size_t i;
    json_t *optimizer;

    fputs(
        "## Training\n\n"
        "Deviation: of the last validation loss from that of fp32 with the "
        "same seed, mean and Student's 95 % interval.\n"
        "`nudged` is the measure of noise: what any change at all does. A run "
        "diverged if its last loss is NaN or above log 256;\n"
        "such runs are in no mean.\n",
        out);
    json_array_foreach(json_object_get(study, "optimizers"), i, optimizer)
        print_recipes(out, study, ng_page_text(optimizer, "optimizer"));
}

static void print_value(FILE *out, double x)
{
    if (isnan(x))
        fputs(" NaN |", out);
    else if (isinf(x))
        fputs(x > 0 ? " Inf |" : " -Inf |", out);
    else
        fprintf(out, " %.9g |", x);
}

static void print_losses(FILE *out, const json_t *study)
{
    size_t i;
    json_t *row;

    fputs("\n## What the published scheme loses\n\n"
          "Groups of 32, coded and decoded; steps of AdamW (lr 1e-3, betas 0.9 "
          "and 0.999, eps 1e-8) as updates over the learning rate.\n\n"
          "| case | input | exact | flashoptim | ng |\n|---|---|---|---|---|\n",
          out);
    json_array_foreach(json_object_get(study, "losses"), i, row) {
        const char *unit = strcmp(ng_page_text(row, "unit"), "lr") == 0
                               ? " (update / lr)"
                               : "";

        fprintf(out, "| %s | %s%s |", ng_page_text(row, "case"),
                ng_page_text(row, "input"), unit);
        print_value(out, ng_page_member(row, "exact"));
        print_value(out, ng_page_member(row, "flashoptim"));
        print_value(out, ng_page_member(row, "ng"));
        fputc('\n', out);
    }
}

static void print_coding(FILE *out, const json_t *study)
{
    size_t i;
    json_t *row;

    fputs(
        "\n## Linear against companded, on states of the run above\n\n"
        "The FP32 states of AdamW, seed 1, coded once each way. Flushed: "
        "nonzero elements that became 0; of the update m/(sqrt(v) + eps),\n"
        "elements whose v did while m did not, so that eps alone divides. "
        "Relative errors: |decoded - x|/|x| over nonzero elements.\n\n"
        "| step | state | coding | profile | flushed, % | median error | 90 % "
        "| 99 % | 99.9 % | largest | SNR, dB |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n",
        out);
    json_array_foreach(json_object_get(study, "coding"), i, row) {
        const json_t *e = json_object_get(row, "relative_error");

        fprintf(out,
                "| %.0f | %s | %s | %s | %.4g | %.3g | %.3g | %.3g | %.3g | "
                "%.3g | %.1f |\n",
                ng_page_member(row, "step"), ng_page_text(row, "state"),
                ng_page_text(row, "coding"), ng_page_text(row, "profile"),
                100.0 * ng_page_member(row, "flushed"),
                ng_page_member(e, "p50"), ng_page_member(e, "p90"),
                ng_page_member(e, "p99"), ng_page_member(e, "p999"),
                ng_page_member(e, "max"), ng_page_member(row, "snr_db"));
    }
}

static void print_data(FILE *out, const json_t *study, const json_t *row)
{
    fprintf(out, "$%s_%s << EOD\n", ng_page_text(row, "optimizer"),
            ng_page_text(row, "recipe"));
    ng_page_print_curves(out, json_object_get(study, "evaluated_at"),
                         json_object_get(row, "curves"));
}

/* Whether a curve has a finite point: gnuplot warns of one that has none. */
static bool has_points(const json_t *row, const char *name)
{
    const json_t *curves = json_object_get(row, "curves");
    size_t i;
    json_t *value;

    json_array_foreach(json_object_get(curves, name), i, value) {
        if (isfinite(ng_page_number(value)))
            return true;
    }
    return false;
}

static void print_line(FILE *out, const json_t *row, size_t colour,
                       bool deviation)
{
    const char *recipe = ng_page_text(row, "recipe");

    fprintf(out, "$%s_%s ", ng_page_text(row, "optimizer"), recipe);
    if (!deviation)
        fprintf(out, "using 1:2 with lines lc %zu lw 2 title '%s'", colour,
                recipe);
    else if (has_points(row, "low"))
        fprintf(out,
                "using 1:4:5 with filledcurves fs transparent solid 0.15 "
                "noborder lc %zu notitle, '' using 1:3 with lines lc %zu lw 2 "
                "notitle",
                colour, colour);
    else
        fprintf(out, "using 1:3 with lines lc %zu lw 2 notitle", colour);
}

/* One plot: a line for each recipe of the optimizer, of losses or deviations.
 */
static void print_lines(FILE *out, const json_t *study, const char *optimizer,
                        bool deviation)
{
    size_t i, colour = 0;
    json_t *row;
    const char *before = "plot ";

    json_array_foreach(json_object_get(study, "summary"), i, row) {
        if (strcmp(ng_page_text(row, "optimizer"), optimizer) != 0)
            continue;
        colour++;
        if (!has_points(row, deviation ? "deviation" : "loss"))
            continue;
        fputs(before, out);
        print_line(out, row, colour, deviation);
        before = ", ";
    }
    fputs(strcmp(before, ", ") == 0 ? "\n" : "plot 0 notitle\n", out);
}

static void print_plots(FILE *out, const json_t *study)
{
    size_t i;
    json_t *entry;

    fputs("# Written by study-optimizers. gnuplot optimizers.gp\n"
          "set datafile missing 'NaN'\n",
          out);
    json_array_foreach(json_object_get(study, "summary"), i, entry)
        print_data(out, study, entry);
    json_array_foreach(json_object_get(study, "optimizers"), i, entry) {
        const char *optimizer = ng_page_text(entry, "optimizer");

        fprintf(out,
                "set terminal svg size 720,640 font 'sans,12' background "
                "'white'\n"
                "set output 'optimizers-%s.svg'\n"
                "set multiplot layout 2,1\n"
                "set xlabel 'step'\nset grid\nset key top right\n"
                "set ylabel 'validation loss'\n"
                "set title '%s: mean of the seeds'\n",
                optimizer, optimizer);
        /* A loss that runs away must not flatten the others. */
        fputs("set yrange [*:6]\n", out);
        print_lines(out, study, optimizer, false);
        fputs("set yrange [-2:4]\n"
              "set ylabel 'deviation from fp32, %'\n"
              "set title 'paired by seed: mean and 95 % interval'\n",
              out);
        print_lines(out, study, optimizer, true);
        fputs("unset multiplot\nunset output\n", out);
    }
}

static void print_page(FILE *out, const json_t *study)
{
    print_intro(out, study);
    print_training(out, study);
    print_losses(out, study);
    print_coding(out, study);
}

ng_status ng_optimizer_page_write(bool *plotted, const json_t *study,
                                  const char *directory, ng_error *error)
{
    ng_status status =
        ng_page_write(directory, "optimizers.gp", print_plots, study, error);

    if (status == NG_OK)
        status =
            ng_page_write(directory, "optimizers.md", print_page, study, error);
    *plotted = status == NG_OK && ng_page_plot(directory, "optimizers.gp");
    return status;
}
