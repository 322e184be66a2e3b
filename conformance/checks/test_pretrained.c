/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights under other names: stacked, widened exactly, refused where they do
 * not fit; the map of DeepSeek-V3 names every parameter of such a model.
 */
#include "conformance/checks/model_fixture.h"
#include "conformance/checks/scratch.h"
#include "formats/files/safetensors.h"
#include "reference/model/pretrained.h"

static ng_error error;

static ng_model *small_model(int64_t mtp)
{
    ng_model_config c = ng_model_config_default();
    ng_recipe recipe;
    ng_model *m = NULL;

    c.vocabulary = 6;
    c.hidden = 4;
    c.layers = 2;
    c.heads = 1;
    c.q_rank = 3;
    c.kv_rank = 2;
    c.nope_dim = 2;
    c.rope_dim = 2;
    c.v_dim = 3;
    c.ffn = 5;
    c.experts = 3;
    c.expert_ffn = 2;
    c.mtp_depth = mtp;
    ck_assert_int_eq(ng_recipe_open(&recipe, "bf16", &error), NG_OK);
    ck_assert_msg(ng_model_create(&m, &c, &recipe, ng_backend_reference(),
                                  ng_comm_self(), &error)
                      == NG_OK,
                  "%s", error.text);
    return m;
}

static int64_t parameter_named(const ng_model *m, const char *name)
{
    for (int64_t i = 0; i < ng_model_n_parameters(m); i++)
        if (strcmp(ng_model_parameter_of(m, i)->name, name) == 0)
            return i;
    ck_abort_msg("%s", name);
    return -1;
}

/* Experts 2 of layer 1: gate [2, 4] in BF16, up [2, 4] in FP16; a router bias.
 */
static const char *write_file(int64_t up_rows)
{
    static const uint16_t gate[8] = {0x3F80, 0xC000, 0x7F7F, 0x0001,
                                     0x8000, 0x3FC0, 0x4000, 0x4040};
    static const uint16_t up[16] = {0x3C00, 0x0001, 0xC000, 0x7BFF};
    static const float bias[3] = {0.25f, -1.0f, 0x1.234568p-3f};
    ng_tensor_file file = {.tensors = NULL};
    const int64_t of_gate[] = {2, 4}, of_up[] = {up_rows, 4}, of_bias[] = {3};
    const char *path = scratch_path("weights.safetensors");
    void *data;

    ck_assert_int_eq(ng_tensor_file_add_tensor(&data, &file, "x.1.e.2.gate",
                                               NG_BF16, 2, of_gate),
                     NG_OK);
    memcpy(data, gate, sizeof gate);
    ck_assert_int_eq(ng_tensor_file_add_tensor(&data, &file, "x.1.e.2.up",
                                               NG_FP16, 2, of_up),
                     NG_OK);
    memcpy(data, up, (size_t)up_rows * 8);
    ck_assert_int_eq(ng_tensor_file_add_tensor(&data, &file, "x.1.bias",
                                               NG_FP32, 1, of_bias),
                     NG_OK);
    memcpy(data, bias, sizeof bias);
    ck_assert_msg(ng_safetensors_write(path, &file, &error) == NG_OK, "%s",
                  error.text);
    ng_tensor_file_free(&file);
    return path;
}

