/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/conversions.h"

#include <string.h>

/* What an operation's name says beside the function that performs it. */
typedef struct row row;
struct row {
    const char *operation;
    bool (*has)(const ng_conversions *);
    ng_status (*run)(const ng_conversions *, const ng_call *, const row *);
    ng_format_id format;        /* of a scalar codec */
    ng_fp8_form form;           /* of the FP8 tensor that has a choice */
};

static uint32_t load_code(const ng_tensor *x, int64_t i)
{
    return ng_dtype_size(x->dtype) == 1 ? ((const uint8_t *)x->data)[i]
                                        : ((const uint16_t *)x->data)[i];
}

static ng_status encode(const ng_conversions *table, const ng_call *call,
                        const row *r)
{
    const ng_tensor *x = ng_call_input(call, "x");
    const ng_tensor *random = ng_call_input(call, "random");
    const ng_tensor *y = ng_call_output(call, "y");
    const bool bytes = ng_dtype_size(y->dtype) == 1;
    const float *value = x->data;
    const uint32_t *word = random != NULL ? random->data : NULL;

    /* Elements by the set of events they had: one addition each in a loop that
     * runs 2^32 times. */
    uint64_t seen[1 << NG_N_EVENTS] = {0};

    for (int64_t i = 0; i < x->shape[0]; i++) {
        unsigned bits = 0;
        const uint32_t code = table->encode(r->format, value[i], &call->rules,
                                            word != NULL ? word[i] : 0, &bits);

        if (bytes)
            ((uint8_t *)y->data)[i] = (uint8_t)code;
        else
            ((uint16_t *)y->data)[i] = (uint16_t)code;
        seen[bits]++;
    }
    for (unsigned bits = 0; call->events != NULL && bits < 1u << NG_N_EVENTS;
         bits++)
        for (int event = 0; event < NG_N_EVENTS; event++)
            if ((bits >> event & 1u) != 0)
                call->events->count[event] += seen[bits];
    return NG_OK;
}

static ng_status decode(const ng_conversions *table, const ng_call *call,
                        const row *r)
{
    const ng_tensor *x = ng_call_input(call, "x");
    float *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; i < x->shape[0]; i++)
        y[i] = table->decode(r->format, load_code(x, i), &call->rules);
    return NG_OK;
}

static ng_status philox(const ng_conversions *table, const ng_call *call,
                        const row *r)
{
    const ng_tensor *y = ng_call_output(call, "y");
    const uint64_t *first = ng_call_input(call, "first")->data;
    uint32_t *word = y->data;

    (void)r;
    for (int64_t i = 0; i < y->shape[0]; i++)
        word[i] = table->philox(call->random.seed, call->random.stream,
                                *first + (uint64_t)i);
    return NG_OK;
}

static ng_status convert_scales(const ng_conversions *table,
                                const ng_call *call, const row *r)
{
    const ng_tensor *x = ng_call_input(call, "x.scales");
    const ng_scales from = ng_call_scales(call, "x");
    const ng_scales to = ng_call_scales(call, "y");

    (void)r;
    return table->convert_scales(&to, &from, x->shape[0],
                                 ng_call_attribute(call, "scales",
                                                   x->shape[1]));
}

/* The rest take an output view, an input view and options. The view of a
 * tensor is a matrix, MXFP4, MXFP8, FP8 in the form that the row names, or FP8 in a
 * form that the operation fixes. */
#define VIEW_matrix(name) const ng_matrix name = ng_call_matrix(call, #name)
#define VIEW_mxfp4(name) const ng_mxfp4 name = ng_call_mxfp4(call, #name)
#define VIEW_mxfp8(name) const ng_mxfp8 name = ng_call_mxfp8(call, #name)
#define VIEW_fp8(name) const ng_fp8 name = ng_call_fp8(call, #name, r->form)
#define VIEW_row(name) const ng_fp8 name = ng_call_fp8(call, #name, NG_FP8_ROW)
#define VIEW_col(name) const ng_fp8 name = ng_call_fp8(call, #name, NG_FP8_COL)

#define ADAPTER(entry, y_view, x_view)                                         \
    static ng_status entry(const ng_conversions *table, const ng_call *call,   \
                           const row *r)                                       \
    {                                                                          \
        ng_groups groups;                                                      \
        const ng_options options = ng_call_options(&groups, call);             \
        VIEW_##y_view(y);                                                      \
        VIEW_##x_view(x);                                                      \
                                                                               \
        (void)r;                                                               \
        return table->entry(&y, &x, &options);                                 \
    }

