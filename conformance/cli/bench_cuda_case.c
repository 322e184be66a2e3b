/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensors of a row of `bench --backend cuda`, made on the device: numbers
 * by ng_cuda_fill_numbers, block-scaled inputs of them by the kernels
 * themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/bench_cuda.h"
#include "conformance/subject/subject_cuda.h"
#include "cuda/bench/fill_numbers.h"

/* Together the sets pass the L2 of any GPU: 200 MB and more in rotation. */
enum { ROTATED_BYTES = 400 << 20, MIN_GROUP = 256 };

static ng_status make(ng_cuda_bench_case *c, ng_tensor *tensor,
                      const char *name, ng_dtype dtype, const int64_t shape[2],
                      const ng_cuda_library *cuda)
{
    int64_t units, bytes;
    ng_status status;

    *tensor = ng_tensor_dense(name, dtype, 2, shape, NULL);
    status = ng_tensor_extent(&units, &bytes, tensor);
    if (status == NG_OK)
        status = cuda->allocate(&tensor->data, bytes);
    if (status == NG_OK)
        c->block[c->n_blocks++] = tensor->data;
    return status;
}

ng_status ng_cuda_bench_add(ng_cuda_bench_case *c, ng_call *call, bool output,
                            const char *name, ng_dtype dtype, int64_t lines,
                            int64_t width, const ng_cuda_library *cuda)
{
    ng_tensor *t = output ? &call->output[call->n_outputs++]
                          : &call->input[call->n_inputs++];

    return make(c, t, name, dtype, (int64_t[]){lines, width}, cuda);
}

/* One end: numbers, or codes and scales; in the transposed one's place y. */
static ng_status make_side(ng_cuda_bench_case *c, ng_call *call, bool output,
                           const ng_cuda_library *cuda)
{
    const ng_side side = output ? c->conversion->to : c->conversion->from;
    const bool turned = output && c->conversion->transposes;
    const int64_t shape[2] = {turned ? c->row->cols : c->row->rows,
                              turned ? c->row->rows : c->row->cols};
    const ng_dtype type = side.kind == NG_SIDE_MXFP4 ? NG_UE8M0 : NG_FP32;
    int64_t code_shape[2], scale_shape[2];
    ng_tensor codes, scales;
    ng_status status;

    if (side.kind == NG_SIDE_MATRIX) {
        status = make(c, &codes, "", NG_BF16, shape, cuda);
    } else {
        ng_side_shapes(code_shape, scale_shape, side, shape[0], shape[1], type);
        if (side.kind == NG_SIDE_FP8 && side.form != NG_FP8_ROW
            && c->row->n_groups > 0) /* a launcher asks for the most there can
                                        be: a short block a group */
            scale_shape[side.form == NG_FP8_COL] =
                c->row->rows / NG_FP8_BLOCK + c->row->n_groups;
        status = make(c, &codes, "", ng_side_codes(side), code_shape, cuda);
        if (status == NG_OK)
            status = make(c, &scales, "", type, scale_shape, cuda);
    }
    if (status != NG_OK)
        return status;
    (output ? ng_call_add_output : ng_call_add_input)(
        call, &codes, side.kind == NG_SIDE_MATRIX ? NULL : &scales);
    return NG_OK;
}

/* Bytes of scales that a ragged tensor could have and this one has not. */
static int64_t absent_bytes(const ng_cuda_bench_case *c)
{
    const ng_side side =
        c->conversion != NULL ? c->conversion->to
        : c->row->operation[0] == 's'
            ? (ng_side){NG_SIDE_MATRIX, NG_FP8_ROW}
            : (ng_side){NG_SIDE_FP8, NG_FP8_COL}; /* row and col */
    int64_t absent = c->row->rows / NG_FP8_BLOCK + c->row->n_groups;

    if (c->offsets == NULL || side.kind != NG_SIDE_FP8
        || side.form == NG_FP8_ROW)
        return 0;
    for (int64_t g = 0; g < c->row->n_groups; g++)
        absent -= ng_ceil_div(c->offsets[g + 1] - c->offsets[g], NG_FP8_BLOCK);
    return absent * 4
           * (side.form == NG_FP8_COL
                  ? c->row->cols
                  : ng_ceil_div(c->row->cols, NG_FP8_BLOCK));
}

