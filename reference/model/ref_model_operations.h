/* SPDX-License-Identifier: Apache-2.0
 *
 * The model's operations of the reference backend, one a file; what each
 * returns: reference/backend.h. Private to the reference backend.
 */
#ifndef NG_REFERENCE_MODEL_REF_MODEL_OPERATIONS_H
#define NG_REFERENCE_MODEL_REF_MODEL_OPERATIONS_H

#include "reference/backend.h"

ng_status ng_ref_embedding(void *context, const ng_array *y,
                           const int32_t *tokens, const ng_array *table);
ng_status ng_ref_embedding_backward(void *context, const ng_array *grad_table,
                                    const int32_t *tokens,
                                    const ng_array *grad_y);

ng_status ng_ref_rmsnorm(void *context, const ng_array *y, const ng_array *x,
                         const ng_array *w, float eps);
ng_status ng_ref_rmsnorm_backward(void *context, const ng_array *grad_x,
                                  const ng_array *grad_w,
                                  const ng_array *grad_y, const ng_array *x,
                                  const ng_array *w, const ng_array *grad_add,
                                  float eps);

ng_status ng_ref_add(void *context, const ng_array *y, const ng_array *a,
                     const ng_array *b);
ng_status ng_ref_take_columns(void *context, const ng_array *y,
                              const ng_array *x, int64_t first);
ng_status ng_ref_put_columns(void *context, const ng_array *y,
                             const ng_array *x, int64_t first);

ng_status ng_ref_rope(void *context, const ng_array *x, int64_t heads,
                      int64_t width, int64_t length, double base, bool inverse);

ng_status ng_ref_mla_join(void *context, const ng_array *k, const ng_array *v,
                          const ng_array *kv, const ng_array *k_rope,
                          int64_t heads, int64_t nope);
ng_status ng_ref_mla_join_backward(void *context, const ng_array *grad_kv,
                                   const ng_array *grad_k_rope,
                                   const ng_array *grad_k,
                                   const ng_array *grad_v, int64_t heads,
                                   int64_t nope);

ng_status ng_ref_attention(void *context, const ng_array *y,
                           const ng_array *lse, const ng_array *q,
                           const ng_array *k, const ng_array *v,
                           const ng_attention_shape *shape);
ng_status ng_ref_attention_backward(void *context, const ng_array *grad_q,
                                    const ng_array *grad_k,
                                    const ng_array *grad_v,
                                    const ng_array *grad_y, const ng_array *y,
                                    const ng_array *lse, const ng_array *q,
                                    const ng_array *k, const ng_array *v,
                                    const ng_attention_shape *shape);

ng_status ng_ref_gate(void *context, const ng_array *y, const ng_array *gate_up,
                      const ng_array *weight, const ng_row_groups *groups,
                      ng_events *events);
ng_status ng_ref_gate_backward(void *context, const ng_array *grad_gate_up,
                               const ng_array *grad_weight,
                               const ng_array *grad_h, const ng_array *gate_up,
                               const ng_array *weight);

ng_status ng_ref_cross_entropy(void *context, double *loss, int64_t *n,
                               const ng_array *grad_logits,
                               const ng_array *logits, const int32_t *targets,
                               float scale);

/* ---- reference/moe/ ------------------------------------------------------ */

ng_status ng_ref_router(void *context, const ng_array *scores, int32_t *expert,
                        const ng_array *weight, int64_t *load,
                        int64_t *nan_rows, double *balance,
                        const ng_array *logits, const ng_array *bias,
                        const ng_router_shape *shape);
ng_status ng_ref_router_backward(void *context, const ng_array *grad_logits,
                                 const ng_array *grad_weight,
                                 const ng_array *scores, const int32_t *expert,
                                 const ng_router_shape *shape,
                                 float balance_scale);
ng_status ng_ref_permutation(void *context, int64_t *row, int64_t *source,
                             int64_t *offsets, const int32_t *expert,
                             int64_t tokens, int64_t top_k, int64_t experts);
ng_status ng_ref_gather(void *context, const ng_array *y, const ng_array *x,
                        const int64_t *index, int64_t divisor);
ng_status ng_ref_combine(void *context, const ng_array *y, const ng_array *x,
                         const int64_t *row, const ng_array *weight,
                         const ng_array *add, int64_t top_k);

#endif
