/* SPDX-License-Identifier: Apache-2.0
 *
 * Gates where the exponential is hard (large either way, where it overflows or
 * underflows, around the zero of the derivative), factors that bring a vanished
 * product back, zeros of both signs, subnormals, NaN and infinities; shapes of
 * every kind.
 */
#include "conformance/checks/inputs_swiglu.h"

#include <math.h>
#include <string.h>

#include "conformance/checks/inputs_block.h"
#include "conformance/checks/numbers.h"

typedef struct swiglu_case {
    ng_case *c;
    int64_t rows, cols, used;
    uint16_t *gate, *up, *grad; /* grad null in the forward pass */
} swiglu_case;

static bool is_backward(const ng_case *c)
{
    return strstr(c->call.operation, "backward") != NULL;
}

/* Codes and scales of a quantised output. */
static void add_fp8(ng_case *c, const char *codes, const char *scales,
                    int64_t lines, int64_t width, int64_t n)
{
    const ng_dtype dtype =
        (ng_dtype)ng_variant_get(c->variant, "scales", NG_FP32);
    const int64_t shape[2] = {lines, width};
    const int64_t plane[2] = {lines,
                              dtype == NG_UE8M0X4 ? ng_ceil_div(n, 4) : n};

    ng_case_output(c, codes, NG_E4M3, 2, shape, false);
    ng_case_output(c, scales, dtype, 2, plane, true);
}

static void add_outputs(swiglu_case *s, int64_t row_blocks)
{
    ng_case *c = s->c;
    const char *operation = c->call.operation;
    const int64_t shape[2] = {s->rows, s->cols};
    const int64_t n = ng_ceil_div(s->cols, NG_FP8_BLOCK);
    const ng_dtype plain = (ng_dtype)ng_variant_get(c->variant, "y", NG_FP32);

    if (strcmp(operation, "swiglu") == 0) {
        ng_case_output(c, "y", plain, 2, shape, false);
        return;
    }
    if (is_backward(c)) {
        ng_case_output(c, "grad_gate", plain, 2, shape, false);
        ng_case_output(c, "grad_up", plain, 2, shape, false);
        if (strstr(operation, "fp8") == NULL)
            return;
        add_fp8(c, "grad_gate.codes", "grad_gate.scales", s->rows, s->cols, n);
        add_fp8(c, "grad_up.codes", "grad_up.scales", s->rows, s->cols, n);
        return;
    }
    ng_case_output(c, "values", NG_FP32, 2, shape, false);
    if (strcmp(operation, "swiglu_mxfp4") == 0) {
        const ng_dtype dtype =
            (ng_dtype)ng_variant_get(c->variant, "scales", NG_UE8M0);
        const int64_t blocks = ng_ceil_div(s->cols, NG_MXFP4_BLOCK);
        const int64_t codes[2] = {s->rows, ng_ceil_div(s->cols, 2)};
        const int64_t plane[2] = {
            s->rows, dtype == NG_UE8M0X4 ? ng_ceil_div(blocks, 4) : blocks};

        ng_case_output(c, "y.codes", NG_E2M1X2, 2, codes, false);
        ng_case_output(c, "y.scales", dtype, 2, plane, true);
        ng_case_attribute(c, "cols", s->cols);
        return;
    }
    add_fp8(c, "y.codes", "y.scales", s->rows, s->cols, n);
    if (strcmp(operation, "swiglu_fp8_row_col") == 0)
        add_fp8(c, "z.codes", "z.scales", s->cols, s->rows, row_blocks);
}

