/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the model share: the list of parameters, layers with their
 * working weights, and a pass over one shard. Private to reference/model/.
 */
#ifndef NG_REFERENCE_MODEL_MODEL_PARTS_H
#define NG_REFERENCE_MODEL_MODEL_PARTS_H

#include "reference/model/model.h"
#include "reference/model/own_operation.h"
#include "reference/train/tree_sum.h"

/* ---- the list of parameters ---------------------------------------------- */

typedef enum ng_role {
    NG_ROLE_EMBEDDING,
    NG_ROLE_ATTENTION_NORM,
    NG_ROLE_QKV, /* GQA: q, k and v above each other */
    NG_ROLE_Q,   /* MLA without q_rank */
    NG_ROLE_Q_DOWN,
    NG_ROLE_Q_NORM,
    NG_ROLE_Q_UP,
    NG_ROLE_KV_DOWN,
    NG_ROLE_KV_NORM,
    NG_ROLE_KV_UP,
    NG_ROLE_OUT,
    NG_ROLE_FFN_NORM,
    NG_ROLE_GATE_UP, /* dense, or the shared experts' */
    NG_ROLE_DOWN,
    NG_ROLE_ROUTER,
    NG_ROLE_EXPERT_GATE_UP,
    NG_ROLE_EXPERT_DOWN,
    NG_ROLE_MTP_HIDDEN_NORM,
    NG_ROLE_MTP_TOKEN_NORM,
    NG_ROLE_MTP_PROJECT,
    NG_ROLE_MTP_NORM,
    NG_ROLE_NORM, /* before the head */
    NG_ROLE_HEAD,
    NG_N_ROLES
} ng_role;

typedef struct ng_listed {
    ng_role role;
    int64_t layer;  /* layers, then the MTP modules; -1: none */
    int64_t expert; /* -1: none */
    ng_site site;   /* of matrices but the embedding and the router */
    bool norm;
    int64_t rows, cols; /* a norm is [1, cols] */
    double init_std;
} ng_listed;

/* Call visit for each parameter in its order, until one returns false. */
typedef bool ng_visit(void *context, const ng_listed *parameter);
void ng_model_list(const ng_model_config *config, ng_visit *visit,
                   void *context);

/* Its name, [NG_MAX_NAME]. */
void ng_listed_name(char *name, const ng_model_config *config,
                    const ng_listed *parameter);

/* Whether a parameter of some configuration, or the biases of a layer's router,
 * can have this name. */
bool ng_model_is_name(const char *name);

/* Layers, MTP modules included; whether one is a mixture of experts; how many
 * are; which of those a layer is. */
int64_t ng_model_blocks(const ng_model_config *config);
bool ng_model_is_moe(const ng_model_config *config, int64_t layer);
int64_t ng_model_moe_layers(const ng_model_config *config);
int64_t ng_model_moe_index(const ng_model_config *config, int64_t layer);

/* ---- weights ------------------------------------------------------------- */

/* Working copies of a matrix, or of a batch of them: for the forward product,
 * and for the backward one (the same array where the formats are), with its
 * transpose where that is FP8. */
typedef struct ng_linear {
    int64_t parameter; /* the first of batch; -1: there is none */
    int64_t batch, outputs, inputs;
    ng_carrier multiply, multiply_grad;
    ng_array forward, backward, transposed;
} ng_linear;

/* A kernel of the user's that stands in at a site of a layer. */
typedef struct ng_own {
    const ng_own_operation *operation; /* null: there is none */
    const ng_own_kernels *kernels;
    int kernel;
    const char *text; /* of the recipe: SUBJECT:OPERATION */
    ng_site site;
    int64_t layer; /* -1: the head */
} ng_own;

typedef struct ng_norm {
    int64_t parameter;
    ng_array w; /* FP32 [1, cols] */
} ng_norm;

