/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of small dense tensors, for tests with values worked out by hand.
 */
#ifndef NG_CONFORMANCE_CHECKS_DENSE_VIEWS_H
#define NG_CONFORMANCE_CHECKS_DENSE_VIEWS_H

#include "formats/layout.h"

static inline ng_matrix dense_matrix(void *data, ng_dtype dtype, int64_t rows,
                                     int64_t cols)
{
    return (ng_matrix){.data = data, .dtype = dtype, .rows = rows, .cols = cols,
                       .ld = dtype == NG_E2M1X2 ? (cols + 1) / 2 : cols};
}

/* n scales in each line, row-major; FP32 ones are declared powers of two. */
static inline ng_scales dense_scales(void *data, ng_dtype dtype, int64_t n)
{
    return (ng_scales){.data = data, .dtype = dtype, .pow2 = true,
                       .ld = dtype == NG_UE8M0X4 ? (n + 3) / 4 : n, .step = 1};
}

static inline ng_mxfp4 dense_mxfp4(uint8_t *codes, void *scales,
                                   ng_dtype dtype, int64_t rows, int64_t cols)
{
    return (ng_mxfp4){.codes = codes, .rows = rows, .cols = cols,
                      .ld = (cols + 1) / 2,
                      .scales = dense_scales(scales, dtype, (cols + 31) / 32)};
}

static inline ng_mxfp8 dense_mxfp8(uint8_t *codes, void *scales,
                                   ng_dtype dtype, int64_t rows, int64_t cols)
{
    return (ng_mxfp8){.codes = codes, .rows = rows, .cols = cols, .ld = cols,
                      .scales = dense_scales(scales, dtype, (cols + 31) / 32)};
}

static inline ng_fp8 dense_fp8(uint8_t *codes, void *scales, ng_dtype dtype,
                               ng_fp8_form form, int64_t rows, int64_t cols)
{
    const int64_t n = form == NG_FP8_COL ? rows : cols;

    return (ng_fp8){.codes = codes, .form = form, .rows = rows, .cols = cols,
                    .ld = n,
                    .scales = dense_scales(scales, dtype, (n + 127) / 128)};
}

#endif
