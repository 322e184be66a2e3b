/* SPDX-License-Identifier: Apache-2.0
 *
 * Convert one tensor of a file by the reference, into another file.
 */
#ifndef NG_CONFORMANCE_CLI_QUANTIZE_RUN_H
#define NG_CONFORMANCE_CLI_QUANTIZE_RUN_H

#include "conformance/cli/error_statistics.h"
#include "conformance/cli/quantize_source.h"
#include "formats/profile.h"

/* What the command line asks for. */
typedef struct ng_quantize_plan {
    const ng_conversion *conversion;
    ng_profile profile; /* its rules as --set changed them */
    ng_dtype scales;    /* of the output: NG_UE8M0, NG_UE8M0X4, NG_FP32 */
    ng_dtype to;        /* of a dequantized tensor */
    uint64_t seed;      /* of stochastic rounding */
} ng_quantize_plan;

/* Add to *out what the conversion gives of a source: NAME.codes and NAME.scales
 * with what is needed to read them back (cols.NAME, shape.NAME, form.NAME,
 * pow2.NAME), or NAME alone. stream numbers the tensor for stochastic rounding.
 * Returns NG_OK with *statistics filled, or a status with one line in *error
 * that names path, tensor and field. */
ng_status ng_quantize_run(ng_tensor_file *out, ng_error_statistics *statistics,
                          const ng_source *source, uint64_t stream,
                          const ng_quantize_plan *plan, const char *path,
                          ng_error *error);

/* Add operation, profile, rules, seed (where it is read) and version. */
ng_status ng_quantize_sign(ng_tensor_file *out, const ng_quantize_plan *plan);

#endif
