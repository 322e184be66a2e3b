/* SPDX-License-Identifier: Apache-2.0
 *
 * A decoder of DeepSeek-V3's shape: embedding; layers of RMSNorm, attention
 * (MLA, or multi-head and grouped-query), RMSNorm, SwiGLU (dense in the first
 * layers, then a mixture of experts with shared ones); norm, head, cross
 * entropy; optionally modules that predict further tokens (MTP). It computes
 * through a backend, in the formats of a recipe, on any number of ranks.
 *
 * Ranks. A step is a fixed number of shards (micro-batches), whatever the
 * number of ranks. Experts are shared out over the ranks, everything else is on
 * each. Expert work is done for each (expert, source shard) by itself, and
 * gradients are summed over the shards in a binary tree of the shards' numbers:
 * losses and gradients are the same bits on any number of ranks.
 *
 *     ng_model_create(&model, &config, &recipe, backend, comm, &error);
 *     for each parameter p that is local: make theta (ng_model_initial, or a
 *         checkpoint), then ng_model_load(model, p, theta, &error);
 *     each step:
 *         ng_model_begin_step(model, n_shards, n_targets, &error);
 *         for each wave: ng_model_forward_backward(model, &shard, &error);
 *         ng_model_end_step(&result, model, &error);
 *         ng_model_gradient(model, p) of each local p: to the optimizer
 *         ng_model_update_router(model);      if the step is taken
 *         ng_model_load(model, p, theta, &error) with the new theta
 *
 * Collective calls are marked; every rank makes them in the same order.
 */
#ifndef NG_REFERENCE_MODEL_MODEL_H
#define NG_REFERENCE_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/events.h"
#include "formats/status.h"
#include "formats/tensor.h"
#include "reference/backend.h"
#include "reference/model/recipe.h"
#include "reference/train/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ng_attention_kind {
    NG_ATTENTION_MLA,
    NG_ATTENTION_GQA /* kv_heads == heads: plain multi-head; 1: MQA */
} ng_attention_kind;

/* Zero bytes are no model; ng_model_config_default is a small one. Names in
 * configurations are those of the fields. */
typedef struct ng_model_config {
    int64_t vocabulary, hidden, layers;
    int64_t length; /* longest sequence */
    ng_attention_kind attention;
    int64_t heads;
    int64_t kv_heads; /* GQA */
    int64_t head_dim; /* GQA: of q, k and v; all of it is rotated */
    int64_t q_rank;   /* MLA: 0: q straight from hidden */
    int64_t kv_rank;  /* MLA */
    int64_t nope_dim, rope_dim, v_dim; /* MLA: of a head */
    double rope_base;
    int64_t ffn;            /* width of the dense SwiGLU */
    int64_t dense_layers;   /* so many first layers are dense */
    int64_t experts;        /* 0: every layer is dense */
    int64_t shared_experts; /* one SwiGLU of width shared_experts*expert_ffn */
    int64_t top_k, expert_ffn;
    int64_t expert_groups, top_groups; /* 1, 1: no limit by group */
    bool softmax_router;               /* else sigmoid */
    bool normalize_weights;
    double route_scale;
    double bias_speed;   /* of the selection bias, a step; 0: it stays as it is
                            (0, or what was loaded) */
    double balance_loss; /* alpha of the sequence balance loss; 0: none */
    int64_t mtp_depth;   /* modules that predict further tokens; 0 */
    double mtp_weight;   /* lambda: their mean loss times it */
    double norm_eps;
    double init_std; /* normal; see ng_model_initial */
    bool tie_head;   /* the head is the embedding's table */
} ng_model_config;

ng_model_config ng_model_config_default(void);

/* Whether such a model can be: one line about the first field that cannot. */
ng_status ng_model_config_check(const ng_model_config *config, ng_error *error);

typedef struct ng_model ng_model;

/* Make a model; config and recipe are copied, backend and comm are kept.
 * Parameters are not set: load each. Null is allowed in free.
 * Returns NG_OK, NG_BAD_POINTER, NG_BAD_VALUE (config), NG_NOT_COVERED (a recipe
 * that names kernels where the backend takes none), what opening a kernel
 * returned, or NG_NO_MEMORY, with one line and *out untouched. Not collective.
 * Where a kernel fails later, loading and steps return NG_BAD_SUBJECT. */
