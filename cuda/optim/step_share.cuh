/* SPDX-License-Identifier: Apache-2.0
 *
 * A step of the elements that one thread has of a group of 32: all 32 on the
 * host, 8 of them in a kernel, where four threads share a group. Right for
 * every form, rule and bit pattern; IEEE operations throughout.
 */
#ifndef NG_CUDA_OPTIM_STEP_SHARE_CUH
#define NG_CUDA_OPTIM_STEP_SHARE_CUH

#include "cuda/optim/step_job.cuh"

/* Who shares a group: one thread, or four neighbouring lanes, all of whose warp
 * call every function together. */
struct ng_cuda_whole_group {
    static constexpr int each = NG_STATE_GROUP;
    NG_HOST_DEVICE uint32_t max(uint32_t x) const
    {
        return x;
    }
    NG_HOST_DEVICE bool counts() const
    {
        return true;
    }
};

#ifdef __CUDACC__
struct ng_cuda_quarter_group {
    static constexpr int each = NG_STATE_GROUP / 4;
    __device__ __forceinline__ uint32_t max(uint32_t x) const
    {
        uint32_t other = __shfl_xor_sync(0xFFFFFFFFu, x, 1);

        x = x > other ? x : other;
        other = __shfl_xor_sync(0xFFFFFFFFu, x, 2);
        return x > other ? x : other;
    }
    __device__ __forceinline__ bool counts() const
    {
        return threadIdx.x % 4 == 0;
    }
};
#endif

/* Code the n numbers x of a thread, those from `first` on of its tensor; the
 * thread's elements begin there even where it has none (n = 0). */
template <class TEAM>
NG_HOST_DEVICE void
ng_cuda_code_share(uint8_t *codes, uint16_t *scales, const float *x,
                   int64_t first, int n, const ng_cuda_state_form &f,
                   const TEAM &team, ng_cuda_optim_counts &counts)
{
    ng_cuda_summary sum = {0, 0};

    for (int i = 0; i < n; i++)
        ng_cuda_sum_up(sum, x[i], f);
    sum.largest = team.max(sum.largest);
    sum.odd = team.max(sum.odd);

    const ng_cuda_group_scale scale = ng_cuda_scale_of(sum, f.compand);

    for (int i = 0; i < n; i++)
        codes[first + i] = (uint8_t)ng_cuda_state_code(x[i], scale, f);
    if (n > 0 && team.counts()) {
        scales[first / NG_STATE_GROUP] = (uint16_t)scale.code;
        counts.nan[f.kind] += scale.nan;
        counts.saturated[f.kind] += scale.saturated;
        counts.lost[f.kind] += scale.lost;
    }
}

template <class TEAM>
NG_HOST_DEVICE void
ng_cuda_store_share(const ng_cuda_step_tensor &t, const float *x, int64_t first,
                    int n, const ng_cuda_state_form &f, const TEAM &team,
                    ng_cuda_optim_counts &counts)
{
    if (f.coding < 0)
        return;
    if (f.coding == NG_STATE_FP32) {
        for (int i = 0; i < n; i++)
            ((float *)t.state[f.kind])[first + i] = x[i];
        return;
    }
    ng_cuda_code_share((uint8_t *)t.state[f.kind], t.scales[f.kind], x, first,
                       n, f, team, counts);
}

template <class TEAM>
NG_HOST_DEVICE void
ng_cuda_step_share(const ng_cuda_step_tensor &t, const ng_cuda_step_form &f,
                   const ng_step_constants &c, int64_t first, int n,
                   const TEAM &team, ng_cuda_optim_counts &counts)
{
    const ng_cuda_state_form of_m = ng_cuda_state_form_of(f, NG_MOMENTUM);
    const ng_cuda_state_form of_v = ng_cuda_state_form_of(f, NG_VARIANCE);
    float m[TEAM::each], v[TEAM::each];

    for (int i = 0; i < n; i++) {
        ng_cuda_element e = {ng_cuda_load_weight(t, f, first + i),
                             ng_cuda_load_grad(t, f, first + i), 0.0f, 0.0f};

        if (of_m.coding >= 0)
            e.m = ng_cuda_load_state(t, of_m, first + i);
        if (of_v.coding >= 0)
            e.v = ng_cuda_load_state(t, of_v, first + i);
        ng_cuda_step_row(e, c, f.step);
        counts.weights_saturated +=
            ng_cuda_store_weight(t, f, first + i, e.theta);
        m[i] = e.m;
        v[i] = e.v;
    }
    /* Every thread of a group has read its scale by the time one writes it:
     * the team's maximum waits for all. */
    ng_cuda_store_share(t, m, first, n, of_m, team, counts);
    ng_cuda_store_share(t, v, first, n, of_v, team, counts);
}

#endif
