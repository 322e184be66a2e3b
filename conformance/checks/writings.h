/* SPDX-License-Identifier: Apache-2.0
 *
 * This project's two writings of every conversion, for tests that hold both
 * against values worked out by hand: the reference, and with MPFR the oracle.
 */
#ifndef NG_CONFORMANCE_CHECKS_WRITINGS_H
#define NG_CONFORMANCE_CHECKS_WRITINGS_H

#include <check.h>

#include "conformance/checks/suite_runner.h"
#include "conformance/subject/conversions.h"
#include "formats/fp32.h"
#include "reference/convert/ref_convert_fp8_row_to_col.h"
#include "reference/convert/ref_convert_fp8_to_mxfp4.h"
#include "reference/convert/ref_convert_mxfp4_to_fp8.h"
#include "reference/convert/ref_convert_scales.h"
#include "reference/convert/ref_decode.h"
#include "reference/convert/ref_dequantize_fp8.h"
#include "reference/convert/ref_dequantize_mxfp4.h"
#include "reference/convert/ref_dequantize_mxfp8.h"
#include "reference/convert/ref_encode.h"
#include "reference/convert/ref_pack_e2m1.h"
#include "reference/convert/ref_philox.h"
#include "reference/convert/ref_quantize_fp8.h"
#include "reference/convert/ref_quantize_mxfp4.h"
#include "reference/convert/ref_quantize_mxfp8.h"
#include "reference/convert/ref_transpose_fp8_tile.h"
#include "reference/convert/ref_unpack_e2m1.h"
#ifdef HAVE_MPFR
#include "conformance/oracle/oracle_convert_fp8_row_to_col.h"
#include "conformance/oracle/oracle_convert_fp8_to_mxfp4.h"
#include "conformance/oracle/oracle_convert_mxfp4_to_fp8.h"
#include "conformance/oracle/oracle_convert_scales.h"
#include "conformance/oracle/oracle_decode.h"
#include "conformance/oracle/oracle_dequantize_fp8.h"
#include "conformance/oracle/oracle_dequantize_mxfp4.h"
#include "conformance/oracle/oracle_dequantize_mxfp8.h"
#include "conformance/oracle/oracle_encode.h"
#include "conformance/oracle/oracle_pack_e2m1.h"
#include "conformance/oracle/oracle_philox.h"
#include "conformance/oracle/oracle_quantize_fp8.h"
#include "conformance/oracle/oracle_quantize_mxfp4.h"
#include "conformance/oracle/oracle_quantize_mxfp8.h"
#include "conformance/oracle/oracle_transpose_fp8_tile.h"
#include "conformance/oracle/oracle_unpack_e2m1.h"
#endif

static inline uint32_t ref_encode_id(ng_format_id format, float x,
                                     const ng_rules *rules, uint32_t random,
                                     unsigned *events)
{
    return ng_ref_encode(&ng_formats[format], x, rules, random, events);
}

static inline float ref_decode_id(ng_format_id format, uint32_t code,
                                  const ng_rules *rules)
{
    return ng_ref_decode(&ng_formats[format], code, rules);
}

#define WRITING(encode_, decode_, layer)                                       \
    {                                                                          \
        .encode = encode_, .decode = decode_, .philox = layer##_philox,        \
        .quantize_mxfp4 = layer##_quantize_mxfp4,                              \
        .dequantize_mxfp4 = layer##_dequantize_mxfp4,                          \
        .quantize_mxfp8 = layer##_quantize_mxfp8,                              \
        .dequantize_mxfp8 = layer##_dequantize_mxfp8,                          \
        .quantize_fp8 = layer##_quantize_fp8,                                  \
        .dequantize_fp8 = layer##_dequantize_fp8,                              \
        .convert_mxfp4_to_fp8 = layer##_convert_mxfp4_to_fp8,                  \
        .convert_fp8_row_to_col = layer##_convert_fp8_row_to_col,              \
        .convert_fp8_to_mxfp4 = layer##_convert_fp8_to_mxfp4,                  \
        .transpose_fp8_tile = layer##_transpose_fp8_tile,                      \
        .pack_e2m1 = layer##_pack_e2m1, .unpack_e2m1 = layer##_unpack_e2m1,    \
        .convert_scales = layer##_convert_scales                               \
    }

static const ng_conversions writings[] = {
    WRITING(ref_encode_id, ref_decode_id, ng_ref),
#ifdef HAVE_MPFR
    WRITING(ng_oracle_encode, ng_oracle_decode, ng_oracle),
#endif
};
enum { N_WRITINGS = sizeof writings / sizeof *writings };

static inline const char *writing_name(int i)
{
    return i == 0 ? "reference" : "oracle";
}

/* Two bit patterns agree; `what` and `i` say where in the case. */
static inline void expect(int writing, const char *what, int64_t i,
                          uint32_t want, uint32_t got)
{
    if (want != got)
        ck_abort_msg("%s: %s[%lld]: want %02X, got %02X",
                     writing_name(writing), what, (long long)i, want, got);
}

/* Add a test to be run once a writing, whose number it has as _i. */
#define ADD_TRAP(tcase, test) tcase_add_loop_test(tcase, test, 0, N_WRITINGS)

#endif
