/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/measure.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "conformance/checks/judge.h"
#include "formats/format.h"
#include "formats/fp32.h"

/* ---- digests ---- */

/* Bytes from the first unit of a tensor to the end of its last. */
static size_t span_of(const ng_tensor *t)
{
    int64_t last = 0;

    for (int axis = 0; axis < t->rank; axis++) {
        if (t->shape[axis] == 0)
            return 0;
        last += (t->shape[axis] - 1) * t->stride[axis];
    }
    return (size_t)(last + 1) * ng_dtype_size(t->dtype);
}

/* What makes the case another one: its place among the random numbers (of
 * operation, stratum, index and seed) and its variant. */
static void begin_hash(XXH3_state_t *state, const ng_case *c)
{
    char variant[192];
    const int n = ng_variant_print(variant, sizeof variant, c->variant);

    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, &c->call.random.seed, sizeof c->call.random.seed);
    XXH3_64bits_update(state, variant,
                       (size_t)n < sizeof variant ? (size_t)n : sizeof variant);
}

static uint64_t hash_inputs(const ng_case *c)
{
    XXH3_state_t state;

    begin_hash(&state, c);
    for (int i = 0; i < c->call.n_attributes; i++)
        XXH3_64bits_update(&state, &c->call.attribute[i].value,
                           sizeof c->call.attribute[i].value);
    for (int i = 0; i < c->call.n_inputs; i++) {
        const ng_tensor *t = &c->call.input[i];

        XXH3_64bits_update(&state, t->name, strlen(t->name));
        XXH3_64bits_update(&state, t->shape,
                           (size_t)t->rank * sizeof *t->shape);
        XXH3_64bits_update(&state, t->data, span_of(t));
    }
    return XXH3_64bits_digest(&state);
}

static uint64_t hash_outputs(const ng_case *c, const ng_outputs *outputs,
                             ng_status status)
{
    const uint64_t code = (uint64_t)status;
    XXH3_state_t state;

    begin_hash(&state, c);
    XXH3_64bits_update(&state, &code, sizeof code);
    for (int i = 0; status == NG_OK && i < outputs->n; i++)
        XXH3_64bits_update(&state, outputs->block[i] + NG_GUARD_BYTES,
                           (size_t)outputs->span[i]);
    return XXH3_64bits_digest(&state);
}

/* ---- errors of bounded outputs ---- */

/* The unit of number `unit` in row-major order. */
static uint64_t unit_of(const ng_tensor *t, int64_t unit)
{
    const size_t size = ng_dtype_size(t->dtype);
    int64_t at = 0;
    uint64_t bits = 0;

    for (int axis = t->rank - 1; axis >= 0; axis--) {
        at += unit % t->shape[axis] * t->stride[axis];
        unit /= t->shape[axis];
    }
    memcpy(&bits, (const char *)t->data + at * (int64_t)size, size);
    return bits;
}

/* One ULP at x in the type of an output. */
static double ulp_of(ng_dtype dtype, double x)
{
    const ng_format *format = &ng_formats[dtype == NG_FP32   ? NG_FORMAT_FP32
                                          : dtype == NG_BF16 ? NG_FORMAT_BF16
                                                             : NG_FORMAT_FP16];
    const int lowest = 1 - format->bias;
    const int binade = x != 0 ? ilogb(x) : lowest;

    return ldexp(1.0,
                 (binade < lowest ? lowest : binade) - format->fraction_bits);
}

static int ulp_bin(double ulps)
{
    if (ulps < 1)
        return (int)(8 * ulps);

    const int bin = ulps < INFINITY ? 8 + ilogb(ulps) : NG_ULP_BINS;

    return bin < NG_ULP_BINS ? bin : NG_ULP_BINS - 1;
}

static void measure_bounded(ng_measurement *m, const ng_tensor *output,
                            const ng_bounds *bounds)
{
    int64_t n, bytes;

    if (ng_tensor_extent(&n, &bytes, output) != NG_OK)
        return;
    for (int64_t i = 0; i < n; i++) {
        const double exact = bounds->exact[i];

        if (bounds->bound[i] < 0 || isinf(bounds->bound[i]) || !isfinite(exact))
            continue;

        const double value = ng_float_value(output->dtype, unit_of(output, i));

        if (isinf(value)) /* past the largest finite: no ULPs there */
            continue;
        m->ulp[isnan(value) ? NG_ULP_BINS - 1
                            : ulp_bin(fabs(value - exact)
                                      / ulp_of(output->dtype, exact))]++;
    }
}

/* ---- errors of quantisers ---- */

