/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel of the user's own in the place of an operation of the backend: what
 * own_operation.h says of a site is what a step does there; a kernel that does
 * as the backend does changes no bit; one that fails ends the step in one line,
 * and the model is whole afterwards.
 */
#include <jansson.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/model_fixture.h"
#include "reference/model/model.h"
#include "reference/model/own_operation.h"
#include "reference/model/recipes_table.h"

enum { LENGTH = 4, TOKENS = 2 * LENGTH, VOCABULARY = 11 };

static const char *const names[] = {"quantize_mxfp4",
                                    "quantize_fp8_row",
                                    "quantize_fp8_col",
                                    "quantize_fp8_tile",
                                    "dequantize_mxfp4",
                                    "dequantize_fp8_row",
                                    "mxfp4_to_fp8_row",
                                    "mxfp4_to_fp8_col",
                                    "fp8_row_to_fp8_col",
                                    "fp8_row_to_mxfp4",
                                    "transpose_fp8_tile",
                                    "grouped_gemm_fprop",
                                    "grouped_gemm_wgrad",
                                    "grouped_gemm_bf16_fprop",
                                    "grouped_gemm_bf16_wgrad",
                                    "swiglu",
                                    "swiglu_mxfp4",
                                    "swiglu_fp8_row",
                                    "swiglu_backward"};
enum { N_NAMES = sizeof names / sizeof *names };

static ng_error error;

/* ---- kernels that do what the backend does ------------------------------- */

static struct {
    char opened[4][64]; /* SUBJECT OPERATION */
    int n_opened;
    ng_status open_status; /* not NG_OK: opening fails with it */
    int64_t calls, fails_at, elements;
} own;

static ng_status open_own(void *context, int *kernel, const char *subject,
                          const char *operation, ng_error *why)
{
    ck_assert_ptr_eq(context, &own);
    if (own.open_status != NG_OK)
        return ng_fail(why, own.open_status, "it is out of order");
    *kernel = 0;
    while (*kernel < own.n_opened
           && strstr(own.opened[*kernel], operation) == NULL)
        ++*kernel;
    if (*kernel == own.n_opened) {
        ck_assert_int_lt(own.n_opened, 4);
        snprintf(own.opened[own.n_opened++], sizeof own.opened[0], "%s %s",
                 subject, operation);
    }
    return NG_OK;
}

static ng_status run_own(void *context, int kernel, const ng_array *y,
                         const ng_array *a, const ng_array *b,
                         const ng_row_groups *groups, ng_error *why)
{
    const ng_backend *r = ng_backend_reference();
    const char *name = strchr(own.opened[kernel], ' ') + 1;

    ck_assert_ptr_eq(context, &own);
    ck_assert(y->rows > 0 && y->cols > 0 && a->rows > 0 && a->cols > 0);
    own.elements += y->rows * y->cols;
    if (++own.calls == own.fails_at)
        return ng_fail(why, NG_BAD_SUBJECT, "it went wrong");
    if (strcmp(name, "swiglu_backward") == 0)
        return r->swiglu_backward(r->context, y, NULL, a, b, NULL);
    if (strstr(name, "swiglu") != NULL)
        return r->swiglu(r->context, y, a, NULL, groups, NULL);
    if (strstr(name, "wgrad") != NULL)
        return r->linear_weight(r->context, y, a, b, groups, true);
    if (strstr(name, "fprop") != NULL)
        return r->linear(r->context, y, a, b, groups);
    if (strstr(name, "transpose") != NULL)
        return r->transpose(r->context, y, a);
    return r->convert(r->context, y, a, groups, NULL);
}

static const ng_own_kernels kernels = {&own, open_own, run_own};
static ng_backend with_own;

static void begin(void)
{
    fixture_at = 0;
    memset(&own, 0, sizeof own);
    error.text[0] = '\0';
    with_own = *ng_backend_reference();
    with_own.own = &kernels;
#ifdef _OPENMP
    omp_set_num_threads(1); /* quicker, of arrays as small as these */
#endif
}

/* ---- a step -------------------------------------------------------------- */

