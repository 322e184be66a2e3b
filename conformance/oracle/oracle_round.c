/* SPDX-License-Identifier: Apache-2.0
 *
 * Find the two neighbours of |x| among the listed values, take the exact
 * distances to both, and let the rounding choose. There are no bit tricks and
 * no thresholds: a wrong answer would need a wrong list or a wrong comparison.
 */
#include "conformance/oracle/oracle_round.h"

#include <stdlib.h>

#include "formats/fp32.h"

enum {
    INEXACT = 1u << NG_EVENT_INEXACT,
    TIE = 1u << NG_EVENT_TIE,
    SUBNORMAL = 1u << NG_EVENT_SUBNORMAL,
    FLUSHED = 1u << NG_EVENT_FLUSHED,
    SATURATED = 1u << NG_EVENT_SATURATED,
    INFINITE = 1u << NG_EVENT_INFINITE,
    A_NAN = 1u << NG_EVENT_NAN
};

void ng_oracle_require_exact(int ternary)
{
    if (ternary != 0)
        abort();
}

ng_oracle_grid *ng_oracle_grid_of(ng_format_id id)
{
    return &ng_oracle_here()->grid[id];
}

ng_oracle_grid *ng_oracle_scaled_grid(ng_format_id id, mpfr_srcptr unit)
{
    ng_oracle_grid *grid = &ng_oracle_here()->scaled[id];
    const mpfr_t *value = ng_oracle_values(id);
    const uint32_t slot = ng_oracle_formats[id].max + 1;

    if (value == NULL || !mpfr_number_p(unit) || mpfr_sgn(unit) <= 0)
        abort();
    if (grid->own == NULL) {
        grid->own = malloc((slot + 1) * sizeof *grid->own);
        if (grid->own == NULL)
            abort();
        for (uint32_t code = 0; code <= slot; code++)
            mpfr_init2(grid->own[code], NG_ORACLE_BITS);
        mpfr_init2(grid->unit, NG_ORACLE_BITS); /* NaN: equals no unit */
        grid->value = (const mpfr_t *)grid->own;
    }
    if (mpfr_equal_p(grid->unit, unit))
        return grid;
    ng_oracle_require_exact(mpfr_set(grid->unit, unit, MPFR_RNDN));
    for (uint32_t code = 0; code <= slot; code++)
        ng_oracle_require_exact(
            mpfr_mul(grid->own[code], value[code], unit, MPFR_RNDN));
    return grid;
}

/* The code whose value is the last at or below x, value[0] <= x <
 * value[slot]. The interval of the code found last, or the one above it, is
 * tried first: sweeps over neighbouring inputs then need no search. */
static uint32_t find(ng_oracle_grid *grid, mpfr_srcptr x)
{
    const mpfr_t *value = grid->value;
    uint32_t low = 0, high = ng_oracle_formats[grid->id].max + 1;

    if (mpfr_cmp(value[grid->hint], x) <= 0) {
        low = grid->hint;
        if (mpfr_cmp(x, value[low + 1]) < 0)
            return low;
        low++; /* below slot, as x is */
        if (mpfr_cmp(x, value[low + 1]) < 0)
            return grid->hint = low;
        low++;
    } else {
        high = grid->hint;
    }
    while (high - low > 1) { /* value[low] <= x < value[high] */
        const uint32_t middle = low + (high - low) / 2;

        if (mpfr_cmp(value[middle], x) <= 0)
            low = middle;
        else
            high = middle;
    }
    return grid->hint = low;
}

/* Find the neighbours *lower <= x < *upper of a magnitude below the slot after
 * the largest finite one; returns the code of the lower. FP32's come from
 * MPFR's own rounding toward zero, whose result is checked as a hint is. */
