/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors files built byte by byte, each wrong in one way: each must be
 * refused with a line that names file and field, and none may be read, crash
 * or leave anything behind.
 */
#include <stdint.h>

#include "conformance/checks/golden_safetensors.h"
#include "conformance/checks/scratch.h"
#include "formats/files/safetensors.h"

#define F32(shape, begin, end)                                                 \
    "{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" #begin         \
    "," #end "]}"
#define TYPED(dtype, shape, end)                                               \
    "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[0," #end   \
    "]}"
#define A(entry) "{\"a\":" entry "}"
#define NAME_16 "abcdefghijklmnop"
#define NAME_128                                                               \
    NAME_16 NAME_16 NAME_16 NAME_16 NAME_16 NAME_16 NAME_16 NAME_16

/* A header, the bytes of data after it, and what the line must say. */
static const struct bad_header {
    const char *json;
    int data_size;
    const char *says;
} bad_headers[] = {
    /* The JSON itself. */
    {"", 0, ": header: does not begin"},
    {"[]", 0, ": header: does not begin"},
    {" {}", 0, ": header: does not begin"},
    {"{", 0, ": header: byte "},
    {"{} x", 0, ": header: byte "},
    {"{\"a\":}", 0, ": header: byte "},
    {"{\"a\xff\":1}", 0, ": header: byte "},
    {"{\"a\\u0000\":1}", 0, ": header: byte "},
    {"{\"a\":" F32("[1]", 0, 4) ",\"a\":" F32("[1]", 0, 4) "}", 4,
     ": header: byte 57: duplicate object key"},
    {"{\"a\":" F32("[1]", 0, 4) ",\"\\u0061\":" F32("[1]", 0, 4) "}", 4,
     "duplicate object key"},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"I8\",\"shape\":[1],"
     "\"data_offsets\":[0,1]}}", 1, "duplicate object key"},
    {A(F32("[99999999999999999999]", 0, 4)), 4,
     ": header: byte 49: too big integer"},
    {A(F32("[1e999]", 0, 4)), 4, ": header: byte "},
    /* Metadata. */
    {"{\"__metadata__\":[]}", 0, ": __metadata__: is not an object"},
    {"{\"__metadata__\":null}", 0, ": __metadata__: is not an object"},
    {"{\"__metadata__\":{\"k\":1}}", 0, ": __metadata__: \"k\" is not a str"},
    /* Entries and names. */
    {"{\"a\":7}", 0, ": tensor \"a\": entry: is not an object"},
    {"{\"\":" F32("[1]", 0, 4) "}", 4, ": tensor \"\": name: is empty"},
    {"{\"" NAME_128 "\":" F32("[1]", 0, 4) "}", 4,
     NAME_16 "...\": name: is longer than 127"},
    {"{\"a\\u001b[2J\":" F32("[1]", 0, 4) "}", 4,
     ": tensor \"a?[2J\": name: has a control"},
    {"{\"a\\u007f\":" F32("[1]", 0, 4) "}", 4, "name: has a control"},
    {"{\"a\\u009b\":" F32("[1]", 0, 4) "}", 4, "name: has a control"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],"
     "\"strides\":[1]}}", 1, ": tensor \"a\": entry: \"strides\" is no field"},
    /* dtype. */
    {A("{\"shape\":[1],\"data_offsets\":[0,4]}"), 4,
     ": tensor \"a\": dtype: missing"},
    {A("{\"dtype\":4,\"shape\":[1],\"data_offsets\":[0,4]}"), 4,
     ": tensor \"a\": dtype: missing, or not a string"},
    {A(TYPED("F8_E5M2", "[4]", 4)), 4, "\"a\": dtype: \"F8_E5M2\" is not"},
    {A(TYPED("f32", "[1]", 4)), 4, ": tensor \"a\": dtype: \"f32\" is not"},
    {A(TYPED("", "[1]", 4)), 4, ": tensor \"a\": dtype: \"\" is not"},
    {"{\"__metadata__\":{\"dtype.a\":\"e9m9\"},\"a\":" TYPED("U8", "[1]", 1)
     "}", 1, ": tensor \"a\": dtype: the metadata says \"e9m9\", which is no"},
    {"{\"__metadata__\":{\"dtype.a\":\"ue6m10\"},\"a\":" TYPED("U8", "[2]", 2)
     "}", 2, ": tensor \"a\": dtype: the metadata says ue6m10, which is stored "
     "as U16, not as U8"},
    {"{\"__metadata__\":{\"dtype.a\":\"e2m1x2\"},\"a\":" TYPED("F4", "[2]", 1)
     "}", 1, ": tensor \"a\": dtype: the metadata says e2m1x2, which is stored "
     "as U8, not as F4"},
    {"{\"__metadata__\":{\"dtype.a\":\"u8\"},\"a\":" TYPED("BOOL", "[1]", 1)
     "}", 1, ": tensor \"a\": dtype: the metadata says u8"},
    /* shape. */
    {A("{\"dtype\":\"F32\",\"data_offsets\":[0,4]}"), 4,
     ": tensor \"a\": shape: missing"},
    {A(F32("1", 0, 4)), 4, ": tensor \"a\": shape: missing, or not an array"},
    {A(F32("{}", 0, 4)), 4, ": tensor \"a\": shape: missing, or not an arr"},
    {A(F32("[1,1,1,1,1]", 0, 4)), 4, "\"a\": shape: has 5 axes, more than 4"},
    {A(F32("[-1]", 0, 4)), 4, ": tensor \"a\": shape: axis 0 is negative"},
    {A(F32("[1,-1]", 0, 4)), 4, ": tensor \"a\": shape: axis 1 is negative"},
    {A(F32("[1.0]", 0, 4)), 4, ": tensor \"a\": shape: axis 0 is not a whole"},
    {A(F32("[1,\"1\"]", 0, 4)), 4, ": tensor \"a\": shape: axis 1 is not a w"},
    {A(F32("[true]", 0, 4)), 4, ": tensor \"a\": shape: axis 0 is not a whol"},
    {A(F32("[[1]]", 0, 4)), 4, ": tensor \"a\": shape: axis 0 is not a whole"},
    {A(F32("[4294967296,4294967296]", 0, 0)), 0,        /* 2^64 is 0 mod 2^64 */
     ": tensor \"a\": shape: is past 2^63 - 1"},
    {A(F32("[4611686018427387904]", 0, 0)), 0,          /* 2^62, 4 bytes each */
     ": tensor \"a\": shape: is past 2^63 - 1"},
    {A(F32("[0,4611686018427387904,4]", 0, 0)), 0,      /* its strides */
     ": tensor \"a\": shape: is past 2^63 - 1"},
    {A(TYPED("F4", "[3]", 2)), 2, ": tensor \"a\": shape: F4 needs a last"},
    {A(TYPED("F4", "[2,3]", 3)), 3, ": tensor \"a\": shape: F4 needs a last"},
    {A(TYPED("F4", "[]", 1)), 1, ": tensor \"a\": shape: F4 needs a last"},
    /* data_offsets. */
    {A("{\"dtype\":\"F32\",\"shape\":[1]}"), 4, "\"a\": data_offsets: missing"},
    {A("{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}"), 1,
     ": tensor \"a\": data_offsets: missing, or not two"},
    {A("{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,1]}"), 1,
     ": tensor \"a\": data_offsets: missing, or not two"},
    {A("{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":{\"0\":0}}"), 1,
     ": tensor \"a\": data_offsets: missing, or not two"},
    {A("{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1.0]}"), 1,
     ": tensor \"a\": data_offsets: missing, or not two"},
    {A(F32("[1]", 4, 0)), 4, ": tensor \"a\": data_offsets: 4 to 0 is no ran"},
    {A(F32("[1]", -4, 0)), 4, ": tensor \"a\": data_offsets: -4 to 0 is no r"},
    {A(F32("[1]", -9223372036854775807, 9223372036854775807)), 4,
     ": tensor \"a\": data_offsets: -9223372036854775807 to"},
    {A(F32("[2]", 0, 8)), 4, ": tensor \"a\": data_offsets: end 8 is past"},
    {A(F32("[1]", 0, 9223372036854775807)), 4, "9223372036854775807 is past"},
    {A(F32("[2]", 0, 4)), 4, ": tensor \"a\": data_offsets: 4 bytes, but"},
    {A(F32("[]", 0, 8)), 8, "\"a\": data_offsets: 8 bytes, but dtype and sha"},
    {A(F32("[0]", 0, 4)), 4, ": tensor \"a\": data_offsets: 4 bytes, but"},
    /* The ranges against each other and against the data. */
    {A(F32("[1]", 4, 8)), 8, "\"a\": data_offsets: bytes 0 to 4 before it"},
    {"{\"b\":" F32("[1]", 8, 12) ",\"a\":" F32("[1]", 0, 4) "}", 12,
     ": tensor \"b\": data_offsets: bytes 4 to 8 before it are no tensor's"},
    {"{\"a\":" F32("[1]", 0, 4) ",\"b\":" F32("[1]", 0, 4) "}", 4,
     ": data_offsets: overlaps tensor \""},
    {"{\"a\":" F32("[2]", 0, 8) ",\"b\":" F32("[2]", 4, 12) "}", 12,
     ": tensor \"b\": data_offsets: overlaps tensor \"a\""},
    {"{\"a\":" F32("[2]", 0, 8) ",\"b\":" F32("[0]", 4, 4) "}", 8,
     ": tensor \"b\": data_offsets: overlaps tensor \"a\""},
    {A(F32("[1]", 0, 4)), 5, ": data: 1 bytes after the last tensor's"},
    {"{}", 8, ": data: 8 bytes after the last tensor's"},
};
enum { N_BAD_HEADERS = sizeof bad_headers / sizeof *bad_headers };