static ng_model_config small(void)
{
    ng_model_config c = ng_model_config_default();

    c.vocabulary = VOCABULARY;
    c.hidden = 8;
    c.layers = 2;
    c.length = LENGTH;
    c.heads = 1;
    c.q_rank = 4;
    c.kv_rank = 4;
    c.nope_dim = 2;
    c.rope_dim = 2;
    c.v_dim = 2;
    c.ffn = 6;
    c.experts = 3;
    c.expert_ffn = 4;
    c.mtp_depth = 1;
    c.init_std = 0.2;
    return c;
}

typedef struct outcome {
    ng_model_result result;
    double norm;
    float logits[VOCABULARY];
} outcome;

static ng_status load(ng_model *m)
{
    ng_status status = NG_OK;

    for (int64_t p = 0; p < ng_model_n_parameters(m) && status == NG_OK; p++) {
        float theta[512];

        ck_assert_int_le(ng_model_parameter_of(m, p)->n, 512);
        ng_model_initial(theta, m, p, 3);
        status = ng_model_load(m, p, theta, &error);
    }
    return status;
}

static ng_status step(outcome *out, ng_model *m)
{
    int32_t tokens[TOKENS + 1];
    const ng_model_shard shard = {0, TOKENS / LENGTH, LENGTH, tokens,
                                  tokens + 1};
    ng_status status;

    for (int i = 0; i <= TOKENS; i++)
        tokens[i] = i * i % VOCABULARY;
    memset(out, 0, sizeof *out);
    status = ng_model_begin_step(m, 1, TOKENS, &error);
    if (status == NG_OK)
        status = ng_model_forward_backward(m, &shard, &error);
    if (status == NG_OK)
        status = ng_model_end_step(&out->result, m, &error);
    if (status == NG_OK)
        status = ng_model_gradient_norm(&out->norm, m, &error);
    return status == NG_OK
               ? ng_model_logits(out->logits, m, tokens, LENGTH, &error)
               : status;
}

static ng_model *model_of(const ng_recipe *recipe, const ng_backend *backend)
{
    const ng_model_config config = small();
    ng_model *m = NULL;

    ck_assert_msg(
        ng_model_create(&m, &config, recipe, backend, ng_comm_self(), &error)
            == NG_OK,
        "%s", error.text);
    return m;
}

static outcome outcome_of(const ng_recipe *recipe, const ng_backend *backend)
{
    ng_model *m = model_of(recipe, backend);
    outcome out;

    ck_assert_msg(load(m) == NG_OK, "%s", error.text);
    ck_assert_msg(step(&out, m) == NG_OK, "%s", error.text);
    ng_model_free(m);
    return out;
}

static bool same(const outcome *a, const outcome *b)
{
    return memcmp(&a->result.loss, &b->result.loss, sizeof(double)) == 0
           && memcmp(&a->result.mtp_loss, &b->result.mtp_loss, sizeof(double))
                  == 0
           && memcmp(&a->norm, &b->norm, sizeof(double)) == 0
           && memcmp(a->logits, b->logits, sizeof a->logits) == 0;
}

/* ---- what a site can use ------------------------------------------------- */

/* Recipes of which each turns something over that an operation hangs on. */
static const struct {
    const char *recipe, *from, *to; /* words of its text replaced */
    ng_recompute recompute;
} kinds[] = {
    {"bf16", "", "", NG_RECOMPUTE_NONE},
    {"fp8", "", "", NG_RECOMPUTE_MLA_UP},
    {"mxfp4", "", "", NG_RECOMPUTE_NORM_SWIGLU},
    {"mxfp4", "", "", NG_RECOMPUTE_FULL},
    {"mxfp4", "residual                 bf16", "residual fp32",
     NG_RECOMPUTE_NONE},
    {"mxfp4", "multiply_grad      fp8", "multiply_grad      bf16",
     NG_RECOMPUTE_NONE},
    {"mxfp4", "store_h            none", "store_h mxfp4", NG_RECOMPUTE_NONE},
    {"mxfp4", "store_h            none", "store_h mxfp4",
     NG_RECOMPUTE_NORM_SWIGLU},
    {"bf16", "store_x", "store_x mxfp4 #", NG_RECOMPUTE_NONE},
    {"bf16", "store_gate_up", "store_gate_up mxfp4 #", NG_RECOMPUTE_NONE},
    {"fp8", "store_gate_up", "store_gate_up mxfp4 #", NG_RECOMPUTE_NONE},
    {"fp8", "send_grad_y", "send_grad_y mxfp4 #", NG_RECOMPUTE_NONE},
    {"bf16", "send_grad_y", "send_grad_y fp8 #", NG_RECOMPUTE_NONE},
};

