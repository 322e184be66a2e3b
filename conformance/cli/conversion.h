/* SPDX-License-Identifier: Apache-2.0
 *
 * What each conversion of tensors takes and gives, and the storage that it asks
 * for: enough to build its call from a tensor of any size.
 */
#ifndef NG_CONFORMANCE_CLI_CONVERSION_H
#define NG_CONFORMANCE_CLI_CONVERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "conformance/subject/call.h"

typedef enum ng_side_kind {
    NG_SIDE_MATRIX,
    NG_SIDE_MXFP4,
    NG_SIDE_MXFP8,
    NG_SIDE_FP8
} ng_side_kind;

/* One end of a conversion. */
typedef struct ng_side {
    ng_side_kind kind;
    ng_fp8_form form; /* of NG_SIDE_FP8 */
} ng_side;

typedef struct ng_conversion {
    const char *operation;
    ng_side from, to;
    bool transposes; /* the result's logical shape is [cols, rows] */
} ng_conversion;

/* The conversions by number; null past the last. */
const ng_conversion *ng_conversion_at(int i);
const ng_conversion *ng_conversion_find(const char *operation);

/* The stored shapes of the two parts of a dense tensor [rows, cols] that is not
 * a matrix, its scales of the given type. */
void ng_side_shapes(int64_t codes[2], int64_t scales[2], ng_side side,
                    int64_t rows, int64_t cols, ng_dtype scale_dtype);

/* The type of its codes as stored: NG_E2M1X2 or NG_E4M3. */
ng_dtype ng_side_codes(ng_side side);

/* Elements that share a scale: 32, 128, or 16384. */
int64_t ng_side_block(ng_side side);

/* Whether its scales are UE8M0, one for 32 elements. */
bool ng_side_is_mx(ng_side side);

/* What the layout of E4M3 codes is called: "row", "col", "tile", or of MXFP8
 * "mx". */
const char *ng_side_form_name(ng_side side);

/* Append a tensor to a call: its parts "x.codes" and "x.scales", or "x" alone
 * where scales is null. The data stays the caller's. */
void ng_call_add_input(ng_call *call, const ng_tensor *codes,
                       const ng_tensor *scales);
void ng_call_add_output(ng_call *call, const ng_tensor *codes,
                        const ng_tensor *scales);

#endif