/* Whole files whose first 8 bytes lie. */
static const struct bad_file {
    const char *bytes;
    size_t size;
    const char *says;
} bad_files[] = {
    {"", 0, ": header length: takes 8 bytes, the file has 0"},
    {"\2\0\0\0\0\0\0", 7, ": header length: takes 8 bytes, the file has 7"},
    {"\0\0\0\0\0\0\0\0", 8, ": header: does not begin"},
    {"\3\0\0\0\0\0\0\0{}", 10, ": header length: 3 is past the end"},
    {"\1\341\365\5\0\0\0\0{}", 10, ": header length: 100000001 is more than"},
    {"\377\377\377\377\377\377\377\177{}", 10, ": header length: 92233720368"},
    {"\377\377\377\377\377\377\377\377{}", 10, ": header length: 18446744073"},
    {"\3\0\0\0\0\0\0\0{\0}", 11, ": header: byte "},
};
enum { N_BAD_FILES = sizeof bad_files / sizeof *bad_files };

/* Read bytes as a file; a refusal leaves the output untouched and says one
 * line that begins with the file. */
static ng_status try_bytes(ng_error *error, const void *bytes, size_t size)
{
    const char *path = scratch_write("f.safetensors", bytes, size);
    ng_tensor_file untouched = {.n_tensors = 77}, out = untouched;
    const ng_status status = ng_safetensors_read(&out, path, error);

    if (status == NG_OK) {
        ng_tensor_file_free(&out);
        return status;
    }
    ck_assert_mem_eq(&out, &untouched, sizeof out);
    ck_assert_ptr_eq(strstr(error->text, path), error->text);
    ck_assert_ptr_null(strchr(error->text, '\n'));
    ck_assert_int_eq(ng_safetensors_read(&out, path, NULL), (int)status);
    return status;
}

