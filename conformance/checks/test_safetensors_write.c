/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing safetensors: strides are gathered; what cannot be written is refused
 * before a file is touched; memory that runs out loses nothing.
 */
#include <jansson.h>
#include <stdint.h>

#include "conformance/checks/golden_safetensors.h"
#include "conformance/checks/scratch.h"
#include "formats/files/safetensors.h"

static ng_error error;

static void read_ok(ng_tensor_file *out, const char *path)
{
    ck_assert_msg(ng_safetensors_read(out, path, &error) == NG_OK, "%s",
                  error.text);
}

static void write_ok(const char *path, const ng_tensor_file *in)
{
    ck_assert_msg(ng_safetensors_write(path, in, &error) == NG_OK, "%s",
                  error.text);
}

static void expect_bytes(const char *path, const void *bytes, size_t size)
{
    size_t got_size;
    unsigned char *got = scratch_read(&got_size, path);

    ck_assert_uint_eq(got_size, size);
    ck_assert_mem_eq(got, bytes, size);
    free(got);
}

/* A transposed, a reversed, a broadcast, a padded and an empty view of
 * 0 .. 11, written as if dense. */
START_TEST(strided)
{
    static const struct {
        int rank, first;
        int64_t shape[3], stride[3];
        int n;
        uint16_t want[12];
    } views[] = {
        {2, 0, {4, 3}, {1, 4}, 12, {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
        {1, 11, {3}, {-2}, 3, {11, 9, 7}},
        {2, 2, {2, 2}, {0, 1}, 4, {2, 3, 2, 3}},
        {2, 0, {3, 2}, {4, 1}, 6, {0, 1, 4, 5, 8, 9}},
        {3, 1, {2, 1, 2}, {6, 99, 3}, 4, {1, 4, 7, 10}},
        {3, 0, {1, 12, 1}, {77, 1, 88}, 12,
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
        {2, 0, {2, 0}, {55, 44}, 0, {0}},
    };
    uint16_t data[12];
    ng_tensor_file back;

    for (int i = 0; i < 12; i++)
        data[i] = (uint16_t)i;
    for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
        ng_tensor tensor = ng_tensor_dense("v", NG_U16, views[v].rank,
                                           views[v].shape,
                                           data + views[v].first);
        const ng_tensor_file file = {.tensors = &tensor, .n_tensors = 1};
        const char *path = scratch_path("s.safetensors");

        memcpy(tensor.stride, views[v].stride, sizeof views[v].stride);
        write_ok(path, &file);
        read_ok(&back, path);
        ck_assert_mem_eq(back.tensors[0].data, views[v].want,
                         (size_t)views[v].n * sizeof *data);
        ng_tensor_file_free(&back);
    }
}
END_TEST

static void expect_refusal(const ng_tensor_file *in, ng_status status,
                           const char *says)
{
    const char *path = scratch_write("w.safetensors", "before", 6);

    ck_assert_int_eq(ng_safetensors_write(path, in, &error), (int)status);
    ck_assert_msg(strstr(error.text, says) != NULL, "\"%s\" lacks \"%s\"",
                  error.text, says);
    expect_bytes(path, "before", 6);
    ck_assert_int_eq(scratch_count(), 1);
}

START_TEST(refused_tensors)
{
    uint8_t byte = 0;
    ng_tensor t[2] = {ng_tensor_dense("t", NG_U8, 0, NULL, &byte)};
    const ng_tensor good = t[0];
    ng_metadata pairs[2] = {{(char[]){"dtype.t"}, (char[]){"i8"}}};
    ng_tensor_file file = {.tensors = t, .n_tensors = 1};

    t[0].rank = 5;
    expect_refusal(&file, NG_BAD_SHAPE, ": tensor \"t\": shape: ");
    t[0] = good, t[0].rank = 1, t[0].shape[0] = -1;
    expect_refusal(&file, NG_BAD_SHAPE, ": tensor \"t\": shape: ");
    t[0] = good, t[0].dtype = NG_N_DTYPES;
    expect_refusal(&file, NG_BAD_DTYPE, ": tensor \"t\": dtype: ");
    t[0] = good, t[0].data = NULL;
    expect_refusal(&file, NG_BAD_POINTER, ": tensor \"t\": data: is null");
    t[0] = good, t[0].dtype = NG_E2M1X2;
    expect_refusal(&file, NG_BAD_SHAPE, ": tensor \"t\": shape: F4 needs");
    t[0].rank = 2, t[0].shape[0] = 0, t[0].shape[1] = INT64_MAX / 2 + 1;
    expect_refusal(&file, NG_BAD_SHAPE, ": tensor \"t\": shape: F4 needs");
    t[0] = good, memset(t[0].name, 'n', sizeof t[0].name);
    expect_refusal(&file, NG_BAD_FILE, ": name: is longer than 127 bytes");
    t[0] = good, strcpy(t[0].name, "\xff");
    expect_refusal(&file, NG_BAD_FILE, ": name: is not UTF-8");
    t[0] = good, strcpy(t[0].name, "__metadata__");
    expect_refusal(&file, NG_BAD_FILE, ": name: means the metadata");

    t[0] = t[1] = good;
    file.n_tensors = 2;
    expect_refusal(&file, NG_BAD_FILE, ": tensor \"t\": name: is another");
    file.n_tensors = 1;
    file.metadata = pairs;
    file.n_metadata = 1;
    expect_refusal(&file, NG_BAD_DTYPE,
                   ": tensor \"t\": dtype: u8, but the metadata says \"i8\"");
    strcpy(pairs[0].value, "u8");
    pairs[1] = pairs[0];
    file.n_metadata = 2;
    expect_refusal(&file, NG_BAD_FILE, ": __metadata__: \"dtype.t\" is there");
    strcpy(pairs[0].value, "\xc0\x80");
    expect_refusal(&file, NG_BAD_FILE, ": __metadata__: \"dtype.t\" is not U");
    ck_assert_int_eq(ng_safetensors_write(NULL, &file, &error),
                     NG_BAD_POINTER);
    ck_assert_int_eq(ng_safetensors_write("x", NULL, NULL), NG_BAD_POINTER);
}
END_TEST

static int allowed;             /* allocations until Jansson's fail */

static void *scarce_malloc(size_t size)
{
    return allowed-- > 0 ? malloc(size) : NULL;
}

/* Each allocation of Jansson's fails once: no crash, no leak, and never half a
 * file. (Its lexer calls some of these an invalid token.) */
START_TEST(no_memory)
{
    const char *path = scratch_write("g.safetensors", golden_every_type,
                                     sizeof golden_every_type);
    ng_tensor_file file, again;
    ng_status status;
    int failures = 0, n_no_memory = 0;

    read_ok(&file, path);
    ng_tensor_file_add_metadata(&file, "dtype.U8", "u8");
    json_object_seed(1);
    json_set_alloc_funcs(scarce_malloc, free);
    for (int n = 0;; n++, failures++) {
        allowed = n;
        status = ng_safetensors_read(&again, path, &error);
        if (status == NG_OK)
            break;
        ck_assert(status == NG_NO_MEMORY || status == NG_BAD_FILE);
        n_no_memory += status == NG_NO_MEMORY;
    }
    ck_assert_int_ge(allowed, 0);       /* none failed and went unnoticed */
    ck_assert_int_gt(n_no_memory, failures / 2);
    ng_tensor_file_free(&again);
    for (int n = 0;; n++, failures++) {
        allowed = n;
        status = ng_safetensors_write(path, &file, &error);
        if (status == NG_OK)
            break;
        ck_assert_int_eq(status, NG_NO_MEMORY);
        expect_bytes(path, golden_every_type, sizeof golden_every_type);
    }
    json_set_alloc_funcs(malloc, free);
    ng_tensor_file_free(&file);
    printf("no_memory: %d failures\n", failures);
    ck_assert_int_gt(failures, 100);
    ck_assert_int_eq(scratch_count(), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("safetensors_write");
    TCase *tcase = tcase_create("write");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, strided);
    tcase_add_test(tcase, refused_tensors);
    tcase_add_test(tcase, no_memory);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
