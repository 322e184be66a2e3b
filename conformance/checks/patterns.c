/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a subject is wrong, when how is not known.
 */
#include <math.h>
#include <string.h>

#include "conformance/checks/hypothesis.h"
#include "conformance/checks/recoding.h"
#include "conformance/subject/elements.h"
#include "reference/convert/ref_decode.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_named(const ng_wrong_unit *w, const char *name)
{
    return strcmp(w->tensor->name, name) == 0;
}

/* ---- blocks ------------------------------------------------------------- */

typedef bool of_block(const ng_wrong_unit *w, const ng_elements *x,
                      const ng_elements *y, const ng_block *b);

/* Whether the block that a unit belongs to, as the operation's coded side has
 * them, is such a one; of a word of scales, one of its four. */
static bool in_block(const ng_wrong_unit *w, of_block *is)
{
    ng_elements x, y;
    const int64_t i = w->index[0], j = w->index[1];

    if (!ng_elements_of(&x, w->call, "x") || !ng_elements_of(&y, w->call, "y"))
        return false;
    const ng_elements *coded = y.scales != NULL ? &y : &x;

    if (coded->scales == NULL)
        return false;
    if (w->tensor == y.codes) {
        const int64_t per = y.codes->dtype == NG_E2M1X2 ? 2 : 1;
        const int64_t row = y.flipped ? j : i;
        const int64_t col = y.flipped ? i : j * per;

        if (row >= y.rows || col >= y.cols)
            return false;
        const ng_block b = ng_elements_block_at(coded, row, col);

        return is(w, &x, &y, &b);
    }
    if (y.scales == NULL)
        return false;
    for (int64_t n = 0, n_blocks = ng_elements_blocks(coded); n < n_blocks;
         n++) {
        const ng_block b = ng_elements_block(coded, n);
        int64_t line = y.scales_flipped ? b.col_block : b.row_block;
        int64_t scale = y.scales_flipped ? b.row_block : b.col_block;

        if (y.scales->dtype == NG_UE8M0X4)
            scale /= 4;
        if (line == i && scale == j && is(w, &x, &y, &b))
            return true;
    }
    return false;
}

static double value_at(const ng_elements *x, int64_t row, int64_t col)
{
    const double v = ng_value_of(x->codes->dtype, ng_elements_get(x, row, col));

    if (x->scales == NULL)
        return v;
    const ng_block b = ng_elements_block_at(x, row, col);

    return v * ng_value_of(x->scales->dtype, ng_elements_scale(x, &b));
}

static bool holds_nan(const ng_wrong_unit *w, const ng_elements *x,
                      const ng_elements *y, const ng_block *b)
{
    (void)w, (void)y;
    for (int64_t r = b->row; r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++)
            if (!isfinite(value_at(x, r, c)))
                return true;
    return false;
}

static bool is_zero(const ng_wrong_unit *w, const ng_elements *x,
                    const ng_elements *y, const ng_block *b)
{
    (void)w, (void)y;
    for (int64_t r = b->row; r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++)
            if (value_at(x, r, c) != 0)
                return false;
    return true;
}

static bool is_short(const ng_wrong_unit *w, const ng_elements *x,
                     const ng_elements *y, const ng_block *b)
{
    const ng_elements *coded = y->scales != NULL ? y : x;

    (void)w;
    return b->row_end - b->row < coded->block_rows
           || b->col_end - b->col < coded->block_cols;
}

/* 2^-127, 2^127, and what is no number. */
static bool is_end(double s)
{
    return !(s > 0x1p-127) || !(s < 0x1p127);
}

static bool has_end_scale(const ng_wrong_unit *w, const ng_elements *x,
                          const ng_elements *y, const ng_block *b)
{
    (void)w;
    if (y->scales != NULL
        && is_end(ng_value_of(y->scales->dtype, ng_elements_scale(y, b))))
        return true;
    if (x->scales == NULL)
        return false;
    const ng_block from = ng_elements_block_at(x, b->row, b->col);

    return is_end(ng_value_of(x->scales->dtype, ng_elements_scale(x, &from)));
}

static bool has_other_scale(const ng_wrong_unit *w, const ng_elements *x,
                            const ng_elements *y, const ng_block *b)
{
    ng_elements given = *y;

    (void)x;
    if (y->scales == NULL)
        return false;
    given.scales = ng_call_output(w->given, "y.scales");
    return ng_elements_scale(&given, b) != ng_elements_scale(y, b);
}

#define IN_BLOCK(name, is)                   \
    static bool name(const ng_wrong_unit *w) \
    {                                        \
        return in_block(w, is);              \
    }