static uint32_t neighbours(ng_oracle_grid *grid, mpfr_srcptr x,
                           mpfr_srcptr *lower, mpfr_srcptr *upper)
{
    if (grid->id != NG_FORMAT_FP32) {
        const uint32_t code = find(grid, x);

        *lower = grid->value[code];
        *upper = grid->value[code + 1];
        return code;
    }

    ng_oracle_context *c = ng_oracle_here();
    const uint32_t code = ng_fp32_bits(mpfr_get_flt(x, MPFR_RNDZ));

    ng_oracle_value(c->lower, NG_FORMAT_FP32, code);
    if (code < ng_oracle_formats[NG_FORMAT_FP32].max)
        ng_oracle_value(c->upper, NG_FORMAT_FP32, code + 1);
    else
        mpfr_set_ui_2exp(c->upper, 1, 128, MPFR_RNDN);
    if (mpfr_cmp(c->lower, x) > 0 || mpfr_cmp(x, c->upper) >= 0)
        abort();
    *lower = c->lower;
    *upper = c->upper;
    return code;
}

/* a - b exactly: in one limb if that holds it, else in the wide variable. */
static mpfr_srcptr difference(mpfr_ptr narrow, mpfr_ptr wide, mpfr_srcptr a,
                              mpfr_srcptr b)
{
    if (mpfr_sub(narrow, a, b, MPFR_RNDN) == 0)
        return narrow;
    ng_oracle_require_exact(mpfr_sub(wide, a, b, MPFR_RNDN));
    return wide;
}

/* floor(2^32 t) + random >= 2^32, t = below / (below + above). Neighbours of
 * every format are a power of two apart, and the unit is one: the quotient is
 * a shift, and exact. */
static bool stochastic_away(ng_oracle_context *c, mpfr_srcptr below,
                            mpfr_srcptr above, uint32_t random)
{
    ng_oracle_require_exact(mpfr_add(c->t, below, above, MPFR_RNDN));

    const mpfr_exp_t k = mpfr_get_exp(c->t) - 1;

    if (mpfr_cmp_ui_2exp(c->t, 1, k) != 0)
        abort();
    ng_oracle_require_exact(mpfr_mul_2si(c->t, below, 32 - k, MPFR_RNDN));
    return (uint64_t)mpfr_get_ui(c->t, MPFR_RNDD) + random >= UINT64_C(1) << 32;
}

/* Whether |x|, strictly between its neighbours at the distances below and
 * above, becomes the upper one. */
static bool goes_away(ng_oracle_context *c, mpfr_srcptr below,
                      mpfr_srcptr above, int rounding, bool negative,
                      bool lower_is_odd, uint32_t random, unsigned *bits)
{
    const int order = mpfr_cmp(below, above);

    if (order == 0)
        *bits |= TIE;
    switch (rounding) {
    case NG_NEAREST_EVEN:
        return order > 0 || (order == 0 && lower_is_odd);
    case NG_NEAREST_AWAY:
        return order >= 0;
    case NG_NEAREST_ZERO:
        return order > 0;
    case NG_TOWARD_ZERO:
        return false;
    case NG_UP:
        return !negative;
    case NG_DOWN:
        return negative;
    case NG_STOCHASTIC:
        return stochastic_away(c, below, above, random);
    default:
        abort();
    }
}

/* The code of a magnitude that passes the largest finite one. */
static uint32_t overflowed(const ng_oracle_format *format,
                           const ng_rules *rules, bool negative, bool finite)
{
    const bool toward_zero = rules->rounding == NG_TOWARD_ZERO
                             || rules->rounding == (negative ? NG_UP : NG_DOWN);

    if (rules->overflow == NG_SATURATE || format->only_saturates
        || (finite && toward_zero))
        return format->max;
    return format->overflow;
}

/* Whether RN32 of x over the grid's unit is zero; E2M1's 1 is code 2. */
static bool vanishes(ng_oracle_grid *grid, mpfr_srcptr x)
{
    float q;
    mpfr_t quotient;

    mpfr_init2(quotient, NG_ORACLE_BITS);
    mpfr_div(quotient, x, grid->value[2], MPFR_RNDN);
    q = mpfr_get_flt(quotient, MPFR_RNDN);
    mpfr_clear(quotient);
    return q == 0;
}