ng_status ng_model_create(ng_model **out, const ng_model_config *config,
                          const ng_recipe *recipe, const ng_backend *backend,
                          const ng_comm *comm, ng_error *error);
void ng_model_free(ng_model *model);

/* ---- parameters ---------------------------------------------------------- */

typedef enum ng_decay_class {
    NG_DECAY,   /* matrices */
    NG_NO_DECAY /* norms */
} ng_decay_class;

/* A parameter as the optimizer sees it. The list, names and order included, is
 * the same on every rank; each expert's matrices are parameters of their own.
 * Names: "embedding", "layers.3.attention.q_up", "layers.3.experts.7.gate_up",
 * "layers.3.experts.7.down", "layers.3.router", "norm", "head", "mtp.0. ...".
 */
typedef struct ng_model_parameter {
    char name[NG_MAX_NAME];
    int rank;         /* 1 or 2 */
    int64_t shape[2]; /* matrices [outputs, inputs], gate above up */
    int64_t n;
    ng_decay_class decay;
    int owner;       /* rank that has it, or -1: every one */
    bool local;      /* this rank has it */
    double init_std; /* 0: starts at 1 (norms) */
} ng_model_parameter;

int64_t ng_model_n_parameters(const ng_model *model);
const ng_model_parameter *ng_model_parameter_of(const ng_model *model,
                                                int64_t parameter);

/* First values of a parameter: a function of seed, number and shape alone.
 * Normal of the standard deviation init_std, from ng_ref_philox, stream
 * `parameter`, by sums that need no libm. Host memory, [n]. */
void ng_model_initial(float *theta, const ng_model *model, int64_t parameter,
                      uint64_t seed);

/* Give a local parameter its value: FP32 [n] in host memory, converted to what
 * the recipe multiplies. Before the first step and after each. */
ng_status ng_model_load(ng_model *model, int64_t parameter, const float *theta,
                        ng_error *error);

/* The same of theta in the backend's memory, where it stays. */
ng_status ng_model_load_there(ng_model *model, int64_t parameter,
                              const float *theta, ng_error *error);

/* The gradient of a local parameter after end_step: FP32 [n] in the backend's
 * memory, until the next begin_step. Null if it is not local. */
const float *ng_model_gradient(const ng_model *model, int64_t parameter);

/* What training changes besides the parameters, for checkpoints: the routers'
 * selection biases, FP32 [moe layers][experts], the MTP modules' last; the same
 * on every rank. n may be 0. */
int64_t ng_model_n_state(const ng_model *model);
void ng_model_get_state(float *state, const ng_model *model);
ng_status ng_model_set_state(ng_model *model, const float *state,
                             ng_error *error);

/* ---- a step -------------------------------------------------------------- */

/* One micro-batch. tokens and targets: host, [sequences][length], in [0,
 * vocabulary); target -1: not counted. The MTP module of depth d is trained on
 * targets d further on within the sequence. */
typedef struct ng_model_shard {
    int64_t shard; /* its number in the step, or -1: this rank has none
                      in this wave, and only serves its experts */
    int64_t sequences, length;
    const int32_t *tokens, *targets;
} ng_model_shard;

/* Start a step of n_shards shards with n_targets targets in all (the loss and
 * its gradient are means over them). */
ng_status ng_model_begin_step(ng_model *model, int64_t n_shards,
                              int64_t n_targets, ng_error *error);

/* Collective. The shards of this rank (ng_comm_share), ascending, one a call;
 * ng_comm_waves calls on every rank, those past its last shard with -1. */
ng_status ng_model_forward_backward(ng_model *model,
                                    const ng_model_shard *shard,
                                    ng_error *error);

