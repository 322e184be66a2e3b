/* SPDX-License-Identifier: Apache-2.0
 *
 * .npy: NumPy's files are read to their bytes and written back to the same
 * file; each way of being wrong is refused with file and field.
 */
#include <stdint.h>

#include "conformance/checks/golden_npy.h"
#include "conformance/checks/scratch.h"
#include "formats/files/npy.h"

enum {
    N_GOLDEN = sizeof golden_npy / sizeof *golden_npy,
    N_REFUSED = sizeof refused_npy / sizeof *refused_npy
};

static ng_error error;

/* Restated, not read from formats/files/. */
static ng_dtype dtype_of(const char *descr)
{
    static const struct {
        const char *descr;
        ng_dtype dtype;
    } table[] = {
        {"|u1", NG_U8},  {"|i1", NG_I8},   {"<u2", NG_U16},  {"<i2", NG_I16},
        {"<u4", NG_U32}, {"<i4", NG_I32},  {"<u8", NG_U64},  {"<i8", NG_I64},
        {"|b1", NG_U8},  {"<f2", NG_FP16}, {"<f4", NG_FP32}, {"<f8", NG_FP64},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].descr, descr) == 0)
            return table[i].dtype;
    ck_abort_msg("%s", descr);
}

START_TEST(golden)
{
    const struct golden_npy *want = &golden_npy[_i];
    const char *path = scratch_write("gold.npy", want->bytes, want->size);
    ng_tensor_file file;
    size_t n = ng_dtype_size(dtype_of(want->descr)), size;

    ck_assert_msg(ng_npy_read(&file, path, &error) == NG_OK, "%s", error.text);
    ck_assert_uint_eq(file.n_tensors, 1);
    const ng_tensor *tensor = file.tensors;
    ck_assert_str_eq(tensor->name, "gold");
    ck_assert_int_eq((int)tensor->dtype, (int)dtype_of(want->descr));
    ck_assert_int_eq(tensor->rank, want->rank);
    for (int axis = 0; axis < want->rank; axis++) {
        ck_assert_int_eq(tensor->shape[axis], want->shape[axis]);
        n *= (size_t)want->shape[axis];
    }
    if (strcmp(want->descr, "|b1") == 0)
        ck_assert_mem_eq(tensor->data, "\1\0\1", 3);
    else
        for (size_t i = 0; i < n; i++)
            ck_assert_uint_eq(((unsigned char *)tensor->data)[i],
                              golden_byte(want->descr, i));

    /* Written again it is NumPy's file, where that is of version 1.0. */
    ck_assert_int_eq(ng_npy_write(path, tensor, &error), NG_OK);
    unsigned char *bytes = scratch_read(&size, path);
    if (want->bytes[6] == 1 && strcmp(want->descr, "|b1") != 0) {
        ck_assert_uint_eq(size, want->size);
        ck_assert_mem_eq(bytes, want->bytes, size);
    }
    free(bytes);
    ng_tensor_file_free(&file);
    ck_assert_int_eq(ng_npy_read(&file, path, &error), NG_OK);
    ck_assert_int_eq((int)file.tensors->dtype, (int)dtype_of(want->descr));
    ng_tensor_file_free(&file);
    ck_assert_int_eq(scratch_count(), 1);
}
END_TEST

static ng_status try_bytes(const void *bytes, size_t size)
{
    const char *path = scratch_write("f.npy", bytes, size);
    ng_tensor_file untouched = {.n_tensors = 77}, out = untouched;
    const ng_status status = ng_npy_read(&out, path, &error);

    if (status == NG_OK) {
        ng_tensor_file_free(&out);
        return status;
    }
    ck_assert_mem_eq(&out, &untouched, sizeof out);
    ck_assert_ptr_eq(strstr(error.text, path), error.text);
    ck_assert_ptr_null(strchr(error.text, '\n'));
    return status;
}

static void expect_refusal(const void *bytes, size_t size, const char *says)
{
    ck_assert_int_eq(try_bytes(bytes, size), NG_BAD_FILE);
    ck_assert_msg(strstr(error.text, says) != NULL, "\"%s\" lacks \"%s\"",
                  error.text, says);
    ck_assert_int_eq(scratch_count(), 1);
}