/* All inputs, filled with what nothing may read: NaN. n_groups -1: dense. */
static bool begin(swiglu_case *s, ng_case *c, int64_t rows, int64_t cols,
                  int64_t n_groups, const int64_t *sizes)
{
    const int64_t shape[2] = {rows, cols};
    int64_t row_blocks = ng_ceil_div(rows, NG_FP8_BLOCK);

    *s = (swiglu_case){.c = c, .rows = rows, .cols = cols, .used = rows};
    if (is_backward(c))
        s->grad = ng_case_input(c, "grad_y", NG_BF16, 2, shape);
    s->gate = ng_case_input(c, "gate", NG_BF16, 2, shape);
    s->up = ng_case_input(c, "up", NG_BF16, 2, shape);
    if (n_groups >= 0) {
        const int64_t length = n_groups + 1;
        int64_t *offsets = ng_case_input(c, "offsets", NG_I64, 1, &length);

        s->used = row_blocks = 0;
        for (int64_t g = 0; offsets != NULL && g < n_groups; g++) {
            s->used = offsets[g + 1] = offsets[g] + sizes[g];
            row_blocks += ng_ceil_div(sizes[g], NG_FP8_BLOCK);
        }
    }
    add_outputs(s, row_blocks);
    if (c->failed)
        return false;
    for (int64_t i = 0; i < rows * cols; i++) {
        s->gate[i] = s->up[i] = 0x7FC1;
        if (s->grad != NULL)
            s->grad[i] = 0x7FC1;
    }
    return true;
}

static uint16_t bf16(double x)
{
    return (uint16_t)ng_number_below(ng_number_format(NG_BF16), x);
}

static void put(swiglu_case *s, int64_t i, uint16_t gate, uint16_t up,
                uint16_t grad)
{
    s->gate[i] = gate;
    s->up[i] = up;
    if (s->grad != NULL)
        s->grad[i] = grad;
}

static uint16_t any_finite(ng_case *c)
{
    const uint16_t code = (uint16_t)ng_case_random(c);

    return (code & 0x7F80) == 0x7F80 ? (uint16_t)(code & 0x807F) : code;
}

/* ---- strata ---- */

static int64_t few(const ng_variant *variant, int64_t some, int64_t all,
                   int level)
{
    return level > 0 ? all : ng_variant_is_minor(variant) ? 1 : some;
}

/* Pairs, triples of these. */
static const uint16_t special[] = {
    0x0000, 0x8000, 0x0001, 0x8001, /* zeros, least subnormals */
    0x007F, 0x0080, 0x8080,         /* largest subnormal, least normal */
    0x3F80, 0xBF80, 0xBFA4,         /* 1, -1, near the slope's zero */
    0x42B1, 0xC2B1, 0xC2AF, 0xC2B0, /* 88.5, -88.5, -87.5, -88 */
    0xC2B2, 0xC2CF, 0xC2D2, 0xC348, /* -89, -103.5, -105, -200 */
    0x7F7F, 0xFF7F,                 /* largest finite */
    0x7F80, 0xFF80, 0x7FC0, 0xFFFF, 0x7F81};

enum { N_SPECIAL = sizeof special / sizeof *special };

static int64_t count_special(const ng_variant *variant, int level)
{
    return few(variant, 2, N_SPECIAL, level);
}

/* A row a value of up: all gates side by side in blocks of 128, one value of
 * the gradient a case. In odd cases one element a block, so that a NaN does
 * not hide its neighbours. */
static void fill_special(ng_case *c, int64_t index)
{
    const uint16_t grad =
        special[index * 7 % N_SPECIAL]; /* the first: 0, then 1 ... */
    const bool apart = index % 2 != 0;
    const int64_t cols = apart ? N_SPECIAL * NG_FP8_BLOCK / 4 : N_SPECIAL;
    swiglu_case s;

    if (!begin(&s, c, N_SPECIAL, apart ? cols : N_SPECIAL, -1, NULL))
        return;
    for (int64_t r = 0; r < N_SPECIAL; r++)
        for (int64_t i = 0; i < cols; i++) {
            const int64_t step = apart ? NG_MXFP4_BLOCK : 1;
            const bool here = i % step == 0;

            put(&s, r * cols + i,
                here ? special[i / step % N_SPECIAL] : bf16(0.25),
                here ? special[r] : bf16(-1.5), here ? grad : bf16(1));
        }
}

