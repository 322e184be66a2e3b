/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/faults/fault.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/fp32.h"
#include "reference/convert/ref_decode.h"

ng_status fault_reference(const ng_call *call)
{
    return ng_subject_reference.run(call);
}

ng_status fault_rule(const ng_call *call, ng_rule rule, int value)
{
    ng_call other = *call;

    ng_rules_set(&other.rules, rule, value);
    return fault_reference(&other);
}

void *fault_copy_input(ng_call *call, const char *name, ng_tensor **tensor,
                       int64_t *units)
{
    for (int i = 0; i < call->n_inputs; i++) {
        ng_tensor *t = &call->input[i];
        void *copy;

        if (strcmp(t->name, name) != 0)
            continue;
        *tensor = t;
        *units = 1; /* up to the last one that is used */
        for (int axis = 0; axis < t->rank; axis++)
            *units = t->shape[axis] == 0 || *units == 0
                         ? 0
                         : *units + (t->shape[axis] - 1) * t->stride[axis];
        copy = malloc((size_t)*units * ng_dtype_size(t->dtype) + 1);
        if (copy != NULL)
            memcpy(copy, t->data, (size_t)*units * ng_dtype_size(t->dtype));
        t->data = copy;
        return copy;
    }
    return NULL;
}

float fault_value(ng_dtype dtype, uint32_t bits)
{
    const ng_format_id format = dtype == NG_FP16   ? NG_FORMAT_FP16
                                : dtype == NG_BF16 ? NG_FORMAT_BF16
                                : dtype == NG_E4M3 ? NG_FORMAT_E4M3
                                : dtype == NG_UE8M0 || dtype == NG_UE8M0X4
                                    ? NG_FORMAT_UE8M0
                                    : NG_FORMAT_E2M1;

    return dtype == NG_FP32
               ? ng_fp32_from_bits(bits)
               : ng_ref_decode(&ng_formats[format], bits, &ng_default_rules);
}

float fault_amax(const ng_elements *x, const ng_block *b)
{
    float amax = 0;

    for (int64_t r = b->row; r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++)
            amax = fmaxf(amax, fabsf(fault_value(x->codes->dtype,
                                                 ng_elements_get(x, r, c))));
    return amax;
}

bool fault_sides(ng_elements *x, ng_elements *y, const ng_call *call)
{
    return ng_elements_of(x, call, "x") && ng_elements_of(y, call, "y");
}

ng_status fault_blocks(const ng_call *call,
                       void (*set)(const ng_call *, const ng_elements *x,
                                   const ng_elements *y, const ng_block *))
{
    const ng_status status = fault_reference(call);
    ng_elements x, y;

    if (status != NG_OK || !fault_sides(&x, &y, call))
        return status;
    for (int64_t i = 0, n_blocks = ng_elements_blocks(&y); i < n_blocks; i++) {
        const ng_block b = ng_elements_block(&y, i);

        set(call, &x, &y, &b);
    }
    return NG_OK;
}

uint32_t fault_nearest(ng_dtype dtype, double x)
{
    const bool fp4 = dtype == NG_E2M1 || dtype == NG_E2M1X2;
    const uint32_t last = fp4 ? 7 : 0x7E, sign = fp4 ? 8 : 0x80;
    uint32_t code = 0;

    for (; code < last; code++) {
        const double middle = ((double)fault_value(dtype, code)
                               + (double)fault_value(dtype, code + 1))
                              / 2;

        if (fabs(x) < middle || (fabs(x) == middle && code % 2 == 0))
            break;
    }
    return signbit(x) ? code | sign : code;
}

void fault_code_block(const ng_elements *x, const ng_elements *y,
                      const ng_block *b, float s)
{
    int k;

    frexpf(s, &k);
    ng_elements_put_scale(y, b,
                          y->scales->dtype == NG_FP32 ? ng_fp32_bits(s)
                                                      : (uint32_t)(k + 126));
    for (int64_t r = b->row; r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++) {
            const double v =
                (double)fault_value(x->codes->dtype, ng_elements_get(x, r, c));

            ng_elements_put(y, r, c,
                            fault_nearest(y->codes->dtype, v / (double)s));
        }
}

const fault *ng_fault_at(int i)
{
    static const fault *const families[] = {
        faults_rounding,  faults_special, faults_scale, faults_layout,
        faults_alignment, faults_optim,   faults_groups};

    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (int n = 0; families[f][n].name != NULL; n++)
            if (i-- == 0)
                return &families[f][n];
    return NULL;
}
