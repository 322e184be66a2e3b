/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of the block-level operations: quantisers, dequantisers, and the
 * conversions between block formats. A stratum reads the operation's name and
 * the variant, so that one serves every operation with inputs of its kind.
 */
#ifndef NG_CONFORMANCE_CHECKS_INPUTS_BLOCK_H
#define NG_CONFORMANCE_CHECKS_INPUTS_BLOCK_H

#include "conformance/checks/block_case.h"
#include "conformance/checks/operation.h"

/* inputs_quantize.c: numbers to blocks. */
extern const ng_stratum ng_quantize_strata[];

/* inputs_mxfp4.c: E2M1 codes, with and without scales. */
extern const ng_stratum ng_pack_strata[];
extern const ng_stratum ng_dequantize_mxfp4_strata[];
extern const ng_stratum ng_mxfp4_to_fp8_row_strata[];
extern const ng_stratum ng_mxfp4_to_fp8_col_strata[];

/* inputs_fp8.c: E4M3 codes with scales. */
extern const ng_stratum ng_dequantize_fp8_strata[];
extern const ng_stratum ng_dequantize_fp8_tile_strata[];
extern const ng_stratum ng_transpose_strata[];
extern const ng_stratum ng_fp8_row_to_col_strata[];
extern const ng_stratum ng_fp8_to_mxfp4_strata[];
extern const ng_stratum ng_fp8_tile_to_mxfp4_strata[];

/* inputs_scales.c */
extern const ng_stratum ng_convert_scales_strata[];

/* inputs_shapes.c: shapes, groups and layouts, for every operation. */
int64_t ng_count_random(const ng_variant *variant, int level);
void ng_fill_random(ng_case *c, int64_t index);
int64_t ng_count_ragged(const ng_variant *variant, int level);
void ng_fill_ragged(ng_case *c, int64_t index);
int64_t ng_count_groups(const ng_variant *variant, int level);
void ng_fill_groups(ng_case *c, int64_t index);

#define NG_SHAPE_STRATA                                                        \
    {"random", "shapes, empty ones too; lognormal blocks with outliers", 0,    \
     ng_count_random, ng_fill_random},                                         \
    {"ragged", "groups of rows, empty ones too, and rows past the last", 0,    \
     ng_count_ragged, ng_fill_ragged},                                         \
    {"groups", "offsets that decrease, start late or end past the rows: "      \
     "refused", 0, ng_count_groups, ng_fill_groups}

/* Whether a variant differs from another only in what a few cases can tell (a
 * packing, a rule that the rest of the variant leaves without effect); its
 * strata run a part of their cases. */
bool ng_variant_is_minor(const ng_variant *variant);

/* Every scale that x can hold, by number: all UE8M0 codes, or as FP32 all
 * powers of two from 2^-149 (declared or not), two NaNs and, where not
 * declared, infinity. */
int64_t ng_block_n_scales(const ng_block_case *b);
int64_t ng_variant_n_scales(const ng_variant *variant, const char *axis);
uint32_t ng_block_scale(const ng_block_case *b, int64_t i);

/* A random scale near 2^center: with general FP32 scales any significand. */
uint32_t ng_block_random_scale(ng_block_case *b, double center, double spread);

#endif
