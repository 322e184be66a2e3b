/* SPDX-License-Identifier: Apache-2.0
 *
 * Planes of power-of-two scales, for the change of their storage.
 */
#include "conformance/checks/inputs_block.h"

#include <string.h>

#include "conformance/checks/numbers.h"
#include "formats/fp32.h"

typedef struct plane {
    ng_case *c;
    ng_dtype dtype;
    void *data;
    int64_t words;
} plane;

static int64_t words_of(ng_dtype dtype, int64_t n)
{
    return dtype == NG_UE8M0X4 ? ng_ceil_div(n, 4) : n;
}

/* Declare both planes; absent bytes of packed words in x are set. */
static bool begin(plane *p, ng_case *c, int64_t lines, int64_t n)
{
    const ng_dtype to = (ng_dtype)ng_variant_get(c->variant, "to", NG_FP32);

    p->c = c;
    p->dtype = (ng_dtype)ng_variant_get(c->variant, "from", NG_FP32);
    p->words = words_of(p->dtype, n);

    const int64_t from_shape[2] = {lines, p->words};
    const int64_t to_shape[2] = {lines, words_of(to, n)};

    p->data = ng_case_input(c, "x.scales", p->dtype, 2, from_shape);
    if (p->data != NULL)
        memset(p->data, 0xFF, (size_t)(lines * p->words)
                                  * ng_dtype_size(p->dtype));
    ng_case_output(c, "y.scales", to, 2, to_shape, true);
    ng_case_attribute(c, "scales", n);
    return !c->failed;
}

static void put_bits(plane *p, int64_t line, int64_t j, uint32_t bits)
{
    uint32_t *word = p->data;

    word[line * p->words + j] = bits;
}

/* Put the scale of UE8M0 code `code`. As FP32, 0xFF is any NaN. */
static void put(plane *p, int64_t line, int64_t j, uint32_t code)
{
    if (p->dtype == NG_FP32 && code == 0xFF) {
        const uint32_t sign = (uint32_t)ng_case_random(p->c) & NG_FP32_SIGN;
        const uint32_t low = (uint32_t)ng_case_below(p->c, 0x7FFFFF);

        put_bits(p, line, j, sign | (NG_FP32_INFINITY + 1 + low));
    } else if (p->dtype == NG_FP32)
        put_bits(p, line, j, ng_number_power((int)code - 127));
    else                                /* packed words are little-endian */
        ((uint8_t *)p->data)[p->dtype == NG_UE8M0 ? line * p->words + j
                                                  : 4 * line * p->words + j] =
            (uint8_t)code;
}

static int64_t count_codes(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 4;
}

/* Every scale; in lines of 1, 2, 3 and 4 scales, so in every byte of a word and
 * beside every number of absent ones. */
static void fill_codes(ng_case *c, int64_t index)
{
    const int64_t n = index + 1;
    plane p;

    if (!begin(&p, c, 256, n))
        return;
    for (int64_t line = 0; line < 256; line++)
        for (int64_t j = 0; j < n; j++)
            put(&p, line, j, (uint32_t)(line + 67 * j) & 0xFF);
}

static int64_t count_planes(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 32 : 1024;
}

static void fill_planes(ng_case *c, int64_t index)
{
    const int64_t lines = index == 0 ? 0 : 1 + ng_case_below(c, 70);
    const int64_t n = index == 1 ? 0 : 1 + ng_case_below(c, 70);
    plane p;

    c->odd_layout = index % 2 == 0;
    if (!begin(&p, c, lines, n))
        return;
    for (int64_t line = 0; line < lines; line++)
        for (int64_t j = 0; j < n; j++)
            put(&p, line, j, (uint32_t)ng_case_below(c, 256));
}

/* L-10's first word opens the list. */
static const uint32_t no_scale[] = {
    0x3BE48E8A, 0x00000000, 0x80000000, 0x00000001, 0x00200000, 0x00200001,
    0x00400001, 0x00600000, 0x3F800001, 0x3FFFFFFF, 0x40400000, 0x7F000001,
    0x7F7FFFFF, NG_FP32_INFINITY, 0xFF800000, 0xBF800000, 0x80400000};
enum { N_NO_SCALE = sizeof no_scale / sizeof *no_scale };

static int64_t count_refused(const ng_variant *variant, int level)
{
    (void)level;
    return ng_variant_get(variant, "from", 0) == NG_FP32 ? N_NO_SCALE : 0;
}

/* One scale that UE8M0 cannot hold, somewhere among others. */
static void fill_refused(ng_case *c, int64_t index)
{
    const int64_t lines = 1 + ng_case_below(c, 9), n = 1 + ng_case_below(c, 9);
    plane p;

    c->odd_layout = index % 2 != 0;
    if (!begin(&p, c, lines, n))
        return;
    for (int64_t line = 0; line < lines; line++)
        for (int64_t j = 0; j < n; j++)
            put(&p, line, j, (uint32_t)ng_case_below(c, 256));

    const int64_t line = ng_case_below(c, lines);

    put_bits(&p, line, ng_case_below(c, n), no_scale[index]);
}

const ng_stratum ng_convert_scales_strata[] = {
    {"codes", "every scale, in every byte of a word", 0, count_codes,
     fill_codes},
    {"planes", "random planes of any shape and layout", 0, count_planes,
     fill_planes},
    {"refused", "an FP32 scale that UE8M0 cannot hold", 0, count_refused,
     fill_refused},
    {0},
};