/* Whether floor(RN32(t + 1/2)) is 1 for t of E2M1's least steps, t < 1/2. */
static bool half_makes_a_step(ng_oracle_grid *grid, mpfr_srcptr magnitude)
{
    mpfr_t t, sum;
    bool yes;

    mpfr_init2(t, NG_ORACLE_BITS);
    mpfr_init2(sum, 24);
    /* The least step is a power of two. */
    ng_oracle_require_exact(
        mpfr_div(t, magnitude, grid->value[1], MPFR_RNDN));
    mpfr_set_d(sum, 0.5, MPFR_RNDN);
    mpfr_add(sum, t, sum, MPFR_RNDN);
    yes = mpfr_cmp_ui(sum, 1) >= 0 && mpfr_cmp_d(t, 0.5) < 0;
    mpfr_clears(t, sum, (mpfr_ptr)0);
    return yes;
}

/* The rounding of a finite magnitude, without its sign. */
static uint32_t round_finite(ng_oracle_grid *grid, mpfr_srcptr magnitude,
                             const ng_rules *rules, bool negative,
                             uint32_t random, unsigned *bits,
                             ng_oracle_context *c)
{
    const ng_oracle_format *format = &ng_oracle_formats[grid->id];
    const int rounding =
        format->only_nearest_even ? (int)NG_NEAREST_EVEN : rules->rounding;
    mpfr_srcptr lower, upper;
    uint32_t code;
    bool beyond;

    if (format->has_zero && mpfr_zero_p(magnitude))
        return 0;
    if (!format->has_zero && mpfr_cmp(magnitude, grid->value[0]) < 0) {
        *bits |= INEXACT; /* UE8M0 below 2^-127, in every mode */
        return 0;
    }

    if (grid->id == NG_FORMAT_FP32)
        beyond = mpfr_cmp_ui_2exp(magnitude, 1, 128) >= 0;
    else
        beyond = mpfr_cmp(magnitude, grid->value[format->max + 1]) >= 0;

    if (!beyond) {
        code = neighbours(grid, magnitude, &lower, &upper);
        if (!mpfr_equal_p(magnitude, lower)) {
            *bits |= INEXACT;
            code += goes_away(
                c, difference(c->below, c->wide_below, magnitude, lower),
                difference(c->above, c->wide_above, upper, magnitude), rounding,
                negative, code % 2 != 0, random, bits);
        }
        if (grid->id == NG_FORMAT_E2M1 && code == 0
            && rules->e2m1_half == NG_E2M1_HALF_ADDED
            && half_makes_a_step(grid, magnitude))
            code = 1;
        beyond = code > format->max;
    }
    if (beyond) {
        *bits |= INEXACT | SATURATED;
        return overflowed(format, rules, negative, true);
    }
    if (format->has_zero && code == 0)
        *bits |= FLUSHED;
    else if (format->has_zero && code >> format->fraction_bits == 0)
        *bits |= SUBNORMAL;
    return code;
}

uint32_t ng_oracle_nan(ng_format_id id, const ng_rules *rules, bool negative)
{
    const ng_oracle_format *format = &ng_oracle_formats[id];
    const uint32_t sign = negative ? format->sign : 0;

    if (id == NG_FORMAT_E2M1) {
        const uint32_t code[] = {[NG_E2M1_NAN_ZERO] = 0x0,
                                 [NG_E2M1_NAN_MAX] = 0x7,
                                 [NG_E2M1_NAN_MINUS_ZERO] = negative ? 0x0 : 0x8,
                                 [NG_E2M1_NAN_THREE] = negative ? 0xB : 0x3};

        return code[rules->e2m1_nan];
    }
    if (rules->nan != NG_NAN_QUIET)
        return format->last_nan;
    if (format->infinity == 0)
        return sign | format->last_nan;
    /* Halfway between the infinity and the first code past the NaNs. */
    return sign | (format->infinity + (format->last_nan + 1)) / 2;
}

