/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda": the kernels of libnarrowgauge-cuda.so on the GPU.
 *
 * To add an operation: if it is one of conversions.h, a line of CONVERSIONS
 * below; else an adapter and a row of `rows`. The GEMMs' kernels add as the
 * tensor core does, whatever rule is asked for: under profile hopper-wgmma that
 * is compared in bits, else held to the bound.
 */
#include <stddef.h>
#include <string.h>

#include "conformance/subject/conversions.h"
#include "conformance/subject/cuda_call.h"
#include "conformance/subject/gemm_functions.h"
#include "conformance/subject/optim_functions.h"
#include "conformance/subject/subject.h"
#include "conformance/subject/swiglu_functions.h"
#include "conformance/subject/subject_cuda.h"
#include "cuda/convert/elements.h"

/* ---- the conversions, by their typed functions --------------------------- */

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

/* The functions of conversions.h know no launch: it is the thread's own. */
static _Thread_local const ng_cuda_launch *launch_now;
static _Thread_local const ng_call *host_call;

/* A launcher's caller answers for its offsets, which lie on the device. Those of
 * host_call lie on the host: look, as such a caller would. */
static ng_status check_offsets(int64_t rows)
{
    ng_groups groups;

    return host_call == NULL
               ? NG_OK
               : ng_groups_check(ng_call_groups(&groups, host_call), rows);
}

#define THUNK(entry, y_view, x_view)                                 \
    static ng_status (*cuda_##entry)(const y_view *, const x_view *, \
                                     const ng_options *,             \
                                     const ng_cuda_launch *);        \
    static ng_status entry(const y_view *y, const x_view *x,         \
                           const ng_options *options)                \
    {                                                                \
        const ng_status status = check_offsets(x->rows);                       \
                                                                               \
        return status != NG_OK ? status                                        \
                               : cuda_##entry(y, x, options, launch_now);      \
    }
CONVERSIONS(THUNK)

static ng_status (*cuda_convert_scales)(const ng_scales *, const ng_scales *,
                                        int64_t, int64_t,
                                        const ng_cuda_launch *);
static ng_status convert_scales(const ng_scales *y, const ng_scales *x,
                                int64_t lines, int64_t n)
{
    return cuda_convert_scales(y, x, lines, n, launch_now);
}

static ng_conversions conversions; /* those that the library has */

static ng_status run_conversion(const void *row, const ng_call *device_call,
                                const ng_cuda_launch *launch)
{
    (void)row;
    launch_now = launch;
    return ng_conversions_run(&conversions, device_call);
}

/* ---- the grouped GEMMs, likewise ---- */

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

static ng_status fprop(const ng_matrix *d, const ng_fp8 *a, const ng_fp8 *b,
                       const ng_options *options)
{
    const ng_status status = check_offsets(a->rows);

    return status != NG_OK ? status : cuda_fprop(d, a, b, options, launch_now);
}

static ng_status wgrad(const ng_matrix *d, const ng_matrix *c, const ng_fp8 *a,
                       const ng_fp8 *b, const ng_options *options)
{
    const ng_status status = check_offsets(a->rows);

    return status != NG_OK ? status
                           : cuda_wgrad(d, c, a, b, options, launch_now);
}

static ng_status mxfp4_fprop(const ng_matrix *d, const ng_mxfp4 *a,
                             const ng_fp8 *b, const ng_options *options)
{
    const ng_status status = check_offsets(a->rows);

    return status != NG_OK ? status
                           : cuda_mxfp4_fprop(d, a, b, options, launch_now);
}

static ng_status mxfp4_wgrad(const ng_matrix *d, const ng_matrix *c,
                             const ng_fp8 *a, const ng_mxfp4 *b,
                             const ng_options *options)
{
    const ng_status status = check_offsets(a->rows);

    return status != NG_OK ? status
                           : cuda_mxfp4_wgrad(d, c, a, b, options, launch_now);
}

static ng_status (*cuda_bf16_fprop)(const ng_matrix *, const ng_matrix *,
                                    const ng_matrix *, const ng_options *,
                                    const ng_cuda_launch *);
static ng_status (*cuda_bf16_wgrad)(const ng_matrix *, const ng_matrix *,
                                    const ng_matrix *, const ng_matrix *,
                                    const ng_options *,
                                    const ng_cuda_launch *);

static ng_status bf16_fprop(const ng_matrix *d, const ng_matrix *a,
                            const ng_matrix *b, const ng_options *options)
{
    const ng_status status = check_offsets(a->rows);

    return status != NG_OK ? status
                           : cuda_bf16_fprop(d, a, b, options, launch_now);
}