/* What NumPy writes and this program does not read. */
START_TEST(refused)
{
    char says[128];

    snprintf(says, sizeof says, "f.npy: %s", refused_npy[_i].says);
    expect_refusal(refused_npy[_i].bytes, refused_npy[_i].size, says);
}
END_TEST

#define DICT(descr, order, shape)                                              \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"
#define SHAPED(shape) DICT("'|u1'", "False", shape)

/* A dict, the bytes of data after it, and what the line must say. */
static const struct dict {
    const char *text;
    int data_size;
    const char *says;           /* null: it is read */
} dicts[] = {
    {SHAPED("(2,)"), 2, NULL},
    {SHAPED("(1,2)") "  \n", 2, NULL},
    {"{\"shape\":(),\"descr\":\"<u1\",\"fortran_order\":False}", 1, NULL},
    {SHAPED("(0, 9223372036854775807)"), 0, NULL},
    {"", 0, ": header: does not begin"},
    {"[]", 0, ": header: does not begin"},
    {"{", 0, ": header: a key is missing at byte 1"},
    {"{}", 0, ": descr: is missing"},
    {"{'descr': '|u1', 'shape': (1,)}", 1, ": fortran_order: is missing"},
    {"{'descr': '|u1', 'fortran_order': False}", 1, ": shape: is missing"},
    {"{'descr': '|u1', 'descr': '|u1'}", 1, ": descr: is there twice"},
    {"{'descr': '|u1', 'color': 1}", 1, ": header: 'color' is no key of it"},
    {"{'descr' '|u1'}", 1, ": descr: ':' is missing"},
    {"{'descr': '|u1' 'shape': ()}", 1, ": header: ',' or '}' is missing"},
    {"{'descr': '|u1', , }", 1, ": header: a key is missing at byte 17"},
    {"{, 'descr': '|u1'}", 1, ": header: a key is missing at byte 1"},
    {"{descr: '|u1'}", 1, ": header: a key is missing at byte 1"},
    {SHAPED("(1,)") "x", 1, ": header: something follows"},
    {SHAPED("(1,)") "{}", 1, ": header: something follows"},
    {DICT("7", "False", "(1,)"), 1, ": descr: is not a string"},
    {DICT("'|u1", "False", "(1,)"), 1, ": descr: '|u1, '"},
    {DICT("'|u1\"", "False", "(1,)"), 1, ": descr: '|u1\""},
    {DICT("'\\x7cu1'", "False", "(1,)"), 1, ": descr: is not a string"},
    {DICT("''", "False", "(1,)"), 1, ": descr: '' is not a type"},
    {DICT("'u1'", "False", "(1,)"), 1, ": descr: 'u1' is not a type"},
    {DICT("'|u2'", "False", "(1,)"), 2, ": descr: '|u2' is not a type"},
    {DICT("'=f4'", "False", "(1,)"), 4, ": descr: '=f4' is not a type"},
    {DICT("'>u2'", "False", "(1,)"), 2, ": descr: '>u2' is big-endian"},
    {DICT("('<f4', (2,))", "False", "(1,)"), 8, ": descr: is not a string"},
    {DICT("'<f4<f4<f4<f4<f4<f4<f4'", "False", "(1,)"), 4, "f4' is not a type"},
    {DICT("'|u1'", "false", "(1,)"), 1, ": fortran_order: is neither"},
    {DICT("'|u1'", "0", "(1,)"), 1, ": fortran_order: is neither"},
    {DICT("'|u1'", "True", "(1,)"), 1, ": fortran_order: True is not read"},
    {SHAPED("[1]"), 1, ": shape: is not a tuple"},
    {SHAPED("1"), 1, ": shape: is not a tuple"},
    {SHAPED("(1)"), 1, ": shape: is not a tuple"},
    {SHAPED("(1"), 1, ": shape: axis 1 is not a whole number"},
    {SHAPED("(1 1)"), 1, ": shape: ',' or ')' is missing after axis 0"},
    {SHAPED("(,)"), 1, ": shape: axis 0 is not a whole number"},
    {SHAPED("(1,,)"), 1, ": shape: axis 1 is not a whole number"},
    {SHAPED("(-1,)"), 1, ": shape: axis 0 is negative"},
    {SHAPED("(1, -1)"), 1, ": shape: axis 1 is negative"},
    {SHAPED("(+1,)"), 1, ": shape: axis 0 is not a whole number"},
    {SHAPED("(01,)"), 1, ": shape: axis 0 is not a whole number"},
    {SHAPED("(1.0,)"), 1, ": shape: ',' or ')' is missing after axis 0"},
    {SHAPED("(0x1,)"), 1, ": shape: ',' or ')' is missing after axis 0"},
    {SHAPED("(None,)"), 1, ": shape: axis 0 is not a whole number"},
    {SHAPED("(1,1,1,1,1)"), 1, ": shape: has more than 4 axes"},
    {SHAPED("(9223372036854775808,)"), 0, ": shape: axis 0 is past 2^63 - 1"},
    {SHAPED("(99999999999999999999,)"), 0, ": shape: axis 0 is past 2^63"},
    {SHAPED("(4294967296,4294967296)"), 0, ": shape: is past 2^63 - 1 bytes"},
    {SHAPED("(0,4294967296,4294967296)"), 0, ": shape: is past 2^63 - 1"},
    {DICT("'<f8'", "False", "(2305843009213693952,)"), 0, ": shape: is past"},
    {SHAPED("(2,)"), 1, ": data: 1 bytes, but descr and shape take 2"},
    {SHAPED("(2,)"), 3, ": data: 3 bytes, but descr and shape take 2"},
    {SHAPED("(0,)"), 1, ": data: 1 bytes, but descr and shape take 0"},
    {SHAPED("()"), 0, ": data: 0 bytes, but descr and shape take 1"},
    {SHAPED("(9223372036854775807,)"), 9, ": data: 9 bytes, but descr and"},
};
enum { N_DICTS = sizeof dicts / sizeof *dicts };

