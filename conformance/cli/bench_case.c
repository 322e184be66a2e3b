/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/bench_case.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/bench_gemm.h"
#include "conformance/cli/bench_optim.h"
#include "conformance/cli/bench_swiglu.h"
#include "conformance/subject/subject.h"
#include "formats/format.h"
#include "formats/fp32.h"

enum { COLS = 1024 };

static ng_tensor make(ng_bench_case *bench, ng_dtype dtype, int rank,
                      int64_t rows, int64_t cols)
{
    const int64_t shape[2] = {rows, cols};
    ng_tensor tensor = ng_tensor_dense("", dtype, rank, shape, NULL);
    int64_t units, bytes;

    if (ng_tensor_extent(&units, &bytes, &tensor) == NG_OK)
        tensor.data = calloc((size_t)bytes + 1, 1);
    if (tensor.data != NULL)
        bench->block[bench->n_blocks++] = tensor.data;
    return tensor;
}

static void add_named(ng_tensor *list, int *n, const ng_tensor *tensor,
                      const char *name)
{
    list[*n] = *tensor;
    snprintf(list[*n].name, sizeof list[*n].name, "%s", name);
    (*n)++;
}

static void add_attribute(ng_call *call, const char *name, int64_t value)
{
    call->attribute[call->n_attributes++] = (ng_attribute){name, value};
}

/* xorshift64 (Marsaglia 2003), and the sum of twelve uniforms less six. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static float normal(uint64_t *state)
{
    int64_t sum = 0;

    for (int i = 0; i < 3; i++)
        for (uint64_t word = next(state), k = 0; k < 4; k++, word >>= 16)
            sum += (int64_t)(word & 0xFFFF);
    return (float)((double)sum / 65536 - 6);
}

static void fill_numbers(const ng_tensor *x)
{
    uint64_t state = 88172645463325252;
    const int64_t rows = x->shape[0], cols = x->rank > 1 ? x->shape[1] : 1;

    for (int64_t r = 0; x->data != NULL && r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            const float value = ldexpf(normal(&state), (int)(r % 8) - 4);

            if (x->dtype == NG_FP32)
                ((float *)x->data)[r * cols + c] = value;
            else /* cut: any BF16 number will do */
                ((uint16_t *)x->data)[r * cols + c] =
                    (uint16_t)(ng_fp32_bits(value) >> 16);
        }
}

static void fill_codes(const ng_tensor *x, int64_t n, uint32_t mask)
{
    for (int64_t i = 0; x->data != NULL && i < n; i++)
        if (ng_dtype_size(x->dtype) == 1)
            ((uint8_t *)x->data)[i] = (uint8_t)((uint64_t)i & mask);
        else
            ((uint16_t *)x->data)[i] = (uint16_t)((uint64_t)i & mask);
}

/* encode_F and decode_F; false if the name is neither. */
static bool begin_codec(ng_bench_case *bench, const char *operation, int64_t n)
{
    static const ng_dtype code_type[NG_N_FORMATS] = {
        [NG_FORMAT_E2M1] = NG_E2M1,   [NG_FORMAT_E4M3] = NG_E4M3,
        [NG_FORMAT_UE8M0] = NG_UE8M0, [NG_FORMAT_UE6M10] = NG_UE6M10,
        [NG_FORMAT_BF16] = NG_BF16,   [NG_FORMAT_FP16] = NG_FP16,
    };
    const bool encode = strncmp(operation, "encode_", 7) == 0;
    const ng_format *format = encode || strncmp(operation, "decode_", 7) == 0
                                  ? ng_format_find(operation + 7)
                                  : NULL;

    if (format == NULL)
        return false;
    const ng_dtype codes = code_type[format - ng_formats];
    const ng_tensor x = make(bench, encode ? NG_FP32 : codes, 1, n, 1);
    const ng_tensor y = make(bench, encode ? codes : NG_FP32, 1, n, 1);

    if (encode)
        fill_numbers(&x);
    else
        fill_codes(&x, n, UINT32_MAX >> (32 - format->bits));
    ng_call_add_input(&bench->call, &x, NULL);
    ng_call_add_output(&bench->call, &y, NULL);
    snprintf(bench->shape, sizeof bench->shape, "%" PRId64, n);
    return true;
}

