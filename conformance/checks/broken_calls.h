/* SPDX-License-Identifier: Apache-2.0
 *
 * A good call of every operation on views, for tests that break it in one place
 * at a time and want a status, with the output untouched.
 */
#ifndef NG_CONFORMANCE_CHECKS_BROKEN_CALLS_H
#define NG_CONFORMANCE_CHECKS_BROKEN_CALLS_H

#include "conformance/checks/dense_views.h"
#include "conformance/checks/writings.h"

/* More than one block either way, whatever the blocks are. */
enum { ROWS = 130, COLS = 140, POISON = 0xA5 };

typedef enum kind { MATRIX, MXFP4, MXFP8, FP8 } kind;

typedef struct view {
    kind kind;
    ng_matrix matrix;
    ng_mxfp4 mxfp4;
    ng_mxfp8 mxfp8;
    ng_fp8 fp8;
} view;

/* The fields that every kind of view has. */
static inline int64_t *rows_of(view *v)
{
    return v->kind == MATRIX  ? &v->matrix.rows
           : v->kind == MXFP4 ? &v->mxfp4.rows
           : v->kind == MXFP8 ? &v->mxfp8.rows
                              : &v->fp8.rows;
}

static inline int64_t *cols_of(view *v)
{
    return v->kind == MATRIX  ? &v->matrix.cols
           : v->kind == MXFP4 ? &v->mxfp4.cols
           : v->kind == MXFP8 ? &v->mxfp8.cols
                              : &v->fp8.cols;
}

static inline int64_t *ld_of(view *v)
{
    return v->kind == MATRIX  ? &v->matrix.ld
           : v->kind == MXFP4 ? &v->mxfp4.ld
           : v->kind == MXFP8 ? &v->mxfp8.ld
                              : &v->fp8.ld;
}

static inline ng_scales *scales_of(view *v)
{
    return v->kind == MATRIX  ? NULL
           : v->kind == MXFP4 ? &v->mxfp4.scales
           : v->kind == MXFP8 ? &v->mxfp8.scales
                              : &v->fp8.scales;
}

static inline void drop_data(view *v)
{
    v->matrix.data = NULL;
    v->mxfp4.codes = v->mxfp8.codes = v->fp8.codes = NULL;
}

/* ---- the operations ----------------------------------------------------- */

typedef ng_status run(const ng_conversions *writing, const view *y,
                      const view *x, const ng_options *options);

#define RUN(operation, y_kind, x_kind)                                         \
    static ng_status run_##operation(const ng_conversions *writing,            \
                                     const view *y, const view *x,             \
                                     const ng_options *options)                \
    {                                                                          \
        return writing->operation(y != NULL ? &y->y_kind : NULL,               \
                                  x != NULL ? &x->x_kind : NULL, options);     \
    }
RUN(quantize_mxfp4, mxfp4, matrix)
RUN(dequantize_mxfp4, matrix, mxfp4)
RUN(quantize_mxfp8, mxfp8, matrix)
RUN(dequantize_mxfp8, matrix, mxfp8)
RUN(quantize_fp8, fp8, matrix)
RUN(dequantize_fp8, matrix, fp8)
RUN(convert_mxfp4_to_fp8, fp8, mxfp4)
RUN(convert_fp8_row_to_col, fp8, fp8)
RUN(convert_fp8_to_mxfp4, mxfp4, fp8)
RUN(transpose_fp8_tile, fp8, fp8)
RUN(pack_e2m1, matrix, matrix)
RUN(unpack_e2m1, matrix, matrix)

enum { ROW = 1 << NG_FP8_ROW, COL = 1 << NG_FP8_COL, TILE = 1 << NG_FP8_TILE };