START_TEST(dict)
{
    char bytes[512] = "\x93NUMPY\1";
    const size_t length = strlen(dicts[_i].text);
    const size_t size = 10 + length + (size_t)dicts[_i].data_size;

    bytes[8] = (char)length;
    memcpy(bytes + 10, dicts[_i].text, length);
    if (dicts[_i].says != NULL)
        expect_refusal(bytes, size, dicts[_i].says);
    else
        ck_assert_msg(try_bytes(bytes, size) == NG_OK, "%s", error.text);
}
END_TEST

/* Files whose first bytes lie. */
static const struct bad_start {
    const char *bytes;
    size_t size;
    const char *says;
} bad_starts[] = {
    {"", 0, ": magic: takes 8 bytes, the file has 0"},
    {"\x93NUMPY\1", 7, ": magic: takes 8 bytes, the file has 7"},
    {"\x93NUMPX\1\0\0\0", 10, ": magic: is not that of"},
    {"PK\3\4 npz ", 9, ": magic: is not that of"},
    {"\x93NUMPY\0\0\0\0", 10, ": version: 0.0 is not"},
    {"\x93NUMPY\4\0\0\0\0\0", 12, ": version: 4.0 is not"},
    {"\x93NUMPY\1\1\0\0", 10, ": version: 1.1 is not"},
    {"\x93NUMPY\1\0\1", 9, ": header length: takes 2 bytes, the file has 1"},
    {"\x93NUMPY\2\0\1\0\0", 11, ": header length: takes 4 bytes, the file h"},
    {"\x93NUMPY\1\0\3\0{}", 12, ": header length: 3 is past the end"},
    {"\x93NUMPY\2\0\0\0\1\0{}", 14, ": header length: 65536 is more than"},
    {"\x93NUMPY\3\0\xff\xff\xff\xff{}", 14, ": header length: 4294967295 is"},
    {"\x93NUMPY\1\0\3\0{\0}", 13, ": header: a key is missing at byte 1"},
};
enum { N_BAD_STARTS = sizeof bad_starts / sizeof *bad_starts };

