/* SPDX-License-Identifier: Apache-2.0
 *
 * What the explanation of a model and the names of another's weights refuse.
 */
#include "conformance/checks/model_refusals.h"
#include "formats/files/safetensors.h"
#include "reference/model/pretrained.h"

/* ---- explanations -------------------------------------------------------- */

START_TEST(explanations)
{
    static const ng_explain_setting bad[] = {{0, 1, 4, 7.125, false},
                                             {1, 0, 4, 7.125, false},
                                             {1, 1, 0, 7.125, true}};
    static const char *const words[] = {
        "explain: 0 ranks, 1 sequences of 4 tokens",
        "explain: 1 ranks, 0 sequences of 4 tokens",
        "explain: 1 ranks, 1 sequences of 0 tokens"};
    ng_model_config c = small();
    ng_model_count count = {.parameters = 77};
    FILE *full;

    for (int i = 0; i < 3; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        expect(ng_model_count_of(&count, &c, &recipe, &bad[i], &error),
               NG_BAD_VALUE, words[i]);
        expect(ng_model_explain(out, &c, &recipe, &bad[i], &error),
               NG_BAD_VALUE, words[i]);
        fclose(out);
        ck_assert_uint_eq(size, 0); /* nothing was printed */
        free(text);
    }
    ck_assert_int_eq(count.parameters, 77);
    c.hidden = 0;
    expect(ng_model_count_of(&count, &c, &recipe, &bad[0], &error),
           NG_BAD_VALUE, "hidden: 0 is not in 1..2147483647");
    c = small();
    for (int json = 0; json < 2; json++) {
        const ng_explain_setting good = {1, 1, 4, 7.125, json != 0};

        full = fopen("/dev/full", "w");
        if (full == NULL)
            return;
        expect(ng_model_explain(full, &c, &recipe, &good, &error), NG_BAD_FILE,
               "explain: cannot write");
        fclose(full);
    }
}
END_TEST

/* A matrix in two formats is there twice; a tied head has a copy of its own. */
START_TEST(bytes_of_copies)
{
    const ng_explain_setting setting = {1, 1, 4, 7.125, false};
    ng_model_config c = small();
    ng_model_count one, two, tied;
    ng_recipe r;

    ck_assert_int_eq(parse(&r, "layer 0 ffn.multiply_grad bf16\n"), NG_OK);
    ck_assert_int_eq(ng_model_count_of(&one, &c, &recipe, &setting, &error),
                     NG_OK);
    ck_assert_int_eq(ng_model_count_of(&two, &c, &r, &setting, &error), NG_OK);
    ck_assert_double_eq(two.weight_bytes - one.weight_bytes,
                        2.0 * (12.0 * 8.0 + 8.0 * 6.0));
    c.tie_head = true;
    ck_assert_int_eq(ng_model_count_of(&tied, &c, &recipe, &setting, &error),
                     NG_OK);
    ck_assert_int_eq(one.parameters - tied.parameters, 11 * 8);
    ck_assert_double_eq(tied.weight_bytes, one.weight_bytes);
    ng_recipe_free(&r);
}
END_TEST

/* ---- names of others ----------------------------------------------------- */

START_TEST(maps)
{
    static const int64_t shape[1] = {8};
    static char large[4 << 20];
    char path[300], weights[300], want[700];
    const char *const files[] = {weights};
    ng_model *m = good_model(&recipe);
    ng_pretrained *p = NULL;
    ng_tensor_file file = {.tensors = NULL};
    float theta[8];
    void *data;

    snprintf(path, sizeof path, "%s/map.names", scratch);
    snprintf(weights, sizeof weights, "%s/w.safetensors", scratch);
    ck_assert_int_eq(
        ng_tensor_file_add_tensor(&data, &file, "w", NG_U8, 1, shape), NG_OK);
    ck_assert_int_eq(ng_safetensors_write(weights, &file, &error), NG_OK);
    ng_tensor_file_free(&file);

    scratch_write("map.names", "norm w\0", 7);
    snprintf(want, sizeof want, "%s: not text", path);
    expect(ng_pretrained_open(&p, path, files, 1, &error), NG_BAD_FILE, want);
    memset(large, '#', sizeof large);
    scratch_write("map.names", large, sizeof large);
    ck_assert_int_eq(ng_pretrained_open(&p, path, files, 1, &error),
                     NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, ": size: over "));
    ck_assert_ptr_null(p);

    memcpy(large, "norm w ", 7);
    memset(large + 7, 'x', 2000);
    scratch_write("map.names", large, 2007);
    ck_assert_int_eq(ng_pretrained_open(&p, path, files, 1, &error), NG_OK);
    for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
        if (strcmp(ng_model_parameter_of(m, i)->name, "norm") != 0)
            continue;
        ck_assert_int_eq(ng_pretrained_read(theta, p, m, i, &error),
                         NG_BAD_FILE);
        ck_assert_str_eq(error.text, "tensor \"w\": dtype: u8");
    }
    ng_pretrained_free(p);
    ng_pretrained_free(NULL);

    /* of the right type, but a name behind it is no name */
    ck_assert_int_eq(
        ng_tensor_file_add_tensor(&data, &file, "w", NG_FP32, 1, shape), NG_OK);
    ck_assert_int_eq(ng_safetensors_write(weights, &file, &error), NG_OK);
    ng_tensor_file_free(&file);
    p = NULL;
    ck_assert_int_eq(ng_pretrained_open(&p, path, files, 1, &error), NG_OK);
    for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
        if (strcmp(ng_model_parameter_of(m, i)->name, "norm") != 0)
            continue;
        expect(ng_pretrained_read(theta, p, m, i, &error), NG_BAD_FILE,
               "norm: tensor \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\": "
               "too long");
    }
    ng_pretrained_free(p);
    ng_model_free(m);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("files");

    tcase_add_test(tcase, explanations);
    tcase_add_test(tcase, bytes_of_copies);
    tcase_add_test(tcase, maps);
    return run_refusals(tcase);
}
