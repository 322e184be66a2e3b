/* SPDX-License-Identifier: Apache-2.0
 *
 * The backend: the table of operations over which the model (reference/model/),
 * the optimizer (reference/optim/) and the training loop (reference/train/) run.
 * An interface, no arithmetic: `reference` fills it on the CPU
 * (ng_backend_reference), CUDA will on a GPU. Everything numeric goes through
 * it; model and loop only say what is computed from what.
 *
 * Letters: T tokens (rows), H hidden, V vocabulary, N outputs of a linear
 * layer, K its inputs, E experts, S slots a token (its top-k), F width of a
 * SwiGLU, G groups of rows. All sizes 64-bit. Memory is the backend's: pointers
 * in arrays and buffers come from alloc, and the host reads or writes them
 * through upload and download only. Pointers that are the host's say so
 * ("host"). Operations may be asynchronous; download and wait are not. Outputs
 * first. Outputs do not overlap inputs unless said. Numbers: everything is
 * computed in FP32 from the values of the inputs and rounded once, to nearest
 * even, when it is stored in an array of another carrier; "exact" operations
 * have one right result (semantics.md 11), in the others the order of sums is
 * the backend's, but fixed: the same inputs give the same bits every time, and
 * a row's result does not depend on the rows that share the call (so that the
 * split over ranks changes nothing). Every operation returns NG_OK;
 * NG_BAD_POINTER, NG_BAD_SHAPE, NG_BAD_DTYPE (a carrier that it does not take)
 * with outputs untouched; NG_NO_MEMORY; or NG_NOT_COVERED where this backend
 * lacks that form. Empty arrays are legal.
 */
#ifndef NG_REFERENCE_BACKEND_H
#define NG_REFERENCE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/events.h"
#include "formats/layout.h"
#include "formats/optim.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In what a tensor is carried: stored, sent or multiplied. Rows are tokens,
 * without gaps. Scales of FP8 are FP32 numbers that are powers of two. */
typedef enum ng_carrier {
    NG_CARRY_NONE,     /* not kept: made again when it is needed */
    NG_CARRY_FP32,     /* [rows, cols] */
    NG_CARRY_BF16,     /* [rows, cols] */
    NG_CARRY_FP8,      /* row form: codes [rows, cols], scales of 1 x 128,
                          [rows, ceil(cols/128)] */
    NG_CARRY_FP8_COL,  /* col form: codes [cols, rows], scales of 128 rows of a
                          group, [cols, blocks] */
    NG_CARRY_FP8_TILE, /* codes [batch * rows, cols], scales of 128 x 128,
                          [batch * ceil(rows/128), ceil(cols/128)] */
    NG_CARRY_MXFP4,    /* codes [rows, ceil(cols/2)], UE8M0 scales of 1 x 32,
                          [rows, ceil(cols/32)] */
    NG_N_CARRIERS
} ng_carrier;

/* "none", "fp32", "bf16", "fp8", "fp8-col", "fp8-tile", "mxfp4"; never null for
 * a carrier that exists. Find one by its name; false if there is none. */
const char *ng_carrier_name(ng_carrier carrier);
bool ng_carrier_find(const char *name, ng_carrier *carrier);

/* A matrix in a carrier, or `batch` of them behind each other (weights of the
 * experts); batch is 1 but for weights. Rows and cols are those of the tensor
 * itself, before the col form transposes. It owns nothing. */
typedef struct ng_array {
    ng_carrier carrier;
    int64_t batch, rows, cols;
    int64_t blocks; /* FP8_COL: blocks along the rows; else not read */
    void *data;     /* codes or numbers, alone aligned to 16 bytes */
    void *scales;   /* null for FP32 and BF16 */
} ng_array;

/* Bytes of an array's data and of its scales. blocks: as ng_array has it.
 * NG_CARRY_NONE has none. */
int64_t ng_array_data_bytes(const ng_array *array);
int64_t ng_array_scale_bytes(const ng_array *array);

