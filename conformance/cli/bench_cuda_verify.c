/* SPDX-License-Identifier: Apache-2.0
 *
 * A row of `bench --backend cuda` held against the reference, at the shape that
 * is timed: three parts of its rows, each of which is a whole tensor to the
 * reference, for no block spans two of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/bench_cuda.h"
#include "conformance/subject/subject.h"
#include "conformance/subject/subject_cuda.h"

enum { POISON = 0xA5 };

/* Rows first .. last - 1, whose blocks of 128 start with number `block`. */
typedef struct part {
    int64_t first, last, block;
} part;

/* Whole groups, or 128 rows of a dense tensor: at i in 0 .. 2 of the way. */
static part part_at(const ng_cuda_bench_case *c, int i)
{
    part p = {0, c->row->rows, 0};

    if (c->offsets == NULL) {
        p.block = i * ((c->row->rows - 1) / NG_FP8_BLOCK) / 2;
        p.first = p.block * NG_FP8_BLOCK;
        if (p.first + NG_FP8_BLOCK < p.last)
            p.last = p.first + NG_FP8_BLOCK;
        return p;
    }
    const int64_t group = i * (c->row->n_groups - 1) / 2;

    for (int64_t g = 0; g < group; g++)
        p.block += ng_ceil_div(c->offsets[g + 1] - c->offsets[g], NG_FP8_BLOCK);
    p.first = c->offsets[group];
    p.last = c->offsets[group + 1];
    return p;
}

/* The tensor's part: rows, or blocks of rows, along one of its axes. */
static ng_tensor cut(const ng_tensor *tensor, ng_side side, bool turned, part p)
{
    const bool scales = strstr(tensor->name, ".scales") != NULL;
    const bool by_block =
        scales && side.kind == NG_SIDE_FP8 && side.form != NG_FP8_ROW;
    const int axis =
        (side.kind == NG_SIDE_FP8 && side.form == NG_FP8_COL) || turned;
    ng_tensor view = *tensor;

    view.shape[axis] = by_block ? ng_ceil_div(p.last - p.first, NG_FP8_BLOCK)
                                : p.last - p.first;
    view.data = (char *)view.data
                + (by_block ? p.block : p.first) * view.stride[axis]
                      * (int64_t)ng_dtype_size(view.dtype);
    return view;
}

/* The first unit in which a part of y is not what the reference gives. */
static bool compare(char *line, size_t size, const ng_tensor *want,
                    const ng_tensor *got, part p)
{
    const size_t unit = ng_dtype_size(want->dtype);

    for (int64_t r = 0; r < want->shape[0]; r++)
        for (int64_t k = 0; k < want->shape[1]; k++) {
            const char *a = (const char *)want->data
                            + (r * want->stride[0] + k) * (int64_t)unit;
            const char *b =
                (const char *)got->data
                + (r * got->stride[0] + k * got->stride[1]) * (int64_t)unit;
            uint32_t w = 0, g = 0;

            if (memcmp(a, b, unit) == 0)
                continue;
            memcpy(&w, a, unit);
            memcpy(&g, b, unit);
            snprintf(line, size,
                     "rows %" PRId64 " .. %" PRId64 ", %s[%" PRId64 ",%" PRId64
                     "]: want %" PRIx32 ", got %" PRIx32,
                     p.first, p.last - 1, want->name, r, k, w, g);
            return false;
        }
    return true;
}

