/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights that others have trained, from safetensors files by a map of names
 * (configs/names/): a line a parameter, its name here and the tensors that make
 * it, stacked above each other; "#" starts a comment; {layer}, {expert} and
 * {block} stand for numbers.
 *
 *     ng_pretrained_open(&p, "deepseek-v3.names", files, n_files, &error);
 *     for each local parameter: ng_pretrained_read(theta, p, model, i, &error);
 *     ng_pretrained_state(state, p, model, &error);   the routers' biases
 *     ng_pretrained_free(p);
 *
 * Files are taken to be hostile, as everywhere: shapes and types must be what
 * the model has.
 */
#ifndef NG_REFERENCE_MODEL_PRETRAINED_H
#define NG_REFERENCE_MODEL_PRETRAINED_H

#include <stddef.h>

#include "formats/status.h"
#include "reference/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_pretrained ng_pretrained;

/* Read the map and all files into memory; the text `map` must outlive it. Null is
 * allowed in free.
 * Returns NG_OK, NG_BAD_FILE (one line: a file; a line of the map that names no
 * parameter that a model can have, or no tensor; two tensors of one name) or
 * NG_NO_MEMORY, with *out untouched. */
ng_status ng_pretrained_open(ng_pretrained **out, const char *map,
                             const char *const *files, size_t n_files,
                             ng_error *error);
void ng_pretrained_free(ng_pretrained *pretrained);

/* The FP32 values [n] of a parameter: exact, of FP32, BF16 or FP16 tensors.
 * Returns NG_OK, or NG_BAD_FILE (not in the map or the files, another shape or
 * type) with theta undefined. */
ng_status ng_pretrained_read(float *theta, const ng_pretrained *pretrained,
                             const ng_model *model, int64_t parameter,
                             ng_error *error);

/* The routers' biases, [ng_model_n_state], from the lines "... .router_bias": 0
 * where the map has no such line. */
ng_status ng_pretrained_state(float *state, const ng_pretrained *pretrained,
                              const ng_model *model, ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
