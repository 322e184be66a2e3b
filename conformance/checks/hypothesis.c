/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/hypothesis.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/subject/elements.h"
#include "formats/fp32.h"
#include "reference/convert/ref_decode.h"

ng_status ng_specified(const ng_specification *right, const ng_call *call)
{
    return right->bounds != NULL ? right->subject->bounds(call, right->bounds)
                                 : right->subject->run(call);
}

void ng_changed_begin(ng_changed *c, const ng_call *call)
{
    c->call = *call;
    c->n_blocks = 0;
}

void ng_changed_end(ng_changed *c)
{
    while (c->n_blocks > 0)
        free(c->block[--c->n_blocks]);
}

static int64_t span_of(const ng_tensor *t)
{
    int64_t last = 0;

    for (int axis = 0; axis < t->rank; axis++) {
        if (t->shape[axis] == 0)
            return 0;
        last += (t->shape[axis] - 1) * t->stride[axis];
    }
    return (last + 1) * (int64_t)ng_dtype_size(t->dtype);
}

ng_tensor *ng_changed_input(ng_changed *c, const char *name)
{
    for (int i = 0; i < c->call.n_inputs; i++) {
        ng_tensor *t = &c->call.input[i];
        const size_t span = (size_t)span_of(t);
        void *copy;

        if (strcmp(t->name, name) != 0)
            continue;
        copy = malloc(span + 1);
        if (copy == NULL)
            return NULL;
        memcpy(copy, t->data, span);
        t->data = c->block[c->n_blocks++] = copy;
        return t;
    }
    return NULL;
}

bool ng_changed_units(ng_changed *c, const char *name,
                      uint64_t (*change)(ng_dtype, uint64_t))
{
    const ng_tensor *t = ng_changed_input(c, name);
    int64_t index[NG_MAX_RANK] = {0};
    int64_t units = 1;
    bool changed = false;

    if (t == NULL)
        return false;
    for (int axis = 0; axis < t->rank; axis++)
        units *= t->shape[axis];
    for (int64_t i = 0; i < units; i++) {
        const uint64_t from = ng_unit_get(t, index);
        const uint64_t to = change(t->dtype, from);

        if (to != from) {
            ng_unit_put(t, index, to);
            changed = true;
        }
        for (int axis = t->rank - 1; axis >= 0; axis--) {
            if (++index[axis] < t->shape[axis])
                break;
            index[axis] = 0;
        }
    }
    return changed;
}

double ng_code_value(const ng_format *f, uint32_t code)
{
    const uint32_t magnitude = code & ~ng_format_sign(f);
    const uint32_t field = magnitude >> f->fraction_bits;
    const uint64_t fraction =
        (uint64_t)magnitude & ((UINT64_C(1) << f->fraction_bits) - 1);
    const uint64_t bits = (uint64_t)((int)field - f->bias + 1023) << 52
                          | fraction << (52 - f->fraction_bits);
    double value;

    /* FP64 has room for every normal number; the rest is rare. */
    if (magnitude > f->max_finite || (field == 0 && f->has_subnormals))
        return (double)ng_ref_decode(f, code, &ng_default_rules);
    memcpy(&value, &bits, sizeof value);
    return magnitude != code ? -value : value;
}

double ng_value_of(ng_dtype dtype, uint32_t bits)
{
    static const ng_format_id format[NG_N_DTYPES] = {
        [NG_FP16] = NG_FORMAT_FP16,     [NG_BF16] = NG_FORMAT_BF16,
        [NG_E2M1] = NG_FORMAT_E2M1,     [NG_E2M1X2] = NG_FORMAT_E2M1,
        [NG_E4M3] = NG_FORMAT_E4M3,     [NG_UE8M0] = NG_FORMAT_UE8M0,
        [NG_UE8M0X4] = NG_FORMAT_UE8M0, [NG_UE6M10] = NG_FORMAT_UE6M10};

    if (dtype == NG_FP32)
        return (double)ng_fp32_from_bits(bits);
    return ng_code_value(&ng_formats[format[dtype]], bits);
}
