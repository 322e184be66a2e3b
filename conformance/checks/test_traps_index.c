/* SPDX-License-Identifier: Apache-2.0
 *
 * Element offsets above 2^31 - 1 (docs/cases.md L-23): tensors of three lines
 * that lie gigabytes apart. The address space between the lines is reserved and
 * inaccessible, so that nothing large is allocated and a wrapped offset either
 * faults or leaves its line as it was.
 */
#define _GNU_SOURCE             /* MAP_ANONYMOUS, MAP_NORESERVE */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/checks/writings.h"

enum { LINES = 3, WINDOW = 1 << 16 };

#define POISON 0xA5

/* (65536 - 1) * H * 512 for H = 64 fits 31 bits, and twice it, H = 128, wraps
 * to -65536; then lines 1 and 2 wrap to a negative offset and to the first
 * line, or both to it. */
static const int64_t distance[] = {
    INT64_C(65535) * 64 * 512,
    (INT64_C(1) << 31) + 64,
    (INT64_C(1) << 32) + 64,
};
enum { N_DISTANCES = sizeof distance / sizeof *distance };

_Static_assert(INT64_C(65535) * 64 * 512 == 2147450880, "the case's figure");
_Static_assert(INT64_C(65535) * 128 * 512 == 4294901760, "the case's figure");

/* Reserve lines `bytes` apart; null if the machine will not have it. Around
 * each line's start a window can be used, filled with POISON. */
