/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda": the optimizer, by the table of optim_functions.h: a thunk for
 * each entry.
 */
#include <string.h>

#include "conformance/subject/optim_functions.h"
#include "conformance/subject/subject_cuda_parts.h"

/* clang-format off */
#define OPTIM(X)                                                               \
    X(split_weights, (const ng_weights *y, const float *theta, int64_t n,      \
                      const ng_optim_options *options),                        \
      (y, theta, n, options, ng_cuda_launch_now))                              \
    X(merge_weights, (float *theta, const ng_weights *x, int64_t n,            \
                      const ng_optim_options *options),                        \
      (theta, x, n, options, ng_cuda_launch_now))                              \
    X(compand, (const ng_state *y, const float *x, int64_t n,                  \
                const ng_optim_options *options),                              \
      (y, x, n, options, ng_cuda_launch_now))                                  \
    X(expand, (float *y, const ng_state *x, int64_t n,                         \
               const ng_optim_options *options),                               \
      (y, x, n, options, ng_cuda_launch_now))

#define WITHOUT_PARENTHESES(...) __VA_ARGS__
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
                              const ng_optim_options *, const ng_cuda_launch *);

static ng_status step(const ng_weights *theta, const ng_state *m,
                      const ng_state *v, const ng_gradient *g, int64_t n,
                      const ng_step_constants *c,
                      const ng_optim_options *options)
{
    return cuda_step(theta, m, v, g, n, c, NULL, options, ng_cuda_launch_now);
}

static const ng_cuda_library *library; /* null until open */

static ng_status move(void *to, const void *from, int64_t bytes)
{
    return from == NULL
               ? library->fill(to, 0, bytes, ng_cuda_launch_now->stream)
               : library->copy(to, from, bytes, ng_cuda_launch_now->stream);
}

static ng_optim_functions optimizers = {.move =
                                            move}; /* what the library has */

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

static void open_part(const ng_cuda_library *cuda)
{
    library = cuda;
    OPTIM(FIND_OPTIM)
    *(void **)&cuda_step = ng_cuda_library_find("ng_cuda_step");
    optimizers.step = cuda_step != NULL ? step : NULL;
    *(void **)&optimizers.step_constants =
        ng_cuda_library_find("ng_cuda_step_constants");
}

static bool covers(const ng_call *call)
{
    return ng_optim_functions_cover(&optimizers, call);
}

static ng_status run(const ng_call *device_call)
{
    return ng_optim_functions_run(&optimizers, device_call);
}

const ng_subject_cuda_part ng_subject_cuda_optimizers = {
    .open = open_part,
    .covers = covers,
    .run = run,
    .is_on_host = is_on_host,
    .run_on_host = run_on_host,
};
