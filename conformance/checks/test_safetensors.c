/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors: files that the original library wrote are read to their bytes
 * and written back to the same file, and every type makes the round trip.
 */
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

/* The header's text as printable characters, to be freed by the caller. */
static char *header_of(const char *path)
{
    size_t size;
    unsigned char *bytes = scratch_read(&size, path);
    uint64_t length;

    memcpy(&length, bytes, sizeof length);
    ck_assert_uint_le(length + 8, size);
    ck_assert_uint_eq(length % 8, 0);
    memmove(bytes, bytes + 8, (size_t)length);
    bytes[length] = '\0';
    return (char *)bytes;
}

START_TEST(golden_types)
{
    static const struct {
        const char *name;
        ng_dtype dtype;
        size_t size;
    } want[] = {
        {"U64", NG_U64, 8},      {"I64", NG_I64, 8},    {"F64", NG_FP64, 8},
        {"F32", NG_FP32, 4},     {"U32", NG_U32, 4},    {"I32", NG_I32, 4},
        {"BF16", NG_BF16, 2},    {"F16", NG_FP16, 2},   {"U16", NG_U16, 2},
        {"I16", NG_I16, 2},      {"F8_E8M0", NG_UE8M0, 1},
        {"F8_E4M3", NG_E4M3, 1}, {"I8", NG_I8, 1},      {"U8", NG_U8, 1},
        {"F4", NG_E2M1X2, 1},
    };
    const char *path = scratch_write("g.safetensors", golden_every_type,
                                     sizeof golden_every_type);
    ng_tensor_file file;

    read_ok(&file, path);
    ck_assert_uint_eq(file.n_tensors, 15);
    for (size_t i = 0; i < file.n_tensors; i++) {
        const ng_tensor *tensor = &file.tensors[i];
        const int64_t columns = want[i].dtype == NG_E2M1X2 ? 2 : 4;

        ck_assert_str_eq(tensor->name, want[i].name);
        ck_assert_int_eq((int)tensor->dtype, (int)want[i].dtype);
        ck_assert_int_eq(tensor->rank, 2);
        ck_assert_int_eq(tensor->shape[0], 2);
        ck_assert_int_eq(tensor->shape[1], columns);
        ck_assert_int_eq(tensor->stride[0], columns);
        ck_assert_int_eq(tensor->stride[1], 1);
        for (size_t j = 0; j < 2 * (size_t)columns * want[i].size; j++)
            ck_assert_uint_eq(((unsigned char *)tensor->data)[j],
                              golden_byte(want[i].name, j));
    }
    ck_assert_uint_eq(file.n_metadata, 1);
    ck_assert_str_eq(ng_tensor_file_metadata(&file, "format"), "pt");
    write_ok(path, &file);
    expect_bytes(path, golden_every_type, sizeof golden_every_type);
    ng_tensor_file_free(&file);
}
END_TEST

START_TEST(golden_values)
{
    ng_tensor_file file;
    const ng_tensor *tensor;

    read_ok(&file, scratch_write("g.safetensors", golden_numpy,
                                 sizeof golden_numpy));
    ck_assert_uint_eq(file.n_tensors, 4);
    tensor = ng_tensor_file_find(&file, "scalar");
    ck_assert_int_eq(tensor->rank, 0);
    ck_assert(*(float *)tensor->data == -2.5f);
    tensor = ng_tensor_file_find(&file, "empty");
    ck_assert_int_eq(tensor->rank, 2);
    ck_assert_int_eq(tensor->shape[0], 3);
    ck_assert_int_eq(tensor->shape[1], 0);
    ck_assert_ptr_nonnull(tensor->data);
    tensor = ng_tensor_file_find(&file, "cube");
    ck_assert_int_eq(tensor->rank, 3);
    for (int i = 0; i < 12; i++)
        ck_assert_int_eq(((int16_t *)tensor->data)[i], i);
    tensor = ng_tensor_file_find(&file, "flags");
    ck_assert_int_eq((int)tensor->dtype, NG_U8);        /* BOOL */
    ck_assert_mem_eq(tensor->data, "\1\0\1", 3);
    ck_assert_ptr_null(ng_tensor_file_find(&file, "none"));
    ck_assert_ptr_null(ng_tensor_file_metadata(&file, "none"));
    ng_tensor_file_free(&file);
    ng_tensor_file_free(&file);         /* empty by now */
}
END_TEST

/* Every type, asked to be an integer (1) or not (0): what the header says, and
 * that reading gives the same tensor and writing again the same bytes. */