/* An embedded recipe with its words replaced wherever they stand. */
static ng_recipe recipe_of(int kind)
{
    const char *from = kinds[kind].from, *to = kinds[kind].to;
    char text[8192];
    const char *rest = NULL, *at;
    size_t n = 0;
    ng_recipe recipe;

    for (int i = 0; i < ng_n_recipe_texts; i++)
        if (strcmp(ng_recipe_texts[i].name, kinds[kind].recipe) == 0)
            rest = ng_recipe_texts[i].text;
    ck_assert_ptr_nonnull(rest);
    ck_assert_uint_lt(2 * strlen(rest), sizeof text);
    for (; from[0] != '\0' && (at = strstr(rest, from)) != NULL;
         rest = at + strlen(from))
        n += (size_t)sprintf(text + n, "%.*s%s", (int)(at - rest), rest, to);
    n += (size_t)sprintf(text + n, "%s", rest);
    ck_assert_msg(ng_recipe_parse(&recipe, text, (int64_t)n, "mine", &error)
                      == NG_OK,
                  "%s", error.text);
    recipe.all.recompute = kinds[kind].recompute;
    return recipe;
}

START_TEST(fits_is_called)
{
    ng_recipe recipe = recipe_of(_i);
    const outcome want = outcome_of(&recipe, ng_backend_reference());

    for (int site = 0; site < NG_N_SITES; site++) {
        const ng_own_place place = {&recipe.all, recipe.residual, (ng_site)site,
                                    true};

        for (int i = 0; i < N_NAMES; i++) {
            const ng_own_operation *operation = ng_own_operation_find(names[i]);
            outcome got;

            begin();
            snprintf(recipe.all.operation[site],
                     sizeof recipe.all.operation[site], "it:%s", names[i]);
            got = outcome_of(&recipe, &with_own);
            ck_assert_msg(ng_own_operation_fits(operation, &place)
                              == (own.calls > 0),
                          "%s at %s: %d calls", names[i],
                          ng_site_name((ng_site)site), (int)own.calls);
            ck_assert_msg(same(&want, &got), "%s at %s: other bits", names[i],
                          ng_site_name((ng_site)site));
            /* What the kernel took is no more counted as the backend's. */
            if (own.calls == 0)
                ck_assert_int_eq(got.result.uncounted, 0);
            if (site != NG_SITE_EXPERT && site != NG_SITE_SHARED)
                ck_assert_int_eq(got.result.converted + got.result.uncounted,
                                 want.result.converted);
        }
        recipe.all.operation[site][0] = '\0';
    }
    ng_recipe_free(&recipe);
}
END_TEST

START_TEST(no_other_names)
{
    const ng_recipe recipe = recipe_of(2);
    const ng_own_place place = {&recipe.all, recipe.residual, NG_SITE_EXPERT,
                                true};
    char list[NG_OWN_MAX_LIST];

    ck_assert_ptr_null(ng_own_operation_find("quantize_mxfp8"));
    ck_assert(!ng_own_operation_fits(NULL, &place));
    ng_own_operations_that_fit(list, &place);
    ck_assert_str_eq(list,
                     "quantize_mxfp4, quantize_fp8_row, quantize_fp8_col, "
                     "quantize_fp8_tile, mxfp4_to_fp8_row, mxfp4_to_fp8_col, "
                     "fp8_row_to_fp8_col, transpose_fp8_tile, "
                     "grouped_gemm_fprop, grouped_gemm_wgrad, swiglu_fp8_row");
}
END_TEST

/* ---- recipes that name kernels ------------------------------------------- */

static ng_status parse(ng_recipe *out, const char *more)
{
    char text[8192];

    snprintf(text, sizeof text, "%s%s", recipe_fp32, more);
    return ng_recipe_parse(out, text, (int64_t)strlen(text), "mine", &error);
}

