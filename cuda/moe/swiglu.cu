/* SPDX-License-Identifier: Apache-2.0
 *
 * SwiGLU: the launchers, and the way of everything that is not fast: an element
 * a thread and step, in any layout, then a quantiser.
 */
#include "cuda/moe/swiglu.h"

#include "cuda/check_views.h"
#include "cuda/convert/quantize_fp8_row_col.h"
#include "cuda/convert/quantize_mxfp4.h"
#include "cuda/grid.cuh"
#include "cuda/moe/swiglu_element.cuh"
#include "cuda/moe/swiglu_fast.cuh"
#include "cuda/ptx_cvt.cuh"
#include "cuda/try.cuh"

namespace
{

enum { THREADS = 256, MOST_BLOCKS = 132 * 32 };

__device__ __forceinline__ float load(const ng_matrix &x, int64_t r, int64_t c)
{
    return ng_cuda_float_of((uint32_t)((const uint16_t *)x.data)[r * x.ld + c]
                            << 16);
}

__device__ __forceinline__ void store(const ng_matrix &y, int64_t r, int64_t c,
                                      float v)
{
    const int64_t i = r * y.ld + c;

    if (y.dtype == NG_FP32)
        ((float *)y.data)[i] = v;
    else
        ((uint16_t *)y.data)[i] = (uint16_t)ng_cuda_cvt_bf16x2(v, 0.0f);
}

__global__ void __launch_bounds__(THREADS)
    forward(const __grid_constant__ ng_cuda_swiglu_job job)
{
    const int64_t cols = job.gate.cols;
    const int64_t n = ng_cuda_rows(job.o, job.gate.rows) * cols;

    for (int64_t i = ng_cuda_thread(); i < n; i += ng_cuda_threads()) {
        const int64_t r = i / cols, c = i % cols;

        store(job.values, r, c,
              ng_cuda_swiglu(load(job.gate, r, c), load(job.up, r, c)));
    }
}

__global__ void __launch_bounds__(THREADS)
    backward(const __grid_constant__ ng_cuda_swiglu_backward_job job)
{
    const int64_t cols = job.gate.cols;
    const int64_t n = ng_cuda_rows(job.o, job.gate.rows) * cols;

    for (int64_t i = ng_cuda_thread(); i < n; i += ng_cuda_threads()) {
        const int64_t r = i / cols, c = i % cols;
        const ng_cuda_swiglu_grads grads = ng_cuda_swiglu_backward(
            load(job.grad_y, r, c), load(job.gate, r, c), load(job.up, r, c));

        store(job.grad_gate, r, c, grads.gate);
        store(job.grad_up, r, c, grads.up);
    }
}

unsigned grid_of(const ng_matrix &x)
{
    return ng_cuda_blocks(x.rows * x.cols, THREADS, MOST_BLOCKS);
}

bool is_empty(const ng_matrix *x)
{
    return x->rows == 0 || x->cols == 0;
}

/* ---- checks ---- */

ng_status check_one(const ng_matrix *x, unsigned dtypes, const ng_matrix *gate)
{
    if (x == nullptr)
        return NG_BAD_POINTER;
    if (x->rows != gate->rows || x->cols != gate->cols)
        return NG_BAD_SHAPE;
    return ng_cuda_check_matrix(x, dtypes);
}

ng_status check_inputs(const ng_matrix *gate, const ng_matrix *up,
                       const ng_options *options, const ng_cuda_launch *launch)
{
    ng_status status;

    if (gate == nullptr)
        return NG_BAD_POINTER;
    if ((status = ng_cuda_check_call(options, gate->rows, gate->cols, launch))
            != NG_OK
        || (status = ng_cuda_check_matrix(gate, 1 << NG_BF16)) != NG_OK)
        return status;
    return check_one(up, 1 << NG_BF16, gate);
}

ng_status check_fp8(const ng_fp8 *y, unsigned forms, const ng_matrix *gate,
                    const ng_options *options)
{
    const ng_rules rules = ng_cuda_options_of(options).rules;

    if (y == nullptr)
        return NG_BAD_POINTER;
    if (y->rows != gate->rows || y->cols != gate->cols)
        return NG_BAD_SHAPE;

    const ng_status status = ng_cuda_check_fp8(y, forms, options);

    if (status != NG_OK)
        return status;
    return rules.fp8_scale != NG_FP8_POW2
                   && (rules.rounding == NG_STOCHASTIC
                       || y->scales.dtype != NG_FP32)
               ? NG_BAD_RULES
               : NG_OK;
}

/* Matrix number i of n in the workspace, if it is large enough. */
ng_status in_workspace(ng_matrix *out, const ng_matrix &gate, int i, int n,
                       const ng_cuda_launch *launch)
{
    const int64_t all = ng_cuda_swiglu_workspace(gate.rows, gate.cols, n);

    if (all == 0 || ng_cuda_check_workspace(launch, all) != NG_OK)
        return NG_BAD_POINTER;
    *out = gate;
    out->dtype = NG_FP32;
    out->ld = gate.cols;
    out->data = (char *)launch->workspace + all / n * i;
    return NG_OK;
}

ng_status have_values(ng_matrix *out, const ng_matrix *values,
                      const ng_matrix &gate, int i, int n,
                      const ng_cuda_launch *launch)
{
    if (values == nullptr)
        return in_workspace(out, gate, i, n, launch);
    *out = *values;
    return NG_OK;
}

ng_status enqueue_forward(const ng_cuda_swiglu_job &job,
                          const ng_cuda_launch *launch)
{
    forward<<<grid_of(job.gate), THREADS, 0, (cudaStream_t)launch->stream>>>(
        job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}

ng_status enqueue_backward(const ng_cuda_swiglu_backward_job &job,
                           const ng_cuda_launch *launch)
{
    backward<<<grid_of(job.gate), THREADS, 0, (cudaStream_t)launch->stream>>>(
        job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}

ng_matrix given(const ng_matrix *x)
{
    const ng_matrix none = {};

    return x != nullptr ? *x : none;
}

} // namespace

extern "C" int64_t ng_cuda_swiglu_workspace(int64_t rows, int64_t cols, int n)
{
    const int64_t line = 256 / 4; /* each on a 256-byte boundary */

    if (rows < 0 || cols < 0 || n < 1
        || (cols > 0 && rows > (INT64_MAX / 4 / n - line) / cols))
        return 0;
    return ng_ceil_div(rows * cols, line) * line * 4 * n;
}

extern "C" ng_status ng_cuda_swiglu(const ng_matrix *y, const ng_matrix *gate,
                                    const ng_matrix *up,
                                    const ng_options *options,
                                    const ng_cuda_launch *launch)
{
    ng_status status;

    if ((status = check_inputs(gate, up, options, launch)) != NG_OK
        || (status = check_one(y, 1 << NG_FP32 | 1 << NG_BF16, gate)) != NG_OK)
        return status;
    return is_empty(gate)
               ? NG_OK
               : enqueue_forward({*y, *gate, *up, ng_cuda_options_of(options)},
                                 launch);
}

extern "C" ng_status
ng_cuda_swiglu_mxfp4(const ng_mxfp4 *y, const ng_matrix *values,
                     const ng_matrix *gate, const ng_matrix *up,
                     const ng_options *options, const ng_cuda_launch *launch)
{
    ng_status status;

    if ((status = check_inputs(gate, up, options, launch)) != NG_OK)
        return status;
    if (y == nullptr)
        return NG_BAD_POINTER;
    if (y->rows != gate->rows || y->cols != gate->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_cuda_check_mxfp4(y, options)) != NG_OK
        || (values != nullptr
            && (status = check_one(values, 1 << NG_FP32, gate)) != NG_OK))
        return status;
    if (is_empty(gate))
        return NG_OK;

    ng_cuda_swiglu_job job = {given(values), *gate, *up,
                              ng_cuda_options_of(options)};

    if (launch->events == nullptr && ng_cuda_swiglu_mxfp4_takes(*y, job))
        return ng_cuda_swiglu_mxfp4_fast(*y, job, launch);
    if ((status = have_values(&job.values, values, *gate, 0, 1, launch))
            != NG_OK
        || (status = enqueue_forward(job, launch)) != NG_OK)
        return status;
    return ng_cuda_quantize_mxfp4(y, &job.values, options, launch);
}

extern "C" ng_status ng_cuda_swiglu_fp8(const ng_fp8 *y, const ng_fp8 *y_col,
                                        const ng_matrix *values,
                                        const ng_matrix *gate,
                                        const ng_matrix *up,
                                        const ng_options *options,
                                        const ng_cuda_launch *launch)
{
    ng_status status;

    if ((status = check_inputs(gate, up, options, launch)) != NG_OK
        || (status = check_fp8(y, NG_CUDA_FP8_FORMS, gate, options)) != NG_OK
        || (y_col != nullptr
            && (status = check_fp8(y_col, 1 << NG_FP8_COL, gate, options))
                   != NG_OK)
        || (values != nullptr
            && (status = check_one(values, 1 << NG_FP32, gate)) != NG_OK))
        return status;
    if (is_empty(gate))
        return NG_OK;

    ng_cuda_swiglu_job job = {given(values), *gate, *up,
                              ng_cuda_options_of(options)};

    if (launch->events == nullptr && y_col == nullptr
        && ng_cuda_swiglu_fp8_takes(*y, job))
        return ng_cuda_swiglu_fp8_fast(*y, job, launch);
    if ((status = have_values(&job.values, values, *gate, 0, 1, launch))
            != NG_OK
        || (status = enqueue_forward(job, launch)) != NG_OK)
        return status;
    if (y_col == nullptr)
        return ng_cuda_quantize_fp8(y, &job.values, options, launch);
    if (y->form == NG_FP8_ROW)
        return ng_cuda_quantize_fp8_row_col(y, y_col, &job.values, options,
                                            launch);

    ng_cuda_launch quiet = *launch;

    quiet.events = nullptr;
    status = ng_cuda_quantize_fp8(y, &job.values, options, launch);
    return status == NG_OK
               ? ng_cuda_quantize_fp8(y_col, &job.values, options, &quiet)
               : status;
}

extern "C" ng_status
ng_cuda_swiglu_backward(const ng_matrix *grad_gate, const ng_matrix *grad_up,
                        const ng_matrix *grad_y, const ng_matrix *gate,
                        const ng_matrix *up, const ng_options *options,
                        const ng_cuda_launch *launch)
{
    const unsigned outputs = 1 << NG_FP32 | 1 << NG_BF16;
    ng_status status;

    if ((status = check_inputs(gate, up, options, launch)) != NG_OK
        || (status = check_one(grad_y, 1 << NG_BF16, gate)) != NG_OK
        || (status = check_one(grad_gate, outputs, gate)) != NG_OK
        || (status = check_one(grad_up, outputs, gate)) != NG_OK)
        return status;
    if (grad_gate->dtype != grad_up->dtype)
        return NG_BAD_DTYPE;
    if (is_empty(gate))
        return NG_OK;

    const ng_cuda_swiglu_backward_job job = {
        *grad_gate, *grad_up, *grad_y, *gate, *up, ng_cuda_options_of(options)};

    return ng_cuda_swiglu_backward_takes(job)
               ? ng_cuda_swiglu_backward_fast(job, launch)
               : enqueue_backward(job, launch);
}

extern "C" ng_status ng_cuda_swiglu_backward_fp8(
    const ng_fp8 *y_gate, const ng_fp8 *y_up, const ng_matrix *grad_gate,
    const ng_matrix *grad_up, const ng_matrix *grad_y, const ng_matrix *gate,
    const ng_matrix *up, const ng_options *options,
    const ng_cuda_launch *launch)
{
    const unsigned fp32 = 1 << NG_FP32;
    ng_status status;

    if ((status = check_inputs(gate, up, options, launch)) != NG_OK
        || (status = check_one(grad_y, 1 << NG_BF16, gate)) != NG_OK
        || (status = check_fp8(y_gate, NG_CUDA_FP8_FORMS, gate, options))
               != NG_OK
        || (status = check_fp8(y_up, NG_CUDA_FP8_FORMS, gate, options)) != NG_OK
        || (grad_gate != nullptr
            && (status = check_one(grad_gate, fp32, gate)) != NG_OK)
        || (grad_up != nullptr
            && (status = check_one(grad_up, fp32, gate)) != NG_OK))
        return status;
    if (is_empty(gate))
        return NG_OK;

    ng_cuda_swiglu_backward_job job = {
        given(grad_gate),           given(grad_up), *grad_y, *gate, *up,
        ng_cuda_options_of(options)};

    if (launch->events == nullptr
        && ng_cuda_swiglu_backward_fp8_takes(*y_gate, *y_up, job))
        return ng_cuda_swiglu_backward_fp8_fast(*y_gate, *y_up, job, launch);
    if ((status = have_values(&job.grad_gate, grad_gate, *gate, 0, 2, launch))
            != NG_OK
        || (status = have_values(&job.grad_up, grad_up, *gate, 1, 2, launch))
               != NG_OK
        || (status = enqueue_backward(job, launch)) != NG_OK
        || (status =
                ng_cuda_quantize_fp8(y_gate, &job.grad_gate, options, launch))
               != NG_OK)
        return status;
    return ng_cuda_quantize_fp8(y_up, &job.grad_up, options, launch);
}