static int64_t count_gates(const ng_variant *variant, int level)
{
    return few(variant, 2, 66, level);
}

/* |x| in 2^-4 ... 2^8, where all happens, in the first two cases; then all
 * 65,536 gates in 64 cases. Factors that keep the product in sight, and some
 * that do not. */
static void fill_gates(ng_case *c, int64_t index)
{
    enum { COLS = 128, ROWS = 8 };
    swiglu_case s;

    if (!begin(&s, c, ROWS, COLS, -1, NULL))
        return;
    for (int64_t i = 0; i < ROWS * COLS; i++) {
        const int64_t which = (index + 31) % 64;
        const int64_t sign = i % 2 != 0 ? 0x8000 : 0;
        const int64_t gate = index == 0   ? 0x3D80 + i + sign
                             : index == 1 ? 0x4180 + i / 2 + sign
                                          : which * ROWS * COLS + i;

        const uint16_t up =
            ng_case_chance(c, 8) ? any_finite(c) : bf16(ng_case_normal(c));
        const uint16_t grad =
            ng_case_chance(c, 8) ? any_finite(c) : bf16(ng_case_normal(c));

        put(&s, i, (uint16_t)gate, up, grad);
    }
}

static int64_t count_random(const ng_variant *variant, int level)
{
    return few(variant, 3, 40, level);
}

/* Activations as a network has them, in rows of one binade each; widths that
 * no vector divides, empty ones too. */
static void fill_random(ng_case *c, int64_t index)
{
    static const int64_t widths[] = {33, 128, 7, 257, 0, 1, 64, 384};
    const int64_t cols = widths[index % 8];
    const int64_t rows = index == 5 ? 0 : 1 + ng_case_below(c, 9);
    swiglu_case s;

    c->odd_layout = index % 3 == 0;
    if (!begin(&s, c, rows, cols, -1, NULL))
        return;
    for (int64_t r = 0; r < rows; r++) {
        const double size = ldexp(1, (int)ng_case_below(c, 9) - 4);

        for (int64_t i = 0; i < cols; i++) {
            const uint16_t gate = bf16(2 * size * ng_case_normal(c));
            const uint16_t up = bf16(size * ng_case_normal(c));
            const uint16_t grad = bf16(ldexp(ng_case_normal(c), -6));

            put(&s, r * cols + i, gate, up, grad);
        }
    }
}

static int64_t count_ragged(const ng_variant *variant, int level)
{
    return few(variant, 2, 12, level);
}

/* Groups of rows, empty ones too, and rows past the last. */
static void fill_ragged(ng_case *c, int64_t index)
{
    static const int64_t sizes[][5] = {{3, 0, 1, 5, 0},
                                       {127, 1, 0, 129, 2},
                                       {0, 0, 0, 0, 0},
                                       {128, 130, 0, 0, 1}};
    const int64_t *mine = sizes[index % 4];
    const int64_t cols = index % 2 == 0 ? 136 : 20;
    int64_t rows = 3;
    swiglu_case s;

    for (int g = 0; g < 5; g++)
        rows += mine[g];
    c->odd_layout = index % 3 != 2;
    if (!begin(&s, c, rows, cols, 5, mine))
        return;
    for (int64_t i = 0; i < s.used * cols; i++) {
        const uint16_t gate = bf16(3 * ng_case_normal(c));
        const uint16_t up = bf16(ng_case_normal(c));

        put(&s, i, gate, up, bf16(ng_case_normal(c)));
    }
}

const ng_stratum ng_swiglu_strata[] = {
    {"special", "zeros, subnormals, NaN, infinities, and where exp overflows",
     0, count_special, fill_special},
    {"gates", "gates of every magnitude, at level 1 all 65,536", 0, count_gates,
     fill_gates},
    {"random", "activations; empty, odd and strided shapes", 0, count_random,
     fill_random},
    {"ragged", "groups of rows, empty ones too, and rows past the last", 0,
     count_ragged, fill_ragged},
    {.name = NULL}};
