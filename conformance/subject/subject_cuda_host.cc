/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda-host": the element and block functions of the kernels, compiled
 * for the host by an ordinary C++ compiler: what a machine without a GPU, or
 * without nvcc, verifies of cuda/.
 */
#include "conformance/subject/subject.h"
#include "cuda/convert/encode_element.cuh"
#include "cuda/convert/philox_word.cuh"
#include "cuda/convert/fp8_row_to_col_block.cuh"
#include "cuda/convert/row_block.cuh"
#include "cuda/moe/swiglu_element.cuh"

extern "C" {
#include "conformance/subject/conversions.h"
#include "conformance/subject/optim_functions.h"
#include "conformance/subject/swiglu_functions.h"
}

namespace
{

uint32_t encode(ng_format_id format, float x, const ng_rules *rules,
                uint32_t random, unsigned *events)
{
    return ng_cuda_encode_element(format, x, *rules, random, *events);
}

float decode(ng_format_id format, uint32_t code, const ng_rules *rules)
{
    return ng_cuda_decode_element(format, code, *rules);
}

uint32_t philox(uint64_t seed, uint64_t stream, uint64_t index)
{
    return ng_cuda_philox_word({seed, stream}, index);
}

/* Every block of a job by one thread, as a kernel's general path has a warp
 * for each. */
template <class JOB> ng_status run_blocks(const JOB &job, ng_events *events)
{
    const int64_t outer = job.outer(), inner = job.inner();

    for (int64_t i = 0; i < outer; i++) {
        ng_cuda_counts counts = {};

        for (int64_t j = 0; j < inner; j++)
            job.run(i, j, ng_cuda_alone(), counts);
        for (int e = 0; events != nullptr && e < NG_N_EVENTS; e++)
            events->count[e] += counts.count[e];
    }
    return NG_OK;
}

/* Offsets that break their rules are the caller's error for a kernel, which
 * cannot say so in time: here as in subject cuda the caller looks. */
template <class JOB, class Y, class X>
ng_status run_job(const Y *y, const X *x, const ng_options *options)
{
    const ng_status status = ng_groups_check(options->groups, x->rows);

    if (status != NG_OK)
        return status;
    return run_blocks(JOB{*y, *x, ng_cuda_options_of(options)},
                      options->events);
}

ng_status convert_scales(const ng_scales *y, const ng_scales *x, int64_t lines,
                         int64_t n)
{
    const ng_cuda_convert_scales_job job = {*y, *x, lines, n};

    for (int64_t i = 0; i < lines; i++)
        if (!job.fits(i, ng_cuda_alone()))
            return NG_BAD_SCALE;
    return run_blocks(job, nullptr);
}

ng_status convert_fp8_row_to_col(const ng_fp8 *y, const ng_fp8 *x,
                                 const ng_options *options)
{
    const ng_cuda_fp8_row_to_col_job job = {*y, *x,
                                            ng_cuda_options_of(options)};
    const ng_status status = ng_groups_check(options->groups, x->rows);

    if (status != NG_OK)
        return status;
    for (int64_t i = 0; i < ng_cuda_rows(job.o, x->rows); i++)
        if (ng_cuda_is_pow2(x->scales) && !job.fits(i, ng_cuda_alone()))
            return NG_BAD_SCALE;
    return run_blocks(job, options->events);
}

constexpr ng_conversions make_conversions()
{
    ng_conversions table = {};

    table.encode = encode;
    table.decode = decode;
    table.philox = philox;
    table.quantize_mxfp4 = run_job<ng_cuda_quantize_mxfp4_job>;
    table.dequantize_mxfp4 = run_job<ng_cuda_dequantize_mxfp4_job>;
    table.quantize_fp8 = run_job<ng_cuda_quantize_fp8_job>;
    table.dequantize_fp8 = run_job<ng_cuda_dequantize_fp8_job>;
    table.convert_mxfp4_to_fp8 = run_job<ng_cuda_align_job>;
    table.convert_fp8_row_to_col = convert_fp8_row_to_col;
    table.convert_fp8_to_mxfp4 = run_job<ng_cuda_fp8_to_mxfp4_job>;
    table.transpose_fp8_tile = run_job<ng_cuda_transpose_tile_job>;
    table.pack_e2m1 = run_job<ng_cuda_pack_job>;
    table.unpack_e2m1 = run_job<ng_cuda_unpack_job>;
    table.convert_scales = convert_scales;
    return table;
}

constexpr ng_conversions conversions = make_conversions();

/* ---- SwiGLU: the kernels' elements, then the quantisers above ---- */

float bf16_at(const ng_matrix *x, int64_t r, int64_t c)
{
    return ng_cuda_float_of(
        (uint32_t) static_cast<const uint16_t *>(x->data)[r * x->ld + c] << 16);
}

void put(const ng_matrix *y, int64_t r, int64_t c, float v)
{
    if (y->dtype == NG_FP32)
        static_cast<float *>(y->data)[r * y->ld + c] = v;
    else
        static_cast<uint16_t *>(y->data)[r * y->ld + c] =
            (uint16_t)ng_cuda_cvt_bf16x2(v, 0.0f);
}

ng_status swiglu(const ng_matrix *y, const ng_matrix *gate, const ng_matrix *up,
                 const ng_options *options)
{
    const ng_status status = ng_groups_check(options->groups, gate->rows);

    if (status != NG_OK)
        return status;
    for (int64_t r = 0; r < ng_groups_rows(options->groups, gate->rows); r++)
        for (int64_t c = 0; c < gate->cols; c++)
            put(y, r, c,
                ng_cuda_swiglu(bf16_at(gate, r, c), bf16_at(up, r, c)));
    return NG_OK;
}

ng_status swiglu_mxfp4(const ng_mxfp4 *y, const ng_matrix *values,
                       const ng_matrix *gate, const ng_matrix *up,
                       const ng_options *options)
{
    const ng_status status = swiglu(values, gate, up, options);

    return status != NG_OK
               ? status
               : run_job<ng_cuda_quantize_mxfp4_job>(y, values, options);
}

ng_status swiglu_fp8(const ng_fp8 *y, const ng_fp8 *y_col,
                     const ng_matrix *values, const ng_matrix *gate,
                     const ng_matrix *up, const ng_options *options)
{
    ng_options quiet = *options;
    ng_status status = swiglu(values, gate, up, options);

    quiet.events = nullptr;
    if (status == NG_OK)
        status = run_job<ng_cuda_quantize_fp8_job>(y, values, options);
    return status == NG_OK && y_col != nullptr
               ? run_job<ng_cuda_quantize_fp8_job>(y_col, values, &quiet)
               : status;
}

ng_status backward(const ng_matrix *grad_gate, const ng_matrix *grad_up,
                   const ng_matrix *grad_y, const ng_matrix *gate,
                   const ng_matrix *up, const ng_options *options)
{
    const ng_status status = ng_groups_check(options->groups, gate->rows);

    if (status != NG_OK)
        return status;
    for (int64_t r = 0; r < ng_groups_rows(options->groups, gate->rows); r++)
        for (int64_t c = 0; c < gate->cols; c++) {
            const ng_cuda_swiglu_grads grads = ng_cuda_swiglu_backward(
                bf16_at(grad_y, r, c), bf16_at(gate, r, c), bf16_at(up, r, c));

            put(grad_gate, r, c, grads.gate);
            put(grad_up, r, c, grads.up);
        }
    return NG_OK;
}

ng_status backward_fp8(const ng_fp8 *y_gate, const ng_fp8 *y_up,
                       const ng_matrix *grad_gate, const ng_matrix *grad_up,
                       const ng_matrix *grad_y, const ng_matrix *gate,
                       const ng_matrix *up, const ng_options *options)
{
    ng_status status = backward(grad_gate, grad_up, grad_y, gate, up, options);

    if (status == NG_OK)
        status = run_job<ng_cuda_quantize_fp8_job>(y_gate, grad_gate, options);
    return status == NG_OK
               ? run_job<ng_cuda_quantize_fp8_job>(y_up, grad_up, options)
               : status;
}

constexpr ng_swiglu_functions swiglus = {
    swiglu, swiglu_mxfp4, swiglu_fp8, backward, backward_fp8, nullptr, nullptr};

bool covers(const ng_call *call)
{
    return ng_rules_for_kernels(&call->rules)
           && (ng_swiglu_functions_cover(&swiglus, call)
               || ng_optim_functions_cover(&ng_cuda_host_optim_functions, call)
               || ng_conversions_cover(&conversions, call));
}

ng_status run(const ng_call *call)
{
    if (ng_swiglu_functions_cover(&swiglus, call))
        return ng_swiglu_functions_run(&swiglus, call);
    return ng_optim_functions_cover(&ng_cuda_host_optim_functions, call)
               ? ng_optim_functions_run(&ng_cuda_host_optim_functions, call)
               : ng_conversions_run(&conversions, call);
}

} // namespace

extern "C" const ng_subject ng_subject_cuda_host = {
    /* name */ "cuda-host",
    /* description */ "the kernels' element functions on the host",
    /* counts_events */ true,
    /* trusted */ false,
    covers,
    run,
    /* bounds */ nullptr,
    /* open */ nullptr,
};
