/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/optimizer_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/layout.h"

const char *const ng_hyper_number_names[NG_N_HYPER_NUMBERS] = {
    "lr",       "lr0",       "beta1", "beta2",
    "momentum", "dampening", "eps",   "weight_decay"};
const char *const ng_hyper_flag_names[NG_N_HYPER_FLAGS] = {"nesterov",
                                                           "lr_decoupled"};

void ng_hyper_unpack(double *numbers, bool *flags, const ng_hyper *hyper)
{
    numbers[0] = hyper->lr;
    numbers[1] = hyper->lr0;
    numbers[2] = hyper->beta1;
    numbers[3] = hyper->beta2;
    numbers[4] = hyper->momentum;
    numbers[5] = hyper->dampening;
    numbers[6] = hyper->eps;
    numbers[7] = hyper->weight_decay;
    flags[0] = hyper->nesterov;
    flags[1] = hyper->lr_decoupled;
}

void ng_hyper_pack(ng_hyper *hyper, const double *numbers, const bool *flags)
{
    *hyper = (ng_hyper){
        .lr = numbers[0],
        .lr0 = numbers[1],
        .beta1 = numbers[2],
        .beta2 = numbers[3],
        .momentum = numbers[4],
        .dampening = numbers[5],
        .eps = numbers[6],
        .weight_decay = numbers[7],
        .nesterov = flags[0],
        .lr_decoupled = flags[1],
    };
}

const char *ng_state_coding_name(ng_state_coding coding)
{
    static const char *const names[NG_N_STATE_CODINGS] = {
        [NG_STATE_FP32] = "fp32",
        [NG_STATE_COMPANDED] = "companded",
        [NG_STATE_LINEAR] = "linear",
    };

    return names[coding];
}

void ng_optimizer_group_key(char *key, size_t size, int64_t group,
                            const char *field)
{
    snprintf(key, size, "group.%" PRId64 ".%s", group, field);
}

static ng_optimizer_array array(const char *suffix, ng_dtype dtype, void *data,
                                const ng_parameter *p)
{
    ng_optimizer_array a = {.dtype = dtype, .data = data, .rank = p->rank};

    snprintf(a.name, sizeof a.name, "%s%s", p->name, suffix);
    memcpy(a.shape, p->shape, sizeof a.shape);
    a.bytes = p->n * (int64_t)ng_dtype_size(dtype);
    return a;
}

static ng_optimizer_array scales(const char *suffix, uint16_t *data,
                                 const ng_optimizer *optimizer,
                                 const ng_parameter *p)
{
    const ng_dtype dtype =
        optimizer->rules.compand == NG_COMPAND_FLASHOPTIM ? NG_FP16 : NG_UE6M10;
    ng_optimizer_array a = array(suffix, dtype, data, p);

    a.rank = 1;
    a.shape[0] = ng_ceil_div(p->n, NG_STATE_GROUP);
    a.bytes = a.shape[0] * (int64_t)sizeof *data;
    return a;
}

int ng_optimizer_arrays(ng_optimizer_array *arrays,
                        const ng_optimizer *optimizer, const ng_parameter *p)
{
    const ng_weights *w = &p->weights;
    const ng_state *m = &p->momentum, *v = &p->variance;
    const bool m_coded = m->coding != NG_STATE_FP32;
    const bool v_coded = v->coding != NG_STATE_FP32;
    int n = 0;

    arrays[n++] = array("", w->dtype, w->low, p);
    if (w->correction_bits != 0)
        arrays[n++] =
            array("::correction", w->correction_bits == 8 ? NG_I8 : NG_I16,
                  w->correction, p);
    if (p->has_momentum)
        arrays[n++] =
            array("::momentum", m_coded ? NG_I8 : NG_FP32, m->data, p);
    if (p->has_momentum && m_coded)
        arrays[n++] = scales("::momentum_scales", m->scales, optimizer, p);
    if (p->has_variance)
        arrays[n++] =
            array("::variance", v_coded ? NG_U8 : NG_FP32, v->data, p);
    if (p->has_variance && v_coded)
        arrays[n++] = scales("::variance_scales", v->scales, optimizer, p);
    return n;
}
