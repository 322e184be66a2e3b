/* SPDX-License-Identifier: Apache-2.0
 *
 * From views to a job, and which of the kernels' instances takes it: what the
 * launchers and the host's twin have in common.
 */
#ifndef NG_CUDA_OPTIM_STEP_PICK_CUH
#define NG_CUDA_OPTIM_STEP_PICK_CUH

#include "cuda/optim/step_octet.cuh"
#include "cuda/vector.cuh"
#include "formats/status.h"

/* ---- what can be said of the views -------------------------------------- */

inline bool ng_cuda_is_number(ng_dtype dtype)
{
    return dtype == NG_FP32 || dtype == NG_BF16 || dtype == NG_FP16;
}

/* Null, or not aligned for units of that many bytes, where there are n > 0. */
inline bool ng_cuda_bad_array(const void *data, int64_t n, size_t unit)
{
    return n > 0 && (data == nullptr || (uintptr_t)data % unit != 0);
}

/* n elements of four bytes are the most that an array of a call takes. */
inline ng_status ng_cuda_check_count(int64_t n, const ng_optim_options *options)
{
    if (n < 0 || n > INT64_MAX / 4)
        return NG_BAD_SHAPE;
    return options == nullptr || options->rules == nullptr
                   || ng_rules_valid(options->rules)
               ? NG_OK
               : NG_BAD_RULES;
}

inline ng_status ng_cuda_check_weights(const ng_weights *w, int64_t n)
{
    if (w == nullptr)
        return NG_BAD_POINTER;
    if (!ng_cuda_is_number(w->dtype))
        return NG_BAD_DTYPE;
    if (w->correction_bits != 0
        && (w->dtype == NG_FP32
            || (w->correction_bits != 8 && w->correction_bits != 16)))
        return NG_BAD_LAYOUT;
    if (ng_cuda_bad_array(w->low, n, w->dtype == NG_FP32 ? 4 : 2)
        || (w->correction_bits != 0
            && ng_cuda_bad_array(w->correction, n,
                                 (size_t)w->correction_bits / 8)))
        return NG_BAD_POINTER;
    return NG_OK;
}

inline ng_status ng_cuda_check_state(const ng_state *s, int64_t n)
{
    if (s == nullptr)
        return NG_BAD_POINTER;
    if ((unsigned)s->kind >= NG_N_STATE_KINDS
        || (unsigned)s->coding >= NG_N_STATE_CODINGS)
        return NG_BAD_LAYOUT;
    if (s->coding == NG_STATE_FP32)
        return ng_cuda_bad_array(s->data, n, 4) ? NG_BAD_POINTER : NG_OK;
    return ng_cuda_bad_array(s->data, n, 1)
                   || ng_cuda_bad_array(s->scales, n, 2)
               ? NG_BAD_POINTER
               : NG_OK;
}

inline ng_status ng_cuda_check_gradient(const ng_gradient *g, int64_t n)
{
    if (g == nullptr)
        return NG_BAD_POINTER;
    if (!ng_cuda_is_number(g->dtype))
        return NG_BAD_DTYPE;
    return ng_cuda_bad_array(g->data, n, g->dtype == NG_FP32 ? 4 : 2)
                   || (g->scale != nullptr && (uintptr_t)g->scale % 4 != 0)
               ? NG_BAD_POINTER
               : NG_OK;
}

/* ---- the form and the tensor of a call ---------------------------------- */

inline const ng_rules &ng_cuda_optim_rules(const ng_optim_options *options)
{
    return options != nullptr && options->rules != nullptr ? *options->rules
                                                           : ng_default_rules;
}

inline bool ng_cuda_has_momentum(const ng_step_constants &c)
{
    return (c.kind != NG_SGD && c.kind != NG_SGDW) || c.mu != 0.0f;
}

inline bool ng_cuda_has_variance(const ng_step_constants &c)
{
    return c.kind == NG_ADAM || c.kind == NG_ADAMW;
}

/* States that the step does not read are dropped. Returns the errors of
 * ng_ref_step, NG_BAD_POINTER also for what is not aligned for its type. */