static void expect_refusal(const void *bytes, size_t size, const char *says)
{
    ng_error error = {{0}};

    ck_assert_int_eq(try_bytes(&error, bytes, size), NG_BAD_FILE);
    ck_assert_msg(strstr(error.text, says) != NULL, "\"%s\" lacks \"%s\"",
                  error.text, says);
    ck_assert_int_eq(scratch_count(), 1);
}

static void try_header(const char *json, int data_size, const char *says)
{
    const uint64_t length = strlen(json);
    const size_t size = sizeof length + (size_t)length + (size_t)data_size;
    char *bytes = calloc(size, 1);

    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, &length, sizeof length);
    memcpy(bytes + sizeof length, json, (size_t)length);
    expect_refusal(bytes, size, says);
    free(bytes);
}

START_TEST(bad_header)
{
    try_header(bad_headers[_i].json, bad_headers[_i].data_size,
               bad_headers[_i].says);
}
END_TEST

START_TEST(bad_file)
{
    expect_refusal(bad_files[_i].bytes, bad_files[_i].size,
                   bad_files[_i].says);
}
END_TEST

/* Nesting: a little is refused as the wrong type, a lot by Jansson's limit. */
START_TEST(deep)
{
    enum { DEPTH = 200000 };
    static char json[DEPTH + 16] = "{\"a\":";

    try_header("{\"a\":[[[[[[[[[[[[]]]]]]]]]]]]}", 0, "entry: is not an obj");
    memset(json + 5, '[', DEPTH);
    try_header(json, 0, ": header: byte 2053: maximum parsing depth");
}
END_TEST

