/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda": the grouped GEMMs of gemm_functions.h. The kernels add as the
 * tensor core does, whatever rule is asked for: under profile hopper-wgmma that
 * is compared in bits, else held to the bound.
 */
#include "conformance/subject/gemm_functions.h"
#include "conformance/subject/subject_cuda_parts.h"

static ng_status (*cuda_fprop)(const ng_matrix *, const ng_fp8 *,
                               const ng_fp8 *, const ng_options *,
                               const ng_cuda_launch *);
static ng_status (*cuda_wgrad)(const ng_matrix *, const ng_matrix *,
                               const ng_fp8 *, const ng_fp8 *,
                               const ng_options *, const ng_cuda_launch *);
static ng_status (*cuda_mxfp4_fprop)(const ng_matrix *, const ng_mxfp4 *,
                                     const ng_fp8 *, const ng_options *,
                                     const ng_cuda_launch *);
static ng_status (*cuda_mxfp4_wgrad)(const ng_matrix *, const ng_matrix *,
                                     const ng_fp8 *, const ng_mxfp4 *,
                                     const ng_options *,
                                     const ng_cuda_launch *);
static ng_status (*cuda_bf16_fprop)(const ng_matrix *, const ng_matrix *,
                                    const ng_matrix *, const ng_options *,
                                    const ng_cuda_launch *);
static ng_status (*cuda_bf16_wgrad)(const ng_matrix *, const ng_matrix *,
                                    const ng_matrix *, const ng_matrix *,
                                    const ng_options *, const ng_cuda_launch *);

static ng_status fprop(const ng_matrix *d, const ng_fp8 *a, const ng_fp8 *b,
                       const ng_options *options)
{
    const ng_status status = ng_cuda_check_offsets(a->rows);

    return status != NG_OK ? status
                           : cuda_fprop(d, a, b, options, ng_cuda_launch_now);
}

static ng_status wgrad(const ng_matrix *d, const ng_matrix *c, const ng_fp8 *a,
                       const ng_fp8 *b, const ng_options *options)
{
    const ng_status status = ng_cuda_check_offsets(a->rows);

    return status != NG_OK
               ? status
               : cuda_wgrad(d, c, a, b, options, ng_cuda_launch_now);
}

static ng_status mxfp4_fprop(const ng_matrix *d, const ng_mxfp4 *a,
                             const ng_fp8 *b, const ng_options *options)
{
    const ng_status status = ng_cuda_check_offsets(a->rows);

    return status != NG_OK
               ? status
               : cuda_mxfp4_fprop(d, a, b, options, ng_cuda_launch_now);
}

static ng_status mxfp4_wgrad(const ng_matrix *d, const ng_matrix *c,
                             const ng_fp8 *a, const ng_mxfp4 *b,
                             const ng_options *options)
{
    const ng_status status = ng_cuda_check_offsets(a->rows);

    return status != NG_OK
               ? status
               : cuda_mxfp4_wgrad(d, c, a, b, options, ng_cuda_launch_now);
}

static ng_status bf16_fprop(const ng_matrix *d, const ng_matrix *a,
                            const ng_matrix *b, const ng_options *options)
{
    const ng_status status = ng_cuda_check_offsets(a->rows);

    return status != NG_OK
               ? status
               : cuda_bf16_fprop(d, a, b, options, ng_cuda_launch_now);
}

static ng_status bf16_wgrad(const ng_matrix *d, const ng_matrix *c,
                            const ng_matrix *a, const ng_matrix *b,
                            const ng_options *options)
{
    const ng_status status = ng_cuda_check_offsets(a->rows);

    return status != NG_OK
               ? status
               : cuda_bf16_wgrad(d, c, a, b, options, ng_cuda_launch_now);
}

static ng_gemm_functions gemms; /* those that the library has */

#define FIND_GEMM(entry)                                      \
    *(void **)&cuda_##entry =                                 \
        ng_cuda_library_find("ng_cuda_grouped_gemm_" #entry); \
    gemms.entry = cuda_##entry != NULL ? entry : NULL

static void open_part(const ng_cuda_library *cuda)
{
    (void)cuda;
    FIND_GEMM(fprop);
    FIND_GEMM(wgrad);
    FIND_GEMM(mxfp4_fprop);
    FIND_GEMM(mxfp4_wgrad);
    FIND_GEMM(bf16_fprop);
    FIND_GEMM(bf16_wgrad);
}

static bool covers(const ng_call *call)
{
    return ng_gemm_functions_cover(&gemms, call);
}

static ng_status run(const ng_call *device_call)
{
    return ng_gemm_functions_run(&gemms, device_call);
}

const ng_subject_cuda_part ng_subject_cuda_gemms = {
    .open = open_part,
    .covers = covers,
    .run = run,
};
