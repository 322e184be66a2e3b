/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds Hopper's tensor core against ng_ref_hopper_fp8_dot, bit for bit, on
 * tiles made to tell models apart:
 *
 *   probe-wgmma [--tiles N] [--seed N] [--json FILE] [--dump FILE]
 *
 * A tile is 64 x N outputs of one instruction or of a chain of four; N tiles
 * (default 4096) of 64 x 8 outputs run of each kind of codes, fewer of the
 * wider ones. --dump writes every difference: 32-bit steps, codes of a and b,
 * C, want, got. Exit 0: no difference; 1: some; 2: usage; 4: no memory; 77: no
 * such GPU.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/moe/probe_wgmma.h"
#include "formats/fp32.h"
#include "reference/moe/ref_hopper_fp8_dot.h"

enum {
    ROWS = NG_PROBE_ROWS,
    DEPTH = NG_PROBE_DEPTH,
    MAX_STEPS = 4,
    MAX_SHOWN = 8,
    MAX_DUMPED = 20000
};

/* ---- inputs ---- */

typedef enum code_kind {
    ANY,
    SPREAD,
    POSITIVE,
    SPARSE,
    SUBNORMAL,
    ZEROS,
    OUTLIER,
    CANCELLING,
    NANS,
    N_CODE_KINDS
} code_kind;

typedef enum c_kind {
    ZERO,
    NEAR,
    FINITE,
    SUBNORMAL_C,
    INFINITE,
    NAN_C,
    HUGE,
    TINY,
    ANSWER,
    NEXT_TO_ANSWER,
    N_C_KINDS
} c_kind;

static const char *const code_names[N_CODE_KINDS] = {
    "every code",  "a bell of magnitudes", "all positive",
    "sparse",      "subnormals",           "zeros of both signs",
    "one outlier", "cancelling pairs",     "some NaN"};
static const char *const c_names[N_C_KINDS] = {
    "+0 and -0",        "exponents -20 .. 19",
    "any finite",       "subnormals",
    "infinities",       "NaN",
    "2^100 and up",     "2^-100 and below",
    "minus the answer", "beside minus the answer"};

/* SplitMix64. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint32_t below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((next(state) >> 32) * n >> 32);
}

static uint8_t some_code(uint64_t *state, code_kind kind)
{
    const uint8_t sign = (uint8_t)(below(state, 2) << 7);

    switch (kind) {
    case SPREAD:
        return (uint8_t)(sign | (24 + below(state, 32) + below(state, 32)));
    case POSITIVE:
        return (uint8_t)below(state, 127);
    case SPARSE:
        return below(state, 8) == 0 ? (uint8_t)(sign | below(state, 127))
                                    : sign;
    case SUBNORMAL:
        return (uint8_t)(sign | below(state, 9));
    case ZEROS:
        return sign;
    case OUTLIER:
        return (uint8_t)(sign | below(state, 24));
    case NANS:
        return below(state, 60) == 0 ? (uint8_t)(sign | 0x7F)
                                     : (uint8_t)(sign | below(state, 127));
    default:
        return (uint8_t)(sign | below(state, 127));
    }
}

/* One line of n codes. Cancelling ones repeat, those of A with the other sign,
 * half an instruction later, but for one in a few. */
static void fill_line(uint8_t *code, int n, code_kind kind, bool is_a,
                      uint64_t *state)
{
    for (int i = 0; i < n; i++)
        code[i] = some_code(state, kind);
    if (kind == OUTLIER)
        code[below(state, (uint32_t)n)] = 0x7E;
    if (kind != CANCELLING)
        return;
    for (int i = 0; i < n; i++)
        if (i % 32 >= 16)
            code[i] = (uint8_t)(code[i - 16] ^ (is_a ? 0x80 : 0));
    if (below(state, 2) == 0)
        code[below(state, (uint32_t)n)] = (uint8_t)below(state, 16);
}

static uint32_t some_c(c_kind kind, uint32_t answer, uint64_t *state)
{
    const uint32_t random = (uint32_t)next(state);
    const uint32_t sign = random & NG_FP32_SIGN, fraction = random & 0x7FFFFF;

    switch (kind) {
    case ZERO:
        return sign;
    case NEAR:
        return sign | (107 + below(state, 40)) << 23 | fraction;
    case FINITE:
        return sign | below(state, 255) << 23 | fraction;
    case SUBNORMAL_C:
        return sign | fraction >> below(state, 23);
    case INFINITE:
        return sign | NG_FP32_INFINITY;
    case NAN_C:
        return sign | NG_FP32_INFINITY | (fraction != 0 ? fraction : 1);
    case HUGE:
        return sign | (227 + below(state, 28)) << 23 | fraction;
    case TINY:
        return sign | below(state, 28) << 23 | fraction;
    case ANSWER:
        return answer ^ NG_FP32_SIGN;
    default:
        return (answer ^ NG_FP32_SIGN)
               + (answer != 0 ? below(state, 4097) - 2048 : 0);
    }
}