inline ng_status ng_cuda_step_of(ng_cuda_step_form *form,
                                 ng_cuda_step_tensor *tensor,
                                 const ng_weights *theta, const ng_state *m,
                                 const ng_state *v, const ng_gradient *g,
                                 int64_t n, const ng_step_constants &c,
                                 const ng_optim_options *options)
{
    const ng_state *state[] = {ng_cuda_has_momentum(c) ? m : nullptr,
                               ng_cuda_has_variance(c) ? v : nullptr};
    const bool wanted[] = {ng_cuda_has_momentum(c), ng_cuda_has_variance(c)};
    const ng_rules &rules = ng_cuda_optim_rules(options);
    ng_status status;

    if ((unsigned)c.kind >= NG_N_OPTIMIZERS)
        return NG_BAD_VALUE;
    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++)
        if (wanted[kind] && state[kind] == nullptr)
            return NG_BAD_POINTER;
    if ((status = ng_cuda_check_count(n, options)) != NG_OK
        || (status = ng_cuda_check_weights(theta, n)) != NG_OK)
        return status;
    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++) {
        if (!wanted[kind])
            continue;
        if ((status = ng_cuda_check_state(state[kind], n)) != NG_OK)
            return status;
        if (state[kind]->kind != kind)
            return NG_BAD_LAYOUT;
    }
    if ((status = ng_cuda_check_gradient(g, n)) != NG_OK)
        return status;
    *tensor = {theta->low, theta->correction, {}, {}, g->data, g->scale, n, 1};
    *form = {theta->dtype, theta->correction_bits, g->dtype,  {-1, -1},
             rules.split,  rules.compand,          rules.step};
    tensor->is_aligned = ng_cuda_is_aligned(theta->low, 0)
                         && ng_cuda_is_aligned(theta->correction, 0)
                         && ng_cuda_is_aligned(g->data, 0);
    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++) {
        if (!wanted[kind])
            continue;
        form->coding[kind] = state[kind]->coding;
        tensor->state[kind] = state[kind]->data;
        tensor->scales[kind] = state[kind]->scales;
        tensor->is_aligned &= ng_cuda_is_aligned(state[kind]->data, 0);
    }
    return NG_OK;
}

/* The constants as rows read them: a decay that the kind has not is none. */
inline ng_step_constants ng_cuda_step_constants_of(const ng_step_constants &c)
{
    ng_step_constants own = c;

    if (c.kind == NG_SGD || c.kind == NG_ADAM)
        own.d = 1.0f;
    else
        own.w = 0.0f;
    return own;
}

/* ---- which instance takes it -------------------------------------------- */

struct ng_cuda_step_pick {
    int row, states, weights, rules; /* template arguments of ng_cuda_octet */
    bool found;                      /* else: the way that takes everything */
};

/* A rule that nothing reads may be either. */
inline ng_cuda_step_pick ng_cuda_pick_step(const ng_cuda_step_form &f,
                                           const ng_step_constants &c)
{
    const bool sgd = c.kind == NG_SGD || c.kind == NG_SGDW;
    const int coding = f.coding[NG_MOMENTUM];
    const bool coded = coding == NG_STATE_COMPANDED;
    const bool reads_split = f.correction_bits != 0;
    ng_cuda_step_pick pick = {NG_CUDA_ROW_ADAM, NG_CUDA_STATES_CODED,
                              NG_CUDA_FP32, NG_CUDA_RULES_NG, true};

    if (sgd)
        pick.row = NG_CUDA_ROW_SGD;
    else if (c.kind == NG_LION)
        pick.row = NG_CUDA_ROW_LION;
    if (coding < 0)
        pick.states = NG_CUDA_STATES_NONE;
    else if (coding == NG_STATE_FP32)
        pick.states = NG_CUDA_STATES_FP32;
    if (f.dtype == NG_BF16)
        pick.weights = f.correction_bits == 0   ? NG_CUDA_BF16
                       : f.correction_bits == 8 ? NG_CUDA_BF16_8
                                                : NG_CUDA_BF16_16;
    if (!sgd    ? f.step == NG_STEP_FLASHOPTIM
        : coded ? f.compand == NG_COMPAND_FLASHOPTIM
                : f.split == NG_SPLIT_FLASHOPTIM)
        pick.rules = NG_CUDA_RULES_FLASHOPTIM;

    const bool flashoptim = pick.rules == NG_CUDA_RULES_FLASHOPTIM;

    pick.found =
        f.dtype != NG_FP16 && coding != NG_STATE_LINEAR
        && (f.coding[NG_VARIANCE] < 0 || f.coding[NG_VARIANCE] == coding)
        && (!reads_split || flashoptim == (f.split == NG_SPLIT_FLASHOPTIM))
        && (!coded || flashoptim == (f.compand == NG_COMPAND_FLASHOPTIM))
        && ng_cuda_fast_constants(c, f.step);
    return pick;
}

#endif