/* What a good y and x are; forms are the sets that the operation takes. */
static const struct operation {
    const char *name;
    run *run;
    struct side {
        kind kind;
        ng_dtype dtype;         /* of a matrix, else of the scales */
        ng_fp8_form form;
        unsigned forms;
    } side[2];
    bool turned;                /* y is [cols, rows] */
} operations[] = {
    {"quantize_mxfp4", run_quantize_mxfp4,
     {{.kind = MXFP4, .dtype = NG_UE8M0}, {.dtype = NG_FP32}}, false},
    {"dequantize_mxfp4", run_dequantize_mxfp4,
     {{.dtype = NG_FP32}, {.kind = MXFP4, .dtype = NG_UE8M0}}, false},
    {"quantize_mxfp8", run_quantize_mxfp8,
     {{.kind = MXFP8, .dtype = NG_UE8M0}, {.dtype = NG_FP32}}, false},
    {"dequantize_mxfp8", run_dequantize_mxfp8,
     {{.dtype = NG_FP32}, {.kind = MXFP8, .dtype = NG_UE8M0}}, false},
    {"quantize_fp8", run_quantize_fp8,
     {{FP8, NG_FP32, NG_FP8_TILE, ROW | COL | TILE}, {.dtype = NG_FP32}},
     false},
    {"dequantize_fp8", run_dequantize_fp8,
     {{.dtype = NG_FP32}, {FP8, NG_FP32, NG_FP8_COL, ROW | COL | TILE}},
     false},
    {"convert_mxfp4_to_fp8", run_convert_mxfp4_to_fp8,
     {{FP8, NG_FP32, NG_FP8_ROW, ROW | COL},
      {.kind = MXFP4, .dtype = NG_UE8M0}}, false},
    {"convert_fp8_row_to_col", run_convert_fp8_row_to_col,
     {{FP8, NG_FP32, NG_FP8_COL, COL}, {FP8, NG_FP32, NG_FP8_ROW, ROW}},
     false},
    {"convert_fp8_to_mxfp4", run_convert_fp8_to_mxfp4,
     {{.kind = MXFP4, .dtype = NG_UE8M0},
      {FP8, NG_FP32, NG_FP8_TILE, ROW | TILE}}, false},
    {"transpose_fp8_tile", run_transpose_fp8_tile,
     {{FP8, NG_FP32, NG_FP8_TILE, TILE}, {FP8, NG_FP32, NG_FP8_TILE, TILE}},
     true},
    {"pack_e2m1", run_pack_e2m1,
     {{.dtype = NG_E2M1X2}, {.dtype = NG_E2M1}}, false},
    {"unpack_e2m1", run_unpack_e2m1,
     {{.dtype = NG_E2M1}, {.dtype = NG_E2M1X2}}, false},
};
enum { N_OPERATIONS = sizeof operations / sizeof *operations };

/* ---- a call -------------------------------------------------------------- */

/* side[0] is y. Room enough for any dtype here and a scale an element. */
static struct call {
    const struct operation *operation;
    view side[2];
    ng_rules rules;
    int64_t offsets[3];
    ng_groups groups;
    ng_options options;
} call;
static float data[2][ROWS * COLS], scales[2][ROWS * COLS];

/* The good call. */
static inline void begin(const struct operation *operation)
{
    call = (struct call){.operation = operation, .rules = ng_default_rules,
                         .offsets = {0, 3, ROWS}};
    call.groups = (ng_groups){.n_groups = 2, .offsets = call.offsets};
    call.options = (ng_options){.rules = &call.rules};
    for (int s = 0; s < 2; s++) {
        const struct side *side = &operation->side[s];
        const int64_t rows = s == 0 && operation->turned ? COLS : ROWS;
        const int64_t cols = s == 0 && operation->turned ? ROWS : COLS;
        uint8_t *codes = (uint8_t *)data[s];

        call.side[s] = (view){
            .kind = side->kind,
            .matrix = dense_matrix(data[s], side->dtype, rows, cols),
            .mxfp4 = dense_mxfp4(codes, scales[s], side->dtype, rows, cols),
            .mxfp8 = dense_mxfp8(codes, scales[s], side->dtype, rows, cols),
            .fp8 = dense_fp8(codes, scales[s], side->dtype, side->form, rows,
                             cols)};
    }
    memset(data[0], POISON, sizeof data[0]);
    memset(scales[0], POISON, sizeof scales[0]);
    memset(data[1], 0, sizeof data[1]);
    for (int i = 0; i < ROWS * COLS; i++)
        scales[1][i] = 1;
}

static inline bool untouched(void)
{
    const unsigned char *d = (const unsigned char *)data[0];
    const unsigned char *s = (const unsigned char *)scales[0];

    for (size_t i = 0; i < sizeof data[0]; i++)
        if (d[i] != POISON || s[i] != POISON)
            return false;
    return true;
}

/* Make the call, which must give this status. */
static inline void want(int writing, ng_status status, const char *what)
{
    const ng_status got = call.operation->run(
        &writings[writing], &call.side[0], &call.side[1], &call.options);

    if (got != status)
        ck_abort_msg("%s: %s: %s: want \"%s\", got \"%s\"",
                     writing_name(writing), call.operation->name, what,
                     ng_status_text(status), ng_status_text(got));
    if (untouched() != (status != NG_OK))
        ck_abort_msg("%s: %s: %s: y is %s", writing_name(writing),
                     call.operation->name, what,
                     status != NG_OK ? "touched" : "untouched");
}

/* Begin the good call of an operation, change it, and want a status. */
#define REFUSES(writing, operation, status, change)                            \
    do {                                                                       \
        begin(operation);                                                      \
        change;                                                                \
        want(writing, status, #change);                                        \
    } while (0)

#endif
