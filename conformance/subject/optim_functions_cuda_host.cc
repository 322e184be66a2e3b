/* SPDX-License-Identifier: Apache-2.0
 *
 * The optimizer's operations by the kernels' element functions, on the host,
 * for subject cuda-host. Steps do every other whole group as the fast kernels
 * do it, in four octets, where they have an instance for it; the rest as the
 * path does that takes everything. So both are verified.
 */
#include "cuda/optim/step_constants.cuh"
#include "cuda/optim/step_pick.cuh"
#include "cuda/optim/step_share.cuh"

extern "C" {
#include "conformance/subject/optim_functions.h"
}

namespace
{

int length_of_group(int64_t left)
{
    return left < NG_STATE_GROUP ? (int)left : (int)NG_STATE_GROUP;
}

void deliver(const ng_optim_options *options, const ng_cuda_optim_counts &c)
{
    ng_optim_counts more = {};

    if (options == nullptr || options->counts == nullptr)
        return;
    more.weights_saturated = c.weights_saturated;
    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++)
        more.groups[kind] = {c.nan[kind], c.saturated[kind], c.lost[kind]};
    ng_optim_counts_add(options->counts, &more);
}

ng_status split_weights(const ng_weights *y, const float *theta, int64_t n,
                        const ng_optim_options *options)
{
    const int split = ng_cuda_optim_rules(options).split;
    const ng_cuda_step_tensor t = {y->low,  y->correction, {}, {},
                                   nullptr, nullptr,       n,  1};
    const ng_cuda_step_form f = {y->dtype, y->correction_bits, 0, {}, split, 0,
                                 0};
    ng_cuda_optim_counts counts = {};

    for (int64_t i = 0; i < n; i++)
        counts.weights_saturated += ng_cuda_store_weight(t, f, i, theta[i]);
    deliver(options, counts);
    return NG_OK;
}

ng_status merge_weights(float *theta, const ng_weights *x, int64_t n,
                        const ng_optim_options *options)
{
    const int split = ng_cuda_optim_rules(options).split;
    const ng_cuda_step_tensor t = {x->low,  x->correction, {}, {},
                                   nullptr, nullptr,       n,  1};
    const ng_cuda_step_form f = {x->dtype, x->correction_bits, 0, {}, split, 0,
                                 0};

    for (int64_t i = 0; i < n; i++)
        theta[i] = ng_cuda_load_weight(t, f, i);
    return NG_OK;
}

ng_status compand(const ng_state *y, const float *x, int64_t n,
                  const ng_optim_options *options)
{
    const ng_cuda_state_form f = {y->kind, y->coding,
                                  ng_cuda_optim_rules(options).compand};
    ng_cuda_optim_counts counts = {};

    for (int64_t i = 0; i < n; i += NG_STATE_GROUP)
        ng_cuda_code_share((uint8_t *)y->data, y->scales, x + i, i,
                           length_of_group(n - i), f, ng_cuda_whole_group(),
                           counts);
    deliver(options, counts);
    return NG_OK;
}

ng_status expand(float *y, const ng_state *x, int64_t n,
                 const ng_optim_options *options)
{
    const ng_cuda_state_form f = {x->kind, x->coding,
                                  ng_cuda_optim_rules(options).compand};
    ng_cuda_step_tensor t = {};

    t.state[x->kind] = x->data;
    t.scales[x->kind] = x->scales;
    for (int64_t i = 0; i < n; i++)
        y[i] = ng_cuda_load_state(t, f, i);
    return NG_OK;
}

ng_status step_constants(ng_step_constants *c, ng_optimizer_kind kind,
                         const ng_hyper *hyper, uint64_t t,
                         const ng_optim_options *options, ng_error *error)
{
    const char *bad;

    (void)error;
    return ng_cuda_make_step_constants(c, kind, *hyper, t,
                                       ng_cuda_optim_rules(options).step, &bad);
}

/* ---- a group as the kernels do it --------------------------------------- */

/* A step of all that a call has. */
struct step_call {
    ng_cuda_step_tensor t;
    ng_cuda_step_form f;
    ng_step_constants c;
    float table[NG_N_STATE_KINDS][256];
};

/* Words from or to memory, as an octet's accesses move them. */
void load(uint32_t *words, size_t bytes, const void *from, int64_t at)
{
    memcpy(words, (const char *)from + at, bytes);
}

void store(void *to, int64_t at, const uint32_t *words, size_t bytes)
{
    memcpy((char *)to + at, words, bytes);
}

