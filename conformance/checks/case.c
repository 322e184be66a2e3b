/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/case.h"

#include <stdlib.h>
#include <string.h>

/* SplitMix64 (Steele, Lea, Flood 2014): a case needs independence of its
 * neighbours and no more. */
uint64_t ng_case_random(ng_case *c)
{
    uint64_t z = c->state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

int64_t ng_case_below(ng_case *c, int64_t n)
{
    return (int64_t)(ng_case_random(c) % (uint64_t)n);
}

bool ng_case_chance(ng_case *c, int n)
{
    return ng_case_below(c, n) == 0;
}

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)       /* FNV-1a */
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    return hash;
}

void ng_case_begin(ng_case *c, const char *operation, const ng_variant *variant,
                   const char *stratum, int64_t index, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    c->call.operation = operation;
    c->call.rules = variant->rules;
    c->variant = variant;
    c->state = mix(mix(UINT64_C(0xCBF29CE484222325) ^ seed, operation), stratum);
    c->state += (uint64_t)index * UINT64_C(0xD1B54A32D192ED03);
    c->call.random.seed = ng_case_random(c);
    c->call.random.stream = (uint64_t)index;
}

void ng_case_end(ng_case *c)
{
    for (int i = 0; i < c->n_blocks; i++)
        free(c->block[i]);
    c->n_blocks = 0;
}

void *ng_case_input(ng_case *c, const char *name, ng_dtype dtype, int rank,
                    const int64_t *shape)
{
    ng_tensor *tensor = &c->call.input[c->call.n_inputs++];
    int64_t units, bytes;

    *tensor = ng_tensor_dense(name, dtype, rank, shape, NULL);
    if (ng_tensor_extent(&units, &bytes, tensor) != NG_OK)
        abort();                        /* a stratum's own mistake */
    tensor->data = calloc(1, (size_t)bytes + 1);
    if (tensor->data == NULL)
        c->failed = true;
    else
        c->block[c->n_blocks++] = tensor->data;
    return tensor->data;
}

void ng_case_output(ng_case *c, const char *name, ng_dtype dtype, int rank,
                    const int64_t *shape, bool transposable)
{
    ng_tensor *tensor = &c->call.output[c->call.n_outputs++];

    *tensor = ng_tensor_dense(name, dtype, rank, shape, NULL);
    if (!c->odd_layout || rank != 2)
        return;
    if (transposable && ng_case_chance(c, 2)) {
        tensor->stride[0] = 1;
        tensor->stride[1] = shape[0] + ng_case_below(c, 3);
    } else {
        tensor->stride[0] = shape[1] + ng_case_below(c, 5);
    }
}

void ng_case_attribute(ng_case *c, const char *name, int64_t value)
{
    c->call.attribute[c->call.n_attributes++] = (ng_attribute){name, value};
}

/* Bytes from the first unit of a tensor to the end of its last one. */
static int64_t span_of(const ng_tensor *tensor)
{
    int64_t last = 0;

    for (int axis = 0; axis < tensor->rank; axis++) {
        if (tensor->shape[axis] == 0)
            return 0;
        last += (tensor->shape[axis] - 1) * tensor->stride[axis];
    }
    return (last + 1) * (int64_t)ng_dtype_size(tensor->dtype);
}

static bool is_scales(const ng_tensor *tensor)
{
    const char *dot = strchr(tensor->name, '.');

    return dot != NULL && strcmp(dot, ".scales") == 0;
}

void ng_case_spread(ng_case *c)
{
    for (int i = 0; c->odd_layout && !c->failed && i < c->call.n_inputs; i++) {
        ng_tensor *tensor = &c->call.input[i];
        ng_tensor spread = *tensor;
        const size_t size = ng_dtype_size(tensor->dtype);

        if (tensor->rank != 2)
            continue;
        if (is_scales(tensor) && ng_case_chance(c, 2)) {
            spread.stride[0] = 1;
            spread.stride[1] = tensor->shape[0] + 1 + ng_case_below(c, 4);
        } else {
            spread.stride[0] = tensor->shape[1] + 1 + ng_case_below(c, 4);
        }
        const size_t bytes = (size_t)span_of(&spread);
        spread.data = malloc(bytes + 1);
        if (spread.data == NULL) {
            c->failed = true;
            return;
        }
        c->block[c->n_blocks++] = spread.data;
        memset(spread.data, 0xFF, bytes + 1);
        for (int64_t row = 0; row < tensor->shape[0]; row++)
            for (int64_t col = 0; col < tensor->shape[1]; col++)
                memcpy((char *)spread.data
                           + (size_t)(row * spread.stride[0]
                                      + col * spread.stride[1]) * size,
                       (const char *)tensor->data
                           + (size_t)(row * tensor->stride[0] + col) * size,
                       size);
        *tensor = spread;
    }
}

