/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/gemm_case.h"

#include <string.h>

/* What lies where nothing may be read: NaN, 448, or anything. */
static void fill_garbage(ng_case *c, void *data, int64_t bytes)
{
    const int64_t kind = ng_case_below(c, 3);
    unsigned char *to = data;

    for (int64_t i = 0; data != NULL && i < bytes; i++)
        to[i] = kind == 0   ? 0xFF
                : kind == 1 ? 0x7E
                            : (unsigned char)ng_case_random(c);
}

static void *garbage_input(ng_case *c, const char *name, ng_dtype dtype,
                           int64_t rows, int64_t cols)
{
    const int64_t shape[2] = {rows, cols};
    void *data = ng_case_input(c, name, dtype, 2, shape);

    fill_garbage(c, data, rows * cols * (int64_t)ng_dtype_size(dtype));
    return data;
}

/* Codes of `lines` lines of `width`, and their scales: n in each of scale_lines
 * lines. */
static void begin_side(ng_gemm_case *m, ng_gemm_side *side, const char *name,
                       int64_t lines, int64_t width, int64_t scale_lines,
                       int64_t n)
{
    char codes[16], scales[16];

    codes[0] = scales[0] = name[0];
    strcpy(codes + 1, ".codes");
    strcpy(scales + 1, ".scales");
    side->lines = lines;
    side->ld = side->packed ? ng_ceil_div(width, 2) : width;
    side->scale_lines = scale_lines;
    side->words = side->scales_dtype == NG_UE8M0X4 ? ng_ceil_div(n, 4) : n;
    side->codes = garbage_input(m->c, codes, side->packed ? NG_E2M1X2 : NG_E4M3,
                                lines, side->ld);
    side->scales = garbage_input(m->c, scales, side->scales_dtype, scale_lines,
                                 side->words);
}

static int64_t blocks_of(int64_t n)
{
    return ng_ceil_div(n, NG_FP8_BLOCK);
}

static void begin_operands(ng_gemm_case *m)
{
    const int64_t row_blocks = ng_gemm_block(m, m->n_groups);

    if (m->wgrad) {
        begin_side(m, &m->a, "a", m->n, m->t, m->n, row_blocks);
        if (m->b.packed)
            begin_side(m, &m->b, "b", m->t, m->k, m->t,
                       ng_ceil_div(m->k, NG_MXFP4_BLOCK));
        else
            begin_side(m, &m->b, "b", m->k, m->t, m->k, row_blocks);
        return;
    }
    begin_side(m, &m->a, "a", m->t, m->k, m->t,
               m->a.packed ? ng_ceil_div(m->k, NG_MXFP4_BLOCK)
                           : blocks_of(m->k));
    begin_side(m, &m->b, "b", m->n_groups * m->n, m->k,
               m->n_groups * blocks_of(m->n), blocks_of(m->k));
}

bool ng_gemm_begin(ng_gemm_case *m, ng_case *c, int64_t t, int64_t n, int64_t k,
                   int64_t n_groups, const int64_t *sizes)
{
    const bool mxfp4 = strstr(c->call.operation, "mxfp4") != NULL;
    const ng_dtype scales =
        (ng_dtype)ng_variant_get(c->variant, "scales", NG_FP32);

    *m = (ng_gemm_case){
        .c = c, .t = t, .n = n, .k = k, .n_groups = 1, .used = t};
    m->wgrad = strstr(c->call.operation, "wgrad") != NULL;
    m->dtype = (ng_dtype)ng_variant_get(c->variant, "d", NG_FP32);
    m->a.packed = mxfp4 && !m->wgrad;
    m->b.packed = mxfp4 && m->wgrad;
    m->a.col = m->b.col = m->wgrad;
    m->a.scales_dtype = mxfp4 && m->wgrad ? NG_FP32 : scales;
    m->b.scales_dtype = mxfp4 && !m->wgrad ? NG_FP32 : scales;
    if (n_groups != NG_GEMM_DENSE) {
        const int64_t length = n_groups + 1;

        m->n_groups = n_groups;
        m->offsets = ng_case_input(c, "offsets", NG_I64, 1, &length);
        m->used = 0;
        for (int64_t g = 0; m->offsets != NULL && g < n_groups; g++)
            m->used = m->offsets[g + 1] = m->offsets[g] + sizes[g];
    }
    begin_operands(m);

    const int64_t d[2] = {m->wgrad ? m->n_groups * n : t, m->wgrad ? k : n};

    if (ng_variant_get(c->variant, "accumulate", 0) != 0)
        m->addend = ng_case_input(c, "c", m->dtype, 2, d);
    ng_case_output(c, "d", m->dtype, 2, d, false);
    if (mxfp4)
        ng_case_attribute(c, "cols", k);
    return !c->failed;
}