static ng_status bf16_wgrad(const ng_matrix *d, const ng_matrix *c,
                            const ng_matrix *a, const ng_matrix *b,
                            const ng_options *options)
{
    const ng_status status = check_offsets(a->rows);

    return status != NG_OK ? status
                           : cuda_bf16_wgrad(d, c, a, b, options, launch_now);
}

static ng_gemm_functions gemms; /* those that the library has */

static ng_status run_gemm(const void *row, const ng_call *device_call,
                          const ng_cuda_launch *launch)
{
    (void)row;
    launch_now = launch;
    return ng_gemm_functions_run(&gemms, device_call);
}

#define FIND_GEMM(entry)                                                   \
    *(void **)&cuda_##entry =                                              \
        ng_cuda_library_find("ng_cuda_grouped_gemm_" #entry);              \
    gemms.entry = cuda_##entry != NULL ? entry : NULL

/* ---- SwiGLU, likewise: a thunk for each entry of the table ---- */

/* clang-format off */
#define SWIGLU(X)                                                              \
    X(swiglu, (const ng_matrix *y, const ng_matrix *gate,                      \
               const ng_matrix *up, const ng_options *options),                \
      (y, gate, up, options, launch_now))                                      \
    X(swiglu_mxfp4, (const ng_mxfp4 *y, const ng_matrix *values,               \
                     const ng_matrix *gate, const ng_matrix *up,               \
                     const ng_options *options),                               \
      (y, values, gate, up, options, launch_now))                              \
    X(swiglu_fp8, (const ng_fp8 *y, const ng_fp8 *y_col,                       \
                   const ng_matrix *values, const ng_matrix *gate,             \
                   const ng_matrix *up, const ng_options *options),            \
      (y, y_col, values, gate, up, options, launch_now))                       \
    X(backward, (const ng_matrix *grad_gate, const ng_matrix *grad_up,         \
                 const ng_matrix *grad_y, const ng_matrix *gate,               \
                 const ng_matrix *up, const ng_options *options),              \
      (grad_gate, grad_up, grad_y, gate, up, options, launch_now))             \
    X(backward_fp8, (const ng_fp8 *y_gate, const ng_fp8 *y_up,                 \
                     const ng_matrix *grad_gate, const ng_matrix *grad_up,     \
                     const ng_matrix *grad_y, const ng_matrix *gate,           \
                     const ng_matrix *up, const ng_options *options),          \
      (y_gate, y_up, grad_gate, grad_up, grad_y, gate, up, options,            \
       launch_now))

#define WITHOUT_PARENTHESES(...) __VA_ARGS__
#define SWIGLU_THUNK(entry, parameters, arguments)                             \
    static ng_status (*cuda_##entry)(WITHOUT_PARENTHESES parameters,           \
                                     const ng_cuda_launch *);                  \
    static ng_status entry parameters                                          \
    {                                                                          \
        const ng_status status = check_offsets(gate->rows);                    \
                                                                               \
        return status != NG_OK ? status : cuda_##entry arguments;              \
    }
/* clang-format on */
SWIGLU(SWIGLU_THUNK)

static ng_swiglu_functions swiglus; /* those that the library has */

static ng_status run_swiglu(const void *row, const ng_call *device_call,
                            const ng_cuda_launch *launch)
{
    (void)row;
    launch_now = launch;
    return ng_swiglu_functions_run(&swiglus, device_call);
}

#define FIND_SWIGLU(entry, symbol)                                     \
    *(void **)&cuda_##entry = ng_cuda_library_find("ng_cuda_" symbol); \
    swiglus.entry = cuda_##entry != NULL ? entry : NULL

/* ---- the optimizer, likewise ---- */

/* clang-format off */
#define OPTIM(X)                                                               \
    X(split_weights, (const ng_weights *y, const float *theta, int64_t n,      \
                      const ng_optim_options *options),                        \
      (y, theta, n, options, launch_now))                                      \
    X(merge_weights, (float *theta, const ng_weights *x, int64_t n,            \
                      const ng_optim_options *options),                        \
      (theta, x, n, options, launch_now))                                      \
    X(compand, (const ng_state *y, const float *x, int64_t n,                  \
                const ng_optim_options *options),                              \
      (y, x, n, options, launch_now))                                          \
    X(expand, (float *y, const ng_state *x, int64_t n,                         \
               const ng_optim_options *options),                               \
      (y, x, n, options, launch_now))

#define OPTIM_THUNK(entry, parameters, arguments)                              \
    static ng_status (*cuda_##entry)(WITHOUT_PARENTHESES parameters,           \
                                     const ng_cuda_launch *);                  \
    static ng_status entry parameters                                          \
    {                                                                          \
        return cuda_##entry arguments;                                         \
    }
/* clang-format on */
OPTIM(OPTIM_THUNK)

static ng_status (*cuda_step)(const ng_weights *, const ng_state *,
                              const ng_state *, const ng_gradient *, int64_t,
                              const ng_step_constants *, const int32_t *skip,
                              const ng_optim_options *,
                              const ng_cuda_launch *);

static ng_status step(const ng_weights *theta, const ng_state *m,
                      const ng_state *v, const ng_gradient *g, int64_t n,
                      const ng_step_constants *c,
                      const ng_optim_options *options)
{
    return cuda_step(theta, m, v, g, n, c, NULL, options, launch_now);
}

static const ng_cuda_library *cuda; /* null until open */

static ng_status move(void *to, const void *from, int64_t bytes)
{
    return from == NULL ? cuda->fill(to, 0, bytes, launch_now->stream)
                        : cuda->copy(to, from, bytes, launch_now->stream);
}

static ng_optim_functions optimizers = {.move = move}; /* what the library has */

static ng_status run_optim(const void *row, const ng_call *device_call,
                           const ng_cuda_launch *launch)
{
    (void)row;
    launch_now = launch;
    return ng_optim_functions_run(&optimizers, device_call);
}

/* step_constants, which makes 14 numbers on the host, of a call that lies there. */
static bool is_on_host(const ng_call *call)
{
    return strcmp(call->operation, "step_constants") == 0;
}

static ng_status run_on_host(const ng_call *call)
{
    ng_optim_functions table = optimizers;

    table.move = NULL;
    return ng_optim_functions_run(&table, call);
}

#define FIND_OPTIM(entry, parameters, arguments)                       \
    *(void **)&cuda_##entry = ng_cuda_library_find("ng_cuda_" #entry); \
    optimizers.entry = cuda_##entry != NULL ? entry : NULL;

/* ---- everything else: an adapter each ------------------------------------ */

typedef struct row row;
struct row {
    const char *operation;
    const char *symbol;
    ng_status (*run)(void *function, const ng_call *device_call,
                     const ng_cuda_launch *launch);
    void *function; /* null: this library has none */
};

static ng_format_id format_of(const ng_call *call)
{
    const ng_format *format = ng_format_find(strchr(call->operation, '_') + 1);

    return (ng_format_id)(format - ng_formats);
}

static ng_status encode(void *function, const ng_call *call,
                        const ng_cuda_launch *launch)
{
    ng_status (*f)(void *, const float *, const uint32_t *, int64_t,
                   ng_format_id, const ng_rules *, const ng_cuda_launch *);
    const ng_tensor *x = ng_call_input(call, "x");
    const ng_tensor *random = ng_call_input(call, "random");

    *(void **)&f = function;
    return f(ng_call_output(call, "y")->data, x->data,
             random != NULL ? random->data : NULL, x->shape[0], format_of(call),
             &call->rules, launch);
}

static ng_status decode(void *function, const ng_call *call,
                        const ng_cuda_launch *launch)
{
    ng_status (*f)(float *, const void *, int64_t, ng_format_id,
                   const ng_rules *, const ng_cuda_launch *);
    const ng_tensor *x = ng_call_input(call, "x");

    *(void **)&f = function;
    return f(ng_call_output(call, "y")->data, x->data, x->shape[0],
             format_of(call), &call->rules, launch);
}

static ng_status philox(void *function, const ng_call *call,
                        const ng_cuda_launch *launch)
{
    ng_status (*f)(uint32_t *, const uint64_t *, int64_t, const ng_random *,
                   const ng_cuda_launch *);
    const ng_tensor *y = ng_call_output(call, "y");

    *(void **)&f = function;
    return f(y->data, ng_call_input(call, "first")->data, y->shape[0],
             &call->random, launch);
}

/* Rows and columns in one pass; for `bench`, which holds it against
 * quantize_fp8_row and quantize_fp8_col. */
static ng_status quantize_row_col(void *function, const ng_call *call,
                                  const ng_cuda_launch *launch)
{
    ng_status (*f)(const ng_fp8 *, const ng_fp8 *, const ng_matrix *,
                   const ng_options *, const ng_cuda_launch *);
    const ng_fp8 y = ng_call_fp8(call, "y", NG_FP8_ROW);
    const ng_fp8 z = ng_call_fp8(call, "z", NG_FP8_COL);
    const ng_matrix x = ng_call_matrix(call, "x");
    ng_groups groups;
    const ng_options options = ng_call_options(&groups, call);

    *(void **)&f = function;
    return f(&y, &z, &x, &options, launch);
}

#define ENCODE(format)                                   \
    {                                                    \
        "encode_" format, "ng_cuda_encode", encode, NULL \
    }
#define DECODE(format)                                   \
    {                                                    \
        "decode_" format, "ng_cuda_decode", decode, NULL \
    }

static row rows[] = {
    ENCODE("e2m1"),
    ENCODE("e4m3"),
    ENCODE("ue8m0"),
    ENCODE("ue6m10"),
    ENCODE("bf16"),
    ENCODE("fp16"),
    DECODE("e2m1"),
    DECODE("e4m3"),
    DECODE("ue8m0"),
    DECODE("ue6m10"),
    DECODE("bf16"),
    DECODE("fp16"),
    {"philox", "ng_cuda_philox", philox, NULL},
    {"quantize_fp8_row_col", "ng_cuda_quantize_fp8_row_col", quantize_row_col,
     NULL},
};

static ng_status run_row(const void *context, const ng_call *device_call,
                         const ng_cuda_launch *launch)
{
    const row *r = context;

    return r->run(r->function, device_call, launch);
}

static const row *find(const char *operation)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].operation, operation) == 0)
            return rows[i].function != NULL ? &rows[i] : NULL;
    return NULL;
}

