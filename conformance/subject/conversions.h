/* SPDX-License-Identifier: Apache-2.0
 *
 * One writing of every conversion, as a table of typed functions, and the step
 * from named calls to them. The reference, the oracle and the kernels' host
 * twins each fill a table; they share these adapters, which turn named tensors
 * into typed views, and no arithmetic.
 */
#ifndef NG_CONFORMANCE_SUBJECT_CONVERSIONS_H
#define NG_CONFORMANCE_SUBJECT_CONVERSIONS_H

#include "conformance/subject/call.h"
#include "formats/format.h"

/* A null entry is an operation that the writing lacks. */
typedef struct ng_conversions {
    uint32_t (*encode)(ng_format_id, float x, const ng_rules *,
                       uint32_t random, unsigned *events);
    float (*decode)(ng_format_id, uint32_t code, const ng_rules *);
    uint32_t (*philox)(uint64_t seed, uint64_t stream, uint64_t index);
    ng_status (*quantize_mxfp4)(const ng_mxfp4 *y, const ng_matrix *x,
                                const ng_options *);
    ng_status (*dequantize_mxfp4)(const ng_matrix *y, const ng_mxfp4 *x,
                                  const ng_options *);
    ng_status (*quantize_mxfp8)(const ng_mxfp8 *y, const ng_matrix *x,
                                const ng_options *);
    ng_status (*dequantize_mxfp8)(const ng_matrix *y, const ng_mxfp8 *x,
                                  const ng_options *);
    ng_status (*quantize_fp8)(const ng_fp8 *y, const ng_matrix *x,
                              const ng_options *);
    ng_status (*dequantize_fp8)(const ng_matrix *y, const ng_fp8 *x,
                                const ng_options *);
    ng_status (*convert_mxfp4_to_fp8)(const ng_fp8 *y, const ng_mxfp4 *x,
                                      const ng_options *);
    ng_status (*convert_fp8_row_to_col)(const ng_fp8 *y, const ng_fp8 *x,
                                        const ng_options *);
    ng_status (*convert_fp8_to_mxfp4)(const ng_mxfp4 *y, const ng_fp8 *x,
                                      const ng_options *);
    ng_status (*transpose_fp8_tile)(const ng_fp8 *y, const ng_fp8 *x,
                                    const ng_options *);
    ng_status (*pack_e2m1)(const ng_matrix *y, const ng_matrix *x,
                           const ng_options *);
    ng_status (*unpack_e2m1)(const ng_matrix *y, const ng_matrix *x,
                             const ng_options *);
    ng_status (*convert_scales)(const ng_scales *y, const ng_scales *x,
                                int64_t lines, int64_t n);
} ng_conversions;

/* Whether the table has the call's operation. */
bool ng_conversions_cover(const ng_conversions *table, const ng_call *call);

/* Perform the call with the table's function, or return NG_NOT_COVERED. */
ng_status ng_conversions_run(const ng_conversions *table, const ng_call *call);

#endif
