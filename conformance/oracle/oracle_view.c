/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_view.h"

#include <stdlib.h>

#include "conformance/oracle/oracle_format.h"
#include "conformance/oracle/oracle_philox.h"
#include "formats/fp32.h"

ng_options ng_oracle_options(const ng_options *options)
{
    ng_options resolved = {0};

    if (options != NULL)
        resolved = *options;
    if (resolved.rules == NULL)
        resolved.rules = &ng_default_rules;
    return resolved;
}

void ng_oracle_count(const ng_options *options, unsigned bits)
{
    if (options->events != NULL && bits != 0)
        ng_events_count(options->events, bits);
}

uint32_t ng_oracle_random(const ng_options *options, int64_t r, int64_t c,
                          int64_t cols)
{
    if (options->rules->rounding != NG_STOCHASTIC)
        return 0;
    return ng_oracle_philox(options->random.seed, options->random.stream,
                            (uint64_t)r * (uint64_t)cols + (uint64_t)c);
}

/* ---- rows and their blocks ---- */

static int64_t group_end(const ng_groups *groups, int64_t group, int64_t rows)
{
    return groups != NULL ? groups->offsets[group + 1] : rows;
}

bool ng_oracle_groups_legal(const ng_options *options, int64_t rows)
{
    const ng_groups *groups = options->groups;

    if (groups == NULL)
        return true;
    if (groups->n_groups < 0 || groups->offsets[0] != 0)
        return false;
    for (int64_t g = 1; g <= groups->n_groups; g++)
        if (groups->offsets[g] < groups->offsets[g - 1])
            return false;
    return groups->offsets[groups->n_groups] <= rows;
}

int64_t ng_oracle_rows(const ng_options *options, int64_t rows)
{
    const ng_groups *groups = options->groups;

    return groups != NULL ? groups->offsets[groups->n_groups] : rows;
}

int64_t ng_oracle_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t ng_oracle_blocks(int64_t n, int64_t block)
{
    return (n + block - 1) / block;
}

bool ng_oracle_next_span(ng_oracle_span *span, const ng_options *options,
                         int64_t rows)
{
    const ng_groups *groups = options->groups;
    const int64_t n_groups = groups != NULL ? groups->n_groups : 1;

    span->first = span->end; /* groups leave no gaps */
    while (span->group < n_groups
           && group_end(groups, span->group, rows) <= span->first)
        span->group++;
    if (span->group == n_groups)
        return false;
    span->end = ng_oracle_min(span->first + NG_ORACLE_FP8_BLOCK,
                              group_end(groups, span->group, rows));
    span->number++;
    return true;
}

int64_t ng_oracle_spans(const ng_options *options, int64_t rows)
{
    ng_oracle_span span = NG_ORACLE_FIRST_SPAN;

    while (ng_oracle_next_span(&span, options, rows))
        continue;
    return span.number + 1;
}

/* ---- elements ---- */

bool ng_oracle_float_format(ng_format_id *format, ng_dtype dtype)
{
    switch (dtype) {
    case NG_BF16:
        *format = NG_FORMAT_BF16;
        return true;
    case NG_FP16:
        *format = NG_FORMAT_FP16;
        return true;
    case NG_FP32:
        *format = NG_FORMAT_FP32;
        return true;
    default:
        return false;
    }
}

void ng_oracle_load(mpfr_ptr v, const ng_matrix *x, int64_t r, int64_t c)
{
    const int64_t i = r * x->ld + c;

    if (x->dtype == NG_FP32)
        ng_oracle_value(v, NG_FORMAT_FP32, ((const uint32_t *)x->data)[i]);
    else
        ng_oracle_value(v,
                        x->dtype == NG_BF16 ? NG_FORMAT_BF16 : NG_FORMAT_FP16,
                        ((const uint16_t *)x->data)[i]);
}

void ng_oracle_store(const ng_matrix *y, int64_t r, int64_t c, uint32_t code)
{
    const int64_t i = r * y->ld + c;

    if (y->dtype == NG_FP32)
        ((uint32_t *)y->data)[i] = code;
    else
        ((uint16_t *)y->data)[i] = (uint16_t)code;
}