static bool list_operation(void *context, int64_t layer, ng_site site,
                           const char *text)
{
    char *list = context;

    sprintf(list + strlen(list), "%d %s %s;", (int)layer, ng_site_name(site),
            text);
    return strlen(list) < 60;
}

static bool stop_at_once(void *context, int64_t layer, ng_site site,
                         const char *text)
{
    (void)context;
    ck_assert_int_eq(layer, 1);
    ck_assert_int_eq(site, NG_SITE_FFN);
    ck_assert_str_eq(text, "a:b");
    return false;
}

START_TEST(of_a_single_layer)
{
    char list[512] = "";
    ng_recipe recipe;
    outcome got;

    ck_assert_int_eq(parse(&recipe, "layer 0 ffn.store_x fp8\n"
                                    "layer 0 ffn.operation b:quantize_fp8_row"),
                     NG_OK);
    ck_assert(ng_recipe_each_operation(&recipe, list_operation, list));
    ck_assert_str_eq(list, "0 ffn b:quantize_fp8_row;");
    got = outcome_of(&recipe, &with_own);
    ck_assert_str_eq(own.opened[0], "b quantize_fp8_row");
    ck_assert_int_eq(own.n_opened, 1);
    /* rows of n2 in the step, and of the logits: all that layer 0 quantises */
    ck_assert_int_eq(own.elements, (TOKENS + LENGTH) * 8);
    ck_assert_int_eq(got.result.uncounted, TOKENS * 8);
    ck_assert_int_eq(got.result.converted, 0);
    ng_recipe_free(&recipe);
}
END_TEST

/* The last colon parts subject and operation; a layer has what all have, or takes
 * it back. */
START_TEST(names_and_layers)
{
    static const char text[] = "C:/x/y.so:quantize_mxfp4";
    char list[512] = "";
    ng_recipe recipe = recipe_of(2);

    strcpy(recipe.all.operation[NG_SITE_EXPERT], text);
    strcpy(recipe.all.operation[NG_SITE_HEAD], "h:quantize_fp8_row");
    recipe.overrides = calloc(1, sizeof *recipe.overrides);
    recipe.n_overrides = 1;
    recipe.overrides[0].layer = 1; /* 0 is dense, 2 MTP's */
    recipe.overrides[0].recipe = recipe.all;
    recipe.overrides[0].recipe.operation[NG_SITE_EXPERT][0] = '\0';
    ck_assert(!ng_recipe_each_operation(&recipe, list_operation, list));
    ck_assert_str_eq(list, "-1 expert C:/x/y.so:quantize_mxfp4;"
                           "-1 head h:quantize_fp8_row;");
    (void)outcome_of(&recipe, &with_own);
    ck_assert_int_eq(own.n_opened, 2);
    ck_assert_str_eq(own.opened[0], "h quantize_fp8_row");
    ck_assert_str_eq(own.opened[1], "C:/x/y.so quantize_mxfp4");
    ck_assert_int_eq(own.elements, TOKENS * 8); /* MTP's layer, in the step */
    recipe.all.operation[NG_SITE_HEAD][0] = '\0';
    recipe.all.operation[NG_SITE_EXPERT][0] = '\0';
    strcpy(recipe.overrides[0].recipe.operation[NG_SITE_FFN], "a:b");
    list[0] = '\0';
    ck_assert(!ng_recipe_each_operation(&recipe, stop_at_once, list));
    ng_recipe_free(&recipe);
}
END_TEST

/* ---- failures ------------------------------------------------------------ */

static ng_recipe with(ng_site site, const char *text)
{
    ng_recipe recipe = recipe_of(2);

    strcpy(recipe.all.operation[site], text);
    recipe.all.operation_line[site] = 7;
    return recipe;
}

static bool lacks_shared;

static void refused(const ng_recipe *recipe, const ng_backend *backend,
                    ng_status want, const char *words)
{
    ng_model_config config = small();
    ng_model *m = NULL;

    if (lacks_shared)
        config.shared_experts = 0;
    ck_assert_int_eq(
        ng_model_create(&m, &config, recipe, backend, ng_comm_self(), &error),
        want);
    ck_assert_str_eq(error.text, words);
    ck_assert_ptr_null(m);
}