/* Groups of 256 rows and a share of the rest, none a multiple of 128 but the
 * last, perhaps. */
static ng_status make_offsets(ng_cuda_bench_case *c,
                              const ng_cuda_library *cuda)
{
    const int64_t n = c->row->n_groups, extra = c->row->rows - n * MIN_GROUP;
    void *device;
    ng_status status;

    if (n == 0)
        return NG_OK;
    c->offsets = calloc((size_t)n + 1, sizeof *c->offsets);
    if (c->offsets == NULL)
        return NG_NO_MEMORY;
    for (int64_t g = 1; g < n; g++) /* shares that grow with g, odd ends */
        c->offsets[g] =
            g * MIN_GROUP
            + (int64_t)((double)extra * (double)(g * g) / (double)(n * n)) / 2
                  * 2
            + g % 2;
    c->offsets[n] = c->row->rows;
    if ((status = cuda->allocate(&device, (n + 1) * 8)) != NG_OK)
        return status;
    c->block[c->n_blocks++] = device;
    status = cuda->copy(device, c->offsets, (n + 1) * 8, NULL);
    for (int s = 0; s < c->n_sets; s++) {
        ng_tensor *t = &c->call[s].input[c->call[s].n_inputs++];

        *t = ng_tensor_dense("offsets", NG_I64, 1, &(int64_t){n + 1}, device);
    }
    return status;
}

/* Numbers into x, or numbers quantized into x by the kernels. */
static ng_status fill(ng_cuda_bench_case *c, ng_call *call, uint64_t seed,
                      const ng_cuda_library *cuda)
{
    static const char *const quantizer[] = {
        "quantize_fp8_row", "quantize_fp8_col", "quantize_fp8_tile"};
    const ng_cuda_launch launch = {.stream = NULL};
    ng_matrix numbers = {.dtype = NG_BF16,
                         .rows = c->row->rows,
                         .cols = c->row->cols,
                         .ld = c->row->cols};
    ng_status (*fill_numbers)(const ng_matrix *, uint64_t,
                              const ng_cuda_launch *);
    ng_status status;

    *(void **)&fill_numbers = ng_cuda_library_find("ng_cuda_fill_numbers");
    if (fill_numbers == NULL)
        return NG_NOT_COVERED;
    if (c->conversion == NULL) {
        status = NG_OK;
        for (int i = 0; i < call->n_inputs && status == NG_OK; i++) {
            numbers.data = call->input[i].data;
            if (call->input[i].dtype == NG_BF16)
                status =
                    fill_numbers(&numbers, 16 * seed + (uint64_t)i, &launch);
        }
        return status;
    }

    const ng_side side = c->conversion->from;

    if (side.kind == NG_SIDE_MATRIX) {
        numbers.data = call->input[0].data;
        return fill_numbers(&numbers, seed, &launch);
    }
    if ((status =
             cuda->allocate(&numbers.data, 2 * numbers.rows * numbers.cols))
        != NG_OK)
        return status;

    ng_call quantize = {.rules = call->rules};
    const ng_tensor x = ng_tensor_dense(
        "", NG_BF16, 2, (int64_t[]){numbers.rows, numbers.cols}, numbers.data);

    quantize.operation =
        side.kind == NG_SIDE_MXFP4 ? "quantize_mxfp4" : quantizer[side.form];
    ng_call_add_input(&quantize, &x, NULL);
    ng_call_add_output(&quantize, &call->input[0], &call->input[1]);
    quantize.attribute[quantize.n_attributes++] =
        (ng_attribute){"cols", c->row->cols};
    if (c->offsets != NULL)
        quantize.input[quantize.n_inputs++] = call->input[call->n_inputs - 1];
    if ((status = fill_numbers(&numbers, seed, &launch)) == NG_OK)
        status = ng_subject_cuda_enqueue(&quantize, &launch);
    if (status == NG_OK)
        status = cuda->synchronize(NULL);
    cuda->free(numbers.data);
    return status;
}

