/* SPDX-License-Identifier: Apache-2.0
 *
 * What every operation refuses of its groups, its rules and the values of its
 * scales, and what the conversion of bare scales refuses.
 */
#include "conformance/checks/broken_calls.h"

START_TEST(groups)
{
    for (int i = 0; i < N_OPERATIONS; i++) {
        const struct operation *o = &operations[i];

#define BAD_GROUPS(change)                                                     \
    REFUSES(_i, o, NG_BAD_GROUPS, call.options.groups = &call.groups; change)
        BAD_GROUPS(call.groups.n_groups = -1);
        BAD_GROUPS(call.offsets[0] = 1);
        BAD_GROUPS(call.offsets[1] = -1);
        BAD_GROUPS(call.offsets[1] = ROWS + 1);
        BAD_GROUPS(call.offsets[2] = ROWS + 1);
#undef BAD_GROUPS
    }
}
END_TEST

START_TEST(unknown_rules)
{
    for (int i = 0; i < N_OPERATIONS; i++)
        for (int r = 0; r < NG_N_RULES; r++) {
            const ng_rule rule = (ng_rule)r;

            REFUSES(0, &operations[i], NG_BAD_RULES,
                    ng_rules_set(&call.rules, rule, -1));
            REFUSES(0, &operations[i], NG_BAD_RULES,
                    ng_rules_set(&call.rules, rule, ng_rule_n_values(rule)));
        }
}
END_TEST

static const struct operation *find(const char *name)
{
    int i = 0;

    while (strcmp(operations[i].name, name) != 0)
        i++;
    return &operations[i];
}

/* Valid rules in a combination that the operation does not offer. */
START_TEST(rule_combinations)
{
    const struct operation *quantize = find("quantize_fp8");
    const struct operation *turn = find("convert_fp8_row_to_col");
    const struct operation *align = find("convert_mxfp4_to_fp8");

    for (int mode = 0; mode < NG_N_ROUNDINGS; mode++) {
        const ng_status exact = mode == NG_NEAREST_EVEN ? NG_OK : NG_BAD_RULES;
        const ng_status free = mode != NG_STOCHASTIC ? NG_OK : NG_BAD_RULES;

        REFUSES(_i, align, exact, call.rules.rounding = mode);
        REFUSES(_i, turn, exact, call.rules.rounding = mode);
        REFUSES(_i, quantize, free, call.rules.rounding = mode);
        REFUSES(_i, quantize, NG_OK, call.rules.rounding = mode;
                call.rules.fp8_scale = NG_FP8_POW2);
        REFUSES(_i, turn, free, call.rules.rounding = mode;
                call.side[1].fp8.scales.pow2 = false);
    }
    for (int packed = 0; packed < 2; packed++) {
        const ng_dtype dtype = packed != 0 ? NG_UE8M0X4 : NG_UE8M0;

        REFUSES(_i, quantize, NG_BAD_RULES,
                call.side[0].fp8.scales.dtype = dtype);
        REFUSES(_i, turn, NG_BAD_RULES, call.side[0].fp8.scales.dtype = dtype;
                call.side[1].fp8.scales.pow2 = false);
        REFUSES(_i, turn, NG_OK, call.side[0].fp8.scales.dtype = dtype);
    }
}
END_TEST

START_TEST(scale_values)
{
    static const float bad[] = {0, -1, 3, 448, INFINITY};
    const struct operation *turn = find("convert_fp8_row_to_col");
    const struct operation *transpose = find("transpose_fp8_tile");

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        REFUSES(_i, turn, NG_BAD_SCALE, scales[1][2 * ROWS - 1] = bad[i]);
        REFUSES(_i, turn, NG_OK, scales[1][2 * ROWS] = bad[i]); /* none's */
        REFUSES(_i, turn, NG_OK, scales[1][2 * ROWS - 1] = bad[i];
                call.side[1].fp8.scales.pow2 = false);
    }
    REFUSES(_i, turn, NG_OK, scales[1][0] = NAN; scales[1][1] = 0x1p-149f);
    REFUSES(_i, transpose, NG_BAD_DTYPE,
            call.side[0].fp8.scales.dtype = NG_UE8M0);
}
END_TEST

/* Conversion of bare scales takes no options: its own few refusals. */
START_TEST(bare_scales)
{
    float from[6] = {1, 2, 4, 8, 16, 0x1p127f};
    uint32_t to[2] = {0xA5A5A5A5, 0xA5A5A5A5};
    const ng_scales x = dense_scales(from, NG_FP32, 3);
    const ng_scales y = dense_scales(to, NG_UE8M0, 3);
    ng_scales bad = x;

#define BARE(status, writing, y, x, lines, n)                                  \
    do {                                                                       \
        ck_assert_int_eq(writings[writing].convert_scales(y, x, lines, n),     \
                         status);                                              \
        ck_assert(to[0] == 0xA5A5A5A5 && to[1] == 0xA5A5A5A5);                 \
    } while (0)
    bad.dtype = NG_BF16;
    BARE(NG_BAD_DTYPE, _i, &y, &bad, 2, 3);
    BARE(NG_BAD_DTYPE, _i, &bad, &x, 2, 3);
    static const float values[] = {0, -1, 3, 0x1p-128f, 0x1p-149f, INFINITY};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        from[5] = values[i];
        BARE(NG_BAD_SCALE, _i, &y, &x, 2, 3);
    }
    from[5] = 1;
    if (_i == 0) {
        BARE(NG_BAD_POINTER, 0, NULL, &x, 2, 3);
        BARE(NG_BAD_POINTER, 0, &y, NULL, 2, 3);
        BARE(NG_BAD_SHAPE, 0, &y, &x, -1, 3);
        BARE(NG_BAD_SHAPE, 0, &y, &x, 2, -1);
        bad = y;
        bad.ld = 2;
        BARE(NG_BAD_LAYOUT, 0, &bad, &x, 2, 3);
        bad.data = NULL;
        bad.ld = 3;
        BARE(NG_BAD_POINTER, 0, &bad, &x, 2, 3);
        BARE(NG_OK, 0, &bad, &x, 0, 3);         /* no scales, no pointer */
        BARE(NG_OK, 0, &bad, &x, 2, 0);
    }
#undef BARE
    ck_assert_int_eq(writings[_i].convert_scales(&y, &x, 2, 3), NG_OK);
    expect(_i, "first four", 0, 0x8281807F, to[0]);
    expect(_i, "last two", 4, 0xA5A57F83, to[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refusals_options");
    TCase *tcase = tcase_create("refusals_options");

    ADD_TRAP(tcase, groups);
    tcase_add_test(tcase, unknown_rules);
    ADD_TRAP(tcase, rule_combinations);
    ADD_TRAP(tcase, scale_values);
    ADD_TRAP(tcase, bare_scales);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