/* ---- a batch of tiles ---- */

typedef struct batch {
    ng_probe_form form;
    int n_tiles;
    uint8_t *a, *b;
    uint32_t *c, *want, *got;
} batch;

typedef struct tally {
    int64_t dots, differences;
    int64_t nan, infinite, plus_zero, minus_zero, subnormal;
} tally;

static void add(tally *sum, const tally *more)
{
    sum->dots += more->dots;
    sum->differences += more->differences;
    sum->nan += more->nan;
    sum->infinite += more->infinite;
    sum->plus_zero += more->plus_zero;
    sum->minus_zero += more->minus_zero;
    sum->subnormal += more->subnormal;
}

/* How C is drawn for a tile: all kinds in turn. */
static c_kind c_kind_of(int tile)
{
    return (c_kind)(tile % N_C_KINDS);
}

static void fill(batch *x, code_kind kind, uint64_t seed)
{
    const int n = x->form.n, depth = DEPTH * x->form.steps;

#pragma omp parallel for schedule(static)
    for (int tile = 0; tile < x->n_tiles; tile++) {
        uint64_t state = seed + (uint64_t)tile * UINT64_C(0xD1B54A32D192ED03);
        uint8_t *a = x->a + (size_t)tile * ROWS * (size_t)depth;
        uint8_t *b = x->b + (size_t)tile * (size_t)(n * depth);

        for (int r = 0; r < ROWS; r++)
            fill_line(a + r * depth, depth, kind, true, &state);
        for (int j = 0; j < n; j++)
            fill_line(b + j * depth, depth, kind, false, &state);
        for (int i = 0; i < ROWS * n; i++) {
            const size_t at = (size_t)tile * (size_t)(ROWS * n) + (size_t)i;
            const uint8_t *x_a = a + i / n * depth, *x_b = b + i % n * depth;
            const c_kind ck = c_kind_of(tile);
            const uint32_t answer =
                ck >= ANSWER ? ng_ref_hopper_fp8_chain(x_a, x_b, depth, 0) : 0;

            x->c[at] = some_c(ck, answer, &state);
            x->want[at] = ng_ref_hopper_fp8_chain(
                x_a, x_b, depth, x->form.from_zero ? 0 : x->c[at]);
        }
    }
}

static void count(tally *t, uint32_t bits)
{
    const uint32_t magnitude = bits & ~NG_FP32_SIGN;

    t->dots++;
    t->nan += magnitude > NG_FP32_INFINITY;
    t->infinite += magnitude == NG_FP32_INFINITY;
    t->plus_zero += bits == 0;
    t->minus_zero += bits == NG_FP32_SIGN;
    t->subnormal += magnitude != 0 && magnitude < 1u << 23;
}

static void show(const batch *x, code_kind kind, size_t at)
{
    const int n = x->form.n, depth = DEPTH * x->form.steps;
    const size_t tile = at / (size_t)(ROWS * n);
    const int r = (int)(at / (size_t)n % ROWS), j = (int)(at % (size_t)n);

    printf("  %s, C %s, tile %zu, row %d, col %d: C=%08" PRIx32
           " want=%08" PRIx32 " got=%08" PRIx32 "\n    ",
           code_names[kind], c_names[c_kind_of((int)tile)], tile, r, j,
           x->c[at], x->want[at], x->got[at]);
    for (int k = 0; k < depth; k++)
        printf("%02x*%02x%s",
               x->a[(tile * ROWS + (size_t)r) * (size_t)depth + (size_t)k],
               x->b[(tile * (size_t)n + (size_t)j) * (size_t)depth + (size_t)k],
               k < depth - 1 ? " " : "\n");
}

static void dump(FILE *out, const batch *x, size_t at)
{
    const int n = x->form.n, depth = DEPTH * x->form.steps;
    const size_t tile = at / (size_t)(ROWS * n);
    const size_t r = at / (size_t)n % ROWS, j = at % (size_t)n;
    const uint32_t head =
        (uint32_t)x->form.steps | (x->form.from_zero ? 0x100u : 0);
    const uint32_t tail[3] = {x->c[at], x->want[at], x->got[at]};

    fwrite(&head, 4, 1, out);
    fwrite(x->a + (tile * ROWS + r) * (size_t)depth, (size_t)depth, 1, out);
    fwrite(x->b + (tile * (size_t)n + j) * (size_t)depth, (size_t)depth, 1,
           out);
    fwrite(tail, 4, 3, out);
}

