/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_convert_fp8_row_to_col.h"

#include <stddef.h>

#include "reference/convert/ref_amax.h"
#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_fp8_alignment.h"
#include "reference/convert/ref_fp8_blocks.h"
#include "reference/convert/ref_fp8_coding.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_scales.h"
#include "reference/convert/ref_views.h"

struct job {
    const ng_fp8 *y, *x;
    const ng_options *options;
    ng_ref_fp8_blocks blocks; /* of y: a line is a column */
};

static ng_exact row_scale(const ng_fp8 *x, int64_t r, int64_t c)
{
    return ng_ref_load_scale(&x->scales, r, c / NG_FP8_BLOCK);
}

/* The exponent field of a scale as an FP32 number; a power of two, 0 or NaN. */
static int exponent_field(ng_exact scale)
{
    if (scale.kind == NG_EXACT_NAN)
        return 255;
    if (scale.significand == 0 || ng_exact_floor_log2(scale) < -126)
        return 0;
    return ng_exact_floor_log2(scale) + 127;
}

/* Rule fp8.align = exponent-field (semantics.md 13): the largest scale that is
 * no NaN, among those of the rows and the zeros that stand for absent rows. Of
 * the new exponent field all bits are kept, over the sign's too. */
static void align_block_by_field(const struct job *job, int64_t c,
                                 int64_t block, ng_ref_range rows)
{
    const bool is_short = rows.end - rows.begin < NG_FP8_BLOCK;
    ng_exact largest = {.kind = is_short ? NG_EXACT_FINITE : NG_EXACT_NAN};

    for (int64_t r = rows.begin; r < rows.end; r++) {
        const ng_exact scale = row_scale(job->x, r, c);

        if (scale.kind == NG_EXACT_FINITE
            && (largest.kind == NG_EXACT_NAN
                || ng_exact_compare_magnitude(scale, largest) > 0))
            largest = scale;
    }
    ng_ref_store_scale(&job->y->scales, c, block, largest);
    for (int64_t r = rows.begin; r < rows.end; r++) {
        const int code = *ng_ref_fp8_byte(job->x, r, c);
        const int field = code >> 3 & 0xF;
        const int less =
            exponent_field(largest) - exponent_field(row_scale(job->x, r, c));
        const int moved = field - less < 1 ? 0 : field - less;

        const int bits = (code & 0x80) | moved << 3 | (code & 0x7);

        *ng_ref_fp8_byte(job->y, r, c) = (uint8_t)(field == 0 ? 0 : bits);
    }
}

/* Power-of-two scales: alignment without headroom, for E4M3 fills its range. */
static void align_block(const struct job *job, int64_t c, int64_t block,
                        ng_ref_range rows, ng_events *events)
{
    ng_ref_alignment alignment = {.any = false};

    for (int64_t r = rows.begin; r < rows.end; r++)
        ng_ref_alignment_add(&alignment, row_scale(job->x, r, c));

    const int k =
        ng_ref_alignment_exponent(&alignment, 0, job->y->scales.dtype);

    ng_ref_store_scale(&job->y->scales, c, block, ng_ref_power_of_two(k));
    for (int64_t r = rows.begin; r < rows.end; r++) {
        unsigned bits = 0;

        *ng_ref_fp8_byte(job->y, r, c) = ng_ref_aligned_code(
            ng_ref_load_fp8(job->x, r, c), row_scale(job->x, r, c), k,
            ng_ref_rules(job->options), &bits);
        ng_events_count(events, bits);
    }
}