static void begin_philox(ng_bench_case *bench, int64_t n)
{
    const ng_tensor first = make(bench, NG_U64, 1, 1, 1);
    const ng_tensor y = make(bench, NG_U32, 1, n, 1);

    add_named(bench->call.input, &bench->call.n_inputs, &first, "first");
    ng_call_add_output(&bench->call, &y, NULL);
    snprintf(bench->shape, sizeof bench->shape, "%" PRId64, n);
}

static void begin_scales(ng_bench_case *bench, int64_t rows)
{
    const ng_tensor x = make(bench, NG_UE8M0, 2, rows, COLS);
    const ng_tensor y = make(bench, NG_FP32, 2, rows, COLS);

    fill_codes(&x, rows * COLS, 0xFF);
    add_named(bench->call.input, &bench->call.n_inputs, &x, "x.scales");
    add_named(bench->call.output, &bench->call.n_outputs, &y, "y.scales");
    add_attribute(&bench->call, "scales", COLS);
}

static void begin_packing(ng_bench_case *bench, bool pack, int64_t rows)
{
    const ng_tensor wide = make(bench, NG_E2M1, 2, rows, COLS);
    const ng_tensor packed = make(bench, NG_E2M1X2, 2, rows, COLS / 2);

    fill_codes(&wide, rows * COLS, 0xF);
    fill_codes(&packed, rows * COLS / 2, 0xFF);
    ng_call_add_input(&bench->call, pack ? &wide : &packed, NULL);
    ng_call_add_output(&bench->call, pack ? &packed : &wide, NULL);
    add_attribute(&bench->call, "cols", COLS);
}

/* Codes and scales of one end, or BF16 numbers. */
static void make_side(ng_bench_case *bench, ng_tensor *codes, ng_tensor *scales,
                      ng_side side, int64_t rows)
{
    const ng_dtype scale_dtype =
        ng_side_is_mx(side) ? NG_UE8M0 : NG_FP32;
    int64_t code_shape[2], scale_shape[2];

    if (side.kind == NG_SIDE_MATRIX) {
        *codes = make(bench, NG_BF16, 2, rows, COLS);
        return;
    }
    ng_side_shapes(code_shape, scale_shape, side, rows, COLS, scale_dtype);
    *codes = make(bench, ng_side_codes(side), 2, code_shape[0], code_shape[1]);
    *scales = make(bench, scale_dtype, 2, scale_shape[0], scale_shape[1]);
}

/* Quantize numbers into a block-scaled input. */
static ng_status fill_side(const ng_tensor *codes, const ng_tensor *scales,
                           ng_side side, int64_t rows)
{
    static const char *const quantizer[] = {
        "quantize_fp8_row", "quantize_fp8_col", "quantize_fp8_tile"};
    ng_bench_case numbers = {.n_blocks = 0};
    const ng_tensor x = make(&numbers, NG_BF16, 2, rows, COLS);
    ng_status status = NG_NO_MEMORY;

    fill_numbers(&x);
    numbers.call.operation =
        side.kind == NG_SIDE_MXFP4   ? "quantize_mxfp4"
        : side.kind == NG_SIDE_MXFP8 ? "quantize_mxfp8"
                                     : quantizer[side.form];
    numbers.call.rules = ng_default_rules;
    ng_call_add_input(&numbers.call, &x, NULL);
    ng_call_add_output(&numbers.call, codes, scales);
    add_attribute(&numbers.call, "cols", COLS);
    if (x.data != NULL && codes->data != NULL && scales->data != NULL)
        status = ng_subject_reference.run(&numbers.call);
    ng_bench_case_end(&numbers);
    return status;
}