static void round_trip(ng_dtype dtype, bool asked, const char *says)
{
    ng_tensor_file file = {0}, back;
    const int64_t shape[3] = {2, 3, 4};
    void *data;
    size_t size;
    const char *path = scratch_path("r.safetensors");
    const size_t n = 24 * ng_dtype_size(dtype);

    ck_assert_int_eq(
        ng_tensor_file_add_tensor(&data, &file, "x/y", dtype, 3, shape), NG_OK);
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)data)[i] = golden_byte("x", i);
    ng_tensor_file_add_metadata(&file, "note", "a\nb \"c\" \xc3\xa9");
    if (asked)
        ng_tensor_file_add_metadata(&file, "dtype.x/y", ng_dtype_name(dtype));
    write_ok(path, &file);
    char *header = header_of(path);
    ck_assert_msg(strstr(header, says) != NULL, "%s lacks %s", header, says);
    free(header);

    read_ok(&back, path);
    ck_assert_uint_eq(back.n_tensors, 1);
    ck_assert_int_eq((int)back.tensors[0].dtype, (int)dtype);
    ck_assert_mem_eq(back.tensors[0].shape, shape, sizeof shape);
    ck_assert_mem_eq(back.tensors[0].data, data, n);
    ck_assert_str_eq(ng_tensor_file_metadata(&back, "note"),
                     "a\nb \"c\" \xc3\xa9");

    unsigned char *bytes = scratch_read(&size, path);
    write_ok(path, &back);
    expect_bytes(path, bytes, size);
    ck_assert_int_eq(scratch_count(), 1);
    free(bytes);
    ng_tensor_file_free(&file);
    ng_tensor_file_free(&back);
}

START_TEST(round_trips)
{
    static const struct {
        const char *alone, *asked;
    } names[NG_N_DTYPES] = {
        [NG_U8] = {"U8", "U8"},         [NG_I8] = {"I8", "U8"},
        [NG_U16] = {"U16", "U16"},      [NG_I16] = {"I16", "U16"},
        [NG_U32] = {"U32", "U32"},      [NG_I32] = {"I32", "U32"},
        [NG_U64] = {"U64", "U64"},      [NG_I64] = {"I64", "U64"},
        [NG_FP16] = {"F16", "U16"},     [NG_BF16] = {"BF16", "U16"},
        [NG_FP32] = {"F32", "U32"},     [NG_FP64] = {"F64", "U64"},
        [NG_E2M1] = {"U8", "U8"},       [NG_E2M1X2] = {"F4", "U8"},
        [NG_E4M3] = {"F8_E4M3", "U8"},  [NG_UE8M0] = {"F8_E8M0", "U8"},
        [NG_UE8M0X4] = {"U32", "U32"},  [NG_UE6M10] = {"U16", "U16"},
    };
    char says[128];

    snprintf(says, sizeof says, "\"x/y\":{\"dtype\":\"%s\",\"shape\":[2,3,%d]",
             names[_i].alone, _i == NG_E2M1X2 ? 8 : 4);
    round_trip((ng_dtype)_i, false, says);
    snprintf(says, sizeof says, "\"dtype.x/y\":\"%s\"},\"x/y\":{\"dtype\":"
             "\"%s\",\"shape\":[2,3,4]", ng_dtype_name((ng_dtype)_i),
             names[_i].asked);
    round_trip((ng_dtype)_i, true, says);
}
END_TEST

/* Types without a name get their pair even where nobody wrote one. */
START_TEST(pair_is_added)
{
    uint16_t scale = 0x1234;
    ng_tensor tensor = ng_tensor_dense("s", NG_UE6M10, 0, NULL, &scale);
    const ng_tensor_file file = {.tensors = &tensor, .n_tensors = 1};
    const char *path = scratch_path("p.safetensors");

    write_ok(path, &file);
    char *header = header_of(path);
    ck_assert_ptr_nonnull(strstr(header, "{\"__metadata__\":{\"dtype.s\":"
                                 "\"ue6m10\"},\"s\":{\"dtype\":\"U16\""));
    free(header);
}
END_TEST

/* A file whose header's order is not that of its data. */
START_TEST(any_order)
{
    static const char json[] =
        "{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[3,5]},"
        "\"e\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[3,3]},"
        "\"a\":{\"data_offsets\":[0,3],\"shape\":[3],\"dtype\":\"U8\"}}\n";
    const uint64_t length = sizeof json - 1;
    char bytes[sizeof length + sizeof json - 1 + 5];
    ng_tensor_file file;

    memcpy(bytes, &length, sizeof length);
    memcpy(bytes + sizeof length, json, sizeof json - 1);
    memcpy(bytes + sizeof bytes - 5, "abcde", 5);
    read_ok(&file, scratch_write("o.safetensors", bytes, sizeof bytes));
    ck_assert_str_eq(file.tensors[0].name, "b");
    ck_assert_mem_eq(file.tensors[0].data, "de", 2);
    ck_assert_mem_eq(ng_tensor_file_find(&file, "a")->data, "abc", 3);
    ng_tensor_file_free(&file);
}
END_TEST

START_TEST(empty)
{
    const ng_tensor_file nothing = {0};
    const char *path = scratch_path("e.safetensors");
    ng_tensor_file back;

    write_ok(path, &nothing);
    expect_bytes(path, "\10\0\0\0\0\0\0\0{}      ", 16);
    read_ok(&back, path);
    ck_assert_uint_eq(back.n_tensors + back.n_metadata, 0);
    ng_tensor_file_free(&back);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("safetensors");
    TCase *tcase = tcase_create("good");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, golden_types);
    tcase_add_test(tcase, golden_values);
    tcase_add_loop_test(tcase, round_trips, 0, NG_N_DTYPES);
    tcase_add_test(tcase, pair_is_added);
    tcase_add_test(tcase, any_order);
    tcase_add_test(tcase, empty);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
