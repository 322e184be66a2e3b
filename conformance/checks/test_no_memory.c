/* SPDX-License-Identifier: Apache-2.0
 *
 * Files, and blocks of rows, when memory runs out: the n-th allocation fails,
 * for every n that a call makes. A file function then returns NG_NO_MEMORY
 * (NG_BAD_FILE where the system could not open), outputs untouched, one line in
 * the error, nothing left on disk. Allocations of jansson are left alone.
 */
#include "conformance/checks/scratch.h"

#include <errno.h>

#include <jansson.h>

#include "conformance/checks/dense_views.h"
#include "conformance/checks/failing_memory.h"
#include "formats/files/input_file.h"
#include "formats/files/npy.h"
#include "formats/files/safetensors.h"
#include "reference/convert/ref_dequantize_fp8.h"
#include "reference/convert/ref_quantize_fp8.h"
#include "reference/moe/ref_grouped_gemm_fprop.h"
#include "reference/moe/ref_grouped_gemm_wgrad.h"

#ifdef FAILING_MEMORY
/* One of four calls on the files "a.npy" and "b.safetensors" here. */
static ng_status perform(int which, ng_tensor_file *file, const char *path,
                         ng_error *error)
{
    switch (which) {
    case 0: return ng_npy_read(file, path, error);
    case 1: return ng_safetensors_read(file, path, error);
    case 2: return ng_npy_write(path, file->tensors, error);
    default: return ng_safetensors_write(path, file, error);
    }
}

START_TEST(every_allocation)
{
    static const int64_t shape[2] = {3, 5};
    const bool reads = _i < 2;
    const char *path = scratch_path(_i % 2 == 0 ? "a.npy" : "b.safetensors");
    ng_tensor_file good = {0}, file = {0};
    ng_error error;
    int n = 0;

    json_set_alloc_funcs(sure_malloc, free);
    ck_assert_int_eq(ng_tensor_file_add_tensor(NULL, &good, "t", NG_FP32, 2,
                                               shape), NG_OK);
    ck_assert_int_eq(ng_tensor_file_add_tensor(NULL, &good, "u", NG_U8, 1,
                                               shape), NG_OK);
    ck_assert_int_eq(ng_tensor_file_add_metadata(&good, "key", "v"), NG_OK);
    if (reads)
        ck_assert_int_eq(perform(_i + 2, &good, path, &error), NG_OK);
    for (;; n++) {
        error.text[0] = '\0';
        memory_failed = false;
        memory_left = n;
        const ng_status status =
            perform(_i, reads ? &file : &good, path, &error);
        memory_left = -1;
        if (!memory_failed || status == NG_OK)         /* stdio can do without */
            ck_assert_int_eq(status, NG_OK);
        if (!memory_failed)
            break;
        if (status == NG_OK) {
            if (reads)
                ng_tensor_file_free(&file);
            else
                unlink(path);
            continue;
        }
        ck_assert_msg(status == NG_NO_MEMORY || status == NG_BAD_FILE,
                      "allocation %d: %s", n, ng_status_text(status));
        ck_assert_ptr_nonnull(strstr(error.text, "memory"));
        ck_assert(file.tensors == NULL && file.n_tensors == 0);
        ck_assert_int_eq(scratch_count(), reads);
    }
    ck_assert_int_gt(n, 1);
    ck_assert_int_eq(scratch_count(), 1);
    ng_tensor_file_free(&file);
    ng_tensor_file_free(&good);
}
END_TEST

START_TEST(adding)
{
    static const int64_t shape[1] = {4};
    ng_tensor_file file = {0};
    void *data = &file;
    int n = 0;

    for (;; n++) {
        memory_left = n;
        const ng_status status = ng_tensor_file_add_tensor(
            &data, &file, "t", NG_FP32, 1, shape);
        memory_left = -1;
        if (status == NG_OK)
            break;
        ck_assert_int_eq(status, NG_NO_MEMORY);
        ck_assert(file.n_tensors == 0 && data == &file);
    }
    ck_assert_int_eq(n, 2);
    for (n = 0;; n++) {
        memory_left = n;
        const ng_status status = ng_tensor_file_add_metadata(&file, "k", "v");
        memory_left = -1;
        if (status == NG_OK)
            break;
        ck_assert_int_eq(status, NG_NO_MEMORY);
        ck_assert_int_eq((int)file.n_metadata, 0);
    }
    ck_assert_int_eq(n, 3);
    ng_tensor_file_free(&file);
}
END_TEST

