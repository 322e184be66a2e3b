/* SPDX-License-Identifier: Apache-2.0
 *
 * What every operation refuses of its views, with which status: one good call,
 * broken in one place at a time. The oracle is asked only for what it checks
 * itself; it leaves the rest to its callers.
 */
#include "conformance/checks/broken_calls.h"

/* What is broken below is all that is wrong. */
START_TEST(good_calls)
{
    for (int i = 0; i < N_OPERATIONS; i++) {
        REFUSES(_i, &operations[i], NG_OK, (void)0);
        REFUSES(_i, &operations[i], NG_OK, call.options.groups = &call.groups);
    }
}
END_TEST

START_TEST(shapes)
{
    for (int i = 0; i < N_OPERATIONS; i++) {
        const struct operation *o = &operations[i];

        for (int s = 0; s < 2; s++) {
            REFUSES(_i, o, NG_BAD_SHAPE, --*rows_of(&call.side[s]));
            REFUSES(_i, o, NG_BAD_SHAPE, --*cols_of(&call.side[s]));
        }
    }
}
END_TEST

START_TEST(negative_shapes)
{
    for (int i = 0; i < N_OPERATIONS; i++)
        for (int axis = 0; axis < 2; axis++) {
            begin(&operations[i]);
            for (int s = 0; s < 2; s++)
                *((axis == 0) == (s == 0 && operations[i].turned)
                      ? cols_of(&call.side[s])
                      : rows_of(&call.side[s])) = -1;
            want(0, NG_BAD_SHAPE, axis == 0 ? "rows -1" : "cols -1");
        }
}
END_TEST

START_TEST(pointers)
{
    for (int i = 0; i < N_OPERATIONS; i++) {
        const struct operation *o = &operations[i];

        begin(o);
        ck_assert_int_eq(
            o->run(&writings[0], NULL, &call.side[1], &call.options),
            NG_BAD_POINTER);
        ck_assert_int_eq(
            o->run(&writings[0], &call.side[0], NULL, &call.options),
            NG_BAD_POINTER);
        ck_assert(untouched());
        for (int s = 0; s < 2; s++) {
            REFUSES(0, o, NG_BAD_POINTER, drop_data(&call.side[s]));
            if (o->side[s].kind != MATRIX)
                REFUSES(0, o, NG_BAD_POINTER,
                        scales_of(&call.side[s])->data = NULL);
        }
        REFUSES(0, o, NG_BAD_POINTER, call.options.groups = &call.groups;
                call.groups.offsets = NULL);
    }
}
END_TEST

/* Where no element takes part no pointer is needed, but lines still fit. */
START_TEST(empty_tensors)
{
    static const char *const how[] = {"no rows", "no columns",
                                      "no rows in groups"};

    for (int i = 0; i < N_OPERATIONS; i++)
        for (int h = 0; h < 3; h++)
            for (int narrow = 0; narrow < 2; narrow++) {
                begin(&operations[i]);
                for (int s = 0; s < 2; s++) {
                    const bool turned = s == 0 && operations[i].turned;

                    if (h < 2)
                        *((h == 0) == turned ? cols_of(&call.side[s])
                                             : rows_of(&call.side[s])) = 0;
                    drop_data(&call.side[s]);
                    if (operations[i].side[s].kind != MATRIX)
                        scales_of(&call.side[s])->data = NULL;
                }
                call.offsets[1] = call.offsets[2] = 0;
                call.options.groups = h == 2 ? &call.groups : NULL;
                if (narrow != 0)
                    *ld_of(&call.side[1]) = -1;
                const ng_status got = operations[i].run(
                    &writings[0], &call.side[0], &call.side[1], &call.options);

                if (got != (narrow != 0 ? NG_BAD_LAYOUT : NG_OK))
                    ck_abort_msg("%s: %s: %s", operations[i].name, how[h],
                                 ng_status_text(got));
                ck_assert(untouched());
            }
}
END_TEST

START_TEST(strides)
{
    for (int i = 0; i < N_OPERATIONS; i++)
        for (int s = 0; s < 2; s++) {
            const struct operation *o = &operations[i];

            REFUSES(0, o, NG_BAD_LAYOUT, --*ld_of(&call.side[s]));
            REFUSES(0, o, NG_BAD_SHAPE, *ld_of(&call.side[s]) = INT64_MAX);
        }
}
END_TEST

START_TEST(types)
{
    for (int i = 0; i < N_OPERATIONS; i++)
        for (int s = 0; s < 2; s++) {
            const struct operation *o = &operations[i];

            if (o->side[s].kind == MATRIX) {
                REFUSES(_i, o, NG_BAD_DTYPE,
                        call.side[s].matrix.dtype = NG_FP64);
                REFUSES(_i, o, NG_BAD_DTYPE,
                        call.side[s].matrix.dtype = NG_N_DTYPES);
            } else if (o->side[s].kind == MXFP4) {
                REFUSES(_i, o, NG_BAD_DTYPE,
                        call.side[s].mxfp4.scales.dtype = NG_FP32);
            } else if (o->side[s].kind == MXFP8) {
                REFUSES(_i, o, NG_BAD_DTYPE,
                        call.side[s].mxfp8.scales.dtype = NG_FP32);
            }
            if (_i == 0 && o->side[s].kind != MATRIX)
                REFUSES(0, o, NG_BAD_DTYPE,
                        scales_of(&call.side[s])->dtype = NG_BF16);
        }
}
END_TEST

START_TEST(forms)
{
    for (int i = 0; i < N_OPERATIONS; i++)
        for (int s = 0; s < 2; s++) {
            const struct side *side = &operations[i].side[s];

            if (side->kind != FP8)
                continue;
            for (int form = 0; form < NG_N_FP8_FORMS; form++)
                if ((side->forms >> form & 1) == 0)
                    REFUSES(_i, &operations[i], NG_BAD_LAYOUT,
                            call.side[s].fp8.form = (ng_fp8_form)form);
            if (_i == 0)
                REFUSES(0, &operations[i], NG_BAD_LAYOUT,
                        call.side[s].fp8.form = NG_N_FP8_FORMS);
        }
}
END_TEST

START_TEST(scale_planes)
{
    for (int i = 0; i < N_OPERATIONS; i++)
        for (int s = 0; s < 2; s++) {
            const struct operation *o = &operations[i];

            if (o->side[s].kind == MATRIX)
                continue;
            begin(o);
            ng_scales *plane = scales_of(&call.side[s]);
            ck_assert(plane->ld > 1);
            REFUSES(0, o, NG_BAD_LAYOUT, plane->ld = 0);
            REFUSES(0, o, NG_BAD_LAYOUT, plane->step = 0);
            REFUSES(0, o, NG_BAD_LAYOUT, plane->ld = 1);
            REFUSES(0, o, NG_BAD_SHAPE, plane->ld = INT64_MAX);
            REFUSES(0, o, NG_BAD_SHAPE, plane->step = INT64_MAX);
            REFUSES(0, o, NG_BAD_SHAPE, plane->ld = INT64_MAX / (COLS + 1);
                    plane->step = INT64_MAX - 1);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refusals");
    TCase *tcase = tcase_create("refusals");

    ADD_TRAP(tcase, good_calls);
    ADD_TRAP(tcase, shapes);
    tcase_add_test(tcase, negative_shapes);
    tcase_add_test(tcase, pointers);
    tcase_add_test(tcase, empty_tensors);
    tcase_add_test(tcase, strides);
    ADD_TRAP(tcase, types);
    ADD_TRAP(tcase, forms);
    tcase_add_test(tcase, scale_planes);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
