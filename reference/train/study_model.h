/* SPDX-License-Identifier: Apache-2.0
 *
 * The small real task of the optimizer study: a byte-level language model that
 * predicts a byte from the 16 before it.
 *   x [16*16]  = the rows of `embedding` of the 16 bytes, oldest first
 *   h [128]    = silu(x hidden.weight + hidden.bias)
 *   z [256]    = h output.weight + output.bias
 *   loss       = the mean over samples of log(sum_j exp(z_j)) - z_target
 * where silu(a) = a/(1 + exp(-a)). FP32, each operation rounded, sums in a
 * fixed order, exp by the polynomial of ref_exp.h: the same bits on every
 * machine and for any number of threads. Only the loss itself, which is
 * reported and trains nothing, goes through log().
 */
#ifndef NG_REFERENCE_TRAIN_STUDY_MODEL_H
#define NG_REFERENCE_TRAIN_STUDY_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    NG_STUDY_CONTEXT = 16,
    NG_STUDY_EMBEDDING = 16,
    NG_STUDY_INPUT = NG_STUDY_CONTEXT * NG_STUDY_EMBEDDING,
    NG_STUDY_HIDDEN = 128,
    NG_STUDY_BYTES = 256
};

/* The parameters, by number. */
enum {
    NG_STUDY_EMBED, /* [256, 16] */
    NG_STUDY_W1,
    NG_STUDY_B1, /* [256, 128], [128] */
    NG_STUDY_W2,
    NG_STUDY_B2, /* [128, 256], [256] */
    NG_STUDY_N_TENSORS
};

typedef struct ng_study_tensor {
    const char *name;
    int rank;
    int64_t shape[2];
    int64_t n;
    float bound; /* starts uniform in [-bound, bound) */
} ng_study_tensor;

extern const ng_study_tensor ng_study_tensors[NG_STUDY_N_TENSORS];

/* The first values of a parameter: words of ng_ref_philox, stream `tensor`. */
void ng_study_start(float *theta, int tensor, uint64_t seed);

typedef struct ng_study_model ng_study_model; /* workspace */
ng_study_model *ng_study_model_create(void);  /* null without memory */
void ng_study_model_free(ng_study_model *model);

/* The loss over n > 0 samples, and the gradients of it where grad is not null.
 *   weight     in   NG_STUDY_N_TENSORS arrays
 *   grad       out  the same, overwritten; or null
 *   text       in   tokens
 *   positions  in   [n] where the predicted bytes are, each at least
 *                   NG_STUDY_CONTEXT */
double ng_study_loss(ng_study_model *model, float *const *grad,
                     const float *const *weight, const uint8_t *text,
                     const int64_t *positions, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
