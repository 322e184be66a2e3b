/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/convergence_page.h"

#include <math.h>
#include <stdio.h>

#include "reports/page_file.h"
#include "reports/page_values.h"

/* The mean of a number over a recipe's runs; of a member of `group` if given.
 */
static double mean_of(const json_t *recipe, const char *group, const char *name)
{
    const json_t *runs = json_object_get(recipe, "runs");
    double sum = 0.0;
    size_t i;
    json_t *run;

    json_array_foreach(runs, i, run) {
        sum += ng_page_member(group == NULL ? run : json_object_get(run, group),
                              name);
    }
    return sum / (double)json_array_size(runs);
}

/* The sum of two members of `group`, mean over a recipe's runs. */
static double sum_of(const json_t *recipe, const char *group, const char *one,
                     const char *two)
{
    return mean_of(recipe, group, one)
           + (two == NULL ? 0.0 : mean_of(recipe, group, two));
}

/* "604.0 (39 %)": of what the first recipe has; its own alone. */
static void print_share(FILE *out, int digits, double own, double of_first,
                        bool is_first)
{
    fprintf(out, " %.*f", digits, own);
    if (!is_first && of_first > 0.0)
        fprintf(out, " (%.0f %%)", 100.0 * own / of_first);
    fputs(" |", out);
}

/* How many of a recipe's runs end below the trigram model. */
static int n_below(const json_t *recipe, double trigram)
{
    size_t i;
    json_t *run;
    int n = 0;

    json_array_foreach(json_object_get(recipe, "runs"), i, run) {
        const json_t *loss = json_object_get(run, "loss");

        n += ng_page_number(json_array_get(loss, json_array_size(loss) - 1))
             < trigram;
    }
    return n;
}

static void print_bytes(FILE *out, const json_t *recipe, const json_t *first)
{
    static const struct {
        const char *group, *one, *two;
        int digits;
    } columns[] = {{"sent", "dispatch", "combine", 1},
                   {"sent", "grad_y", "grad_x", 1},
                   {"stored", "moe", NULL, 0},
                   {"stored", "attention", NULL, 0}};

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        print_share(
            out, columns[i].digits,
            sum_of(recipe, columns[i].group, columns[i].one, columns[i].two),
            sum_of(first, columns[i].group, columns[i].one, columns[i].two),
            recipe == first);
}

static void print_page(FILE *out, const json_t *study)
{
    const json_t *recipes = json_object_get(study, "recipes");
    const json_t *first = json_array_get(recipes, 0);
    const double trigram = ng_page_member(study, "trigram");
    size_t i;
    json_t *recipe;

    fprintf(out,
            "# Convergence: %s against the others\n\n"
            "Written by `narrowgauge study` from `convergence.json`. Backend "
            "%s, %.0f parameters, %.0f tokens of text to train on,\n"
            "%.0f seeds. Loss: of the last evaluation, in nats a token, mean "
            "of the seeds and Student's 95 %% interval; deviation: from\n"
            "%s with the same seed. ",
            ng_page_text(first, "name"), ng_page_text(study, "backend"),
            ng_page_member(study, "parameters"),
            ng_page_member(study, "train_tokens"),
            ng_page_member(study, "seeds"), ng_page_text(first, "name"));
    if (isfinite(trigram)) {
        fprintf(out, "A trigram model of the same text: %.4f; below it end",
                trigram);
        json_array_foreach(recipes, i, recipe)
            fprintf(out, "%s %d runs of %s", i > 0 ? "," : "",
                    n_below(recipe, trigram), ng_page_text(recipe, "name"));
        fputs(".", out);
    }
    fputs("\n\n| recipe | validation loss | deviation, % | diverged | skipped "
          "steps | tokens/s | sent forward, B/token | sent backward, B/token | "
          "kept by MoE, B | kept by attention, B | inexact, % |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|\n",
          out);
    json_array_foreach(recipes, i, recipe) {
        fprintf(out, "| %s | ", ng_page_text(recipe, "name"));
        ng_page_print_interval(out, json_object_get(recipe, "loss"), "%.4f");
        fputs(" | ", out);
        if (i == 0)
            fputs("0", out);
        else
            ng_page_print_interval(
                out, json_object_get(recipe, "deviation_percent"), "%+.3f");
        fprintf(out, " | %.0f of %.0f | %.1f | %.0f |",
                ng_page_member(recipe, "diverged"),
                ng_page_member(study, "seeds"),
                mean_of(recipe, NULL, "skipped"),
                mean_of(recipe, NULL, "tokens_per_second"));
        print_bytes(out, recipe, first);
        fprintf(out, " %.2f |\n", 100.0 * mean_of(recipe, NULL, "inexact"));
    }
    fputs("\nSent: payloads of the experts' all-to-all, forward (dispatch and "
          "combine) and backward, whatever the number of ranks. Kept: bytes "
          "of\nactivations of one shard from forward to backward; (%) of what "
          "the first recipe has. Inexact: share of the converted elements\n"
          "whose value changed.\n\n"
          "![curves](convergence.svg)\n",
          out);
}