/* General scales: decode to FP32, then quantize the column. */
static void requantize_block(const struct job *job, int64_t c, int64_t block,
                             ng_ref_range rows, ng_events *events)
{
    const ng_rules *rules = ng_ref_rules(job->options);
    ng_exact v[NG_FP8_BLOCK];
    unsigned decoding[NG_FP8_BLOCK];
    ng_ref_fp8_contents contents = {.amax = ng_ref_no_amax};

    for (int64_t r = rows.begin; r < rows.end; r++) {
        const int64_t i = r - rows.begin;

        /* Two roundings, and the element counts what happened in either, as
         * when it is dequantized. */
        decoding[i] = 0;
        v[i] =
            ng_exact_round_fp32(ng_exact_product(ng_ref_load_fp8(job->x, r, c),
                                                 row_scale(job->x, r, c)),
                                &decoding[i]);
        ng_ref_fp8_meet(&contents, v[i]);
    }

    const ng_ref_fp8_unit unit =
        ng_ref_fp8_unit_of(&contents, rules, &ng_formats[NG_FORMAT_FP32]);

    ng_ref_store_scale(&job->y->scales, c, block, unit.scale);
    for (int64_t r = rows.begin; r < rows.end; r++) {
        const int64_t i = r - rows.begin;
        unsigned bits = unit.scale.kind != NG_EXACT_NAN ? decoding[i] : 0;

        *ng_ref_fp8_byte(job->y, r, c) = ng_ref_fp8_code(
            v[i], &unit, rules, ng_ref_random(job->options, r, c, job->y->cols),
            &bits);
        ng_events_count(events, bits);
    }
}

static bool is_pow2(const ng_fp8 *x)
{
    return x->scales.dtype != NG_FP32 || x->scales.pow2;
}

static void convert_column(const void *context, int64_t c, ng_events *events)
{
    const struct job *job = context;

    for (int64_t b = 0; b < job->blocks.n_scales; b++) {
        const ng_ref_range rows = ng_ref_fp8_block_at(&job->blocks, c, b).rows;

        if (is_pow2(job->x)
            && ng_ref_rules(job->options)->fp8_align == NG_FP8_ALIGN_FIELD)
            align_block_by_field(job, c, b, rows);
        else if (is_pow2(job->x))
            align_block(job, c, b, rows, events);
        else
            requantize_block(job, c, b, rows, events);
    }
}

/* Whether every scale is what the tensor declares: a power of two, or NaN. Also
 * those that FP32 alone can hold, 2^-149 .. 2^-128: section 5 writes some. */
static ng_status check_pow2(const ng_fp8 *x, int64_t rows)
{
    const int64_t n_scales = ng_ceil_div(x->cols, NG_FP8_BLOCK);

    for (int64_t r = 0; n_scales > 0 && r < rows; r++)
        for (int64_t s = 0; s < n_scales; s++) {
            const ng_exact scale = ng_ref_load_scale(&x->scales, r, s);
            int k;

            if (scale.kind != NG_EXACT_NAN
                && !ng_ref_is_power_of_two(scale, &k))
                return NG_BAD_SCALE;
        }
    return NG_OK;
}

static ng_status check_rules_and_scales(const ng_fp8 *y, const ng_fp8 *x,
                                        const ng_options *options)
{
    const ng_rules *rules = ng_ref_rules(options);

    if (!is_pow2(x))
        return ng_ref_check_fp8_rules(rules, &y->scales);
    if (rules->rounding != NG_NEAREST_EVEN)
        return NG_BAD_RULES;
    return check_pow2(x, ng_ref_rows(options, x->rows));
}

ng_status ng_ref_convert_fp8_row_to_col(const ng_fp8 *y, const ng_fp8 *x,
                                        const ng_options *options)
{
    struct job job = {.y = y, .x = x, .options = options};
    ng_status status;

    if (y == NULL || x == NULL)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, x->rows, x->cols)) != NG_OK
        || (status = ng_ref_check_fp8(y, 1u << NG_FP8_COL, options)) != NG_OK
        || (status = ng_ref_check_fp8(x, 1u << NG_FP8_ROW, options)) != NG_OK
        || (status = check_rules_and_scales(y, x, options)) != NG_OK
        || (status = ng_ref_fp8_blocks_open(&job.blocks, NG_FP8_COL, x->rows,
                                            x->cols, ng_ref_groups(options)))
               != NG_OK)
        return status;
    ng_ref_run(convert_column, &job, job.blocks.n_lines, options);
    ng_ref_fp8_blocks_close(&job.blocks);
    return NG_OK;
}
