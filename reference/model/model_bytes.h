/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of a token in one layer, from configuration and recipe alone. Private
 * to counting and explaining.
 */
#ifndef NG_REFERENCE_MODEL_MODEL_BYTES_H
#define NG_REFERENCE_MODEL_MODEL_BYTES_H

#include "reference/model/model_parts.h"

/* How one kept array of a layer looks: rows a token (top_k for what the experts
 * got), columns, carrier. No columns: the layer has no such array. */
typedef struct ng_kept_shape {
    int64_t rows, cols;
    ng_carrier carrier;
} ng_kept_shape;

ng_kept_shape ng_kept_shape_of(const ng_model_config *config,
                               const ng_recipe *recipe, int64_t layer,
                               ng_kept kept);

/* Whether the recipe keeps it from forward to backward. */
bool ng_is_kept(const ng_model_config *config, const ng_recipe *recipe,
                int64_t layer, ng_kept kept);

/* Bytes of a row, scales included. */
int64_t ng_row_bytes(ng_carrier carrier, int64_t cols);

/* Bytes a token that the layer keeps, of one kind; recompute: as if the recipe
 * said so (NG_N_RECOMPUTES: as it does). */
int64_t ng_layer_bytes(const ng_model_config *config, const ng_recipe *recipe,
                       int64_t layer, ng_kept_kind kind,
                       ng_recompute recompute);

/* Bytes a token sent for the experts of a layer: forward, which a layer that is
 * made again as a whole does twice, and backward. */
int64_t ng_sent_forward(const ng_model_config *config, const ng_recipe *recipe,
                        int64_t layer);
int64_t ng_sent_backward(const ng_model_config *config, const ng_recipe *recipe,
                         int64_t layer);

#endif