typedef struct ng_layer {
    int64_t index;
    const ng_layer_recipe *recipe;
    ng_own own[NG_N_SITES];
    ng_norm attention_norm, q_norm, kv_norm, ffn_norm;
    ng_linear qkv, q, q_down, q_up, kv_down, kv_up, out;
    bool moe;
    ng_linear gate_up, down; /* dense, or shared: parameter -1 without */
    ng_linear router;        /* FP32 */
    ng_linear expert_gate_up, expert_down; /* of the local experts */
    ng_array bias;                         /* FP32 [1, E], for the choice */
    int64_t moe_index;
    /* MTP modules only */
    ng_norm hidden_norm, token_norm, mtp_norm;
    ng_linear project;
} ng_layer;

typedef struct ng_slot {
    ng_listed listed;
    ng_model_parameter seen;
    int64_t offset; /* of its gradient in its arena */
} ng_slot;

/* What a shard adds to the numbers of a step. 8 bytes each, so that ranks can
 * exchange them as integers. */
typedef struct ng_shard_numbers {
    double loss, mtp_loss, balance;
    int64_t targets;
} ng_shard_numbers;
enum { NG_SHARD_WORDS = sizeof(ng_shard_numbers) / sizeof(int64_t) };

struct ng_model {
    ng_model_config config;
    ng_recipe recipe;
    const ng_backend *backend;
    const ng_comm *comm;

    int64_t n_slots;
    ng_slot *slots;
    int64_t n_blocks;
    ng_layer *layers;
    ng_array embedding; /* BF16, or FP32 where the residual is */
    int64_t embedding_parameter;
    ng_norm norm;
    ng_linear head;
    ng_own head_own;

    /* Experts first .. last - 1 are here; a rank has *share = its first expert,
     * [size + 1]. */
    int64_t first_expert, last_expert;
    int64_t *expert_share;

    /* Gradients: one tree of the parameters that every rank has, one of those
     * of the local experts. */
    int64_t n_shared, n_local; /* FP32 numbers */
    ng_tree shared, local;
    bool stepping, ended;
    int64_t n_shards, n_targets;
    int64_t waves_done;
    ng_shard_numbers *numbers; /* [n_shards] */
    int64_t *load;             /* [moe layers][experts], of the step */
    float *bias;               /* host, [moe layers][experts] */
    ng_model_result counted;   /* this rank's counters */
};

/* The norm, or the linear layer, that a parameter belongs to. */
ng_norm *ng_model_norm_of(ng_model *model, const ng_listed *listed);
ng_linear *ng_model_linear_of(ng_model *model, const ng_listed *listed);

/* Ask for the kernels that the recipe names. Returns NG_OK, NG_BAD_VALUE for one
 * that no layer could call, or what opening one did; the line in *error. */
ng_status ng_model_open_own(ng_model *model, ng_error *error);

/* The kernel where a parameter is multiplied. */
const ng_own *ng_model_own_of(const ng_model *model, const ng_listed *listed);

/* Whether a kernel does such a call, y from a: one of its operation that is not
 * empty. And do it: NG_OK, or what run returned, with one line in *error. */
bool ng_own_does(const ng_own *own, ng_own_call call, const ng_array *y,
                 const ng_array *a);
ng_status ng_own_run(const ng_own *own, const ng_array *y, const ng_array *a,
                     const ng_array *b, const ng_row_groups *groups,
                     ng_error *error);

/* Memory of the backend for an array whose shape is set: data and scales in one
 * block, freed by way of its data. False without. */
bool ng_model_allocate(const ng_model *model, ng_array *array);

/* ---- a pass over a shard ------------------------------------------------- */