START_TEST(truncated)
{
    ng_error error;

    for (size_t size = 0; size < sizeof golden_every_type; size++)
        ck_assert_int_eq(try_bytes(&error, golden_every_type, size),
                         NG_BAD_FILE);
    ck_assert_int_eq(try_bytes(&error, golden_every_type,
                               sizeof golden_every_type), NG_OK);
}
END_TEST

START_TEST(trailing)
{
    unsigned char bytes[sizeof golden_every_type + 1] = {0};

    memcpy(bytes, golden_every_type, sizeof golden_every_type);
    expect_refusal(bytes, sizeof bytes, ": data: 1 bytes after");
}
END_TEST

/* Any byte of the header, changed in each of eight bits: read or refused. */
START_TEST(flipped)
{
    unsigned char bytes[sizeof golden_numpy];
    int n_refused = 0, n_read = 0;
    ng_error error;

    memcpy(bytes, golden_numpy, sizeof bytes);
    for (size_t i = 0; i < 8 * 248; i++) {
        bytes[i / 8] ^= (unsigned char)(1 << i % 8);
        const ng_status status = try_bytes(&error, bytes, sizeof bytes);
        ck_assert(status == NG_OK || status == NG_BAD_FILE);
        *(status == NG_OK ? &n_read : &n_refused) += 1;
        bytes[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    printf("flipped: %d refused, %d read\n", n_refused, n_read);
    ck_assert_int_gt(n_refused, 1000);
    ck_assert_int_gt(n_read, 50);         /* the names of tensors are free */
}
END_TEST

START_TEST(no_regular_file)
{
    ng_tensor_file out = {0};
    ng_error error;
    const char *pipe = scratch_path("pipe");

    ck_assert_int_eq(ng_safetensors_read(&out, scratch_path("none"), &error),
                     NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "none: open: No such file"));
    ck_assert_int_eq(ng_safetensors_read(&out, scratch, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, ": open: not a regular file"));
    ck_assert_int_eq(ng_safetensors_read(&out, "/dev/zero", &error),
                     NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, ": open: not a regular file"));
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);    /* must not block */
    ck_assert_int_eq(ng_safetensors_read(&out, pipe, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, ": open: not a regular file"));
    ck_assert_int_eq(ng_safetensors_read(NULL, pipe, &error), NG_BAD_POINTER);
    ck_assert_int_eq(ng_safetensors_read(&out, NULL, &error), NG_BAD_POINTER);
}
END_TEST

/* Whatever the length of a path, the cause is in the line. */
START_TEST(long_path)
{
    char name[200], path[2000] = "";
    ng_tensor_file out = {0};
    ng_error error;

    memset(name, 'd', sizeof name);
    name[199] = '\0';
    for (int i = 0; i < 8; i++)
        snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", name);
    ck_assert_int_eq(ng_safetensors_read(&out, path, &error), NG_BAD_FILE);
    ck_assert_ptr_eq(strstr(error.text, "..."), error.text);
    ck_assert_ptr_nonnull(strstr(error.text, "ddd: open: No such file"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("safetensors_bad");
    TCase *tcase = tcase_create("bad");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, bad_header, 0, N_BAD_HEADERS);
    tcase_add_loop_test(tcase, bad_file, 0, N_BAD_FILES);
    tcase_add_test(tcase, deep);
    tcase_add_test(tcase, truncated);
    tcase_add_test(tcase, trailing);
    tcase_add_test(tcase, flipped);
    tcase_add_test(tcase, no_regular_file);
    tcase_add_test(tcase, long_path);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