ADAPTER(quantize_mxfp4, mxfp4, matrix)
ADAPTER(dequantize_mxfp4, matrix, mxfp4)
ADAPTER(quantize_mxfp8, mxfp8, matrix)
ADAPTER(dequantize_mxfp8, matrix, mxfp8)
ADAPTER(quantize_fp8, fp8, matrix)
ADAPTER(dequantize_fp8, matrix, fp8)
ADAPTER(convert_mxfp4_to_fp8, fp8, mxfp4)
ADAPTER(convert_fp8_row_to_col, col, row)
ADAPTER(convert_fp8_to_mxfp4, mxfp4, fp8)
ADAPTER(transpose_fp8_tile, fp8, fp8)
ADAPTER(pack_e2m1, matrix, matrix)
ADAPTER(unpack_e2m1, matrix, matrix)

#define HAS(entry)                                                             \
    static bool has_##entry(const ng_conversions *table)                       \
    {                                                                          \
        return table->entry != NULL;                                           \
    }

HAS(encode)
HAS(decode)
HAS(philox)
HAS(convert_scales)
HAS(quantize_mxfp4)
HAS(dequantize_mxfp4)
HAS(quantize_mxfp8)
HAS(dequantize_mxfp8)
HAS(quantize_fp8)
HAS(dequantize_fp8)
HAS(convert_mxfp4_to_fp8)
HAS(convert_fp8_row_to_col)
HAS(convert_fp8_to_mxfp4)
HAS(transpose_fp8_tile)
HAS(pack_e2m1)
HAS(unpack_e2m1)

#define ROW(name, entry, ...)                                                  \
    {.operation = name, .has = has_##entry, .run = entry, __VA_ARGS__}

static const row rows[] = {
    ROW("encode_e2m1", encode, .format = NG_FORMAT_E2M1),
    ROW("encode_e4m3", encode, .format = NG_FORMAT_E4M3),
    ROW("encode_ue8m0", encode, .format = NG_FORMAT_UE8M0),
    ROW("encode_ue6m10", encode, .format = NG_FORMAT_UE6M10),
    ROW("encode_bf16", encode, .format = NG_FORMAT_BF16),
    ROW("encode_fp16", encode, .format = NG_FORMAT_FP16),
    ROW("decode_e2m1", decode, .format = NG_FORMAT_E2M1),
    ROW("decode_e4m3", decode, .format = NG_FORMAT_E4M3),
    ROW("decode_ue8m0", decode, .format = NG_FORMAT_UE8M0),
    ROW("decode_ue6m10", decode, .format = NG_FORMAT_UE6M10),
    ROW("decode_bf16", decode, .format = NG_FORMAT_BF16),
    ROW("decode_fp16", decode, .format = NG_FORMAT_FP16),
    ROW("philox", philox, .format = 0),
    ROW("convert_scales", convert_scales, .format = 0),
    ROW("pack_e2m1", pack_e2m1, .format = 0),
    ROW("unpack_e2m1", unpack_e2m1, .format = 0),
    ROW("quantize_mxfp4", quantize_mxfp4, .format = 0),
    ROW("dequantize_mxfp4", dequantize_mxfp4, .format = 0),
    ROW("quantize_mxfp8", quantize_mxfp8, .format = 0),
    ROW("dequantize_mxfp8", dequantize_mxfp8, .format = 0),
    ROW("quantize_fp8_row", quantize_fp8, .form = NG_FP8_ROW),
    ROW("quantize_fp8_col", quantize_fp8, .form = NG_FP8_COL),
    ROW("quantize_fp8_tile", quantize_fp8, .form = NG_FP8_TILE),
    ROW("dequantize_fp8_row", dequantize_fp8, .form = NG_FP8_ROW),
    ROW("dequantize_fp8_col", dequantize_fp8, .form = NG_FP8_COL),
    ROW("dequantize_fp8_tile", dequantize_fp8, .form = NG_FP8_TILE),
    ROW("transpose_fp8_tile", transpose_fp8_tile, .form = NG_FP8_TILE),
    ROW("mxfp4_to_fp8_row", convert_mxfp4_to_fp8, .form = NG_FP8_ROW),
    ROW("mxfp4_to_fp8_col", convert_mxfp4_to_fp8, .form = NG_FP8_COL),
    ROW("fp8_row_to_fp8_col", convert_fp8_row_to_col, .form = NG_FP8_ROW),
    ROW("fp8_row_to_mxfp4", convert_fp8_to_mxfp4, .form = NG_FP8_ROW),
    ROW("fp8_tile_to_mxfp4", convert_fp8_to_mxfp4, .form = NG_FP8_TILE),
};

static const row *find(const ng_call *call)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].operation, call->operation) == 0)
            return &rows[i];
    return NULL;
}

bool ng_conversions_cover(const ng_conversions *table, const ng_call *call)
{
    const row *r = find(call);

    return r != NULL && r->has(table);
}

ng_status ng_conversions_run(const ng_conversions *table, const ng_call *call)
{
    const row *r = find(call);

    return r != NULL && r->has(table) ? r->run(table, call, r) : NG_NOT_COVERED;
}
