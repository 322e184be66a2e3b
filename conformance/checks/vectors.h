/* SPDX-License-Identifier: Apache-2.0
 *
 * The cases of a check as files, for implementations that nobody can load:
 * inputs and expected outputs of one variant of one operation, a safetensors
 * file each. docs/vectors.md describes them for those who read them.
 */
#ifndef NG_CONFORMANCE_CHECKS_VECTORS_H
#define NG_CONFORMANCE_CHECKS_VECTORS_H

#include "conformance/checks/verify.h"
#include "formats/files/tensor_file.h"

#define NG_VECTORS_FORMAT "narrowgauge-vectors-1"

/* What the cases met. */
typedef struct ng_vectors_counts {
    int64_t cases, elements; /* elements: units of the first outputs */
    ng_events events;
    int64_t zero_blocks, nan_blocks, infinite_blocks; /* of 32 numbers in x */
    int64_t extreme_scales; /* the least, the largest, or NaN, in and out */
    int64_t ragged_cases, empty_groups;
} ng_vectors_counts;

/* Append every case of the variant that has an answer to the files, and say in
 * their metadata what they are; add to *counts. plan gives the profile, level,
 * seed, stratum and expected side. Returns NG_OK, NG_NO_MEMORY, or what the
 * file functions refuse. */
ng_status ng_vectors_variant(ng_tensor_file *inputs, ng_tensor_file *expected,
                             ng_vectors_counts *counts,
                             const ng_operation *operation,
                             const ng_variant *variant,
                             const ng_verify_plan *plan);

/* The outputs of a case as a file of actual ones has them, laid out as the case
 * wants them; what the specification leaves unwritten is left out. Returns
 * NG_OK; NG_NOT_COVERED if the file has none of them; NG_BAD_FILE, a line in
 * *error, if one is missing or of another size; NG_NO_MEMORY. recorded->outputs
 * is owned by the caller where NG_OK. */
ng_status ng_vectors_recall(ng_recorded *recorded, const ng_case_id *id,
                            const ng_variant *variant,
                            const ng_verify_plan *plan,
                            const ng_tensor_file *actual, ng_error *error);

#endif
