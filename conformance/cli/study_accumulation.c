/* SPDX-License-Identifier: Apache-2.0
 *
 * What promotion buys: the error of an FP8 dot product on Hopper's tensor core
 * when its sum is moved to an FP32 register every 32, 64, 128 or 512 products,
 * or never. The CPU's model of the tensor core does all of it (it equals the
 * hardware, reports/gpu/probe-wgmma.json).
 *
 *   study-accumulation [FOLDER]     writes accumulation.json and
 * accumulation.md
 *
 * Both operands are quantised to E4M3 under one scale each (the largest becomes
 * 448), since block scales force promotion at every block. Errors are against
 * the exact sum of the codes' products: what quantising loses is not counted.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "conformance/cli/command.h"
#include "formats/files/atomic_write.h"
#include "formats/format.h"
#include "formats/fp32.h"
#include "reference/convert/ref_decode.h"
#include "reference/convert/ref_encode.h"
#include "reference/moe/ref_hopper_fp8_dot.h"

enum { N_DOTS = 4096, SEED = 1 };

static const int depths[] = {512, 2048, 7168, 16384};
static const int promotions[] = {32, 64, 128, 512, 0}; /* 0: never */

enum {
    N_DEPTHS = sizeof depths / sizeof *depths,
    N_PROMOTIONS = sizeof promotions / sizeof *promotions,
    MAX_DEPTH = 16384
};

typedef enum data_kind {
    RANDOM,
    ASCENDING,
    DESCENDING,
    POSITIVE,
    OUTLIER,
    N_KINDS
} data_kind;

static const char *const kind_names[N_KINDS] = {
    "random", "sorted up", "sorted down", "all positive", "one outlier"};
static const char *const kind_meanings[N_KINDS] = {
    "normal deviates", "the same by rising magnitude, both operands",
    "the same by falling magnitude", "magnitudes of normal deviates",
    "normal deviates, one of each operand 100 times larger"};

