/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda-host": the element and block functions of the kernels, compiled
 * for the host by an ordinary C++ compiler: what a machine without a GPU, or
 * without nvcc, verifies of cuda/.
 */
#include "conformance/subject/subject.h"
#include "cuda/convert/encode_element.cuh"
#include "cuda/convert/philox_word.cuh"
#include "cuda/convert/row_block.cuh"

extern "C" {
#include "conformance/subject/conversions.h"
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
    table.convert_fp8_to_mxfp4 = run_job<ng_cuda_fp8_to_mxfp4_job>;
    table.transpose_fp8_tile = run_job<ng_cuda_transpose_tile_job>;
    table.pack_e2m1 = run_job<ng_cuda_pack_job>;
    table.unpack_e2m1 = run_job<ng_cuda_unpack_job>;
    table.convert_scales = convert_scales;
    return table;
}

constexpr ng_conversions conversions = make_conversions();

bool covers(const ng_call *call)
{
    return ng_conversions_cover(&conversions, call);
}

ng_status run(const ng_call *call)
{
    return ng_conversions_run(&conversions, call);
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
