/* SPDX-License-Identifier: Apache-2.0
 *
 * Recipes: the three that are embedded say what they promise; overrides; every
 * mistake is named with its line.
 */
#include "conformance/checks/model_fixture.h"
#include "reference/model/model.h"

static ng_error error;

static ng_recipe embedded(const char *name)
{
    ng_recipe r;

    ck_assert_msg(ng_recipe_open(&r, name, &error) == NG_OK, "%s", error.text);
    return r;
}

START_TEST(embedded_recipes)
{
    const ng_recipe bf16 = embedded("bf16"), fp8 = embedded("fp8");
    const ng_recipe mxfp4 = embedded("mxfp4");
    const ng_site_recipe *e = &mxfp4.all.site[NG_SITE_EXPERT];

    ck_assert_str_eq(ng_recipe_embedded(0), "bf16");
    ck_assert_ptr_null(ng_recipe_embedded(3));
    for (int site = 0; site < NG_N_SITES; site++)
        ck_assert_int_eq(bf16.all.site[site].multiply, NG_CARRY_BF16);
    ck_assert_int_eq(fp8.all.site[NG_SITE_EXPERT].send_x, NG_CARRY_FP8);
    /* forward MXFP4, backward FP8, products in FP8 */
    ck_assert_int_eq(e->send_x, NG_CARRY_MXFP4);
    ck_assert_int_eq(e->store_x, NG_CARRY_MXFP4); /* what arrived */
    ck_assert_int_eq(e->multiply, NG_CARRY_FP8);
    ck_assert_int_eq(e->multiply_grad, NG_CARRY_FP8);
    ck_assert_int_eq(e->send_grad_y, NG_CARRY_FP8);
    ck_assert_int_eq(e->send_grad_x, NG_CARRY_FP8);
    ck_assert_int_eq(mxfp4.residual, NG_CARRY_BF16);
    ck_assert_int_eq(mxfp4.all.recompute, NG_RECOMPUTE_NORM_SWIGLU);
}
END_TEST

static ng_status parse(ng_recipe *r, const char *more)
{
    char text[8192];

    snprintf(text, sizeof text, "%s%s", recipe_fp32, more);
    return ng_recipe_parse(r, text, (int64_t)strlen(text), "mine", &error);
}

START_TEST(overrides)
{
    ng_recipe r;

    ck_assert_int_eq(parse(&r, "layer 5-7 recompute full # later\n"
                               "recompute mla-up\n"
                               "layer 6 expert.send_x mxfp4\n"
                               "layer\t2 ffn.multiply bf16\r\n"
                               "layer 6-7 expert.operation a:b:quantize_mxfp4\n"
                               "layer 2 ffn.operation none\n"
                               "layer 7 expert.operation none\n"),
                     NG_OK);
    ck_assert_int_eq(r.n_overrides, 4);
    ck_assert_int_eq(ng_recipe_layer(&r, 0)->recompute, NG_RECOMPUTE_MLA_UP);
    ck_assert_int_eq(ng_recipe_layer(&r, 2)->recompute, NG_RECOMPUTE_MLA_UP);
    ck_assert_int_eq(ng_recipe_layer(&r, 2)->site[NG_SITE_FFN].multiply,
                     NG_CARRY_BF16);
    ck_assert_int_eq(ng_recipe_layer(&r, 6)->recompute, NG_RECOMPUTE_FULL);
    ck_assert_int_eq(ng_recipe_layer(&r, 6)->site[NG_SITE_EXPERT].store_x,
                     NG_CARRY_MXFP4);
    ck_assert_int_eq(ng_recipe_layer(&r, 7)->site[NG_SITE_EXPERT].send_x,
                     NG_CARRY_FP32);
    ck_assert_str_eq(ng_recipe_layer(&r, 6)->operation[NG_SITE_EXPERT],
                     "a:b:quantize_mxfp4");
    ck_assert_int_eq(ng_recipe_layer(&r, 6)->operation_line[NG_SITE_EXPERT],
                     28);
    ck_assert_str_eq(ng_recipe_layer(&r, 7)->operation[NG_SITE_EXPERT], "");
    ck_assert_str_eq(r.where, "mine");
    ng_recipe_free(&r);
}
END_TEST

#define TEN "0123456789"