/* Bytes of a row's data and of its scales: what is sent of it. FP32, BF16, FP8
 * (row) and MXFP4 only; 0 for the others. */
int64_t ng_carrier_row_bytes(ng_carrier carrier, int64_t cols);
int64_t ng_carrier_row_scale_bytes(ng_carrier carrier, int64_t cols);

/* Rows first .. first + n - 1 of an array of one of those four carriers; and
 * matrices first .. first + n - 1 of a batch, of any carrier but FP8_COL. */
ng_array ng_array_rows(const ng_array *array, int64_t first, int64_t n);
ng_array ng_array_batch(const ng_array *array, int64_t first, int64_t n);

/* Which rows belong together. offsets are the host's, and the backend's too
 * where it has memory of its own (null there: it copies them). Null groups: one
 * group of all rows. */
typedef struct ng_row_groups {
    ng_groups host;
    const int64_t *offsets; /* the same, in the backend's memory, or null */
} ng_row_groups;

/* What an attention looks like. Row t of a sequence sees rows 0 .. t of it. */
typedef struct ng_attention_shape {
    int64_t sequences, length; /* T = sequences * length */
    int64_t heads, kv_heads;   /* heads % kv_heads == 0 */
    int64_t qk, v;             /* elements of a head */
    float scale;               /* of q . k */
} ng_attention_shape;

/* How tokens choose experts; semantics.md 11. */
typedef struct ng_router_shape {
    int64_t experts, top_k;
    int64_t n_groups, top_groups; /* 1 and 1: no limit by group */
    bool softmax;                 /* scores by softmax, else by sigmoid */
    bool normalize;               /* weights divided by their sum */
    float route_scale;
    int64_t sequences, length; /* of the balance loss */
    float balance;             /* its factor alpha; 0: none */
} ng_router_shape;

/* Kernels of a user's own, which a recipe puts in the place of a backend's
 * operations (SITE.operation, reference/model/recipe.h). Who runs the model
 * gives them; the model knows no more of them than this. */
typedef struct ng_own_kernels {
    void *context;
    /* The kernel of that operation ("quantize_mxfp4") that a subject has: its
     * number, for run. Asked once for each site of a layer; the same one may
     * get the same number. Returns NG_OK, or with a line in *error (which may
     * be null) that names neither of them: NG_BAD_SUBJECT (it cannot be used, or
     * lacks the operation), NG_BAD_VALUE (there is no such subject),
     * NG_NOT_COVERED (not on this machine) or NG_NO_MEMORY. */
    ng_status (*open)(void *context, int *kernel, const char *subject,
                      const char *operation, ng_error *error);
    /* Run it on arrays in the backend's memory, none empty:
     *   conversions, transposition, swiglu..   y from a; b null
     *   swiglu_backward       y = grad_gate_up, a = grad_h, b = gate_up
     *   grouped_gemm..fprop   y = a b^T, as `linear` has it
     *   grouped_gemm..wgrad   y + a^T b into y, as linear_weight accumulates
     * Returns NG_OK, or as above, y then undefined. */
    ng_status (*run)(void *context, int kernel, const ng_array *y,
                     const ng_array *a, const ng_array *b,
                     const ng_row_groups *groups, ng_error *error);
} ng_own_kernels;

typedef struct ng_backend ng_backend;

struct ng_backend {
    const char *name;
    void *context; /* first argument of every operation */

    /* ---- memory ---------------------------------------------------------- */
    /* alloc gives 64-byte aligned memory, NULL without; free takes null.
     * zero writes zero bytes. copy is within the backend. */
    void *(*alloc)(void *context, int64_t bytes);
    void (*free)(void *context, void *memory);
    ng_status (*zero)(void *context, void *memory, int64_t bytes);
    ng_status (*copy)(void *context, void *to, const void *from, int64_t bytes);
    ng_status (*upload)(void *context, void *to, const void *host_from,
                        int64_t bytes);
    ng_status (*download)(void *context, void *host_to, const void *from,
                          int64_t bytes);
    ng_status (*wait)(void *context);