/* What backward reads of a layer. NG_CARRY_NONE: not kept. */
typedef enum ng_kept {
    NG_KEPT_X,  /* the layer's input */
    NG_KEPT_N1, /* its norm, as the attention's products take it */
    NG_KEPT_CQ,
    NG_KEPT_CQN,
    NG_KEPT_CKV,
    NG_KEPT_CKVN,
    NG_KEPT_K_ROPE,
    NG_KEPT_Q,
    NG_KEPT_K,
    NG_KEPT_V,
    NG_KEPT_Y,
    NG_KEPT_LSE,
    NG_KEPT_X2, /* after the attention */
    NG_KEPT_N2, /* its norm, as the dense or shared FFN takes it */
    NG_KEPT_GATE_UP,
    NG_KEPT_H,
    NG_KEPT_N2_ROUTER, /* its norm in BF16, for the router */
    NG_KEPT_SCORES,
    NG_KEPT_ROUTE_WEIGHT,
    NG_KEPT_ARRIVED, /* rows that the local experts were sent */
    NG_KEPT_EXPERT_GATE_UP,
    NG_N_KEPT
} ng_kept;

typedef struct ng_saved {
    ng_array a[NG_N_KEPT];
    int32_t *expert;          /* [T, S], the backend's */
    int64_t *host_offsets;    /* [E + 1]: rows of each expert of this shard */
    int64_t *arrived_offsets; /* [size][local experts + 1] */
    int64_t arrived;          /* rows */
} ng_saved;

/* A pass. status is sticky: after the first failure nothing more is done. */
typedef struct ng_pass {
    ng_model *model;
    const ng_backend *b;
    void *c; /* the backend's context */
    ng_error *error;
    ng_status status;
    const ng_own *own; /* of the site under way; null: of none */
    ng_carrier act;    /* of activations: the residual's */
    int64_t sequences, length, rows;
    bool gradients;       /* keep what backward reads */
    bool again;           /* a recomputation: count nothing */
    float *shared_leaf;   /* gradients of this shard */
    float **local_leaves; /* [size]: of each rank's shard */
    ng_shard_numbers *numbers;
    float balance_scale;
} ng_pass;

#define NG_DO(p, call)            \
    do {                          \
        if ((p)->status == NG_OK) \
            (p)->status = (call); \
    } while (0)

/* From here on the kernel of a site stands in where it can; returns what did
 * before, to be put back into p->own at the end of the site's part. */
const ng_own *ng_enter(ng_pass *p, const ng_layer *layer, ng_site site);

/* The backend's calls, or the kernel's: y from x; SwiGLU, weight null or [T, 1];
 * its gradients. Elements that they quantise, and what happened to them, are
 * counted; of a kernel's nothing is known but how many there were. */
void ng_convert(ng_pass *p, const ng_array *y, const ng_array *x,
                const ng_row_groups *groups);
void ng_gate(ng_pass *p, const ng_array *h, const ng_array *gate_up,
             const ng_array *weight, const ng_row_groups *groups);
void ng_gate_backward(ng_pass *p, const ng_array *grad_gate_up,
                      const ng_array *grad_weight, const ng_array *grad_h,
                      const ng_array *gate_up, const ng_array *weight);

/* A new array (data null if the pass has failed); freed with ng_drop, which
 * leaves NG_CARRY_NONE. blocks: of FP8_COL. */
ng_array ng_make(ng_pass *p, ng_carrier carrier, int64_t rows, int64_t cols);
ng_array ng_make_col(ng_pass *p, int64_t rows, int64_t cols,
                     const ng_row_groups *groups);
void ng_drop(ng_pass *p, ng_array *array);

/* A host array of n integers of 64 bits; null if the pass has failed. */
int64_t *ng_make_integers(ng_pass *p, int64_t n);

/* *x in another carrier; the old one is dropped. */
void ng_become(ng_pass *p, ng_array *x, ng_carrier carrier);

/* x itself, or converted; whether it has to be dropped. */
typedef struct ng_borrowed {
    ng_array a;
    bool owned;
} ng_borrowed;
ng_borrowed ng_as(ng_pass *p, const ng_array *x, ng_carrier carrier);
ng_borrowed ng_as_col(ng_pass *p, const ng_array *x,
                      const ng_row_groups *groups);
void ng_return(ng_pass *p, ng_borrowed *borrowed);

/* ---- linear layers and norms in a pass ----------------------------------- */