static ng_status begin_conversion(ng_bench_case *bench,
                                  const ng_conversion *conversion, int64_t rows)
{
    ng_tensor x, y, x_scales = {.data = NULL}, y_scales = {.data = NULL};
    ng_status status = NG_OK;

    make_side(bench, &x, &x_scales, conversion->from, rows);
    if (conversion->transposes) { /* rows is a multiple of nothing here */
        int64_t codes[2], scales[2];

        ng_side_shapes(codes, scales, conversion->to, COLS, rows, NG_FP32);
        y = make(bench, NG_E4M3, 2, codes[0], codes[1]);
        y_scales = make(bench, NG_FP32, 2, scales[0], scales[1]);
    } else {
        make_side(bench, &y, &y_scales, conversion->to, rows);
    }
    if (conversion->from.kind == NG_SIDE_MATRIX)
        fill_numbers(&x);
    else
        status = fill_side(&x, &x_scales, conversion->from, rows);
    ng_call_add_input(&bench->call, &x,
                      x_scales.data != NULL ? &x_scales : NULL);
    ng_call_add_output(&bench->call, &y,
                       y_scales.data != NULL ? &y_scales : NULL);
    add_attribute(&bench->call, "cols", COLS);
    return status;
}

static bool complete(const ng_bench_case *bench)
{
    for (int i = 0; i < bench->call.n_inputs; i++)
        if (bench->call.input[i].data == NULL)
            return false;
    for (int i = 0; i < bench->call.n_outputs; i++)
        if (bench->call.output[i].data == NULL)
            return false;
    return true;
}

static int64_t bytes_of(const ng_tensor *list, int n)
{
    int64_t sum = 0, units, bytes;

    for (int i = 0; i < n; i++)
        if (ng_tensor_extent(&units, &bytes, &list[i]) == NG_OK)
            sum += bytes;
    return sum;
}

ng_status ng_bench_case_begin(ng_bench_case *bench, const char *operation,
                              const ng_rules *rules, int64_t size)
{
    const int64_t rows = size > COLS ? size / COLS : 1;
    const ng_conversion *conversion = ng_conversion_find(operation);
    ng_status status = NG_OK;

    *bench = (ng_bench_case){
        .call = {.operation = operation, .rules = *rules, .random = {1, 0}}};
    bench->values = rows * COLS;
    snprintf(bench->shape, sizeof bench->shape, "%" PRId64 "x%d", rows, COLS);
    if (conversion != NULL)
        status = begin_conversion(bench, conversion, rows);
    else if (strcmp(operation, "philox") == 0)
        begin_philox(bench, bench->values);
    else if (strcmp(operation, "convert_scales") == 0)
        begin_scales(bench, rows);
    else if (strcmp(operation, "pack_e2m1") == 0
             || strcmp(operation, "unpack_e2m1") == 0)
        begin_packing(bench, *operation == 'p', rows);
    else if (!begin_codec(bench, operation, bench->values)
             && !ng_bench_gemm_begin(bench) && !ng_bench_swiglu_begin(bench))
        status = ng_bench_optim_begin(bench);
    bench->bytes = bytes_of(bench->call.input, bench->call.n_inputs)
                   + bytes_of(bench->call.output, bench->call.n_outputs);
    return status == NG_OK && !complete(bench) ? NG_NO_MEMORY : status;
}

ng_status ng_bench_case_twin(ng_bench_case *copy, const ng_bench_case *bench)
{
    *copy = *bench;
    copy->n_blocks = 0;
    for (int i = 0; i < copy->call.n_outputs; i++) {
        ng_tensor *output = &copy->call.output[i];
        ng_tensor fresh =
            make(copy, output->dtype, output->rank, output->shape[0],
                 output->rank > 1 ? output->shape[1] : 1);

        output->data = fresh.data;
    }
    return complete(copy) ? NG_OK : NG_NO_MEMORY;
}

void ng_bench_case_end(ng_bench_case *bench)
{
    for (int i = 0; i < bench->n_blocks; i++)
        free(bench->block[i]);
    bench->n_blocks = 0;
}