    /* ---- carriers: exact ------------------------------------------------- */
    /* y = x in another carrier (or the same: a copy), rounded by the rules of
     * semantics.md 3 to 7, pow2 scales; past BF16 is Inf. Rows past the last
     * group are neither read nor written; but for that groups matter to FP8_COL
     * alone. A batch has no groups and no FP8_COL. Tiles of tiles: a copy.
     *   From FP32 and BF16 to every carrier;
     *   MXFP4 -> FP8, FP8_COL, BF16, FP32;
     *   FP8 -> FP8_COL, MXFP4, BF16, FP32.
     *   events  host, may be null: counts of what happened are added, at the
     *           latest when wait returns */
    ng_status (*convert)(void *context, const ng_array *y, const ng_array *x,
                         const ng_row_groups *groups, ng_events *events);
    /* y[b] = x[b] transposed; FP8_TILE (no bit changes), FP32, BF16. */
    ng_status (*transpose)(void *context, const ng_array *y, const ng_array *x);

    /* ---- linear layers: bounded ------------------------------------------ */
    /* Group g of the rows meets matrix g of w (batch = number of groups). x and
     * w: both FP32, or both BF16, or FP8 with FP8_TILE; y FP32 or BF16. FP8: as
     * semantics.md 11 has the block-scaled GEMM.
     *   forward   y[T,N] = x[T,K] w[N,K]^T
     *   backward  grad_x[T,K] = grad_y[T,N] w[N,K]; FP8 also wants w_transposed
     *             [K,N], which transpose makes; null otherwise
     *   weight    grad_w[N,K] = grad_y[T,N]^T x[T,K] for each group: FP32 out,
     *             x and grad_y FP32, BF16 or (both) FP8_COL. accumulate: grad_w
     *             + that, added once; without it an empty group gives +0, with
     *             it nothing is touched. */
    ng_status (*linear)(void *context, const ng_array *y, const ng_array *x,
                        const ng_array *w, const ng_row_groups *groups);
    ng_status (*linear_backward)(void *context, const ng_array *grad_x,
                                 const ng_array *grad_y, const ng_array *w,
                                 const ng_array *w_transposed,
                                 const ng_row_groups *groups);
    ng_status (*linear_weight)(void *context, const ng_array *grad_w,
                               const ng_array *grad_y, const ng_array *x,
                               const ng_row_groups *groups, bool accumulate);