START_TEST(cannot_be_opened)
{
    static const ng_status statuses[] = {NG_BAD_SUBJECT, NG_BAD_VALUE,
                                         NG_NOT_COVERED, NG_NO_MEMORY};
    ng_recipe recipe = with(NG_SITE_EXPERT, "k.so:quantize_mxfp4");

    refused(&recipe, ng_backend_reference(), NG_NOT_COVERED,
            "mine:7: expert.operation k.so:quantize_mxfp4: backend reference "
            "takes no kernels of a recipe's");
    for (int i = 0; i < 4; i++) {
        own.open_status = statuses[i];
        refused(&recipe, &with_own, statuses[i],
                "mine:7: expert.operation k.so:quantize_mxfp4: it is out of "
                "order");
    }
    recipe.overrides = calloc(1, sizeof *recipe.overrides);
    recipe.n_overrides = 1;
    recipe.overrides[0].recipe = recipe.all; /* of the dense layer */
    own.open_status = NG_OK;
    ck_assert_int_eq(outcome_of(&recipe, &with_own).result.targets, TOKENS);
    recipe.overrides[0].recipe.operation_line[NG_SITE_EXPERT] = 8;
    refused(&recipe, &with_own, NG_BAD_VALUE,
            "mine:8: expert.operation k.so:quantize_mxfp4: the model has no "
            "such site in this layer");
    ng_recipe_free(&recipe);
    recipe = with(NG_SITE_SHARED, "k.so:quantize_mxfp4");
    lacks_shared = true;
    refused(&recipe, &with_own, NG_BAD_VALUE,
            "mine:7: shared.operation k.so:quantize_mxfp4: the model has no "
            "such site in any layer");
    lacks_shared = false;
    ng_recipe_free(&recipe);
    own.open_status = NG_NO_MEMORY;
    recipe = with(NG_SITE_HEAD, "k.so:quantize_fp8_row");
    refused(&recipe, &with_own, NG_NO_MEMORY,
            "mine:7: head.operation k.so:quantize_fp8_row: it is out of order");
    ng_recipe_free(&recipe);
}
END_TEST

/* Call n fails, for every n of a step and of loading. */
static void fail_everywhere(const ng_recipe *recipe, const char *words)
{
    ng_model *m = model_of(recipe, &with_own);
    outcome want, got;
    int64_t loads, all;

    ck_assert_int_eq(load(m), NG_OK);
    loads = own.calls;
    ck_assert_int_eq(step(&want, m), NG_OK);
    all = own.calls;
    ck_assert_int_gt(all, 0);
    for (int64_t n = 1; n <= all; n++) {
        own.calls = n <= loads ? 0 : loads;
        own.fails_at = n;
        if (n <= loads)
            ck_assert_int_eq(load(m), NG_BAD_SUBJECT);
        else
            ck_assert_int_eq(step(&got, m), NG_BAD_SUBJECT);
        ck_assert_msg(strstr(error.text, words) != NULL, "%s", error.text);
        own.fails_at = 0;
        if (n > loads && n % 7 != 0)
            continue;
        ck_assert_int_eq(load(m), NG_OK);
        ck_assert_int_eq(step(&got, m), NG_OK);
        ck_assert(same(&want, &got));
    }
    ng_model_free(m);
}

static const struct {
    ng_site site;
    const char *text, *words;
} failing[] = {
    {NG_SITE_EXPERT, "k:quantize_mxfp4",
     ", expert.operation k:quantize_mxfp4: it went wrong"},
    {NG_SITE_SHARED, "k:quantize_mxfp4",
     ", shared.operation k:quantize_mxfp4: it went wrong"},
    {NG_SITE_EXPERT, "k:quantize_fp8_tile",
     ", expert.operation k:quantize_fp8_tile: it went wrong"},
    {NG_SITE_ATTENTION, "k:transpose_fp8_tile",
     ", attention.operation k:transpose_fp8_tile: it went wrong"},
    {NG_SITE_EXPERT, "k:grouped_gemm_fprop",
     ", expert.operation k:grouped_gemm_fprop: it went wrong"},
    {NG_SITE_EXPERT, "k:grouped_gemm_wgrad",
     ", expert.operation k:grouped_gemm_wgrad: it went wrong"},
    {NG_SITE_FFN, "k:swiglu_fp8_row",
     "layer 0, ffn.operation k:swiglu_fp8_row: it went wrong"},
    {NG_SITE_HEAD, "k:grouped_gemm_bf16_wgrad",
     ", head.operation k:grouped_gemm_bf16_wgrad: it went wrong"},
};