/* ---- the subject --------------------------------------------------------- */

/* Called once, before any thread runs the subject. */
static ng_status open_subject(ng_error *error)
{
    ng_status status;

    cuda = ng_cuda_library_open(&status, error);
    if (cuda == NULL)
        return status;

#define FIND(entry, y_view, x_view)                                    \
    *(void **)&cuda_##entry = ng_cuda_library_find("ng_cuda_" #entry); \
    conversions.entry = cuda_##entry != NULL ? entry : NULL;
    CONVERSIONS(FIND)
    FIND(convert_scales, ng_scales, ng_scales)
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        rows[i].function = ng_cuda_library_find(rows[i].symbol);
    FIND_GEMM(fprop);
    FIND_GEMM(wgrad);
    FIND_GEMM(mxfp4_fprop);
    FIND_GEMM(mxfp4_wgrad);
    FIND_GEMM(bf16_fprop);
    FIND_GEMM(bf16_wgrad);
    OPTIM(FIND_OPTIM)
    *(void **)&cuda_step = ng_cuda_library_find("ng_cuda_step");
    optimizers.step = cuda_step != NULL ? step : NULL;
    *(void **)&optimizers.step_constants =
        ng_cuda_library_find("ng_cuda_step_constants");
    FIND_SWIGLU(swiglu, "swiglu");
    FIND_SWIGLU(swiglu_mxfp4, "swiglu_mxfp4");
    FIND_SWIGLU(swiglu_fp8, "swiglu_fp8");
    FIND_SWIGLU(backward, "swiglu_backward");
    FIND_SWIGLU(backward_fp8, "swiglu_backward_fp8");
    return NG_OK;
}