/* Tiles need a list of their blocks of rows. */
START_TEST(blocks)
{
    float x = 448, y = -1, scale = 7;
    uint8_t code = 0xA5;
    const ng_matrix from = dense_matrix(&x, NG_FP32, 1, 1);
    const ng_matrix to = dense_matrix(&y, NG_FP32, 1, 1);
    const ng_fp8 tile = dense_fp8(&code, &scale, NG_FP32, NG_FP8_TILE, 1, 1);

    for (int n = 0; n < 2; n++) {
        memory_left = n == 0 ? 0 : -1;
        const ng_status status = ng_ref_quantize_fp8(&tile, &from, NULL);
        ck_assert_int_eq(status, n == 0 ? NG_NO_MEMORY : NG_OK);
        ck_assert_uint_eq(code, n == 0 ? 0xA5 : 0x7E);
        ck_assert(scale == (n == 0 ? 7.0f : 1.0f));
    }
    for (int n = 0; n < 2; n++) {
        memory_left = n == 0 ? 0 : -1;
        const ng_status status = ng_ref_dequantize_fp8(&to, &tile, NULL);
        ck_assert_int_eq(status, n == 0 ? NG_NO_MEMORY : NG_OK);
        ck_assert(y == (n == 0 ? -1.0f : 448.0f));
    }
}
END_TEST

/* GEMMs that list their groups, or convert on the way. */
START_TEST(gemms)
{
    float one[2] = {1, 1}, d;
    uint8_t code = 0x38, pair = 0x02, power = 127;
    const ng_matrix y = dense_matrix(&d, NG_FP32, 1, 1);
    const ng_fp8 tile = dense_fp8(&code, one, NG_FP32, NG_FP8_TILE, 1, 1);
    const ng_fp8 col = dense_fp8(&code, one, NG_FP32, NG_FP8_COL, 1, 1);
    const ng_mxfp4 x = dense_mxfp4(&pair, &power, NG_UE8M0, 1, 1);

    /* Up to the first parallel loop, whose own memory is OpenMP's business. */
    static const int allocations[] = {1, 2, 3};

    for (int which = 0; which < 3; which++)
        for (int n = 0; n <= allocations[which]; n++) {
            const bool last = n == allocations[which];

            d = 7;
            memory_failed = false;
            memory_left = last ? -1 : n;
            const ng_status status =
                which == 0 ? ng_ref_grouped_gemm_wgrad(&y, NULL, &col, &col, NULL)
                : which == 1
                    ? ng_ref_grouped_gemm_mxfp4_fprop(&y, &x, &tile, NULL)
                    : ng_ref_grouped_gemm_mxfp4_wgrad(&y, NULL, &col, &x, NULL);
            memory_left = -1;
            ck_assert(memory_failed == !last);
            ck_assert_int_eq(status, last ? NG_OK : NG_NO_MEMORY);
            ck_assert(d == (last ? 1.0f : 7.0f));
        }
}
END_TEST
#endif

/* A file that is cut while it is read, and one that cannot be read. */
START_TEST(early_end)
{
    const char *path = scratch_write("f", "12345", 5);
    ng_input_file file;
    ng_error error;
    char bytes[8];

    ck_assert_int_eq(ng_input_open(&file, path, &error), NG_OK);
    ck_assert_int_eq((int)file.size, 5);
    ck_assert_int_eq(ng_input_read(bytes, &file, 1, 4, &error), NG_OK);
    ck_assert_int_eq(memcmp(bytes, "2345", 4), 0);
    ck_assert_int_eq(ng_input_read(bytes, &file, 3, 4, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "ends at byte 5, 2 bytes early"));
    ng_input_close(&file);
    file = (ng_input_file){path, -1, 5};
    ck_assert_int_eq(ng_input_read(bytes, &file, 0, 1, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, strerror(EBADF)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("no_memory");
    TCase *tcase = tcase_create("no_memory");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
#ifdef FAILING_MEMORY
    tcase_add_loop_test(tcase, every_allocation, 0, 4);
    tcase_add_test(tcase, adding);
    tcase_add_test(tcase, blocks);
    tcase_add_test(tcase, gemms);
#endif
    tcase_add_test(tcase, early_end);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
