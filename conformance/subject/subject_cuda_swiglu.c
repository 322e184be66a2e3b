/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda": SwiGLU and its backward pass, by the table of
 * swiglu_functions.h: a thunk for each entry.
 */
#include "conformance/subject/subject_cuda_parts.h"
#include "conformance/subject/swiglu_functions.h"

/* clang-format off */
#define SWIGLU(X)                                                              \
    X(swiglu, (const ng_matrix *y, const ng_matrix *gate,                      \
               const ng_matrix *up, const ng_options *options),                \
      (y, gate, up, options, ng_cuda_launch_now))                              \
    X(swiglu_mxfp4, (const ng_mxfp4 *y, const ng_matrix *values,               \
                     const ng_matrix *gate, const ng_matrix *up,               \
                     const ng_options *options),                               \
      (y, values, gate, up, options, ng_cuda_launch_now))                      \
    X(swiglu_fp8, (const ng_fp8 *y, const ng_fp8 *y_col,                       \
                   const ng_matrix *values, const ng_matrix *gate,             \
                   const ng_matrix *up, const ng_options *options),            \
      (y, y_col, values, gate, up, options, ng_cuda_launch_now))               \
    X(backward, (const ng_matrix *grad_gate, const ng_matrix *grad_up,         \
                 const ng_matrix *grad_y, const ng_matrix *gate,               \
                 const ng_matrix *up, const ng_options *options),              \
      (grad_gate, grad_up, grad_y, gate, up, options, ng_cuda_launch_now))     \
    X(backward_fp8, (const ng_fp8 *y_gate, const ng_fp8 *y_up,                 \
                     const ng_matrix *grad_gate, const ng_matrix *grad_up,     \
                     const ng_matrix *grad_y, const ng_matrix *gate,           \
                     const ng_matrix *up, const ng_options *options),          \
      (y_gate, y_up, grad_gate, grad_up, grad_y, gate, up, options,            \
       ng_cuda_launch_now))

#define WITHOUT_PARENTHESES(...) __VA_ARGS__
#define SWIGLU_THUNK(entry, parameters, arguments)                             \
    static ng_status (*cuda_##entry)(WITHOUT_PARENTHESES parameters,           \
                                     const ng_cuda_launch *);                  \
    static ng_status entry parameters                                          \
    {                                                                          \
        const ng_status status = ng_cuda_check_offsets(gate->rows);            \
                                                                               \
        return status != NG_OK ? status : cuda_##entry arguments;              \
    }
/* clang-format on */
SWIGLU(SWIGLU_THUNK)

static ng_swiglu_functions swiglus; /* those that the library has */

#define FIND_SWIGLU(entry, symbol)                                     \
    *(void **)&cuda_##entry = ng_cuda_library_find("ng_cuda_" symbol); \
    swiglus.entry = cuda_##entry != NULL ? entry : NULL

static void open_part(const ng_cuda_library *cuda)
{
    (void)cuda;
    FIND_SWIGLU(swiglu, "swiglu");
    FIND_SWIGLU(swiglu_mxfp4, "swiglu_mxfp4");
    FIND_SWIGLU(swiglu_fp8, "swiglu_fp8");
    FIND_SWIGLU(backward, "swiglu_backward");
    FIND_SWIGLU(backward_fp8, "swiglu_backward_fp8");
}

static bool covers(const ng_call *call)
{
    return ng_swiglu_functions_cover(&swiglus, call);
}

static ng_status run(const ng_call *device_call)
{
    return ng_swiglu_functions_run(&swiglus, device_call);
}

const ng_subject_cuda_part ng_subject_cuda_swiglus = {
    .open = open_part,
    .covers = covers,
    .run = run,
    .enqueues = true,
};
