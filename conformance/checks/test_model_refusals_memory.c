/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that runs out, allocation by allocation, in each call of the model.
 */
#include <jansson.h>

#include "conformance/checks/failing_memory.h"
#include "conformance/checks/model_refusals.h"
#include "formats/files/safetensors.h"
#include "reference/model/pretrained.h"

#ifdef FAILING_MEMORY
static ng_model *whole; /* in which a step is taken, and others are not */

static ng_status make_one(void)
{
    ng_model *m = NULL;
    const ng_status status = make(&m, &recipe, ng_comm_self());

    ng_model_free(m);
    return status;
}

static ng_status load_one(void)
{
    static const float theta[1024];

    return ng_model_load(whole, 0, theta, &error);
}

static ng_status take_step(void)
{
    double loss, norm;

    return step(&loss, &norm, whole);
}

static ng_status evaluate(void)
{
    const ng_model_shard shard = good_shard();
    double loss;
    int64_t n;

    return ng_model_evaluate(&loss, &n, whole, &shard, &error);
}

static ng_status logits_of(void)
{
    float logits[11];

    return ng_model_logits(logits, whole, tokens, 3, &error);
}

static ng_status open_recipe(void)
{
    ng_recipe r;
    const ng_status status =
        ng_recipe_open(&r, scratch_path("r.recipe"), &error);

    if (status == NG_OK)
        ng_recipe_free(&r);
    return status;
}

static ng_status open_map(void)
{
    const char *files[] = {scratch_path("w.safetensors")};
    ng_pretrained *p = NULL;
    const ng_status status =
        ng_pretrained_open(&p, scratch_path("map.names"), files, 1, &error);

    ng_pretrained_free(p);
    return status;
}

static FILE *printed;

static ng_status explain(void)
{
    const ng_explain_setting setting = {1, 1, 4, 7.125, true};
    const ng_model_config c = small();

    rewind(printed);
    return ng_model_explain(printed, &c, &recipe, &setting, &error);
}

/* One that overrides layers: a copy is made of them. */
static ng_status make_other(void)
{
    ng_model *m = NULL;
    ng_recipe r;
    ng_status status = parse(&r, "layer 0 ffn.multiply_grad bf16\n"
                                 "layer 1-2 expert.multiply_grad fp8\n"
                                 "layer 1-2 expert.multiply fp8\n"
                                 "layer 1-2 recompute full\n");

    if (status != NG_OK)
        return status;
    status = make(&m, &r, ng_comm_self());
    ng_model_free(m);
    ng_recipe_free(&r);
    return status;
}

static const struct {
    const char *name;
    ng_status (*perform)(void);
    int least, stride; /* past the first 40 */
} calls[] = {
    {"create", make_one, 40, 3},   {"create another", make_other, 40, 3},
    {"load", load_one, 1, 1},      {"step", take_step, 200, 1},
    {"evaluate", evaluate, 50, 1}, {"logits", logits_of, 50, 1},
    {"recipe", open_recipe, 1, 1}, {"names", open_map, 5, 1},
    {"explain", explain, 100, 7},
};

START_TEST(memory)
{
    static const int64_t shape[1] = {8};
    ng_tensor_file file = {.tensors = NULL};
    double want[2], loss, norm;
    int n = 0;
    void *data;

    whole = good_model(&recipe);
    ck_assert_int_eq(step(&want[0], &want[1], whole), NG_OK);
    write_text("r.recipe", recipe_fp32);
    write_text("map.names", "norm w\n");
    ck_assert_int_eq(
        ng_tensor_file_add_tensor(&data, &file, "w", NG_FP32, 1, shape), NG_OK);
    ck_assert_int_eq(
        ng_safetensors_write(scratch_path("w.safetensors"), &file, &error),
        NG_OK);
    ng_tensor_file_free(&file);
    printed = tmpfile();
    ck_assert_ptr_nonnull(printed);
    for (;; n += n < 40 ? 1 : calls[_i].stride) {
        ng_status status;
        bool did_fail;

        error.text[0] = '\0';
        /* what reads JSON cannot tell want of memory from bad text */
        json_set_alloc_funcs(
            calls[_i].perform == open_map ? sure_malloc : malloc, free);
        fail_at(n);
        status = calls[_i].perform();
        did_fail = fail_no_more();
        if (status == NG_OK && !did_fail)
            break;
        if (status == NG_OK) /* stdio can do without its buffer */
            continue;
        ck_assert_msg(did_fail, "%s: %s", calls[_i].name, error.text);
        ck_assert_msg(
            status == NG_NO_MEMORY
                || (status == NG_BAD_FILE && calls[_i].perform != take_step),
            "%s, allocation %d: %s", calls[_i].name, n, ng_status_text(status));
        ck_assert_msg(strstr(error.text, "memory") != NULL,
                      "%s, allocation %d: \"%s\"", calls[_i].name, n,
                      error.text);
    }
    ck_assert_msg(n >= calls[_i].least, "%s: %d", calls[_i].name, n);
    if (calls[_i].perform != load_one) {
        ck_assert_int_eq(step(&loss, &norm, whole), NG_OK);
        ck_assert(loss == want[0] && norm == want[1]);
    }
    fclose(printed);
    ng_model_free(whole);
}
END_TEST
#endif

int main(void)
{
    TCase *tcase = tcase_create("memory");

#ifdef FAILING_MEMORY
    tcase_add_loop_test(tcase, memory, 0, (int)(sizeof calls / sizeof *calls));
#endif
    return run_refusals(tcase);
}