static uint8_t *reserve(int64_t bytes)
{
    const size_t size = (size_t)(bytes * (LINES - 1) + 2 * WINDOW);
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uint8_t *data = mmap(NULL, size, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (data == MAP_FAILED)
        return NULL;
    for (int line = 0; line < LINES; line++) {
        const uintptr_t start = (uintptr_t)(data + line * bytes) / page * page;

        if (mprotect((void *)start, WINDOW, PROT_READ | PROT_WRITE) != 0)
            return NULL;
        memset((void *)start, POISON, WINDOW);
    }
    return data;
}

/* A plane of units of `size` bytes, its lines `units` apart. */
static void *plane(int64_t units, int64_t size)
{
    void *data = reserve(units * size);

    ck_assert_ptr_nonnull(data);
    return data;
}

/* Bytes of a line, and that nothing was written behind them. */
static void expect_bytes(int writing, const char *what, const uint8_t *line,
                         const uint8_t *want, int n)
{
    for (int i = 0; i < n; i++)
        expect(writing, what, i, want[i], line[i]);
    for (int i = n; i < 4096; i++)
        expect(writing, what, i, POISON, line[i]);
}

/* Line r holds 1, -2, .5 and `top`, times 2^r. */
static ng_matrix numbers(int64_t ld, float top)
{
    uint32_t *data = plane(ld, 4);

    for (int r = 0; r < LINES; r++) {
        const float unit = (float)(1 << r);
        const float x[4] = {unit, -2 * unit, 0.5f * unit, top * unit};

        memcpy(data + r * ld, x, sizeof x);
    }
    return (ng_matrix){.data = data, .dtype = NG_FP32, .rows = LINES, .cols = 4,
                       .ld = ld};
}

START_TEST(trap_l23_quantize_mxfp4)
{
    static const uint8_t want[2] = {0xC2, 0x71};

    for (int d = 0; d < N_DISTANCES; d++) {
        const int64_t ld = distance[d];
        const ng_matrix x = numbers(ld, 6);
        const ng_mxfp4 y = {.codes = plane(ld, 1), .rows = LINES, .cols = 4,
                            .ld = ld,
                            .scales = {.data = plane(ld, 1), .dtype = NG_UE8M0,
                                       .ld = ld, .step = 1}};

        ck_assert_int_eq(writings[_i].quantize_mxfp4(&y, &x, NULL), NG_OK);
        for (int r = 0; r < LINES; r++) {
            const uint8_t scale = (uint8_t)(127 + r);

            expect_bytes(_i, "codes", y.codes + r * ld, want, 2);
            expect_bytes(_i, "scales", (uint8_t *)y.scales.data + r * ld,
                         &scale, 1);
        }
        ck_assert_int_eq(writings[_i].dequantize_mxfp4(&x, &y, NULL), NG_OK);
        for (int r = 0; r < LINES; r++)
            ck_assert(((float *)x.data)[r * ld + 3] == 6 * (float)(1 << r));
    }
}
END_TEST

START_TEST(trap_l23_quantize_fp8_row)
{
    static const uint8_t want[4] = {0x38, 0xC0, 0x30, 0x7E};

    for (int d = 0; d < N_DISTANCES; d++) {
        const int64_t ld = distance[d];
        const ng_matrix x = numbers(ld, 448);
        const ng_fp8 y = {.codes = plane(ld, 1), .form = NG_FP8_ROW,
                          .rows = LINES, .cols = 4, .ld = ld,
                          .scales = {.data = plane(ld, 4), .dtype = NG_FP32,
                                     .ld = ld, .step = 1}};
        const float *scales = y.scales.data;

        ck_assert_int_eq(writings[_i].quantize_fp8(&y, &x, NULL), NG_OK);
        for (int r = 0; r < LINES; r++) {
            expect_bytes(_i, "codes", y.codes + r * ld, want, 4);
            ck_assert(scales[r * ld] == (float)(1 << r));
        }
    }
}
END_TEST

/* Lines of the col form are columns: c holds 448, 1 and -2, times 2^c. */
START_TEST(trap_l23_quantize_fp8_col)
{
    static const uint8_t want[3] = {0x7E, 0x38, 0xC0};

    for (int d = 0; d < N_DISTANCES; d++) {
        const int64_t ld = distance[d];
        float values[3][LINES];
        const ng_matrix x = {.data = values, .dtype = NG_FP32, .rows = 3,
                             .cols = LINES, .ld = LINES};
        const ng_fp8 y = {.codes = plane(ld, 1), .form = NG_FP8_COL, .rows = 3,
                          .cols = LINES, .ld = ld,
                          .scales = {.data = plane(ld, 4), .dtype = NG_FP32,
                                     .ld = ld, .step = 1}};
        const float *scales = y.scales.data;

        for (int c = 0; c < LINES; c++) {
            values[0][c] = 448 * (float)(1 << c);
            values[1][c] = (float)(1 << c);
            values[2][c] = -2 * (float)(1 << c);
        }
        ck_assert_int_eq(writings[_i].quantize_fp8(&y, &x, NULL), NG_OK);
        for (int c = 0; c < LINES; c++) {
            expect_bytes(_i, "codes", y.codes + c * ld, want, 3);
            ck_assert(scales[c * ld] == (float)(1 << c));
        }
    }
}
END_TEST

START_TEST(trap_l23_mxfp4_to_fp8_row)
{
    static const uint8_t from[2] = {0xC2, 0x71};
    static const uint8_t want[4] = {0x68, 0xF0, 0x60, 0x7C}; /* times 2^6 */

    for (int d = 0; d < N_DISTANCES; d++) {
        const int64_t ld = distance[d];
        const ng_mxfp4 x = {.codes = plane(ld, 1), .rows = LINES, .cols = 4,
                            .ld = ld,
                            .scales = {.data = plane(ld, 4),
                                       .dtype = NG_UE8M0X4, .ld = ld,
                                       .step = 1}};
        const ng_fp8 y = {.codes = plane(ld, 1), .form = NG_FP8_ROW,
                          .rows = LINES, .cols = 4, .ld = ld,
                          .scales = {.data = plane(ld, 1), .dtype = NG_UE8M0,
                                     .ld = ld, .step = 1}};

        for (int r = 0; r < LINES; r++) {
            memcpy(x.codes + r * ld, from, sizeof from);
            ((uint32_t *)x.scales.data)[r * ld] = 0xFFFFFF00u + 127u
                                                  + (unsigned)r;
        }
        ck_assert_int_eq(writings[_i].convert_mxfp4_to_fp8(&y, &x, NULL),
                         NG_OK);
        for (int r = 0; r < LINES; r++) {
            const uint8_t scale = (uint8_t)(121 + r);

            expect_bytes(_i, "codes", y.codes + r * ld, want, 4);
            expect_bytes(_i, "scales", (uint8_t *)y.scales.data + r * ld,
                         &scale, 1);
        }
    }
}
END_TEST

/* 2^33 rows of which three take part: all sizes are right, and no other row is
 * touched. One more unit a row, and x is past 2^63 - 1 bytes. */
START_TEST(trap_l23_rows_past_the_offsets)
{
    static const uint8_t want[2] = {0xC2, 0x71};
    static const int64_t offsets[2] = {0, LINES};
    const ng_groups groups = {.n_groups = 1, .offsets = offsets};
    const ng_options options = {.groups = &groups};
    const int64_t ld = (INT64_C(1) << 28) - 1;
    uint8_t scales[LINES] = {0};
    ng_matrix x = numbers(ld, 6);
    const ng_mxfp4 y = {.codes = plane(4 * ld, 1), .rows = INT64_C(1) << 33,
                        .cols = 4, .ld = 4 * ld,
                        .scales = {.data = scales, .dtype = NG_UE8M0, .ld = 1,
                                   .step = 1}};

    x.rows = y.rows;
    if (_i == 0) {                  /* the oracle checks no extents */
        x.ld = ld + 1;
        ck_assert_int_eq(writings[_i].quantize_mxfp4(&y, &x, &options),
                         NG_BAD_SHAPE);
        expect_bytes(_i, "untouched", y.codes, want, 0);
        x.ld = ld;
    }
    ck_assert_int_eq(writings[_i].quantize_mxfp4(&y, &x, &options), NG_OK);
    for (int r = 0; r < LINES; r++) {
        expect_bytes(_i, "codes", y.codes + r * y.ld, want, 2);
        expect(_i, "scale", r, (uint32_t)(127 + r), scales[r]);
    }
}
END_TEST

/* Ask for what the tests will: nine bytes an element of distance, over all. */
static bool can_reserve(void)
{
    size_t size = 0;

    for (int d = 0; d < N_DISTANCES; d++)
        size += (size_t)(9 * (LINES - 1) * distance[d]);
    void *data = mmap(NULL, size, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return data != MAP_FAILED && munmap(data, size) == 0;
}

int main(void)
{
    Suite *suite = suite_create("index traps");
    TCase *tcase = tcase_create("traps");

    if (!can_reserve()) {
        puts("SKIP: 150 GB of address space cannot be reserved here");
        return 77;
    }
    tcase_set_timeout(tcase, 60);
    ADD_TRAP(tcase, trap_l23_quantize_mxfp4);
    ADD_TRAP(tcase, trap_l23_quantize_fp8_row);
    ADD_TRAP(tcase, trap_l23_quantize_fp8_col);
    ADD_TRAP(tcase, trap_l23_mxfp4_to_fp8_row);
    ADD_TRAP(tcase, trap_l23_rows_past_the_offsets);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