static int64_t bytes_of(const ng_call *call)
{
    int64_t sum = 0, units, bytes;

    for (int i = 0; i < call->n_inputs + call->n_outputs; i++) {
        const ng_tensor *t = i < call->n_inputs
                                 ? &call->input[i]
                                 : &call->output[i - call->n_inputs];

        if (ng_tensor_extent(&units, &bytes, t) == NG_OK)
            sum += bytes;
    }
    return sum;
}

/* quantize_fp8_row_col: y along rows, z along columns. */
static ng_status make_row_col(ng_cuda_bench_case *c, ng_call *call,
                              const ng_cuda_library *cuda)
{
    const int64_t rows = c->row->rows, cols = c->row->cols;
    const int64_t blocks = c->row->n_groups > 0
                               ? rows / NG_FP8_BLOCK + c->row->n_groups
                               : ng_ceil_div(rows, NG_FP8_BLOCK);
    ng_status status =
        ng_cuda_bench_add(c, call, false, "x", NG_BF16, rows, cols, cuda);

    if (status == NG_OK)
        status = ng_cuda_bench_add(c, call, true, "y.codes", NG_E4M3, rows,
                                   cols, cuda);
    if (status == NG_OK)
        status = ng_cuda_bench_add(c, call, true, "y.scales", NG_FP32, rows,
                                   ng_ceil_div(cols, NG_FP8_BLOCK), cuda);
    if (status == NG_OK)
        status = ng_cuda_bench_add(c, call, true, "z.codes", NG_E4M3, cols,
                                   rows, cuda);
    return status == NG_OK ? ng_cuda_bench_add(c, call, true, "z.scales",
                                               NG_FP32, cols, blocks, cuda)
                           : status;
}

static ng_status make_set(ng_cuda_bench_case *c, int s,
                          const ng_cuda_library *cuda)
{
    ng_call *call = &c->call[s];
    ng_status status;

    *call =
        (ng_call){.operation = c->row->operation, .rules = ng_default_rules};
    call->rules.fp8_scale = c->row->fp8_scale;
    call->attribute[call->n_attributes++] =
        (ng_attribute){"cols", c->row->cols};
    call->attribute[call->n_attributes++] =
        (ng_attribute){"pow2", c->row->fp8_scale == NG_FP8_POW2};
    if (c->conversion == NULL)
        return c->row->operation[0] == 's'
                   ? ng_cuda_bench_swiglu_make(c, call, cuda)
                   : make_row_col(c, call, cuda);
    status = make_side(c, call, false, cuda);
    if (status == NG_OK)
        status = make_side(c, call, true, cuda);
    return status;
}

ng_status ng_cuda_bench_begin(ng_cuda_bench_case *c,
                              const ng_cuda_bench_row *row,
                              const ng_cuda_library *cuda)
{
    ng_status status;

    *c = (ng_cuda_bench_case){.row = row,
                              .conversion = ng_conversion_find(row->operation)};
    if (c->conversion == NULL && strncmp(row->operation, "swiglu", 6) != 0
        && strcmp(row->operation, "quantize_fp8_row_col") != 0)
        return NG_NOT_COVERED;
    do {
        if ((status = make_set(c, c->n_sets, cuda)) != NG_OK)
            return status;
        c->n_sets++;
        c->bytes = bytes_of(&c->call[0]);
    } while (c->n_sets < NG_CUDA_MAX_SETS
             && c->n_sets * c->bytes < ROTATED_BYTES + c->bytes);
    status = make_offsets(c, cuda);
    c->bytes -= absent_bytes(c);
    for (int s = 0; s < c->n_sets && status == NG_OK; s++)
        status = fill(c, &c->call[s], (uint64_t)s + 1, cuda);
    return status == NG_OK ? cuda->synchronize(NULL) : status;
}

void ng_cuda_bench_end(ng_cuda_bench_case *c, const ng_cuda_library *cuda)
{
    for (int i = 0; i < c->n_blocks; i++)
        cuda->free(c->block[i]);
    c->n_blocks = 0;
    free(c->offsets);
    c->offsets = NULL;
}