IN_BLOCK(in_nan_block, holds_nan)
IN_BLOCK(in_zero_block, is_zero)
IN_BLOCK(in_short_block, is_short)
IN_BLOCK(under_end_scale, has_end_scale)
IN_BLOCK(under_other_scale, has_other_scale)

/* ---- lists: encoders, decoders, states ---------------------------------- */

/* The number or code that unit i of a list comes from. */
static bool of_list(const ng_wrong_unit *w, double *x)
{
    const ng_tensor *from = ng_call_input(w->call, "x");

    if (from == NULL)
        from = ng_call_input(w->call, "x.codes");
    if (from == NULL || w->tensor->rank != 1 || from->rank != 1
        || from->shape[0] != w->tensor->shape[0])
        return false;
    const uint32_t bits = (uint32_t)ng_unit_get(from, w->index);

    if (starts(w->call->operation, "decode_"))
        *x = (double)ng_ref_decode(ng_format_of_codec(w->call), bits,
                                   &ng_default_rules);
    else
        *x = from->dtype == NG_I8 || from->dtype == NG_U8
                 ? (double)bits
                 : ng_value_of(from->dtype, bits);
    return true;
}

static bool from_nan(const ng_wrong_unit *w)
{
    double x;

    return of_list(w, &x) ? isnan(x) : in_nan_block(w);
}

static bool from_infinity(const ng_wrong_unit *w)
{
    double x;

    return of_list(w, &x) && !isfinite(x);
}

static bool from_above(const ng_wrong_unit *w)
{
    double x;

    return of_list(w, &x) && starts(w->call->operation, "encode_")
           && fabs(x) > (double)ng_ref_decode(
                  ng_format_of_codec(w->call),
                  ng_format_of_codec(w->call)->max_finite, &ng_default_rules);
}

static bool at_end_scale(const ng_wrong_unit *w)
{
    double x;

    return (is_named(w, "y") && strstr(w->call->operation, "code_ue8m0") != NULL
            && of_list(w, &x) && is_end(fabs(x)))
           || under_end_scale(w);
}

static bool from_subnormal(const ng_wrong_unit *w)
{
    const ng_format *codec = ng_format_of_codec(w->call);
    const ng_format *f = codec != NULL ? codec : ng_format_of(w->tensor->dtype);
    const uint64_t normal = UINT64_C(1) << f->fraction_bits;
    double x;

    if (!of_list(w, &x) || !f->has_subnormals)
        return false;
    if (starts(w->call->operation, "decode_"))
        return fabs(x) < ldexp(1, 1 - f->bias);
    return ((w->want & ~(uint64_t)ng_format_sign(f)) <= normal
            || fabs(x) < 0x1p-126);
}

static bool of_state_zero(const ng_wrong_unit *w)
{
    double x;

    return (starts(w->call->operation, "compand_")
            || starts(w->call->operation, "expand_"))
           && of_list(w, &x) && x == 0;
}

/* ---- zeros and padding -------------------------------------------------- */

static bool sign_of_zero(const ng_wrong_unit *w)
{
    const uint64_t other = w->want ^ w->got;

    if (w->tensor->dtype == NG_E2M1X2) {
        for (int shift = 0; shift < 8; shift += 4)
            if ((other >> shift & 0xF) != 0
                && ((other >> shift & 0xF) != 8 || (w->want >> shift & 7) != 0))
                return false;
        return true;
    }
    return other == ng_format_sign(ng_format_of(w->tensor->dtype))
           && (w->want & ~other) == 0;
}

/* The half of a byte, or the bytes of a word, that no element has. */
static bool in_padding(const ng_wrong_unit *w)
{
    const ng_tensor *t = w->tensor;
    const int64_t last = t->rank == 2 ? t->shape[1] - 1 : -1;
    ng_elements y;

    if (w->index[1] != last)
        return false;
    if (t->dtype == NG_E2M1X2)
        return ng_elements_of(&y, w->call, "y") && y.cols % 2 != 0
               && ((w->want ^ w->got) & 0xF) == 0;
    if (t->dtype != NG_UE8M0X4)
        return false;
    int64_t n = ng_call_attribute(w->call, "scales", -1);

    if (n < 0 && ng_elements_of(&y, w->call, "y")) {
        const ng_block b = ng_elements_block(&y, ng_elements_blocks(&y) - 1);

        n = 1 + (y.scales_flipped ? b.row_block : b.col_block);
    }
    return n >= 0 && n % 4 != 0
           && ((w->want ^ w->got)
               & (UINT64_C(0xFFFFFFFF) >> (32 - 8 * (n % 4))))
                  == 0;
}