START_TEST(a_call_fails)
{
    ng_recipe recipe = with(failing[_i].site, failing[_i].text);

    fail_everywhere(&recipe, failing[_i].words);
    ng_recipe_free(&recipe);
}
END_TEST

START_TEST(swiglu_backward_fails)
{
    ng_recipe recipe = recipe_of(0);

    strcpy(recipe.all.operation[NG_SITE_SHARED], "k:swiglu_backward");
    fail_everywhere(&recipe, ", shared.operation k:swiglu_backward: it went");
    ng_recipe_free(&recipe);
}
END_TEST

START_TEST(the_head_fails)
{
    ng_recipe recipe = with(NG_SITE_HEAD, "k:grouped_gemm_bf16_fprop");
    ng_model *m = model_of(&recipe, &with_own);
    outcome got;

    ck_assert_int_eq(load(m), NG_OK);
    own.fails_at = own.calls + 1;
    ck_assert_int_eq(step(&got, m), NG_BAD_SUBJECT);
    ck_assert_str_eq(error.text, "the head, head.operation "
                                 "k:grouped_gemm_bf16_fprop: it went wrong");
    ng_model_free(m);
    ng_recipe_free(&recipe);
}
END_TEST

/* ---- what is printed ----------------------------------------------------- */

static char *explained(const ng_recipe *recipe, bool json)
{
    const ng_model_config config = small();
    const ng_explain_setting setting = {1, 2, LENGTH, 7.125, json};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(ng_model_explain(out, &config, recipe, &setting, &error),
                     NG_OK);
    fclose(out);
    return text;
}

START_TEST(explanation)
{
    ng_recipe recipe = with(NG_SITE_EXPERT, "./k.so:quantize_mxfp4");
    char *text, *plain;
    json_t *json, *operation;

    recipe.overrides = calloc(1, sizeof *recipe.overrides);
    recipe.n_overrides = 1;
    recipe.overrides[0].layer = 1;
    recipe.overrides[0].recipe = recipe.all;
    recipe.overrides[0].recipe.operation[NG_SITE_EXPERT][0] = '\0';
    text = explained(&recipe, false);
    ck_assert_ptr_nonnull(strstr(text, "their events are not counted\n"));
    ck_assert_ptr_nonnull(strstr(text, "  expert     quantize_mxfp4 "));
    ck_assert_ptr_nonnull(strstr(text, " all layers   of ./k.so\n"));
    ck_assert_ptr_nonnull(strstr(text, " layer 1      \n"));
    free(text);

    text = explained(&recipe, true);
    json = json_loads(text, 0, NULL);
    operation = json_array_get(json_object_get(json, "operations"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(operation, "operation")),
                     "quantize_mxfp4");
    ck_assert_str_eq(json_string_value(json_object_get(operation, "subject")),
                     "./k.so");
    ck_assert_uint_eq(json_array_size(json_object_get(json, "operations")), 2);
    json_decref(json);
    free(text);

    ng_recipe_free(&recipe);
    recipe = recipe_of(2);
    plain = explained(&recipe, false);
    ck_assert_ptr_null(strstr(plain, "kernels of the recipe's"));
    free(plain);
    ng_recipe_free(&recipe);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model, kernels of one's own");
    TCase *tcase = tcase_create("own");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, begin, fixture_end);
    tcase_add_loop_test(tcase, fits_is_called, 0,
                        (int)(sizeof kinds / sizeof *kinds));
    tcase_add_test(tcase, no_other_names);
    tcase_add_test(tcase, of_a_single_layer);
    tcase_add_test(tcase, names_and_layers);
    tcase_add_test(tcase, cannot_be_opened);
    tcase_add_loop_test(tcase, a_call_fails, 0,
                        (int)(sizeof failing / sizeof *failing));
    tcase_add_test(tcase, swiglu_backward_fails);
    tcase_add_test(tcase, the_head_fails);
    tcase_add_test(tcase, explanation);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