static const char *write_map(const char *text)
{
    const char *path = scratch_path("map.names");
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static const char map[] =
    "# names\n"
    "layers.{layer}.experts.{expert}.gate_up  x.{layer}.e.{expert}.gate "
    "x.{layer}.e.{expert}.up # two\n"
    "layers.{layer}.router_bias x.{layer}.bias\n"
    "norm x.norm";

START_TEST(stacked_and_widened)
{
    static const uint32_t want[16] = {
        0x3F800000, 0xC0000000, 0x7F7F0000, 0x00010000, 0x80000000, 0x3FC00000,
        0x40000000, 0x40400000, 0x3F800000, 0x33800000, 0xC0000000, 0x477FE000};
    const char *files[] = {write_file(2)};
    ng_model *m = small_model(0);
    ng_pretrained *p = NULL;
    float theta[16], state[3];

    ck_assert_msg(ng_pretrained_open(&p, write_map(map), files, 1, &error)
                      == NG_OK,
                  "%s", error.text);
    ck_assert_msg(ng_pretrained_read(
                      theta, p, m,
                      parameter_named(m, "layers.1.experts.2.gate_up"), &error)
                      == NG_OK,
                  "%s", error.text);
    ck_assert_mem_eq(theta, want, sizeof want);
    ck_assert_int_eq(ng_pretrained_state(state, p, m, &error), NG_OK);
    ck_assert_float_eq(state[2], 0x1.234568p-3f);
    /* another expert is not in the file, another parameter not in the map */
    ck_assert_int_eq(
        ng_pretrained_read(theta, p, m,
                           parameter_named(m, "layers.1.experts.0.gate_up"),
                           &error),
        NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "no tensor \"x.1.e.0.gate\""));
    ck_assert_int_eq(
        ng_pretrained_read(theta, p, m, parameter_named(m, "head"), &error),
        NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "no line for head"));
    ng_pretrained_free(p);
    ng_model_free(m);
}
END_TEST

START_TEST(shapes_must_fit)
{
    static const int64_t rows[] = {1, 3};
    static const char *const words[] = {"3 of its 4 rows", "does not fit"};
    const char *files[] = {write_file(rows[_i])};
    ng_model *m = small_model(0);
    ng_pretrained *p = NULL;
    float theta[32];

    ck_assert_int_eq(ng_pretrained_open(&p, write_map(map), files, 1, &error),
                     NG_OK);
    ck_assert_int_eq(
        ng_pretrained_read(theta, p, m,
                           parameter_named(m, "layers.1.experts.2.gate_up"),
                           &error),
        NG_BAD_FILE);
    ck_assert_msg(strstr(error.text, words[_i]) != NULL, "%s", error.text);
    ng_pretrained_free(p);
    ng_model_free(m);
}
END_TEST

START_TEST(files_are_refused)
{
    const char *path = write_file(2);
    const char *twice[] = {path, path}, *none[] = {"/nowhere"};
    ng_pretrained *p = NULL;

    ck_assert_int_eq(ng_pretrained_open(&p, write_map(map), twice, 2, &error),
                     NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "in two files"));
    ck_assert_int_eq(ng_pretrained_open(&p, write_map(map), none, 1, &error),
                     NG_BAD_FILE);
    ck_assert_int_eq(ng_pretrained_open(&p, "/nowhere.names", twice, 1, &error),
                     NG_BAD_FILE);
    ck_assert_ptr_null(p);
}
END_TEST

/* Every parameter has its line: what is missing is the tensor alone. */
START_TEST(deepseek_names_all)
{
    const char *root = getenv("NG_SRCDIR");
    char path[512];
    ng_model *m = small_model(1);
    ng_pretrained *p = NULL;
    float theta[512];

    snprintf(path, sizeof path, "%s/configs/names/deepseek-v3.names",
             root != NULL ? root : "..");
    ck_assert_msg(ng_pretrained_open(&p, path, NULL, 0, &error) == NG_OK, "%s",
                  error.text);
    for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
        ck_assert_int_eq(ng_pretrained_read(theta, p, m, i, &error),
                         NG_BAD_FILE);
        ck_assert_msg(strstr(error.text, "no tensor \"") != NULL, "%s",
                      error.text);
    }
    ng_pretrained_read(theta, p, m, parameter_named(m, "mtp.0.project"),
                       &error);
    ck_assert_ptr_nonnull(strstr(error.text, "model.layers.2.eh_proj.weight"));
    ng_pretrained_free(p);
    ng_model_free(m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pretrained");
    TCase *tcase = tcase_create("pretrained");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_add_test(tcase, stacked_and_widened);
    tcase_add_loop_test(tcase, shapes_must_fit, 0, 2);
    tcase_add_test(tcase, files_are_refused);
    tcase_add_test(tcase, deepseek_names_all);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