/* ---- data ---- */

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Box and Muller; u > 0. */
static double normal(uint64_t *state)
{
    const double u = (double)((next(state) >> 11) + 1) * 0x1p-53;
    const double v = (double)(next(state) >> 11) * 0x1p-53;

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static int compare_magnitude(const void *x, const void *y)
{
    const double a = fabs(*(const double *)x), b = fabs(*(const double *)y);

    return (a > b) - (a < b);
}

/* n codes of one operand. */
static void draw(uint8_t *code, int n, data_kind kind, uint64_t *state)
{
    static double x[MAX_DEPTH];
    double largest = 0;

    for (int i = 0; i < n; i++)
        x[i] = kind == POSITIVE ? fabs(normal(state)) : normal(state);
    if (kind == OUTLIER)
        x[next(state) % (uint64_t)n] *= 100;
    if (kind == ASCENDING || kind == DESCENDING)
        qsort(x, (size_t)n, sizeof *x, compare_magnitude);
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    for (int i = 0; i < n; i++)
        code[kind == DESCENDING ? n - 1 - i : i] = (uint8_t)ng_ref_encode(
            &ng_formats[NG_FORMAT_E4M3], (float)(x[i] / largest * 448),
            &ng_default_rules, 0, NULL);
}

/* ---- one setting ---- */

typedef struct errors {
    double rms;   /* root of the mean square, over that of the exact sums */
    double worst; /* the largest over the sum of the magnitudes */
    double drift; /* mean error along the sign of the exact sum, over the
                     mean of its magnitude: below 0, sums come out small */
} errors;

typedef struct sums {
    double square, exact_square, worst, drift, magnitude;
} sums;

static void add(sums *s, double got, double exact, double magnitude)
{
    const double error = got - exact;

    s->square += error * error;
    s->exact_square += exact * exact;
    s->worst = fmax(s->worst, fabs(error) / magnitude);
    s->drift += exact < 0 ? -error : error;
    s->magnitude += fabs(exact);
}

static errors finish(const sums *s)
{
    return (errors){.rms = sqrt(s->square / s->exact_square),
                    .worst = s->worst,
                    .drift = s->drift / s->magnitude};
}

/* The dot product with a promotion every `every` products. */
static float promoted(const uint8_t *a, const uint8_t *b, int n, int every)
{
    float acc = 0;

    if (every == 0)
        return ng_fp32_from_bits(ng_ref_hopper_fp8_chain(a, b, n, 0));
    for (int i = 0; i < n; i += every)
        acc = acc
              + ng_fp32_from_bits(ng_ref_hopper_fp8_chain(
                  a + i, b + i, n - i < every ? n - i : every, 0));
    return acc;
}

/* RNE to BF16, of a number far from both ends of the range. */
static double to_bf16(double x)
{
    int exponent;
    const double m = frexp(x, &exponent);

    return ldexp(rint(m * 256), exponent - 8);
}

/* result[p] of each promotion; the last is what rounding the exact sum to BF16
 * loses. */
static void measure(errors result[N_PROMOTIONS + 1], int n, data_kind kind)
{
    static uint8_t a[MAX_DEPTH], b[MAX_DEPTH];
    static float value[256];
    uint64_t state = SEED;
    sums s[N_PROMOTIONS + 1] = {{0}};

    for (uint32_t code = 0; code < 256; code++)
        value[code] =
            ng_ref_decode(&ng_formats[NG_FORMAT_E4M3], code, &ng_default_rules);
    for (int d = 0; d < N_DOTS; d++) {
        double exact = 0, magnitude = 0;

        draw(a, n, kind, &state);
        draw(b, n, kind, &state);
        for (int i = 0; i < n; i++) { /* exact in FP64: 2^-18 .. 2^32 */
            const double p = (double)value[a[i]] * (double)value[b[i]];

            exact += p;
            magnitude += fabs(p);
        }
        for (int p = 0; p < N_PROMOTIONS; p++)
            add(&s[p], (double)promoted(a, b, n, promotions[p]), exact,
                magnitude);
        add(&s[N_PROMOTIONS], to_bf16(exact), exact, magnitude);
    }
    for (int p = 0; p <= N_PROMOTIONS; p++)
        result[p] = finish(&s[p]);
}

/* ---- files ---- */

static errors all[N_DEPTHS][N_KINDS][N_PROMOTIONS + 1];

static json_t *to_json(void)
{
    json_t *rows = json_array();

    for (int d = 0; d < N_DEPTHS; d++)
        for (int k = 0; k < N_KINDS; k++)
            for (int p = 0; p <= N_PROMOTIONS; p++) {
                const errors *e = &all[d][k][p];
                json_t *every = p == N_PROMOTIONS ? json_string("bf16 of exact")
                                : promotions[p] == 0
                                    ? json_string("never")
                                    : json_integer(promotions[p]);

                json_array_append_new(
                    rows, json_pack("{s:i, s:s, s:o, s:f, s:f, s:f}", "depth",
                                    depths[d], "data", kind_names[k],
                                    "promotion", every, "rms", e->rms, "worst",
                                    e->worst, "drift", e->drift));
            }
    return json_pack("{s:s, s:i, s:i, s:o}", "schema",
                     "narrowgauge-accumulation-1", "dots", N_DOTS, "seed", SEED,
                     "rows", rows);
}

static double pick(const errors *e, int what)
{
    return what == 0 ? e->rms : what == 1 ? e->drift : e->worst;
}

static void print_table(FILE *out, int what)
{
    fputs("| products | data | every 32 | 64 | 128 | 512 | never | BF16 of the "
          "exact sum |\n|---:|---|---:|---:|---:|---:|---:|---:|\n",
          out);
    for (int d = 0; d < N_DEPTHS; d++)
        for (int k = 0; k < N_KINDS; k++) {
            fprintf(out, "| %d | %s |", depths[d], kind_names[k]);
            for (int p = 0; p <= N_PROMOTIONS; p++)
                fprintf(out, " %.2e |", pick(&all[d][k][p], what));
            fputc('\n', out);
        }
}

static void print_page(FILE *out)
{
    fprintf(
        out,
        "# What promotion buys\n\n"
        "Written by `study-accumulation`; the figures are in "
        "[accumulation.json](accumulation.json). The error of an FP8 dot "
        "product on Hopper's tensor core, whose sums keep 13 fraction bits, "
        "when the sum moves to FP32 every 32, 64, 128 or 512 products, or "
        "never; last, what rounding the exact sum to BF16 loses. %d dot "
        "products a row, E4M3 operands under one scale each, the model of "
        "[semantics.md](../docs/semantics.md) section 11, which equals the "
        "hardware in 172 million outputs "
        "([probe-wgmma.json](gpu/probe-wgmma.json)).\n\nData:\n\n",
        N_DOTS);
    for (int k = 0; k < N_KINDS; k++)
        fprintf(out, "- **%s**: %s.\n", kind_names[k], kind_meanings[k]);
    fputs("\n## Root of the mean square error, over that of the exact sums\n\n",
          out);
    print_table(out, 0);
    fputs(
        "\n## Drift: mean error along the sign of the exact sum, over its mean "
        "magnitude\n\nEvery cut is toward zero, so sums come out small.\n\n",
        out);
    print_table(out, 1);
    fputs("\n## Worst error over the sum of the products' magnitudes\n\n", out);
    print_table(out, 2);
}

static ng_status write_files(const char *folder, ng_error *error)
{
    char path[4096];

    for (int page = 0; page < 2; page++) {
        ng_atomic_file file = {0};
        json_t *json = page == 0 ? to_json() : NULL;
        ng_status status;

        snprintf(path, sizeof path, "%s/accumulation.%s", folder,
                 page == 0 ? "json" : "md");
        status = ng_atomic_begin(&file, path, error);
        if (status == NG_OK && page == 0) {
            if (json == NULL
                || json_dumpf(json, file.stream,
                              JSON_INDENT(1) | JSON_REAL_PRECISION(6))
                       != 0)
                status =
                    ng_fail(error, NG_NO_MEMORY, "%s: out of memory", path);
            else
                fputc('\n', file.stream);
        } else if (status == NG_OK) {
            print_page(file.stream);
        }
        json_decref(json);
        if (status != NG_OK) {
            ng_atomic_abandon(&file);
            return status;
        }
        if ((status = ng_atomic_commit(&file, error)) != NG_OK)
            return status;
    }
    return NG_OK;
}

int main(int argc, char **argv)
{
    ng_error error;

    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        fputs("usage: study-accumulation [FOLDER]\n", stderr);
        return NG_EXIT_USAGE;
    }
    for (int d = 0; d < N_DEPTHS; d++)
        for (int k = 0; k < N_KINDS; k++)
            measure(all[d][k], depths[d], (data_kind)k);
    if (write_files(argc == 2 ? argv[1] : "reports", &error) != NG_OK) {
        fprintf(stderr, "study-accumulation: %s\n", error.text);
        return NG_EXIT_ENVIRONMENT;
    }
    print_table(stdout, 0);
    return NG_EXIT_OK;
}