    /* ---- rows ------------------------------------------------------------ */
    /* FP32 and BF16 unless said. Gradients of parameters are FP32 and are added
     * to. */
    /* y[t] = table[tokens[t]]; tokens in [0, V). grad_table += rows of grad_y,
     * in ascending t. */
    ng_status (*embedding)(void *context, const ng_array *y,
                           const int32_t *tokens, const ng_array *table);
    ng_status (*embedding_backward)(void *context, const ng_array *grad_table,
                                    const int32_t *tokens,
                                    const ng_array *grad_y);
    /* y = x / sqrt(mean x^2 + eps) * w, w FP32 [1, H]. grad_x overwritten, or
     * (grad_add not null) grad_x = grad_add + that, rounded once. */
    ng_status (*rmsnorm)(void *context, const ng_array *y, const ng_array *x,
                         const ng_array *w, float eps);
    ng_status (*rmsnorm_backward)(void *context, const ng_array *grad_x,
                                  const ng_array *grad_w,
                                  const ng_array *grad_y, const ng_array *x,
                                  const ng_array *w, const ng_array *grad_add,
                                  float eps);
    /* y = a + b */
    ng_status (*add)(void *context, const ng_array *y, const ng_array *a,
                     const ng_array *b);
    /* Columns first .. first + n - 1 of x into a matrix of its own, or back. */
    ng_status (*take_columns)(void *context, const ng_array *y,
                              const ng_array *x, int64_t first);
    ng_status (*put_columns)(void *context, const ng_array *y,
                             const ng_array *x, int64_t first);
    /* Rotate in place, in each of `heads` runs of cols/heads columns, the last
     * `width` (even): pairs (2i, 2i + 1) by the angle position *
     * base^(-2i/width), position = row mod length. inverse: by the negative
     * angle (backward). */
    ng_status (*rope)(void *context, const ng_array *x, int64_t heads,
                      int64_t width, int64_t length, double base, bool inverse);
    /* MLA: k[t,h] = [kv[t,h] first nope | k_rope[t]], v[t,h] = kv[t,h] the
     * rest; backward: grad_kv back, grad_k_rope the sum over heads in order. */
    ng_status (*mla_join)(void *context, const ng_array *k, const ng_array *v,
                          const ng_array *kv, const ng_array *k_rope,
                          int64_t heads, int64_t nope);
    ng_status (*mla_join_backward)(void *context, const ng_array *grad_kv,
                                   const ng_array *grad_k_rope,
                                   const ng_array *grad_k,
                                   const ng_array *grad_v, int64_t heads,
                                   int64_t nope);
    /* y [T, heads v] = softmax(scale q k^T, causal) v; q [T, heads qk],
     * k [T, kv_heads qk], v [T, kv_heads v]; lse FP32 [T, heads]: the logarithm
     * of each row's sum of exponentials, kept for backward. */
    ng_status (*attention)(void *context, const ng_array *y,
                           const ng_array *lse, const ng_array *q,
                           const ng_array *k, const ng_array *v,
                           const ng_attention_shape *shape);
    ng_status (*attention_backward)(void *context, const ng_array *grad_q,
                                    const ng_array *grad_k,
                                    const ng_array *grad_v,
                                    const ng_array *grad_y, const ng_array *y,
                                    const ng_array *lse, const ng_array *q,
                                    const ng_array *k, const ng_array *v,
                                    const ng_attention_shape *shape);
    /* gate_up [T, 2F], gate first: y [T, F] = silu(gate) * up. weight, FP32
     * [T, 1] or null, multiplies each row before the one rounding. y in any
     * carrier of rows, and FP8_COL; gate_up FP32, BF16, FP8 or MXFP4.
     * backward: grad_h is the gradient of the unweighted h; grad_gate_up of
     * weight * h; grad_weight [T, 1] = grad_h . h, or null. */
    ng_status (*swiglu)(void *context, const ng_array *y,
                        const ng_array *gate_up, const ng_array *weight,
                        const ng_row_groups *groups, ng_events *events);
    ng_status (*swiglu_backward)(void *context, const ng_array *grad_gate_up,
                                 const ng_array *grad_weight,
                                 const ng_array *grad_h,
                                 const ng_array *gate_up,
                                 const ng_array *weight);