static void compare(tally by_c[N_C_KINDS], const batch *x, code_kind kind,
                    FILE *differences, int64_t *dumped)
{
    const size_t a_tile = (size_t)ROWS * (size_t)x->form.n;
    int shown = 0;

    for (size_t at = 0; at < a_tile * (size_t)x->n_tiles; at++) {
        tally *t = &by_c[c_kind_of((int)(at / a_tile))];

        count(t, x->got[at]);
        if (x->want[at] == x->got[at])
            continue;
        t->differences++;
        if (shown++ < MAX_SHOWN)
            show(x, kind, at);
        if (differences != NULL && (*dumped)++ < MAX_DUMPED)
            dump(differences, x, at);
    }
}

/* ---- all of it ---- */

static const ng_probe_form forms[] = {
    {8, 1, false, false},   {8, 1, true, false},   {8, 4, false, true},
    {8, 4, false, false},   {64, 1, false, false}, {64, 4, true, true},
    {128, 1, false, false}, {128, 4, false, true}, {256, 1, false, false},
    {256, 4, false, true}};

enum { N_FORMS = sizeof forms / sizeof *forms };

typedef struct arguments {
    int tiles;
    uint64_t seed;
    const char *json, *dump;
} arguments;

typedef struct results {
    tally all, by_form[N_FORMS], by_code[N_CODE_KINDS], by_c[N_C_KINDS];
    int64_t tiles;
} results;

static bool make(batch *x, int n_tiles)
{
    const size_t codes = (size_t)n_tiles * DEPTH * (size_t)x->form.steps;
    const size_t numbers = (size_t)n_tiles * (size_t)(ROWS * x->form.n);

    x->n_tiles = n_tiles;
    x->a = malloc(codes * ROWS);
    x->b = malloc(codes * (size_t)x->form.n);
    x->c = malloc(numbers * 4);
    x->want = malloc(numbers * 4);
    x->got = malloc(numbers * 4);
    return x->a != NULL && x->b != NULL && x->c != NULL && x->want != NULL
           && x->got != NULL;
}

static void drop(batch *x)
{
    free(x->a);
    free(x->b);
    free(x->c);
    free(x->want);
    free(x->got);
}

/* Returns null, or what went wrong. */
static const char *run(results *r, const arguments *a, FILE *differences)
{
    int64_t dumped = 0;

    for (int f = 0; f < N_FORMS; f++)
        for (int kind = 0; kind < N_CODE_KINDS; kind++) {
            batch x = {.form = forms[f]};
            tally by_c[N_C_KINDS] = {{0}};
            const int scale = forms[f].n / 8 * forms[f].steps;
            const int n_tiles =
                a->tiles / scale > N_C_KINDS ? a->tiles / scale : N_C_KINDS;
            const char *error = "out of memory";

            if (make(&x, n_tiles)) {
                fill(&x, (code_kind)kind,
                     a->seed + (uint64_t)(f * N_CODE_KINDS + kind));
                error = ng_probe_wgmma(x.got, x.a, x.b, x.c, n_tiles, x.form);
            }
            if (error == NULL)
                compare(by_c, &x, (code_kind)kind, differences, &dumped);
            drop(&x);
            if (error != NULL)
                return error;
            r->tiles += n_tiles;
            for (int c = 0; c < N_C_KINDS; c++) {
                add(&r->all, &by_c[c]);
                add(&r->by_form[f], &by_c[c]);
                add(&r->by_code[kind], &by_c[c]);
                add(&r->by_c[c], &by_c[c]);
            }
        }
    return NULL;
}

static const char *form_name(char text[64], const ng_probe_form *form)
{
    snprintf(text, 64, "m64n%dk32, %s, A in %s, %s", form->n,
             form->steps == 1 ? "one instruction" : "a chain of four",
             form->a_in_registers ? "registers" : "shared memory",
             form->from_zero ? "from zero" : "from C");
    return text;
}

static void print_row(const char *what, const tally *t)
{
    printf("%-62s %12" PRId64 " %11" PRId64 "\n", what, t->dots,
           t->differences);
}

static void print(const results *r)
{
    char text[64];

    printf("%-62s %12s %11s\n", "", "outputs", "differences");
    for (int i = 0; i < N_FORMS; i++)
        print_row(form_name(text, &forms[i]), &r->by_form[i]);
    for (int i = 0; i < N_CODE_KINDS; i++)
        print_row(code_names[i], &r->by_code[i]);
    for (int i = 0; i < N_C_KINDS; i++) {
        snprintf(text, sizeof text, "C: %s", c_names[i]);
        print_row(text, &r->by_c[i]);
    }
    printf("\nmet: %" PRId64 " NaN, %" PRId64 " infinite, %" PRId64
           " +0, %" PRId64 " -0, %" PRId64 " subnormal results\n",
           r->all.nan, r->all.infinite, r->all.plus_zero, r->all.minus_zero,
           r->all.subnormal);
    printf("%s: %" PRId64 " differences in %" PRId64 " outputs of %" PRId64
           " tiles\n",
           r->all.differences == 0 ? "PASSED" : "FAILED", r->all.differences,
           r->all.dots, r->tiles);
}