/* The value of a code; NaN for what is no finite number. */
static double value_of(const ng_format *format, uint32_t code)
{
    const uint32_t sign = code & ng_format_sign(format);
    const uint32_t magnitude = code & ~ng_format_sign(format);
    const int p = format->fraction_bits;
    const int field = (int)(magnitude >> p);
    const double fraction = magnitude & ((UINT32_C(1) << p) - 1);

    if (magnitude > format->max_finite)
        return NAN;

    const double value =
        field == 0 && format->has_subnormals
            ? ldexp(fraction, 1 - format->bias - p)
            : ldexp(fraction + ldexp(1, p), field - format->bias - p);

    return sign != 0 ? -value : value;
}

static int binade_of(double x)
{
    const int bin = ilogb(x) - NG_LOWEST_BINADE;

    return bin < 0 ? 0 : bin < NG_N_BINADES ? bin : NG_N_BINADES - 1;
}

static void note_error(ng_measurement *m, double x, double y, double scale)
{
    enum { LARGEST = 2 << 20 };

    if (!isfinite(x) || !isfinite(y) || x == 0 || !(scale > 0) || isinf(scale))
        return;

    const double relative = fabs(y - x) / fabs(x);
    const uint64_t error =
        relative < 2 ? (uint64_t)(relative * 0x1p20 + 0.5) : LARGEST;
    ng_binade_error *bin = &m->error[binade_of(x / scale)];

    bin->n++;
    bin->sum += error;
    if (error > bin->most)
        bin->most = error;
}

static void measure_encoder(ng_measurement *m, const ng_call *call,
                            const ng_format *format)
{
    const ng_tensor *x = ng_call_input(call, "x");
    const ng_tensor *y = ng_call_output(call, "y");

    if (x == NULL || y == NULL || x->dtype != NG_FP32 || x->rank != 1)
        return;
    for (int64_t i = 0; i < x->shape[0]; i++) {
        const double from = ng_float_value(NG_FP32, unit_of(x, i));

        note_error(m, format->is_signed ? from : fabs(from),
                   value_of(format, (uint32_t)unit_of(y, i)), 1);
    }
}

/* Scale j of line i of a plane. */
static double scale_at(const ng_scales *scales, int64_t i, int64_t j)
{
    const bool packed = scales->dtype == NG_UE8M0X4;
    const char *at = (const char *)scales->data
                     + (i * scales->ld + (packed ? j / 4 : j) * scales->step)
                           * (int64_t)ng_dtype_size(scales->dtype);
    uint32_t word = 0;

    memcpy(&word, at, ng_dtype_size(scales->dtype));
    if (scales->dtype == NG_FP32)
        return (double)ng_fp32_from_bits(word);
    if (packed)
        word >>= 8 * (j % 4);
    return value_of(&ng_formats[NG_FORMAT_UE8M0], word & 0xFF);
}

static double element_of(const ng_matrix *x, int64_t r, int64_t c)
{
    const size_t size = ng_dtype_size(x->dtype);
    uint64_t bits = 0;

    memcpy(&bits, (const char *)x->data + (r * x->ld + c) * (int64_t)size,
           size);
    return ng_float_value(x->dtype, bits);
}

static void measure_mxfp4(ng_measurement *m, const ng_call *call)
{
    const ng_matrix x = ng_call_matrix(call, "x");
    const ng_mxfp4 y = ng_call_mxfp4(call, "y");
    double value[16];

    for (uint32_t code = 0; code < 16; code++)
        value[code] = value_of(&ng_formats[NG_FORMAT_E2M1], code);
    for (int64_t r = 0; r < x.rows; r++)
        for (int64_t c = 0; c < x.cols; c++) {
            const double scale = scale_at(&y.scales, r, c / NG_MXFP4_BLOCK);
            const int byte = y.codes[r * y.ld + c / 2];

            note_error(m, element_of(&x, r, c),
                       value[byte >> (c % 2 != 0 ? 4 : 0) & 0xF] * scale,
                       scale);
        }
}

static void measure_mxfp8(ng_measurement *m, const ng_call *call)
{
    const ng_matrix x = ng_call_matrix(call, "x");
    const ng_mxfp8 y = ng_call_mxfp8(call, "y");

    for (int64_t r = 0; r < x.rows; r++)
        for (int64_t c = 0; c < x.cols; c++) {
            const double scale = scale_at(&y.scales, r, c / NG_MXFP8_BLOCK);

            note_error(m, element_of(&x, r, c),
                       value_of(&ng_formats[NG_FORMAT_E4M3],
                                y.codes[r * y.ld + c])
                           * scale,
                       scale);
        }
}