static void print_data(FILE *out, const json_t *recipe)
{
    const json_t *curves = json_object_get(recipe, "curves");

    fprintf(out, "$r_%s << EOD\n", ng_page_text(recipe, "name"));
    ng_page_print_curves(out, json_object_get(curves, "evaluated_at"), curves);
}

static void print_plot(FILE *out, const json_t *study)
{
    const json_t *recipes = json_object_get(study, "recipes");
    const bool intervals = ng_page_member(study, "seeds") > 1.0;
    size_t i;
    json_t *recipe;

    fputs("# Written by narrowgauge study. gnuplot convergence.gp\n"
          "set datafile missing 'NaN'\n",
          out);
    json_array_foreach(recipes, i, recipe)
        print_data(out, recipe);
    fputs("set terminal svg size 720,640 font 'sans,12' background 'white'\n"
          "set output 'convergence.svg'\nset multiplot layout 2,1\n"
          "set xlabel 'step'\nset grid\nset key top right\n"
          "set ylabel 'validation loss'\nset title 'mean of the seeds'\n",
          out);
    json_array_foreach(recipes, i, recipe)
        fprintf(out, "%s$r_%s using 1:2 with lines lc %zu lw 2 title '%s'",
                i == 0 ? "plot " : ", ", ng_page_text(recipe, "name"), i + 1,
                ng_page_text(recipe, "name"));
    if (isfinite(ng_page_member(study, "trigram")))
        fprintf(out, ", %.6g with lines lc 0 dt 2 title 'trigram'",
                ng_page_member(study, "trigram"));
    fprintf(out,
            "\nset ylabel 'deviation from %s, %%'\n"
            "set title 'paired by seed: mean and 95 %% interval'\n",
            ng_page_text(json_array_get(recipes, 0), "name"));
    json_array_foreach(recipes, i, recipe) {
        const char *name = ng_page_text(recipe, "name");

        fputs(i == 0 ? "plot " : ", ", out);
        if (i > 0 && intervals)
            fprintf(out,
                    "$r_%s using 1:4:5 with filledcurves fs transparent solid "
                    "0.15 noborder lc %zu notitle, ",
                    name, i + 1);
        fprintf(out, "$r_%s using 1:3 with lines lc %zu lw 2 notitle", name,
                i + 1);
    }
    fputs("\nunset multiplot\nunset output\n", out);
}

ng_status ng_convergence_page_write(bool *plotted, const json_t *study,
                                    const char *directory, ng_error *error)
{
    ng_status status =
        ng_page_write(directory, "convergence.gp", print_plot, study, error);

    if (status == NG_OK)
        status = ng_page_write(directory, "convergence.md", print_page, study,
                               error);
    *plotted = status == NG_OK && ng_page_plot(directory, "convergence.gp");
    return status;
}