/* Line 24 is the first after those of recipe_fp32. */
static const struct {
    const char *more, *words;
} mistakes[] = {
    {"expert.sendx bf16\n", "mine:24: expert.sendx: no such key"},
    {"expert.store_x bf16\n", "mine:24: expert.store_x: no such key"},
    {"\nattention.store_h bf16\n", "mine:25: attention.store_h: no such key"},
    {"moe.multiply bf16\n", "mine:24: moe.multiply: no such key"},
    {"residual bf16\n", "mine:24: residual: given twice"},
    {"ffn.multiply bf16\n", "mine:24: ffn.multiply: given twice"},
    {"recompute some\n", "mine:24: some: not none"},
    {"recompute\n", "mine:24: recompute: no value"},
    {"layer 3\n", "mine:24: 3: not a layer"},
    {"layer x ffn.multiply bf16\n",
     "mine:24: x ffn.multiply bf16: not a layer"},
    {"layer 5-3 recompute full\n", "not a layer"},
    {"layer 5- recompute full\n", "mine:24: 5- recompute full: not a layer"},
    {"layer 3 recompute\n", "mine:24: recompute: no value"},
    {"layer 3 residual fp32\n", "mine:24: residual: no such key"},
    {"layer 3 ffn.multiply mxfp4\n", "mine:24: mxfp4: a format that this key"},
    {"layer 99999999999999999999 recompute full\n", "not a layer"},
    {"# \xff\n", "mine:24: line: not UTF-8"},
    {"ffn.operation swiglu\n", "mine:24: swiglu: not of the form"},
    {"ffn.operation mine:\n", "mine:24: mine:: not of the form"},
    {"ffn.operation :swiglu\n", "mine:24: :swiglu: not of the form"},
    {"ffn.operation my kernel:swiglu\n", "mine:24: my kernel:swiglu: not of"},
    {"ffn.operation m\x1b:swiglu\n", "mine:24: m?:swiglu: not of the form"},
    {"ffn.operation m:" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
     TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "\n", "too long"},
    {"ffn.operation m:quantize_mxfp4\nlayer 2 ffn.store_x mxfp4\n",
     "mine:24: ffn.operation: quantize_mxfp4: no operation that this site can "
     "use; there is none"},
    {"layer 2 ffn.operation m:swiglu\nlayer 2 ffn.store_x mxfp4\n",
     "mine:24: ffn.operation: swiglu: no operation that this site can use; it "
     "can use quantize_mxfp4, dequantize_mxfp4"},
    {"layer 2 head.operation m:x\nlayer 2 head.multiply_grad bf16\n",
     "mine:24: head.operation: x: no operation that this site can use; it can "
     "use grouped_gemm_bf16_wgrad"},
};

START_TEST(mistakes_are_named)
{
    ng_recipe r = {.n_overrides = 77};

    ck_assert_int_eq(parse(&r, mistakes[_i].more), NG_BAD_FILE);
    ck_assert_msg(strstr(error.text, mistakes[_i].words) != NULL, "%s",
                  error.text);
    ck_assert_int_eq(r.n_overrides, 77); /* untouched */
}
END_TEST

START_TEST(what_is_missing)
{
    static const char zero[] = "name x\nresidual bf16\0\n";
    static const char half[] = "name x\nresidual bf16\n";
    ng_recipe r;

    ck_assert_int_eq(
        ng_recipe_parse(&r, half, (int64_t)sizeof half - 1, "half", &error),
        NG_BAD_FILE);
    ck_assert_str_eq(error.text, "half: attention.multiply: missing");
    ck_assert_int_eq(
        ng_recipe_parse(&r, zero, (int64_t)sizeof zero - 1, "zero", &error),
        NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "zero:2: line"));
    ck_assert_int_eq(ng_recipe_parse(&r, "", 0, "empty", &error), NG_BAD_FILE);
    ck_assert_str_eq(error.text, "empty: name: missing");
    /* a study makes a directory of it */
    ck_assert_int_eq(ng_recipe_parse(&r, "name ../x\n", 10, "up", &error),
                     NG_BAD_FILE);
    ck_assert_str_eq(error.text, "up:1: ../x: not a name of letters, digits, "
                                 "'_', '-' and '.'");
    ck_assert_int_eq(ng_recipe_open(&r, "fp6", &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "no such name"));
    ck_assert_int_eq(ng_recipe_open(&r, "/nowhere/x.recipe", &error),
                     NG_BAD_FILE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model, recipes");
    TCase *tcase = tcase_create("recipes");

    tcase_add_test(tcase, embedded_recipes);
    tcase_add_test(tcase, overrides);
    tcase_add_loop_test(tcase, mistakes_are_named, 0,
                        (int)(sizeof mistakes / sizeof *mistakes));
    tcase_add_test(tcase, what_is_missing);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
