/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda": the conversions of conversions.h. To add one: a line of
 * CONVERSIONS.
 */
#include "conformance/subject/conversions.h"
#include "conformance/subject/subject_cuda_parts.h"

/* X(entry of ng_conversions, view of y, view of x): symbol ng_cuda_<entry>. */
#define CONVERSIONS(X)                        \
    X(quantize_mxfp4, ng_mxfp4, ng_matrix)    \
    X(dequantize_mxfp4, ng_matrix, ng_mxfp4)  \
    X(quantize_fp8, ng_fp8, ng_matrix)        \
    X(dequantize_fp8, ng_matrix, ng_fp8)      \
    X(convert_mxfp4_to_fp8, ng_fp8, ng_mxfp4) \
    X(convert_fp8_row_to_col, ng_fp8, ng_fp8) \
    X(convert_fp8_to_mxfp4, ng_mxfp4, ng_fp8) \
    X(transpose_fp8_tile, ng_fp8, ng_fp8)     \
    X(pack_e2m1, ng_matrix, ng_matrix)        \
    X(unpack_e2m1, ng_matrix, ng_matrix)

#define THUNK(entry, y_view, x_view)                                  \
    static ng_status (*cuda_##entry)(const y_view *, const x_view *,  \
                                     const ng_options *,              \
                                     const ng_cuda_launch *);         \
    static ng_status entry(const y_view *y, const x_view *x,          \
                           const ng_options *options)                 \
    {                                                                 \
        const ng_status status = ng_cuda_check_offsets(x->rows);      \
                                                                      \
        return status != NG_OK                                        \
                   ? status                                           \
                   : cuda_##entry(y, x, options, ng_cuda_launch_now); \
    }
CONVERSIONS(THUNK)

static ng_status (*cuda_convert_scales)(const ng_scales *, const ng_scales *,
                                        int64_t, int64_t,
                                        const ng_cuda_launch *);
static ng_status convert_scales(const ng_scales *y, const ng_scales *x,
                                int64_t lines, int64_t n)
{
    return cuda_convert_scales(y, x, lines, n, ng_cuda_launch_now);
}

static ng_conversions conversions; /* those that the library has */

static void open_part(const ng_cuda_library *cuda)
{
    (void)cuda;
#define FIND(entry, y_view, x_view)                                    \
    *(void **)&cuda_##entry = ng_cuda_library_find("ng_cuda_" #entry); \
    conversions.entry = cuda_##entry != NULL ? entry : NULL;
    CONVERSIONS(FIND)
    FIND(convert_scales, ng_scales, ng_scales)
}

static bool covers(const ng_call *call)
{
    return ng_conversions_cover(&conversions, call);
}

static ng_status run(const ng_call *device_call)
{
    return ng_conversions_run(&conversions, device_call);
}

const ng_subject_cuda_part ng_subject_cuda_conversions = {
    .open = open_part,
    .covers = covers,
    .run = run,
    .enqueues = true,
};