/* x w^T of x in any carrier of rows. */
ng_array ng_forward(ng_pass *p, const ng_linear *linear, const ng_array *x,
                    ng_carrier out, const ng_row_groups *groups);
ng_array ng_backward(ng_pass *p, const ng_linear *linear,
                     const ng_array *grad_y, ng_carrier out,
                     const ng_row_groups *groups);
/* Add to the gradient: leaf is the arena's of that shard. x may be FP8_COL. */
void ng_weight_gradient(ng_pass *p, const ng_linear *linear,
                        const ng_array *grad_y, const ng_array *x,
                        const ng_row_groups *groups, float *leaf);

ng_array ng_normalize(ng_pass *p, const ng_norm *norm, const ng_array *x);
/* grad_x in `out`, with grad_add (may be null) added; the norm's gradient too.
 */
ng_array ng_normalize_backward(ng_pass *p, const ng_norm *norm,
                               const ng_array *grad_y, const ng_array *x,
                               const ng_array *grad_add, ng_carrier out);

/* A parameter's gradient in a leaf. */
ng_array ng_gradient_in(const ng_model *model, int64_t parameter, float *leaf,
                        int64_t batch);

/* ---- the parts of a layer ------------------------------------------------ */

/* x2 = x + attention(norm(x)); keeps in saved. Input: saved->a[NG_KEPT_X]. */
void ng_attention_forward(ng_pass *p, const ng_layer *layer, ng_saved *saved);
/* The gradient of x from that of x2, which is dropped. */
ng_array ng_attention_backward(ng_pass *p, const ng_layer *layer,
                               ng_saved *saved, ng_array *grad_x2);

/* x3 = x2 + ffn(norm(x2)). */
ng_array ng_ffn_forward(ng_pass *p, const ng_layer *layer, ng_saved *saved);
ng_array ng_ffn_backward(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                         ng_array *grad_x3);

/* A SwiGLU of a site on the input n: what it adds; keeps gate_up and h. And its
 * gradient by n, FP32. */
ng_array ng_gated_forward(ng_pass *p, const ng_layer *layer, ng_site site,
                          ng_saved *saved, const ng_array *n);
ng_array ng_gated_backward(ng_pass *p, const ng_layer *layer, ng_site site,
                           ng_saved *saved, const ng_array *n,
                           const ng_array *grad);

/* The same of a mixture of experts. Collective. */
ng_array ng_moe_forward(ng_pass *p, const ng_layer *layer, ng_saved *saved);
ng_array ng_moe_backward(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                         ng_array *grad_x3);

/* A whole layer: *x is taken over, and replaced by what comes out. */
void ng_layer_forward(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                      ng_array *x);
void ng_layer_backward(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                       ng_array *grad);
void ng_saved_free(ng_pass *p, ng_saved *saved);

/* Exchange of rows: x holds rows for rank 0, 1 ...; y gets those from them.
 * Bytes are added to *sent and counted as wire. */
void ng_exchange_rows(ng_pass *p, const ng_array *y, const int64_t *from_rows,
                      const ng_array *x, const int64_t *to_rows, int64_t *sent);

/* Norm, head and loss of a residual stream x: its gradient, FP32, or none
 * without gradients. targets in the backend's memory. */
ng_array ng_head_loss(ng_pass *p, const ng_norm *norm, const ng_array *x,
                      const int32_t *targets, double *loss, int64_t *n,
                      float scale);

/* ---- saved bytes --------------------------------------------------------- */

typedef enum ng_kept_kind {
    NG_KEPT_FOR_MOE,
    NG_KEPT_FOR_ATTENTION,
    NG_KEPT_FOR_OTHER,
    NG_N_KEPT_KINDS
} ng_kept_kind;

/* Whether a recomputation choice leaves an array out. */
bool ng_keeps(ng_recompute recompute, ng_kept kept);
ng_kept_kind ng_kept_kind_of(ng_kept kept, bool moe);

#endif