static void measure_fp8(ng_measurement *m, const ng_call *call,
                        ng_fp8_form form)
{
    const ng_matrix x = ng_call_matrix(call, "x");
    const ng_fp8 y = ng_call_fp8(call, "y", form);
    const bool col = form == NG_FP8_COL;
    double value[256];

    for (uint32_t code = 0; code < 256; code++)
        value[code] = value_of(&ng_formats[NG_FORMAT_E4M3], code);
    for (int64_t r = 0; r < x.rows; r++)
        for (int64_t c = 0; c < x.cols; c++) {
            const int64_t line = col                   ? c
                                 : form == NG_FP8_TILE ? r / NG_FP8_BLOCK
                                                       : r;
            const double scale =
                scale_at(&y.scales, line, (col ? r : c) / NG_FP8_BLOCK);
            const int code = y.codes[col ? c * y.ld + r : r * y.ld + c];

            note_error(m, element_of(&x, r, c), value[code] * scale, scale);
        }
}

static void measure_errors(ng_measurement *m, const ng_call *call)
{
    static const char *const forms[NG_N_FP8_FORMS] = {
        [NG_FP8_ROW] = "quantize_fp8_row",
        [NG_FP8_COL] = "quantize_fp8_col",
        [NG_FP8_TILE] = "quantize_fp8_tile"};
    static const char encode[] = "encode_";

    if (strncmp(call->operation, encode, sizeof encode - 1) == 0) {
        const ng_format *format =
            ng_format_find(call->operation + sizeof encode - 1);

        if (format != NULL)
            measure_encoder(m, call, format);
        return;
    }
    if (strcmp(call->operation, "quantize_mxfp4") == 0)
        measure_mxfp4(m, call);
    if (strcmp(call->operation, "quantize_mxfp8") == 0)
        measure_mxfp8(m, call);
    for (int form = 0; form < NG_N_FP8_FORMS; form++)
        if (strcmp(call->operation, forms[form]) == 0)
            measure_fp8(m, call, (ng_fp8_form)form);
}

/* ---- scales ---- */

static void measure_scales(ng_measurement *m, const ng_tensor *output)
{
    static const char suffix[] = ".scales";
    const size_t length = strlen(output->name);
    const ng_format *format;
    int64_t n, bytes;

    switch (output->dtype) {
    case NG_FP32:
        format = &ng_formats[NG_FORMAT_FP32];
        break;
    case NG_FP16:
        format = &ng_formats[NG_FORMAT_FP16];
        break;
    case NG_UE8M0:
        format = &ng_formats[NG_FORMAT_UE8M0];
        break;
    case NG_UE6M10:
        format = &ng_formats[NG_FORMAT_UE6M10];
        break;
    default:
        return;
    }
    if (length < sizeof suffix
        || strcmp(output->name + length - (sizeof suffix - 1), suffix) != 0
        || ng_tensor_extent(&n, &bytes, output) != NG_OK)
        return;
    for (int64_t i = 0; i < n; i++) {
        const double scale = value_of(format, (uint32_t)unit_of(output, i));

        if (isnan(scale))
            m->nan_scales++;
        else if (scale == 0)
            m->zero_scales++;
        else
            m->scale[binade_of(scale)]++;
    }
}

void ng_measure(ng_measurement *m, const ng_case *c, const ng_call *got,
                const ng_outputs *outputs, ng_status status,
                const ng_bounds bounds[NG_MAX_TENSORS], bool plot)
{
    const bool dense = ng_call_input(got, "offsets") == NULL;

    m->inputs = hash_inputs(c);
    m->outputs = hash_outputs(c, outputs, status);
    if (status != NG_OK)
        return;
    for (int i = 0; i < got->n_outputs; i++) {
        if (bounds[i].bound != NULL)
            measure_bounded(m, &got->output[i], &bounds[i]);
        if (dense)
            measure_scales(m, &got->output[i]);
    }
    if (dense && plot)
        measure_errors(m, got);
}

void ng_measurement_add(ng_measurement *sum, const ng_measurement *more)
{
    sum->inputs += more->inputs;
    sum->outputs += more->outputs;
    sum->zero_scales += more->zero_scales;
    sum->nan_scales += more->nan_scales;
    for (int i = 0; i < NG_ULP_BINS; i++)
        sum->ulp[i] += more->ulp[i];
    for (int i = 0; i < NG_N_BINADES; i++) {
        sum->scale[i] += more->scale[i];
        sum->error[i].n += more->error[i].n;
        sum->error[i].sum += more->error[i].sum;
        if (more->error[i].most > sum->error[i].most)
            sum->error[i].most = more->error[i].most;
    }
}