uint32_t ng_oracle_load_nibble(const uint8_t *row, int64_t c)
{
    return c % 2 == 0 ? row[c / 2] % 16u : row[c / 2] / 16u;
}

void ng_oracle_store_nibble(uint8_t *row, int64_t c, uint32_t code)
{
    if (c % 2 == 0)
        row[c / 2] = (uint8_t)code;
    else
        row[c / 2] = (uint8_t)(row[c / 2] % 16u + 16 * code);
}

uint8_t *ng_oracle_fp8_code(const ng_fp8 *x, int64_t r, int64_t c)
{
    return x->form == NG_FP8_COL ? &x->codes[c * x->ld + r]
                                 : &x->codes[r * x->ld + c];
}

/* ---- scales ---- */

uint32_t ng_oracle_load_scale_bits(const ng_scales *x, int64_t line, int64_t j)
{
    const int64_t start = line * x->ld;

    switch (x->dtype) {
    case NG_FP32:
        return ((const uint32_t *)x->data)[start + j * x->step];
    case NG_UE8M0:
        return ((const uint8_t *)x->data)[start + j * x->step];
    case NG_UE8M0X4:
        return ((const uint32_t *)x->data)[start + j / 4 * x->step]
                   >> (8 * (j % 4))
               & 0xFF;
    default:
        abort(); /* callers have looked */
    }
}

void ng_oracle_load_scale(mpfr_ptr v, const ng_scales *x, int64_t line,
                          int64_t j)
{
    ng_oracle_value(v, x->dtype == NG_FP32 ? NG_FORMAT_FP32 : NG_FORMAT_UE8M0,
                    ng_oracle_load_scale_bits(x, line, j));
}

void ng_oracle_store_scale_bits(const ng_scales *y, int64_t line, int64_t j,
                                int64_t n, uint32_t bits)
{
    const int64_t start = line * y->ld;

    if (y->dtype == NG_FP32)
        ((uint32_t *)y->data)[start + j * y->step] = bits;
    else if (y->dtype == NG_UE8M0)
        ((uint8_t *)y->data)[start + j * y->step] = (uint8_t)bits;
    else {
        uint32_t *word = &((uint32_t *)y->data)[start + j / 4 * y->step];

        for (int64_t byte = j % 4; byte < 4; byte++) {
            *word &= ~(UINT32_C(0xFF) << (8 * byte));
            if (j != n - 1)
                break; /* the last clears the absent ones above */
        }
        *word |= bits << (8 * (j % 4));
    }
}

bool ng_oracle_is_pow2_scale(mpfr_srcptr v)
{
    if (!mpfr_number_p(v) || mpfr_sgn(v) <= 0)
        return false;

    const mpfr_exp_t k = mpfr_get_exp(v) - 1; /* 2^k <= v < 2^(k+1) */

    return mpfr_cmp_ui_2exp(v, 1, k) == 0 && k >= -127 && k <= 127;
}

void ng_oracle_store_scale(const ng_scales *y, int64_t line, int64_t j,
                           int64_t n, mpfr_srcptr v)
{
    const bool packed_or_byte = y->dtype != NG_FP32;
    uint32_t bits;

    if (mpfr_nan_p(v)) {
        bits = packed_or_byte ? 0xFF : 0x7FFFFFFF;
    } else if (mpfr_inf_p(v)) { /* a peer's: its exponent field */
        bits = packed_or_byte ? 0xFF : 0x7F800000;
    } else if (packed_or_byte) {
        if (!ng_oracle_is_pow2_scale(v))
            abort();
        bits = (uint32_t)(mpfr_get_exp(v) - 1 + 127);
    } else {
        const float s = mpfr_get_flt(v, MPFR_RNDZ);

        if (mpfr_cmp_d(v, (double)s) != 0)
            abort();
        bits = ng_fp32_bits(s);
    }
    ng_oracle_store_scale_bits(y, line, j, n, bits);
}