bool ng_outputs_make(ng_outputs *outputs, ng_call *call, const ng_case *c,
                     unsigned char poison)
{
    *call = c->call;
    call->guard = NG_GUARD_BYTES;
    memset(outputs, 0, sizeof *outputs);
    for (int i = 0; i < call->n_outputs; i++) {
        const int64_t span = span_of(&call->output[i]);
        const size_t size = (size_t)span + 2 * NG_GUARD_BYTES;

        outputs->block[i] = malloc(size);
        if (outputs->block[i] == NULL) {
            ng_outputs_free(outputs);
            return false;
        }
        memset(outputs->block[i], poison, size);
        outputs->n = i + 1;
        outputs->span[i] = span;
        call->output[i].data = outputs->block[i] + NG_GUARD_BYTES;
    }
    return true;
}

void ng_outputs_free(ng_outputs *outputs)
{
    for (int i = 0; i < outputs->n; i++)
        free(outputs->block[i]);
    outputs->n = 0;
}

/* Copy the units of one output, a row at a time where its units are neighbours. */
static void copy_units(const ng_tensor *to, const ng_tensor *from)
{
    const size_t size = ng_dtype_size(from->dtype);
    const int last = from->rank - 1;
    const int64_t line =
        last >= 0 && from->stride[last] == 1 ? from->shape[last] : 1;
    int64_t index[NG_MAX_RANK] = {0};
    int64_t units, bytes;

    if (ng_tensor_extent(&units, &bytes, from) != NG_OK)
        abort();
    for (int64_t i = 0; i < units; i += line) {
        int64_t unit = 0;

        for (int axis = 0; axis <= last; axis++)
            unit += index[axis] * from->stride[axis];
        memcpy((char *)to->data + unit * (int64_t)size,
               (const char *)from->data + unit * (int64_t)size,
               (size_t)line * size);
        for (int axis = line > 1 ? last - 1 : last; axis >= 0; axis--) {
            if (++index[axis] < from->shape[axis])
                break;
            index[axis] = 0;
        }
    }
}

void ng_outputs_copy(const ng_call *to, const ng_call *from)
{
    for (int i = 0; i < from->n_outputs; i++)
        copy_units(&to->output[i], &from->output[i]);
}

static uint64_t unit_bits(const ng_tensor *tensor, int64_t unit)
{
    const size_t size = ng_dtype_size(tensor->dtype);
    uint64_t bits = 0;

    /* Little-endian, as every machine that the project runs on. */
    memcpy(&bits, (const char *)tensor->data + unit * (int64_t)size, size);
    return bits;
}

/* Walk the units of one output in index order and note where they differ. */
static void compare_units(ng_difference *difference, const ng_tensor *want,
                          const ng_tensor *got)
{
    int64_t index[NG_MAX_RANK] = {0};
    int64_t units, bytes;

    if (ng_tensor_extent(&units, &bytes, want) != NG_OK)
        abort();
    for (int64_t i = 0; i < units; i++) {
        int64_t unit = 0;

        for (int axis = 0; axis < want->rank; axis++)
            unit += index[axis] * want->stride[axis];
        const uint64_t w = unit_bits(want, unit), g = unit_bits(got, unit);

        if (w != g && difference->count++ == 0) {
            difference->tensor = want->name;
            difference->want = w;
            difference->got = g;
            memcpy(difference->index, index, sizeof index);
        }
        for (int axis = want->rank - 1; axis >= 0; axis--) {
            if (++index[axis] < want->shape[axis])
                break;
            index[axis] = 0;
        }
    }
}

ng_difference ng_outputs_compare(const ng_call *want_call,
                                 const ng_outputs *want, const ng_call *got_call,
                                 const ng_outputs *got)
{
    ng_difference difference = {0};

    for (int i = 0; i < want->n; i++) {
        const size_t size = (size_t)want->span[i] + 2 * NG_GUARD_BYTES;

        if (memcmp(want->block[i], got->block[i], size) == 0)
            continue;

        const int64_t before = difference.count;
        compare_units(&difference, &want_call->output[i], &got_call->output[i]);
        if (difference.count > before)
            continue;

        /* Every element agrees, so a guard or a gap was written. */
        for (size_t byte = 0; byte < size; byte++)
            if (want->block[i][byte] != got->block[i][byte]
                && difference.count++ == 0) {
                difference.tensor = want_call->output[i].name;
                difference.outside = true;
                difference.index[0] = (int64_t)byte - NG_GUARD_BYTES;
                difference.want = want->block[i][byte];
                difference.got = got->block[i][byte];
            }
    }
    return difference;
}