/* Returns whether it was done: nothing was odd. */
template <int ROW, int STATES, int FORM, int RULES>
bool fast_group(const step_call &call, int64_t first)
{
    using octet = ng_cuda_octet<ROW, STATES, FORM, RULES>;
    const ng_cuda_step_tensor &t = call.t;
    const ng_cuda_octet_context context = {
        call.c,
        1.0f / call.c.bc1,
        1.0f / call.c.bc2,
        {call.table[NG_MOMENTUM], call.table[NG_VARIANCE]},
        t.grad_scale != nullptr,
        t.grad_scale != nullptr ? *t.grad_scale : 0.0f};
    const int64_t low_bytes = FORM == NG_CUDA_FP32 ? 4 : 2;
    const int64_t state_bytes = octet::coded ? 1 : 4;
    const int64_t rho_bytes = octet::weights_type::bits / 8;
    uint32_t largest[NG_N_STATE_KINDS] = {};
    ng_cuda_step_tensor plain = t;
    octet o[4];
    bool odd = false;

    plain.grad_scale = nullptr;
    for (int k = 0; k < 4; k++) {
        const int64_t i = first + k * NG_CUDA_OCTET;
        float g[NG_CUDA_OCTET];

        o[k] = octet();
        load(o[k].weights.low, 8 * low_bytes, t.low, i * low_bytes);
        if (rho_bytes > 0)
            load(o[k].weights.rho, 8 * rho_bytes, t.correction, i * rho_bytes);
        for (int kind = 0; kind < NG_N_STATE_KINDS; kind++)
            if (t.state[kind] != nullptr) {
                load(o[k].state[kind], 8 * state_bytes, t.state[kind],
                     i * state_bytes);
                if (octet::coded)
                    o[k].scale[kind] = t.scales[kind][first / NG_STATE_GROUP];
            }
        for (int j = 0; j < NG_CUDA_OCTET; j++)
            g[j] = ng_cuda_load_grad(plain, call.f, i + j);
        o[k].run(g, context);
        odd |= o[k].odd;
        for (int kind = 0; kind < NG_N_STATE_KINDS; kind++)
            largest[kind] = o[k].largest[kind] > largest[kind]
                                ? o[k].largest[kind]
                                : largest[kind];
    }
    for (int k = 0; k < 4; k++) {
        for (int kind = 0; kind < NG_N_STATE_KINDS; kind++)
            o[k].largest[kind] = largest[kind];
        o[k].code();
        odd |= o[k].odd;
    }
    for (int k = 0; k < 4 && !odd; k++) {
        const int64_t i = first + k * NG_CUDA_OCTET;

        store(t.low, i * low_bytes, o[k].weights.low, 8 * low_bytes);
        if (rho_bytes > 0)
            store(t.correction, i * rho_bytes, o[k].weights.rho, 8 * rho_bytes);
        for (int kind = 0; kind < NG_N_STATE_KINDS; kind++)
            if (t.state[kind] != nullptr) {
                store(t.state[kind], i * state_bytes, o[k].state[kind],
                      8 * state_bytes);
                if (octet::coded)
                    t.scales[kind][first / NG_STATE_GROUP] =
                        (uint16_t)o[k].scale[kind];
            }
    }
    return !odd;
}

typedef bool group_function(const step_call &, int64_t first);

template <int ROW, int STATES, int RULES>
group_function *of_weights(int weights)
{
    group_function *const functions[] = {
        fast_group<ROW, STATES, NG_CUDA_FP32, RULES>,
        fast_group<ROW, STATES, NG_CUDA_BF16, RULES>,
        fast_group<ROW, STATES, NG_CUDA_BF16_8, RULES>,
        fast_group<ROW, STATES, NG_CUDA_BF16_16, RULES>};

    return functions[weights];
}

template <int ROW, int RULES> group_function *of_states(int states, int weights)
{
    if (states == NG_CUDA_STATES_CODED)
        return of_weights<ROW, NG_CUDA_STATES_CODED, RULES>(weights);
    if (states == NG_CUDA_STATES_FP32)
        return of_weights<ROW, NG_CUDA_STATES_FP32, RULES>(weights);
    return of_weights<NG_CUDA_ROW_SGD, NG_CUDA_STATES_NONE, RULES>(weights);
}

template <int RULES> group_function *of_row(const ng_cuda_step_pick &pick)
{
    if (pick.row == NG_CUDA_ROW_SGD)
        return of_states<NG_CUDA_ROW_SGD, RULES>(pick.states, pick.weights);
    if (pick.row == NG_CUDA_ROW_LION)
        return of_states<NG_CUDA_ROW_LION, RULES>(pick.states, pick.weights);
    return of_states<NG_CUDA_ROW_ADAM, RULES>(pick.states, pick.weights);
}

group_function *function_of(const ng_cuda_step_pick &pick)
{
    if (!pick.found)
        return nullptr;
    return pick.rules == NG_CUDA_RULES_NG
               ? of_row<NG_CUDA_RULES_NG>(pick)
               : of_row<NG_CUDA_RULES_FLASHOPTIM>(pick);
}

ng_status step(const ng_weights *theta, const ng_state *m, const ng_state *v,
               const ng_gradient *g, int64_t n, const ng_step_constants *c,
               const ng_optim_options *options)
{
    step_call call = {{}, {}, ng_cuda_step_constants_of(*c), {}};
    const ng_status status =
        ng_cuda_step_of(&call.f, &call.t, theta, m, v, g, n, call.c, options);
    ng_cuda_optim_counts counts = {};

    if (status != NG_OK)
        return status;

    group_function *const fast = function_of(ng_cuda_pick_step(call.f, call.c));

    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++)
        for (int code = 0; code < 256; code++)
            call.table[kind][code] = ng_cuda_state_factor(
                (uint32_t)code, {kind, NG_STATE_COMPANDED, call.f.compand});
    for (int64_t i = 0; i < n; i += NG_STATE_GROUP) {
        const int64_t left = n - i;
        const bool done = fast != nullptr && left >= NG_STATE_GROUP
                          && i / NG_STATE_GROUP % 2 == 0 && fast(call, i);

        if (!done)
            ng_cuda_step_share(call.t, call.f, call.c, i, length_of_group(left),
                               ng_cuda_whole_group(), counts);
    }
    deliver(options, counts);
    return NG_OK;
}

} // namespace

extern "C" const ng_optim_functions ng_cuda_host_optim_functions = {
    split_weights,  merge_weights, compand, expand,
    step_constants, step,          nullptr};