/* UE8M0 of ml_dtypes, by its values: of the two neighbours the one below only
 * where x is nearer to it, or equal; but 2^-127 only up to 2^-127. */
static uint32_t ml_dtypes_ue8m0(ng_oracle_grid *grid, mpfr_srcptr x,
                                unsigned *bits)
{
    enum { NOT_A_NUMBER = 0xFF, LARGEST = 0xFE };
    ng_oracle_context *c = ng_oracle_here();
    uint32_t code = 0;

    if (mpfr_inf_p(x) != 0 || mpfr_sgn(x) <= 0) {
        *bits |= mpfr_inf_p(x) != 0 ? INFINITE : INEXACT;
        return NOT_A_NUMBER;
    }
    while (code <= LARGEST && mpfr_cmp(grid->value[code + 1], x) <= 0)
        code++;
    if (mpfr_equal_p(grid->value[code], x) != 0)
        return code <= LARGEST ? code : NOT_A_NUMBER;
    *bits |= INEXACT;
    if (mpfr_cmp(x, grid->value[0]) < 0)
        return 0;

    const int order = mpfr_cmp(
        difference(c->below, c->wide_below, x, grid->value[code]),
        difference(c->above, c->wide_above, grid->value[code + 1], x));

    code += order >= 0 || code == 0;
    *bits |= order == 0 && code <= LARGEST ? TIE : 0;
    *bits |= code > LARGEST ? SATURATED : 0;
    return code > LARGEST ? NOT_A_NUMBER : code;
}

uint32_t ng_oracle_round(ng_oracle_grid *grid, mpfr_srcptr x,
                         const ng_rules *rules, uint32_t random,
                         unsigned *events)
{
    const ng_oracle_format *format = &ng_oracle_formats[grid->id];
    ng_oracle_context *c = ng_oracle_here();
    mpfr_srcptr magnitude = x;

    if (mpfr_nan_p(x)) {
        *events |= A_NAN;
        return ng_oracle_nan(grid->id, rules, false);
    }
    if (grid->id == NG_FORMAT_UE8M0 && rules->ue8m0 == NG_UE8M0_ML_DTYPES)
        return ml_dtypes_ue8m0(grid, x, events);

    const bool negative = format->sign != 0 && mpfr_signbit(x);
    const uint32_t sign = negative ? format->sign : 0;

    if (mpfr_inf_p(x)) {
        *events |= INFINITE;
        return sign | overflowed(format, rules, negative, false);
    }
    if (mpfr_signbit(x)) {
        magnitude = c->magnitude;
        if (mpfr_abs(c->magnitude, x, MPFR_RNDN) != 0) {
            ng_oracle_require_exact(mpfr_abs(c->wide_magnitude, x, MPFR_RNDN));
            magnitude = c->wide_magnitude;
        }
    }

    const uint32_t code =
        round_finite(grid, magnitude, rules, negative, random, events, c);

    if (grid->id == NG_FORMAT_E2M1 && code == 0
        && (rules->e2m1_zero == NG_E2M1_ZERO_PLUS
            || (rules->e2m1_zero == NG_E2M1_ZERO_KEPT_IF_ROUNDED
                && vanishes(grid, x))))
        return 0;
    return sign | code;
}

uint32_t ng_oracle_rn32(mpfr_ptr y, mpfr_srcptr x, unsigned *events)
{
    static const ng_rules rn32 = {.rounding = NG_NEAREST_EVEN,
                                  .overflow = NG_IEEE};
    const uint32_t code =
        ng_oracle_round(ng_oracle_grid_of(NG_FORMAT_FP32), x, &rn32, 0, events);

    /* A second witness: MPFR's own rounding to nearest even. */
    if (!mpfr_nan_p(x) && ng_fp32_bits(mpfr_get_flt(x, MPFR_RNDN)) != code)
        abort();
    ng_oracle_value(y, NG_FORMAT_FP32, code);
    return code;
}