static bool covers(const ng_call *call)
{
    return cuda != NULL && ng_rules_for_kernels(&call->rules)
           && (find(call->operation) != NULL
               || ng_gemm_functions_cover(&gemms, call)
               || ng_swiglu_functions_cover(&swiglus, call)
               || ng_optim_functions_cover(&optimizers, call)
               || ng_conversions_cover(&conversions, call));
}

ng_status ng_subject_cuda_enqueue(const ng_call *device_call,
                                  const ng_cuda_launch *launch)
{
    const row *r;

    if (!covers(device_call))
        return NG_NOT_COVERED;
    host_call = NULL;
    if (ng_swiglu_functions_cover(&swiglus, device_call))
        return run_swiglu(NULL, device_call, launch);
    r = find(device_call->operation);
    return r != NULL ? run_row(r, device_call, launch)
                     : run_conversion(NULL, device_call, launch);
}

static ng_status run(const ng_call *call)
{
    const row *r;

    if (!covers(call))
        return NG_NOT_COVERED;
    host_call = call;
    if (ng_gemm_functions_cover(&gemms, call))
        return ng_cuda_call(cuda, call, run_gemm, NULL);
    if (ng_swiglu_functions_cover(&swiglus, call))
        return ng_cuda_call(cuda, call, run_swiglu, NULL);
    if (ng_optim_functions_cover(&optimizers, call))
        return is_on_host(call) ? run_on_host(call)
                                : ng_cuda_call(cuda, call, run_optim, NULL);
    r = find(call->operation);
    return r != NULL ? ng_cuda_call(cuda, call, run_row, r)
                     : ng_cuda_call(cuda, call, run_conversion, NULL);
}

const ng_subject ng_subject_cuda = {
    .name = "cuda",
    .description = "this project's kernels on the GPU",
    .counts_events = true,
    .trusted = false,
    .covers = covers,
    .run = run,
    .open = open_subject,
};