START_TEST(bad_start)
{
    expect_refusal(bad_starts[_i].bytes, bad_starts[_i].size,
                   bad_starts[_i].says);
}
END_TEST

START_TEST(truncated)
{
    const struct golden_npy *want = &golden_npy[_i];

    for (size_t size = 0; size < want->size; size++)
        ck_assert_int_eq(try_bytes(want->bytes, size), NG_BAD_FILE);
}
END_TEST

START_TEST(flipped)
{
    unsigned char bytes[256];
    const size_t size = golden_npy[0].size;
    int n_refused = 0, n_read = 0;

    ck_assert_uint_le(size, sizeof bytes);
    memcpy(bytes, golden_npy[0].bytes, size);
    for (size_t i = 0; i < 8 * size; i++) {
        bytes[i / 8] ^= (unsigned char)(1 << i % 8);
        const ng_status status = try_bytes(bytes, size);
        ck_assert(status == NG_OK || status == NG_BAD_FILE);
        *(status == NG_OK ? &n_read : &n_refused) += 1;
        bytes[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    printf("flipped: %d refused, %d read\n", n_refused, n_read);
    ck_assert_int_gt(n_refused, 900);
    ck_assert_int_ge(n_read, 24);         /* the data is free */
}
END_TEST

START_TEST(not_written)
{
    uint8_t byte = 0;
    const ng_tensor good = ng_tensor_dense("t", NG_U8, 0, NULL, &byte);
    ng_tensor tensor = good;
    const char *path = scratch_path("w.npy");
    int n_refused = 0;

    for (int dtype = 0; dtype <= NG_N_DTYPES; dtype++) {
        const bool covered = dtype < NG_N_DTYPES && dtype != NG_BF16
                             && dtype < NG_E2M1;

        if (covered)
            continue;
        tensor.dtype = (ng_dtype)dtype;
        ck_assert_int_eq(ng_npy_write(path, &tensor, &error), NG_BAD_DTYPE);
        ck_assert_ptr_nonnull(strstr(error.text, ": descr: there is none"));
        n_refused++;
    }
    ck_assert_int_eq(n_refused, 8);
    tensor = good;
    tensor.rank = 5;
    ck_assert_int_eq(ng_npy_write(path, &tensor, &error), NG_BAD_SHAPE);
    tensor = good;
    tensor.data = NULL;
    ck_assert_int_eq(ng_npy_write(path, &tensor, &error), NG_BAD_POINTER);
    ck_assert_int_eq(ng_npy_write(NULL, &good, &error), NG_BAD_POINTER);
    ck_assert_int_eq(scratch_count(), 0);
}
END_TEST

/* A file named so that its tensor cannot be. */
START_TEST(names)
{
    char name[160] = "";
    ng_tensor_file file;

    memset(name, 'n', 127);
    strcpy(name + 127, ".npy");
    for (int i = 0; i < 4; i++) {
        static const char *const files[] = {NULL, "a\tb.npy", ".npy", "a.b"};
        static const char *const want[] = {NULL, "array", "array", "a"};
        const char *path =
            scratch_write(files[i] != NULL ? files[i] : name,
                          golden_npy[0].bytes, golden_npy[0].size);

        ck_assert_int_eq(ng_npy_read(&file, path, &error), NG_OK);
        if (want[i] != NULL)
            ck_assert_str_eq(file.tensors->name, want[i]);
        else
            ck_assert_uint_eq(strlen(file.tensors->name), 127);
        ng_tensor_file_free(&file);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("npy");
    TCase *tcase = tcase_create("npy");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, golden, 0, N_GOLDEN);
    tcase_add_loop_test(tcase, refused, 0, N_REFUSED);
    tcase_add_loop_test(tcase, dict, 0, N_DICTS);
    tcase_add_loop_test(tcase, bad_start, 0, N_BAD_STARTS);
    tcase_add_loop_test(tcase, truncated, 0, N_GOLDEN);
    tcase_add_test(tcase, flipped);
    tcase_add_test(tcase, not_written);
    tcase_add_test(tcase, names);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