static ng_status check_part(char *line, size_t size,
                            const ng_cuda_bench_case *c, const ng_call *host,
                            part p)
{
    ng_call call = *host;
    ng_tensor got[NG_MAX_TENSORS] = {{.rank = 0}};
    ng_status status = NG_OK;

    call.n_inputs -= c->offsets != NULL; /* the part is dense */
    for (int i = 0; i < call.n_inputs; i++)
        call.input[i] = cut(&host->input[i], c->conversion->from, false, p);
    for (int i = 0; i < call.n_outputs; i++) {
        int64_t units, bytes = 0;

        got[i] = cut(&host->output[i], c->conversion->to,
                     c->conversion->transposes, p);
        call.output[i] =
            ng_tensor_dense(got[i].name, got[i].dtype, 2, got[i].shape, NULL);
        if (ng_tensor_extent(&units, &bytes, &call.output[i]) == NG_OK)
            call.output[i].data = calloc((size_t)bytes, 1);
        if (call.output[i].data == NULL)
            status = NG_NO_MEMORY;
    }
    if (status == NG_OK)
        status = ng_subject_reference.run(&call);
    for (int i = 0; i < call.n_outputs; i++) {
        if (status == NG_OK && got[i].data != NULL && line[0] == '\0')
            compare(line, size, &call.output[i], &got[i], p);
        free(call.output[i].data);
    }
    return status;
}

/* A host copy of a device tensor. */
static ng_status fetch(ng_tensor *tensor, const ng_cuda_library *cuda)
{
    const void *device = tensor->data;
    int64_t units, bytes;
    ng_status status = ng_tensor_extent(&units, &bytes, tensor);

    if (status != NG_OK)
        return status;
    tensor->data = malloc((size_t)bytes + 1);
    return tensor->data == NULL ? NG_NO_MEMORY
                                : cuda->copy(tensor->data, device, bytes, NULL);
}

/* A part of quantize_fp8_row_col, as the two operations that it is. */
static ng_status check_row_col(char *line, size_t size,
                               const ng_cuda_bench_case *c, const ng_call *host,
                               part p)
{
    static const char *const operation[] = {"quantize_fp8_row",
                                            "quantize_fp8_col"};
    ng_status status = NG_OK;

    for (int i = 0; i < 2 && status == NG_OK && line[0] == '\0'; i++) {
        ng_cuda_bench_case one = *c;
        ng_call call = *host;

        one.conversion = ng_conversion_find(operation[i]);
        call.operation = operation[i];
        call.n_outputs = 2;
        for (int k = 0; k < 2; k++) {
            call.output[k] = host->output[2 * i + k];
            memcpy(call.output[k].name, host->output[k].name,
                   sizeof call.output[k].name); /* y's */
        }
        status = check_part(line, size, &one, &call, p);
    }
    return status;
}

ng_status ng_cuda_bench_verify(char *line, size_t size,
                               const ng_cuda_bench_case *c,
                               const ng_cuda_library *cuda)
{
    const ng_cuda_launch launch = {.stream = NULL};
    ng_call host = c->call[0];
    ng_status status = NG_OK;
    int64_t units, bytes;

    if (c->conversion == NULL && c->row->operation[0] == 's')
        return ng_cuda_bench_swiglu_verify(line, size, c, cuda);
    line[0] = '\0';
    for (int i = 0; i < host.n_outputs && status == NG_OK; i++)
        if ((status = ng_tensor_extent(&units, &bytes, &host.output[i]))
            == NG_OK)
            status = cuda->fill(host.output[i].data, POISON, bytes, NULL);
    if (status == NG_OK)
        status = ng_subject_cuda_enqueue(&c->call[0], &launch);
    for (int i = 0; i < host.n_inputs + host.n_outputs; i++) {
        ng_tensor *t = i < host.n_inputs ? &host.input[i]
                                         : &host.output[i - host.n_inputs];

        if (status == NG_OK)
            status = fetch(t, cuda);
        else
            t->data = NULL;
    }
    if (status == NG_OK)
        status = cuda->synchronize(NULL);
    for (int i = 0; i < 3 && status == NG_OK && line[0] == '\0'; i++)
        status = (c->conversion != NULL ? check_part : check_row_col)(
            line, size, c, &host, part_at(c, i));
    for (int i = 0; i < host.n_inputs; i++)
        free(host.input[i].data);
    for (int i = 0; i < host.n_outputs; i++)
        free(host.output[i].data);
    return status;
}
