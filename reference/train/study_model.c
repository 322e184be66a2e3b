/* SPDX-License-Identifier: Apache-2.0
 *
 * Every loop adds a multiple of one row to another: no sum is split over lanes,
 * so that vectors change no bit. Backward, which needs the transposes, makes
 * them first.
 */
#include "reference/train/study_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/convert/ref_philox.h"
#include "reference/model/ref_exp.h"

enum {
    CONTEXT = NG_STUDY_CONTEXT,
    EMBEDDING = NG_STUDY_EMBEDDING,
    INPUT = NG_STUDY_INPUT,
    HIDDEN = NG_STUDY_HIDDEN,
    BYTES = NG_STUDY_BYTES
};

/* Uniform, of variance 1/inputs of each layer: bound = sqrt(3 / inputs). The
 * output starts small, so that the first loss is near log(256). */
const ng_study_tensor ng_study_tensors[NG_STUDY_N_TENSORS] = {
    {"embedding", 2, {BYTES, EMBEDDING}, BYTES *EMBEDDING, 0x1.bb67aep+0f},
    {"hidden.weight", 2, {INPUT, HIDDEN}, INPUT *HIDDEN, 0x1.bb67aep-4f},
    {"hidden.bias", 1, {HIDDEN}, HIDDEN, 0.0f},
    {"output.weight", 2, {HIDDEN, BYTES}, HIDDEN *BYTES, 0x1p-5f},
    {"output.bias", 1, {BYTES}, BYTES, 0.0f},
};

struct ng_study_model {
    float w1_transposed[HIDDEN * INPUT];
    float w2_transposed[BYTES * HIDDEN];
    float x[INPUT], a[HIDDEN], h[HIDDEN], z[BYTES]; /* of one sample */
    float grad_x[INPUT], grad_a[HIDDEN];
};

void ng_study_start(float *theta, int tensor, uint64_t seed)
{
    const ng_study_tensor *t = &ng_study_tensors[tensor];

    for (int64_t i = 0; i < t->n; i++) {
        /* 24 bits in [-1, 1), exact in FP32 */
        const uint32_t word =
            ng_ref_philox(seed, (uint64_t)tensor, (uint64_t)i) >> 8;

        theta[i] = ((float)word * 0x1p-23f - 1.0f) * t->bound;
    }
}

ng_study_model *ng_study_model_create(void)
{
    return malloc(sizeof(ng_study_model));
}

void ng_study_model_free(ng_study_model *model)
{
    free(model);
}

/* y += s * x */
static inline void add_row(float *restrict y, float s, const float *restrict x,
                           int n)
{
#ifdef _OPENMP
#pragma omp simd
#endif
    for (int i = 0; i < n; i++)
        y[i] += s * x[i];
}

/* Leave x, a, h and z of the sample in the workspace. */
static void forward(ng_study_model *model, const float *const *weight,
                    const uint8_t *context)
{
    for (int i = 0; i < CONTEXT; i++)
        memcpy(model->x + i * EMBEDDING,
               weight[NG_STUDY_EMBED] + context[i] * EMBEDDING,
               EMBEDDING * sizeof *model->x);
    memcpy(model->a, weight[NG_STUDY_B1], sizeof model->a);
    for (int i = 0; i < INPUT; i++)
        add_row(model->a, model->x[i], weight[NG_STUDY_W1] + i * HIDDEN,
                HIDDEN);
    for (int i = 0; i < HIDDEN; i++)
        model->h[i] = model->a[i] * ng_ref_sigmoid(model->a[i]);
    memcpy(model->z, weight[NG_STUDY_B2], sizeof model->z);
    for (int i = 0; i < HIDDEN; i++)
        add_row(model->z, model->h[i], weight[NG_STUDY_W2] + i * BYTES, BYTES);
}

/* The loss of the sample; z becomes the gradient of it, times `share`. */
static double cross_entropy(ng_study_model *model, int target, float share)
{
    float *z = model->z;
    float largest = z[0], sum = 0.0f;

    for (int i = 1; i < BYTES; i++)
        if (z[i] > largest)
            largest = z[i];

    const double of_target = (double)z[target] - (double)largest;

    for (int i = 0; i < BYTES; i++) {
        z[i] = ng_ref_exp(z[i] - largest);
        sum += z[i];
    }
    for (int i = 0; i < BYTES; i++)
        z[i] = z[i] / sum * share;
    z[target] -= share;
    return log((double)sum) - of_target;
}

/* Add the gradients of the sample whose forward pass, and gradient in z, the
 * workspace holds. */
static void backward(ng_study_model *model, float *const *grad,
                     const uint8_t *context)
{
    const float *grad_z = model->z;
    float *grad_a = model->grad_a;

    add_row(grad[NG_STUDY_B2], 1.0f, grad_z, BYTES);
    for (int i = 0; i < HIDDEN; i++)
        add_row(grad[NG_STUDY_W2] + i * BYTES, model->h[i], grad_z, BYTES);
    memset(grad_a, 0, sizeof model->grad_a);
    for (int j = 0; j < BYTES; j++)
        add_row(grad_a, grad_z[j], model->w2_transposed + j * HIDDEN, HIDDEN);
    for (int i = 0; i < HIDDEN; i++) {
        /* of a s(a): s + a s (1 - s) */
        const float s = ng_ref_sigmoid(model->a[i]);

        grad_a[i] *= s + model->a[i] * s * (1.0f - s);
    }
    add_row(grad[NG_STUDY_B1], 1.0f, grad_a, HIDDEN);
    for (int i = 0; i < INPUT; i++)
        add_row(grad[NG_STUDY_W1] + i * HIDDEN, model->x[i], grad_a, HIDDEN);
    memset(model->grad_x, 0, sizeof model->grad_x);
    for (int i = 0; i < HIDDEN; i++)
        add_row(model->grad_x, grad_a[i], model->w1_transposed + i * INPUT,
                INPUT);
    for (int i = 0; i < CONTEXT; i++)
        add_row(grad[NG_STUDY_EMBED] + context[i] * EMBEDDING, 1.0f,
                model->grad_x + i * EMBEDDING, EMBEDDING);
}

static void transpose(float *y, const float *x, int rows, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            y[j * rows + i] = x[i * columns + j];
}

double ng_study_loss(ng_study_model *model, float *const *grad,
                     const float *const *weight, const uint8_t *text,
                     const int64_t *positions, int64_t n)
{
    const float share = 1.0f / (float)n;
    double loss = 0.0;

    if (grad != NULL) {
        for (int i = 0; i < NG_STUDY_N_TENSORS; i++)
            memset(grad[i], 0, (size_t)ng_study_tensors[i].n * sizeof **grad);
        transpose(model->w1_transposed, weight[NG_STUDY_W1], INPUT, HIDDEN);
        transpose(model->w2_transposed, weight[NG_STUDY_W2], HIDDEN, BYTES);
    }
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *target = text + positions[i];

        forward(model, weight, target - CONTEXT);
        loss += cross_entropy(model, *target, share);
        if (grad != NULL)
            backward(model, grad, target - CONTEXT);
    }
    return loss / (double)n;
}
