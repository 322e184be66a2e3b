/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda": the kernels of libnarrowgauge-cuda.so on the GPU.
 *
 * To add an operation: if a table of typed functions has it (conversions.h,
 * gemm_functions.h, optim_functions.h, swiglu_functions.h), a line in that
 * table's part, subject_cuda_*.c; else an adapter and a row of `rows`.
 */
#include <stddef.h>
#include <string.h>

#include "conformance/subject/subject.h"
#include "conformance/subject/subject_cuda.h"
#include "conformance/subject/subject_cuda_parts.h"
#include "formats/format.h"

/* ---- what the parts ask for ---------------------------------------------- */

_Thread_local const ng_cuda_launch *ng_cuda_launch_now;
static _Thread_local const ng_call *host_call; /* null: all on the device */

ng_status ng_cuda_check_offsets(int64_t rows)
{
    ng_groups groups;

    return host_call == NULL
               ? NG_OK
               : ng_groups_check(ng_call_groups(&groups, host_call), rows);
}

/* ---- what no table has: an adapter each ---------------------------------- */

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

static const ng_subject_cuda_part *const parts[] = {
    &ng_subject_cuda_gemms, &ng_subject_cuda_swiglus,
    &ng_subject_cuda_optimizers, &ng_subject_cuda_conversions};

static const ng_cuda_library *cuda; /* null until open */

static const ng_subject_cuda_part *part_of(const ng_call *call)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i]->covers(call))
            return parts[i];
    return NULL;
}

static ng_status run_part(const void *context, const ng_call *device_call,
                          const ng_cuda_launch *launch)
{
    const ng_subject_cuda_part *part = context;

    ng_cuda_launch_now = launch;
    return part->run(device_call);
}

/* Called once, before any thread runs the subject. */
static ng_status open_subject(ng_error *error)
{
    ng_status status;

    cuda = ng_cuda_library_open(&status, error);
    if (cuda == NULL)
        return status;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        rows[i].function = ng_cuda_library_find(rows[i].symbol);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        parts[i]->open(cuda);
    return NG_OK;
}

static bool covers(const ng_call *call)
{
    return cuda != NULL && ng_rules_for_kernels(&call->rules)
           && (find(call->operation) != NULL || part_of(call) != NULL);
}

ng_status ng_subject_cuda_enqueue(const ng_call *device_call,
                                  const ng_cuda_launch *launch)
{
    const ng_subject_cuda_part *part;
    const row *r;

    if (!covers(device_call))
        return NG_NOT_COVERED;
    host_call = NULL;
    if ((r = find(device_call->operation)) != NULL)
        return run_row(r, device_call, launch);
    part = part_of(device_call);
    return part->enqueues ? run_part(part, device_call, launch)
                          : NG_NOT_COVERED;
}

static ng_status run(const ng_call *call)
{
    const ng_subject_cuda_part *part;
    const row *r;

    if (!covers(call))
        return NG_NOT_COVERED;
    host_call = call;
    if ((r = find(call->operation)) != NULL)
        return ng_cuda_call(cuda, call, run_row, r);
    part = part_of(call);
    return part->is_on_host != NULL && part->is_on_host(call)
               ? part->run_on_host(call)
               : ng_cuda_call(cuda, call, run_part, part);
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