/* Numbers of a step, the same on every rank. Counters are of all ranks. */
typedef struct ng_model_result {
    double loss;         /* mean over the targets, the main head's */
    double mtp_loss;     /* mean over modules and targets; 0 without */
    double balance_loss; /* as added to the loss; 0 without */
    int64_t targets;
    int64_t nan_rows;  /* rows of routers that held a NaN */
    ng_events events;  /* of conversions: inexact, saturated, nan ... */
    int64_t converted; /* elements that they converted */
    int64_t uncounted; /* that a kernel of the recipe's converted: no more is
                          known of those */
    /* Bytes that left the layers for the experts (and came back), rows to this
     * rank itself included, so that they do not depend on the ranks; twice
     * where backward makes the whole layer again. */
    int64_t sent_dispatch, sent_combine, sent_grad_y, sent_grad_x;
    int64_t sent_wire; /* of those, bytes that crossed to another rank */
    /* Bytes kept from forward to backward of one shard, on whatever rank: the
     * mean over the shards of the step (cut to a whole number, if they are not
     * alike), which does not depend on the ranks. */
    int64_t stored_moe; /* by the MoE parts */
    int64_t stored_attention, stored_other;
    int64_t moe_layers; /* rows of load; MTP modules last */
} ng_model_result;

/* Collective. Sum gradients, losses and counters over shards and ranks. */
ng_status ng_model_end_step(ng_model_result *result, ng_model *model,
                            ng_error *error);

/* Collective; after end_step. The Euclidean norm of all gradients, each
 * parameter's squares summed in FP64 by the backend, those sums in the order of
 * the parameters: the same bits on any number of ranks. NaN or Inf if one is.
 */
ng_status ng_model_gradient_norm(double *norm, ng_model *model,
                                 ng_error *error);

/* Tokens that chose each expert in the step: [moe_layers][experts], all ranks.
 * Valid from end_step to begin_step. */
const int64_t *ng_model_load_of_experts(const ng_model *model);

/* bias += bias_speed * sign(mean load - load) of each expert, in FP32, from the
 * loads of the step. Not collective: every rank does the same. */
void ng_model_update_router(ng_model *model);

/* ---- without gradients --------------------------------------------------- */

/* Collective. Sum of the main head's losses over a shard's targets, and their
 * number; *loss and *n are this rank's own shard's. shard->shard -1 as above.
 * Not between begin_step and end_step. */
ng_status ng_model_evaluate(double *loss, int64_t *n, ng_model *model,
                            const ng_model_shard *shard, ng_error *error);

/* Collective. Logits of the token after the last of n tokens (host, 1 .. length
 * of them): FP32 [vocabulary], host. The same tokens on every rank. */
ng_status ng_model_logits(float *logits, ng_model *model, const int32_t *tokens,
                          int64_t n, ng_error *error);

/* ---- explanation --------------------------------------------------------- */

/* What a run would be, for an estimate of its memory. */
typedef struct ng_explain_setting {
    int64_t ranks;             /* over which the experts are shared */
    int64_t sequences, length; /* of a shard */
    double optimizer_bytes;    /* a parameter: 7.125, 5.125, 16 ... */
    bool json;                 /* JSON instead of a page for people */
} ng_explain_setting;

/* Counts, by arithmetic alone: nothing is allocated, so that 671B parameters
 * are no trouble. Bytes of a token count scales and are a mean over nothing: a
 * row of each array, as the model stores and sends it. */
typedef struct ng_model_count {
    int64_t parameters, active; /* all; used by one token (MTP modules apart) */
    int64_t parameters_on_rank; /* of a rank that has the most experts */
    /* bytes a token in one MoE layer, the first: sent forward (both ways), sent
     * backward, kept by the MoE part */
    double sent_forward, sent_backward, stored_moe;
    double stored_token;    /* bytes a token kept in the whole model */
    double weight_bytes;    /* working copies of weights on a rank */
    double gradient_bytes;  /* their sum, FP32, once: without what the tree of
                               several shards holds on the way */
    double peak_activation; /* bytes on a rank: what is kept of a shard, and the
                               larger of its logits and of what the hungriest
                               layer makes again */
    double total; /* the three, and optimizer_bytes for each parameter */
} ng_model_count;

ng_status ng_model_count_of(ng_model_count *count,
                            const ng_model_config *config,
                            const ng_recipe *recipe,
                            const ng_explain_setting *setting, ng_error *error);

/* Print the flow of a dense and of a MoE layer, each tensor with its format and
 * its bytes a token, then parameters, memory, and the memory of the embedded
 * recipes beside each other for each choice of recomputation. Returns NG_OK,
 * NG_BAD_VALUE, NG_NO_MEMORY, or NG_BAD_FILE if the stream fails. */
ng_status ng_model_explain(FILE *out, const ng_model_config *config,
                           const ng_recipe *recipe,
                           const ng_explain_setting *setting, ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
