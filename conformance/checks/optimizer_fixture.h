/* SPDX-License-Identifier: Apache-2.0
 *
 * Small optimizers for tests: three groups, one of them without parameters, and
 * a gradient for any step that is a function of the step alone.
 */
#ifndef NG_CONFORMANCE_CHECKS_OPTIMIZER_FIXTURE_H
#define NG_CONFORMANCE_CHECKS_OPTIMIZER_FIXTURE_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile.h"
#include "reference/convert/ref_philox.h"
#include "reference/optim/optimizer.h"
#include "reference/optim/ref_split_weights.h"

/* A way to keep parameters. */
typedef struct storage {
    const char *name;
    ng_dtype weights;
    int correction_bits;
    ng_state_coding momentum, variance;
    ng_dtype gradients;
    const char *profile;
} storage;

static const storage storages[] = {
    {"fp32", NG_FP32, 0, NG_STATE_FP32, NG_STATE_FP32, NG_FP32, "ng"},
    {"flash", NG_BF16, 8, NG_STATE_COMPANDED, NG_STATE_COMPANDED, NG_BF16,
     "ng"},
    {"flashoptim", NG_BF16, 8, NG_STATE_COMPANDED, NG_STATE_COMPANDED, NG_BF16,
     "flashoptim"},
    {"wide", NG_BF16, 16, NG_STATE_FP32, NG_STATE_COMPANDED, NG_FP32, "ng"},
    {"linear", NG_FP16, 16, NG_STATE_LINEAR, NG_STATE_LINEAR, NG_FP16, "ng"},
    {"bf16", NG_BF16, 0, NG_STATE_COMPANDED, NG_STATE_FP32, NG_BF16, "ng"},
};

enum { N_STORAGES = sizeof storages / sizeof *storages };

static const storage *const flash = &storages[1];

static const ng_hyper fixture_hyper = {.lr = 1e-2, .lr0 = 1e-2, .beta1 = 0.9,
                                       .beta2 = 0.99, .momentum = 0.9,
                                       .eps = 1e-8, .weight_decay = 0.1};

static inline float fixture_number(uint64_t stream, int64_t i)
{
    const uint32_t word = ng_ref_philox(27, stream, (uint64_t)i) >> 8;

    return (float)word * 0x1p-23f - 1.0f;
}

/* Make an optimizer without parameters, three groups alike but for the lr. */
static inline ng_optimizer *fixture_empty(ng_optimizer_kind kind,
                                          const storage *how)
{
    ng_group_settings settings = {fixture_hyper, how->weights,
                                  how->correction_bits, how->momentum,
                                  how->variance, how->gradients};
    ng_optimizer *optimizer;
    ng_profile profile;

    ck_assert_int_eq(ng_profile_load(&profile, how->profile, NULL), NG_OK);
    ck_assert_int_eq(ng_optimizer_create(&optimizer, kind, &profile.rules,
                                         NULL), NG_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(ng_optimizer_add_group(NULL, optimizer, &settings,
                                                NULL), NG_OK);
        settings.hyper.lr *= 0.5;
    }
    return optimizer;
}

static inline void fixture_add(ng_optimizer *optimizer, int64_t group,
                               const char *name, int rank, int64_t rows,
                               int64_t columns, bool zeros)
{
    const int64_t shape[] = {rows, columns};
    const int64_t n = rank == 0 ? 1 : rank == 1 ? rows : rows * columns;
    float *theta = malloc((size_t)n * sizeof *theta + 1);

    ck_assert_ptr_nonnull(theta);
    for (int64_t i = 0; i < n; i++)
        theta[i] = fixture_number(1000 + (uint64_t)name[0], i);
    ck_assert_int_eq(ng_optimizer_add_parameter(NULL, optimizer, group, name,
                                                rank, shape,
                                                zeros ? NULL : theta, NULL),
                     NG_OK);
    free(theta);
}

/* Groups 0 and 2 have parameters (a matrix with a short last group of 32, a
 * vector, a scalar, one without elements), group 1 has none. */
static inline ng_optimizer *fixture_make(ng_optimizer_kind kind,
                                         const storage *how, bool zeros)
{
    ng_optimizer *optimizer = fixture_empty(kind, how);

    fixture_add(optimizer, 0, "matrix", 2, 5, 21, zeros);
    fixture_add(optimizer, 2, "vector", 1, 64, 1, zeros);
    fixture_add(optimizer, 2, "scalar", 0, 1, 1, zeros);
    fixture_add(optimizer, 0, "empty", 2, 0, 7, zeros);
    return optimizer;
}

/* Fill in the gradient of a parameter for a step. */
static inline void fixture_gradient(ng_optimizer *optimizer, int64_t parameter,
                                    int64_t step)
{
    const ng_parameter *p = ng_optimizer_parameter(optimizer, parameter);
    const ng_weights narrow = {.dtype = p->gradient_dtype};
    float *g = malloc((size_t)p->n * sizeof *g + 1);
    ng_weights y = narrow;

    ck_assert_ptr_nonnull(g);
    for (int64_t i = 0; i < p->n; i++) {
        const float x =
            fixture_number((uint64_t)(100 * step + parameter), i);

        g[i] = x * x * x;
    }
    ck_assert_int_eq(ng_optimizer_gradient(&y.low, optimizer, parameter, NULL),
                     NG_OK);
    ck_assert_int_eq(ng_ref_split_weights(&y, g, p->n, NULL), NG_OK);
    free(g);
}

/* Take step number `step` (from 0) of every parameter. */
static inline void fixture_step(ng_optimizer *optimizer, int64_t step)
{
    bool stepped = false;

    for (int64_t i = 0; i < ng_optimizer_n_parameters(optimizer); i++)
        fixture_gradient(optimizer, i, step);
    ck_assert_int_eq(ng_optimizer_step(&stepped, optimizer, NULL, NULL), NG_OK);
    ck_assert(stepped);
}

/* Hold two optimizers against each other: all that a file keeps, by bits. */
static inline void fixture_expect_equal(const ng_optimizer *a,
                                        const ng_optimizer *b)
{
    ng_tensor_file x = {0}, y = {0};

    ck_assert_int_eq(ng_optimizer_to_tensors(&x, a, NULL), NG_OK);
    ck_assert_int_eq(ng_optimizer_to_tensors(&y, b, NULL), NG_OK);
    ck_assert_uint_eq(x.n_tensors, y.n_tensors);
    ck_assert_uint_eq(x.n_metadata, y.n_metadata);
    for (size_t i = 0; i < x.n_tensors; i++) {
        int64_t units, bytes;

        ck_assert_str_eq(x.tensors[i].name, y.tensors[i].name);
        ck_assert_int_eq(ng_tensor_extent(&units, &bytes, &x.tensors[i]),
                         NG_OK);
        ck_assert_mem_eq(x.tensors[i].data, y.tensors[i].data, (size_t)bytes);
    }
    for (size_t i = 0; i < x.n_metadata; i++) {
        ck_assert_str_eq(x.metadata[i].name, y.metadata[i].name);
        ck_assert_str_eq(x.metadata[i].value, y.metadata[i].value);
    }
    ng_tensor_file_free(&x);
    ng_tensor_file_free(&y);
}

#endif
