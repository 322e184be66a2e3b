/* SPDX-License-Identifier: Apache-2.0
 *
 * Coded states to be decoded: codes and scales that coding never writes among
 * them.
 */
#include "conformance/checks/inputs_optim.h"

#include <string.h>

#include "formats/optim.h"

enum { N_SCALES = 1 << 16, SCALES_A_CASE = 64, N_CODES = 256,
       CASES = N_SCALES / SCALES_A_CASE };

static bool begin(ng_case *c, int64_t n, uint8_t **codes, uint16_t **scales)
{
    const bool variance = strstr(c->call.operation, "variance") != NULL;
    const int64_t n_groups = ng_ceil_div(n, NG_STATE_GROUP);
    ng_dtype dtype;

    ng_case_scale_format(c, &dtype);
    *codes = ng_case_input(c, "x.codes", variance ? NG_U8 : NG_I8, 1, &n);
    *scales = ng_case_input(c, "x.scales", dtype, 1, &n_groups);
    ng_case_output(c, "y", NG_FP32, 1, &n, false);
    ng_case_attribute(c, "linear", ng_variant_get(c->variant, "linear", 0));
    return !c->failed;
}

static int64_t count_codes(const ng_variant *variant, int level)
{
    (void)variant;
    return 1 + (level == 0 ? 3 : CASES);
}

/* The j-th scale of a case: of case 0 the ends of binades, subnormals and NaNs,
 * of the others every 1024th. */
static uint16_t scale_at(const ng_format *format, int64_t index, int64_t j)
{
    if (index > 0)
        return (uint16_t)(index - 1 + j * CASES);
    if (j < 8)
        return (uint16_t)(j < 4 ? j : 0xFFFF + 4 - j);

    const int64_t field = (j - 8) / 2 % (1 << format->exponent_bits);

    return (uint16_t)((field << format->fraction_bits) - (j % 2));
}

/* Every code under each of 64 scales. */
static void fill_codes(ng_case *c, int64_t index)
{
    enum { GROUPS = N_CODES / NG_STATE_GROUP };
    const int64_t n_scales = index == 0 ? 136 : SCALES_A_CASE;
    ng_dtype dtype;
    const ng_format *format = ng_case_scale_format(c, &dtype);
    uint8_t *codes;
    uint16_t *scales;

    if (!begin(c, n_scales * N_CODES, &codes, &scales))
        return;
    for (int64_t j = 0; j < n_scales; j++) {
        for (int64_t i = 0; i < N_CODES; i++)
            codes[j * N_CODES + i] = (uint8_t)i;
        for (int64_t g = 0; g < GROUPS; g++)
            scales[j * GROUPS + g] = scale_at(format, index, j);
    }
}

static int64_t count_lengths(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 10 : 30;
}

static void fill_lengths(ng_case *c, int64_t index)
{
    const int64_t n = ng_case_length(c, index);
    uint8_t *codes;
    uint16_t *scales;

    if (!begin(c, n, &codes, &scales))
        return;
    for (int64_t i = 0; i < n; i++)
        codes[i] = (uint8_t)ng_case_random(c);
    for (int64_t g = 0; g < ng_ceil_div(n, NG_STATE_GROUP); g++)
        scales[g] = (uint16_t)ng_case_random(c);
}

const ng_stratum ng_expand_strata[] = {
    {"codes", "every code under every scale (level 0: under some)", 0,
     count_codes, fill_codes},
    {"lengths", "any codes and scales, any length", 0, count_lengths,
     fill_lengths},
    {0},
};
