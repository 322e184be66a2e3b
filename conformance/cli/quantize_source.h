/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tensors of a file a conversion works on, each seen as a matrix.
 */
#ifndef NG_CONFORMANCE_CLI_QUANTIZE_SOURCE_H
#define NG_CONFORMANCE_CLI_QUANTIZE_SOURCE_H

#include "conformance/cli/conversion.h"
#include "formats/files/tensor_file.h"

/* One tensor to convert. Pointers are the file's. */
typedef struct ng_source {
    char name[NG_MAX_NAME]; /* without ".codes" */
    ng_tensor codes;        /* its numbers or codes as [n][m], dense */
    ng_tensor scales;       /* likewise; data null for a matrix */
    bool has_scales;
    int64_t rows, cols; /* logical */
    bool pow2;          /* FP32 scales declared to be powers of two */
    int rank;           /* the shape it had: the last axis is cols, the */
    int64_t shape[NG_MAX_RANK]; /* others together are rows */
} ng_source;

typedef struct ng_sources {
    ng_source *list;
    int n;
    int n_skipped;
    char skipped[4][384]; /* the first few, a line each */
} ng_sources;

/* Find the tensors of *file (read from path) that the conversion takes: floats
 * of any rank, or pairs NAME.codes and NAME.scales, in the file's order. Others
 * are skipped.
 *   names  only these (n_names > 0); one that is not there, or not taken, is an
 *          error
 *   pow2   declare FP32 scales to be powers of two, as metadata pow2.NAME does
 * Returns NG_OK (free with ng_sources_free), or NG_BAD_FILE or NG_NO_MEMORY
 * with one line in *error that names file, tensor and field. */
ng_status ng_sources_find(ng_sources *sources, const ng_tensor_file *file,
                          const char *path, const ng_conversion *conversion,
                          const char *const *names, int n_names, bool pow2,
                          ng_error *error);
void ng_sources_free(ng_sources *sources);

#endif