int64_t ng_gemm_first(const ng_gemm_case *m, int64_t g)
{
    return m->offsets != NULL ? m->offsets[g] : g == 0 ? 0 : m->t;
}

int64_t ng_gemm_size(const ng_gemm_case *m, int64_t g)
{
    return ng_gemm_first(m, g + 1) - ng_gemm_first(m, g);
}

int64_t ng_gemm_block(const ng_gemm_case *m, int64_t g)
{
    int64_t block = 0;

    for (int64_t i = 0; i < g; i++)
        block += blocks_of(ng_gemm_size(m, i));
    return block;
}

int64_t ng_gemm_depth(const ng_gemm_case *m, int64_t g)
{
    return m->wgrad ? ng_gemm_size(m, g) : m->k;
}

int64_t ng_gemm_lines_a(const ng_gemm_case *m, int64_t g)
{
    return m->wgrad ? m->n : ng_gemm_size(m, g);
}

int64_t ng_gemm_lines_b(const ng_gemm_case *m, int64_t g)
{
    (void)g;
    return m->wgrad ? m->k : m->n;
}

static void put(ng_gemm_side *side, int64_t row, int64_t at, uint32_t code)
{
    uint8_t *byte = side->codes + row * side->ld;

    if (side->packed) {
        const int shift = at % 2 != 0 ? 4 : 0;

        byte += at / 2;
        *byte = (uint8_t)((*byte & ~(0xF << shift)) | (int)(code << shift));
    } else {
        byte[at] = (uint8_t)code;
    }
}

void ng_gemm_put_a(ng_gemm_case *m, int64_t g, int64_t i, int64_t q,
                   uint32_t code)
{
    const int64_t first = ng_gemm_first(m, g);

    if (m->wgrad)
        put(&m->a, i, first + q, code);
    else
        put(&m->a, first + i, q, code);
}

void ng_gemm_put_b(ng_gemm_case *m, int64_t g, int64_t i, int64_t q,
                   uint32_t code)
{
    const int64_t first = ng_gemm_first(m, g);

    if (m->wgrad && m->b.packed)
        put(&m->b, first + q, i, code);
    else if (m->wgrad)
        put(&m->b, i, first + q, code);
    else
        put(&m->b, g * m->n + i, q, code);
}

/* Scales in a line, whatever their packing. */
static int64_t scales_in_line(const ng_gemm_case *m, const ng_gemm_side *side)
{
    if (m->wgrad && !side->packed)
        return ng_gemm_block(m, m->n_groups);
    return ng_ceil_div(m->k, side->packed ? NG_MXFP4_BLOCK : NG_FP8_BLOCK);
}

int64_t ng_gemm_n_scales(const ng_gemm_case *m, const ng_gemm_side *side)
{
    const bool ragged_lines = side->packed || (!m->wgrad && side == &m->a);

    return (ragged_lines ? m->used : side->scale_lines)
           * scales_in_line(m, side);
}

void ng_gemm_put_scale(ng_gemm_case *m, ng_gemm_side *side, int64_t i,
                       uint32_t bits)
{
    const int64_t n = scales_in_line(m, side);
    const int64_t start = i / n * side->words, j = i % n;

    if (side->scales_dtype == NG_FP32) {
        ((uint32_t *)side->scales)[start + j] = bits;
    } else if (side->scales_dtype == NG_UE8M0) {
        ((uint8_t *)side->scales)[start + j] = (uint8_t)bits;
    } else {
        uint32_t *word = (uint32_t *)side->scales + start + j / 4;
        const int shift = 8 * (int)(j % 4);

        *word = (*word & ~(UINT32_C(0xFF) << shift)) | (bits & 0xFF) << shift;
    }
}

int64_t ng_gemm_scale_a(const ng_gemm_case *m, int64_t g, int64_t i, int64_t q)
{
    const int64_t n = scales_in_line(m, &m->a);

    if (m->wgrad)
        return i * n + ng_gemm_block(m, g) + q / NG_FP8_BLOCK;
    return (ng_gemm_first(m, g) + i) * n
           + q / (m->a.packed ? NG_MXFP4_BLOCK : NG_FP8_BLOCK);
}

int64_t ng_gemm_scale_b(const ng_gemm_case *m, int64_t g, int64_t i, int64_t q)
{
    const int64_t n = scales_in_line(m, &m->b);

    if (m->wgrad && m->b.packed)
        return (ng_gemm_first(m, g) + q) * n + i / NG_MXFP4_BLOCK;
    if (m->wgrad)
        return i * n + ng_gemm_block(m, g) + q / NG_FP8_BLOCK;
    return (g * blocks_of(m->n) + i / NG_FP8_BLOCK) * n + q / NG_FP8_BLOCK;
}