static bool in_packed_scales(const ng_wrong_unit *w)
{
    return w->tensor->dtype == NG_UE8M0X4;
}

/* ---- groups of rows ----------------------------------------------------- */

static const int64_t *offsets_of(const ng_wrong_unit *w, int64_t *n_groups)
{
    const ng_tensor *offsets = ng_call_input(w->call, "offsets");

    *n_groups = offsets != NULL ? offsets->shape[0] - 1 : 0;
    return offsets != NULL ? offsets->data : NULL;
}

static bool past_the_groups(const ng_wrong_unit *w)
{
    int64_t n;
    const int64_t *offsets = offsets_of(w, &n);
    ng_elements y;

    if (offsets == NULL)
        return false;
    if (is_named(w, "values")) /* of SwiGLU, before they are quantised */
        return w->index[0] >= offsets[n];
    if (ng_elements_of(&y, w->call, "y")) {
        if (w->tensor == y.scales) /* one line a row */
            return !y.scales_flipped && y.block_rows == 1
                   && w->index[0] >= offsets[n];
        return w->tensor == y.codes
               && w->index[y.flipped ? 1 : 0] >= offsets[n];
    }
    return strstr(w->call->operation, "wgrad") == NULL
           && w->index[0] >= offsets[n];
}

static bool of_empty_group(const ng_wrong_unit *w)
{
    int64_t n;
    const int64_t *offsets = offsets_of(w, &n);

    if (offsets == NULL || n == 0 || !is_named(w, "d")
        || strstr(w->call->operation, "wgrad") == NULL
        || w->tensor->shape[0] % n != 0)
        return false;
    const int64_t g = w->index[0] / (w->tensor->shape[0] / n);

    return offsets[g] == offsets[g + 1];
}

/* ---- tiles counted otherwise -------------------------------------------- */

static bool is_misplaced(int64_t at, int64_t size)
{
    const int64_t n = ng_ceil_div(size, NG_FP8_BLOCK);

    return n > 0 && at / ng_ceil_div(size, n) != at / NG_FP8_BLOCK;
}

static bool of_derived_tile(const ng_wrong_unit *w)
{
    const ng_tensor *t = w->tensor;

    return t->rank == 2
           && (is_misplaced(w->index[1], t->shape[1])
               || (strstr(w->call->operation, "grouped") == NULL
                   && is_misplaced(w->index[0], t->shape[0])));
}

static bool is_stochastic(const ng_wrong_unit *w)
{
    return w->call->rules.rounding == NG_STOCHASTIC;
}

static bool is_poison(const ng_wrong_unit *w)
{
    for (size_t i = 0; i < ng_dtype_size(w->tensor->dtype); i++)
        if ((w->got >> 8 * i & 0xFF) != w->poison)
            return false;
    return true;
}

/* The narrower places first. */
static const ng_pattern list[] = {
    {NG_KIND_PAST_GROUPS, "in rows past the last group", past_the_groups},
    {NG_KIND_EMPTY_GROUP, "in the results of groups without rows",
     of_empty_group},
    {NG_KIND_PADDING, "in half bytes or bytes that hold no element",
     in_padding},
    {NG_KIND_ZERO_SIGN, "in the sign of zeros", sign_of_zero},
    {NG_KIND_STATE_ZERO, "where a state is zero", of_state_zero},
    {NG_KIND_ZERO_BLOCK, "in blocks of zeros", in_zero_block},
    {NG_KIND_NAN, "where a NaN comes in, or in its block", from_nan},
    {NG_KIND_NAN, "where a NaN or an infinity comes in", from_infinity},
    {NG_KIND_OVERFLOW, "past the largest number", from_above},
    {NG_KIND_SCALE_END, "at scales of 2^-127, 2^127 or NaN", at_end_scale},
    {NG_KIND_SUBNORMAL, "where subnormal numbers are", from_subnormal},
    {NG_KIND_TILE_INDEX,
     "where the size over the number of tiles leads to another tile",
     of_derived_tile},
    {NG_KIND_RAGGED_TAIL, "in blocks shorter than their size", in_short_block},
    {NG_KIND_UNWRITTEN, "where the output is as it was", is_poison},
    {NG_KIND_SCALE_RULE, "in blocks that have another scale",
     under_other_scale},
    {NG_KIND_PACKED_SCALES, "in words of packed scales", in_packed_scales},
    {NG_KIND_NOISE, "under stochastic rounding", is_stochastic},
};

const ng_patterns ng_place_patterns = {list, N(list)};
