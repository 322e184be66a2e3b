/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_format.h"

#include <pthread.h>
#include <stdlib.h>

const ng_oracle_format ng_oracle_formats[NG_N_FORMATS] = {
    /* s ee m: 0 .5 1 1.5 2 3 4 6; no Inf, no NaN */
    [NG_FORMAT_E2M1] = {.fraction_bits = 1,
                        .bias = 1,
                        .has_zero = true,
                        .only_saturates = true,
                        .sign = 0x8,
                        .max = 0x7},
    /* s eeee mmm: up to 448; the last code of each sign is NaN */
    [NG_FORMAT_E4M3] = {.fraction_bits = 3,
                        .bias = 7,
                        .has_zero = true,
                        .sign = 0x80,
                        .max = 0x7E,
                        .overflow = 0x7F,
                        .first_nan = 0x7F,
                        .last_nan = 0x7F},
    /* eeeeeeee: 2^-127 .. 2^127; the last code is NaN */
    [NG_FORMAT_UE8M0] = {.fraction_bits = 0,
                         .bias = 127,
                         .max = 0xFE,
                         .overflow = 0xFF,
                         .first_nan = 0xFF,
                         .last_nan = 0xFF},
    /* eeeeee mmmmmmmmmm: up to 261888; the last code is NaN */
    [NG_FORMAT_UE6M10] = {.fraction_bits = 10,
                          .bias = 46,
                          .has_zero = true,
                          .only_saturates = true,
                          .only_nearest_even = true,
                          .max = 0xFFFE,
                          .first_nan = 0xFFFF,
                          .last_nan = 0xFFFF},
    /* s eeeeeeee mmmmmmm, IEEE 754 */
    [NG_FORMAT_BF16] = {.fraction_bits = 7,
                        .bias = 127,
                        .has_zero = true,
                        .sign = 0x8000,
                        .max = 0x7F7F,
                        .overflow = 0x7F80,
                        .infinity = 0x7F80,
                        .first_nan = 0x7F81,
                        .last_nan = 0x7FFF},
    /* s eeeee mmmmmmmmmm, IEEE 754 */
    [NG_FORMAT_FP16] = {.fraction_bits = 10,
                        .bias = 15,
                        .has_zero = true,
                        .sign = 0x8000,
                        .max = 0x7BFF,
                        .overflow = 0x7C00,
                        .infinity = 0x7C00,
                        .first_nan = 0x7C01,
                        .last_nan = 0x7FFF},
    /* s eeeeeeee m * 23, IEEE 754 */
    [NG_FORMAT_FP32] = {.fraction_bits = 23,
                        .bias = 127,
                        .has_zero = true,
                        .sign = 0x80000000,
                        .max = 0x7F7FFFFF,
                        .overflow = 0x7F800000,
                        .infinity = 0x7F800000,
                        .first_nan = 0x7F800001,
                        .last_nan = 0x7FFFFFFF},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static mpfr_t *table[NG_N_FORMATS];

/* The definition: (1 + f/2^n) * 2^(e - bias), or f/2^n * 2^(1 - bias) in
 * exponent field 0 where the format has a zero. Codes past the largest finite
 * one go by the first line: the format continued upward. Returns 0 if exact. */
static int define(mpfr_ptr x, const ng_oracle_format *format, uint32_t code)
{
    const uint32_t one = UINT32_C(1) << format->fraction_bits;
    const uint32_t e = code / one;
    const uint32_t f = code % one;
    int inexact = mpfr_set_ui(x, f, MPFR_RNDN);

    inexact |= mpfr_div_ui(x, x, one, MPFR_RNDN);
    if (e == 0 && format->has_zero)
        return inexact | mpfr_mul_2si(x, x, 1 - format->bias, MPFR_RNDN);
    inexact |= mpfr_add_ui(x, x, 1, MPFR_RNDN);
    return inexact | mpfr_mul_2si(x, x, (long)e - format->bias, MPFR_RNDN);
}

static void clear_tables(void)
{
    for (int id = 0; id < NG_N_FORMATS; id++) {
        if (table[id] == NULL)
            continue;
        for (uint32_t code = 0; code <= ng_oracle_formats[id].max + 1; code++)
            mpfr_clear(table[id][code]);
        free(table[id]);
        table[id] = NULL;
    }
}

static void build_tables(void)
{
    for (int id = 0; id < NG_N_FORMATS; id++) {
        const ng_oracle_format *format = &ng_oracle_formats[id];

        if (id == NG_FORMAT_FP32)
            continue;
        table[id] = malloc((format->max + 2) * sizeof *table[id]);
        if (table[id] == NULL)
            abort();
        for (uint32_t code = 0; code <= format->max + 1; code++) {
            mpfr_init2(table[id][code], NG_ORACLE_BITS);
            if (define(table[id][code], format, code) != 0)
                abort();
            if (code > 0 && mpfr_cmp(table[id][code - 1], table[id][code]) >= 0)
                abort();
        }
    }
    atexit(clear_tables);
}

const mpfr_t *ng_oracle_values(ng_format_id id)
{
    pthread_once(&once, build_tables);
    return (const mpfr_t *)table[id];
}

void ng_oracle_value(mpfr_ptr x, ng_format_id id, uint32_t code)
{
    const ng_oracle_format *format = &ng_oracle_formats[id];
    const uint32_t width_mask =
        format->sign != 0 ? 2 * format->sign - 1 : format->last_nan;
    const uint32_t magnitude = code & width_mask & ~format->sign;
    const bool negative = (code & format->sign) != 0;

    if (format->last_nan != 0 && magnitude >= format->first_nan)
        mpfr_set_nan(x);
    else if (format->infinity != 0 && magnitude == format->infinity)
        mpfr_set_inf(x, negative ? -1 : 1);
    else if (id != NG_FORMAT_FP32)
        mpfr_setsign(x, ng_oracle_values(id)[magnitude], negative, MPFR_RNDN);
    else {
        /* As define() has it, f + 2^23 in units of 2^(e - bias - 23): 150 is
         * bias + 23. Quicker, and exact since x has more than 24 bits. */
        const uint32_t e = magnitude >> 23;
        const long f = (long)(magnitude % 0x800000) + (e == 0 ? 0 : 0x800000);

        if (f == 0)
            mpfr_set_zero(x, negative ? -1 : 1);
        else
            mpfr_set_si_2exp(x, negative ? -f : f,
                             e == 0 ? -149 : (mpfr_exp_t)e - 150, MPFR_RNDN);
    }
}