    /* ---- mixture of experts ---------------------------------------------- */
    /* Scores of FP32 logits [T, E] (bounded), then the exact choice on them.
     *   scores   out FP32 [T, E], kept for backward
     *   expert   out int32 [T, S]; weight out FP32 [T, S], slot order
     *   load     host, in-out [E]: tokens that chose each expert are added; a
     *            NaN row counts nowhere but in *nan_rows (host, in-out)
     *   balance  host, in-out: the sequence balance loss, summed over
     *            sequences, is added; not read with shape->balance 0
     *   bias     in FP32 [1, E], for the choice only; null: none
     * backward: grad_logits [T, E] from grad_weight [T, S] and, balance_scale
     * times, the balance loss. NaN rows get 0. */
    ng_status (*router)(void *context, const ng_array *scores, int32_t *expert,
                        const ng_array *weight, int64_t *load,
                        int64_t *nan_rows, double *balance,
                        const ng_array *logits, const ng_array *bias,
                        const ng_router_shape *shape);
    ng_status (*router_backward)(void *context, const ng_array *grad_logits,
                                 const ng_array *grad_weight,
                                 const ng_array *scores, const int32_t *expert,
                                 const ng_router_shape *shape,
                                 float balance_scale);
    /* Sort the T * S pairs (token, slot) by expert, stably.
     *   row      out int64 [T, S]: where the pair lies in expert order
     *   source   out int64 [T * S]: of each row, its pair t * S + s
     *   offsets  host, out [E + 1]: rows of each expert */
    ng_status (*permutation)(void *context, int64_t *row, int64_t *source,
                             int64_t *offsets, const int32_t *expert,
                             int64_t tokens, int64_t top_k, int64_t experts);
    /* y[i] = x[index[i] / divisor], codes and scales moved: any carrier of
     * rows, the same on both sides. Exact. */
    ng_status (*gather)(void *context, const ng_array *y, const ng_array *x,
                        const int64_t *index, int64_t divisor);
    /* y[t] = slot 0's RN32(w y), then fma(w, y, acc) in slot order, rounded
     * once: exact. x: the rows in expert order, any carrier of rows (its exact
     * values); row as permutation made it; weight FP32 [T, S], null: all 1
     * (backward of dispatch). add [T, H] or null: y = add + that, one more FP32
     * addition before the rounding. */
    ng_status (*combine)(void *context, const ng_array *y, const ng_array *x,
                         const int64_t *row, const ng_array *weight,
                         const ng_array *add, int64_t top_k);

    /* ---- loss ---------------------------------------------------------------
     * Sum over rows with target >= 0 of log(sum exp z) - z[target], FP64, in
     * ascending row, added to *loss (host); their number to *n. grad_logits
     * (may be null; may be the logits themselves) = (softmax - one-hot) *
     * scale, 0 in the rows without a target. */
    ng_status (*cross_entropy)(void *context, double *loss, int64_t *n,
                               const ng_array *grad_logits,
                               const ng_array *logits, const int32_t *targets,
                               float scale);

    /* ---- parameters ------------------------------------------------------ */
    /* sum          y[i] = RN32(a[i] + b[i]), y may be a: a node of the tree of
     *              shards
     * sum_squares  host FP64, of FP32 numbers in ascending order
     * is_finite    host: whether every element of g, widened and multiplied by
     *              its scale as a step does, is finite; true for n = 0
     * step         one optimizer step, bits of semantics.md 9 (ng_ref_step has
     *              the arguments); what happened is added to *counts (host), at
     *              the latest when wait returns
     * split, merge weights from FP32 numbers theta [n] and back, semantics.md 8
     * Tensors and a gradient's scale are the backend's; views, constants, rules
     * and counts are the host's. step, split and merge are exact. */
    ng_status (*sum)(void *context, float *y, const float *a, const float *b,
                     int64_t n);
    ng_status (*sum_squares)(void *context, double *sum, const float *x,
                             int64_t n);
    ng_status (*is_finite)(void *context, bool *finite, const ng_gradient *g,
                           int64_t n);
    ng_status (*step)(void *context, const ng_weights *theta, const ng_state *m,
                      const ng_state *v, const ng_gradient *g, int64_t n,
                      const ng_step_constants *c, const ng_rules *rules,
                      ng_optim_counts *counts);
    ng_status (*split)(void *context, const ng_weights *weights,
                       const float *theta, int64_t n, const ng_rules *rules,
                       ng_optim_counts *counts);
    ng_status (*merge)(void *context, float *theta, const ng_weights *weights,
                       int64_t n, const ng_rules *rules);

    /* ---- the user's own -------------------------------------------------- */
    const ng_own_kernels *own; /* null: a recipe cannot name any */
};

/* The reference: host memory, OpenMP threads. One table, never freed. */
const ng_backend *ng_backend_reference(void);

#ifdef __cplusplus
}
#endif

#endif