static void json_row(FILE *out, const char *what, const tally *t, bool last)
{
    fprintf(out,
            "    {\"what\": \"%s\", \"outputs\": %" PRId64
            ", \"differences\": %" PRId64 "}%s\n",
            what, t->dots, t->differences, last ? "" : ",");
}

static void write_json(FILE *out, const results *r, const char *gpu,
                       const arguments *a)
{
    char text[64];

    fprintf(out,
            "{\n  \"schema\": \"narrowgauge-probe-wgmma-1\",\n"
            "  \"gpu\": \"%s\",\n  \"seed\": %" PRIu64
            ",\n  \"tiles\": %" PRId64 ",\n  \"outputs\": %" PRId64
            ",\n  \"differences\": %" PRId64 ",\n",
            gpu, a->seed, r->tiles, r->all.dots, r->all.differences);
    fprintf(out,
            "  \"met\": {\"nan\": %" PRId64 ", \"infinite\": %" PRId64
            ", \"plus_zero\": %" PRId64 ", \"minus_zero\": %" PRId64
            ", \"subnormal\": %" PRId64 "},\n",
            r->all.nan, r->all.infinite, r->all.plus_zero, r->all.minus_zero,
            r->all.subnormal);
    fputs("  \"forms\": [\n", out);
    for (int i = 0; i < N_FORMS; i++)
        json_row(out, form_name(text, &forms[i]), &r->by_form[i],
                 i == N_FORMS - 1);
    fputs("  ],\n  \"codes\": [\n", out);
    for (int i = 0; i < N_CODE_KINDS; i++)
        json_row(out, code_names[i], &r->by_code[i], i == N_CODE_KINDS - 1);
    fputs("  ],\n  \"accumulators\": [\n", out);
    for (int i = 0; i < N_C_KINDS; i++)
        json_row(out, c_names[i], &r->by_c[i], i == N_C_KINDS - 1);
    fputs("  ]\n}\n", out);
}

static bool number(const char *text, uint64_t most, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0
           && *out <= most;
}

static bool parse(arguments *a, int argc, char **argv)
{
    *a = (arguments){.tiles = 4096, .seed = 1};
    for (int i = 1; i < argc; i += 2) {
        uint64_t value;

        if (i + 1 == argc)
            return false;
        if (strcmp(argv[i], "--tiles") == 0
            && number(argv[i + 1], 1 << 20, &value))
            a->tiles = (int)value;
        else if (strcmp(argv[i], "--seed") == 0
                 && number(argv[i + 1], UINT64_MAX, &value))
            a->seed = value;
        else if (strcmp(argv[i], "--json") == 0)
            a->json = argv[i + 1];
        else if (strcmp(argv[i], "--dump") == 0)
            a->dump = argv[i + 1];
        else
            return false;
    }
    return true;
}

static FILE *open_output(const char *path)
{
    FILE *out = fopen(path, "wb");

    if (out == NULL)
        fprintf(stderr, "probe-wgmma: %s: %s\n", path, strerror(errno));
    return out;
}

int main(int argc, char **argv)
{
    static results r;
    arguments a;
    const char *error = NULL, *gpu;
    FILE *differences = NULL, *json = NULL;
    int status = 2;

    if (!parse(&a, argc, argv)) {
        fputs("usage: probe-wgmma [--tiles N] [--seed N] [--json FILE] "
              "[--dump FILE]\n",
              stderr);
        return 2;
    }
    gpu = ng_probe_device(&error);
    if (gpu == NULL) {
        printf("SKIP: %s\n", error);
        return 77;
    }
    if ((a.dump != NULL && (differences = open_output(a.dump)) == NULL)
        || (a.json != NULL && (json = open_output(a.json)) == NULL))
        goto done;
    printf("probe-wgmma: %s, seed %" PRIu64 "\n\n", gpu, a.seed);
    error = run(&r, &a, differences);
    if (error != NULL) {
        fprintf(stderr, "probe-wgmma: %s\n", error);
        status = 4;
        goto done;
    }
    print(&r);
    if (json != NULL)
        write_json(json, &r, gpu, &a);
    status = r.all.differences != 0;
done:
    if (differences != NULL && fclose(differences) != 0)
        status = 4;
    if (json != NULL && fclose(json) != 0)
        status = 4;
    return status;
}
