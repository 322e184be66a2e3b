/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/fp32.h"

void ng_judgement_add(ng_judgement *sum, const ng_judgement *more)
{
    sum->bounded += more->bounded;
    sum->unclaimed += more->unclaimed;
    if (more->share > sum->share)
        sum->share = more->share;
}

static int64_t units_of(const ng_tensor *tensor)
{
    int64_t units, bytes;

    if (ng_tensor_extent(&units, &bytes, tensor) != NG_OK)
        abort(); /* a stratum's own mistake */
    return units;
}

bool ng_bounds_make(ng_bounds bounds[NG_MAX_TENSORS], const ng_case *c,
                    const ng_operation *operation)
{
    memset(bounds, 0, NG_MAX_TENSORS * sizeof *bounds);
    for (int i = 0; i < c->call.n_outputs; i++) {
        const ng_tensor *output = &c->call.output[i];

        if (operation->bounded == NULL
            || !operation->bounded(c->variant, output->name))
            continue;

        const int64_t n = units_of(output);

        bounds[i].exact = calloc((size_t)n + 1, sizeof(double));
        bounds[i].bound = malloc(((size_t)n + 1) * sizeof(double));
        if (bounds[i].exact == NULL || bounds[i].bound == NULL) {
            ng_bounds_free(bounds);
            return false;
        }
        for (int64_t unit = 0; unit < n; unit++)
            bounds[i].bound[unit] = NG_UNWRITTEN;
    }
    return true;
}

void ng_bounds_free(ng_bounds bounds[NG_MAX_TENSORS])
{
    for (int i = 0; i < NG_MAX_TENSORS; i++) {
        free(bounds[i].exact);
        free(bounds[i].bound);
        bounds[i] = (ng_bounds){NULL, NULL};
    }
}

/* The index of a unit, by its number in row-major order. */
static void index_of(int64_t index[NG_MAX_RANK], const ng_tensor *tensor,
                     int64_t unit)
{
    for (int axis = tensor->rank - 1; axis >= 0; axis--) {
        index[axis] = unit % tensor->shape[axis];
        unit /= tensor->shape[axis];
    }
}

static void *address_of(const ng_tensor *tensor, int64_t unit)
{
    int64_t index[NG_MAX_RANK], at = 0;

    index_of(index, tensor, unit);
    for (int axis = 0; axis < tensor->rank; axis++)
        at += index[axis] * tensor->stride[axis];
    return (char *)tensor->data + at * (int64_t)ng_dtype_size(tensor->dtype);
}

/* The types of bounded outputs, by their bits: value, largest finite value and
 * canonical NaN. */
double ng_float_value(ng_dtype dtype, uint64_t bits)
{
    if (dtype == NG_FP32)
        return (double)ng_fp32_from_bits((uint32_t)bits);
    if (dtype == NG_BF16)
        return (double)ng_fp32_from_bits((uint32_t)bits << 16);

    /* FP16 */
    const int field = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    const double magnitude =
        field == 31  ? (fraction == 0 ? (double)INFINITY : (double)NAN)
        : field == 0 ? ldexp(fraction, -24)
                     : ldexp(1024 + fraction, field - 25);

    return (bits >> 15 & 1) != 0 ? -magnitude : magnitude;
}

static double largest_of(ng_dtype dtype)
{
    return dtype == NG_FP32   ? 0x1.fffffep127
           : dtype == NG_BF16 ? 0x1.fep127
                              : 65504.0;
}

static uint64_t nan_of(ng_dtype dtype)
{
    return dtype == NG_FP32 ? 0x7FFFFFFF : 0x7FFF;
}

/* The error of one unit as a share of its bound; above 1 is wrong. */
static double share_of(ng_dtype dtype, uint64_t bits, double exact,
                       double bound)
{
    const double value = ng_float_value(dtype, bits);

    if (isnan(exact))
        return bits == nan_of(dtype) ? 0 : (double)INFINITY;
    if (isnan(value))
        return (double)INFINITY;
    if (isinf(exact) || bound == 0)
        return value == exact && !signbit(value) == !signbit(exact)
                   ? 0
                   : (double)INFINITY;
    if (isinf(value)) {
        /* How much of the bound it takes to pass the largest finite. */
        const double need = largest_of(dtype) - copysign(1.0, value) * exact;

        return need <= 0 ? 0 : need / bound;
    }
    return fabs(value - exact) / bound;
}

bool ng_bounds_hold(ng_dtype dtype, uint64_t bits, const ng_bounds *bounds,
                    int64_t unit)
{
    const double bound = bounds->bound[unit];

    return isinf(bound)
           || share_of(dtype, bits, bounds->exact[unit], bound) <= 1;
}

void ng_bounds_judge(ng_excess *excess, ng_judgement *judged,
                     const ng_tensor *output, const ng_bounds *bounds)
{
    const int64_t n = units_of(output);

    for (int64_t unit = 0; unit < n; unit++) {
        const double bound = bounds->bound[unit];
        uint64_t bits = 0;

        if (bound < 0)
            continue;
        if (isinf(bound)) {
            judged->unclaimed++;
            continue;
        }
        memcpy(&bits, address_of(output, unit), ng_dtype_size(output->dtype));

        const double share =
            share_of(output->dtype, bits, bounds->exact[unit], bound);

        judged->bounded++;
        if (share > judged->share)
            judged->share = share;
        if (share <= 1 || excess->count++ > 0)
            continue;
        excess->tensor = output->name;
        index_of(excess->index, output, unit);
        excess->got = bits;
        excess->value = ng_float_value(output->dtype, bits);
        excess->exact = bounds->exact[unit];
        excess->bound = bound;
    }
}

int64_t ng_bounds_part(ng_difference *first, const ng_tensor *one,
                       const ng_tensor *other, const ng_bounds *bounds)
{
    const size_t size = ng_dtype_size(one->dtype);
    const int64_t n = units_of(one);
    int64_t count = 0;

    for (int64_t unit = 0; unit < n; unit++) {
        const void *a = address_of(one, unit), *b = address_of(other, unit);

        if (bounds->bound[unit] < 0 || memcmp(a, b, size) == 0
            || count++ > 0)
            continue;
        *first = (ng_difference){.tensor = one->name};
        index_of(first->index, one, unit);
        memcpy(&first->want, a, size);
        memcpy(&first->got, b, size);
    }
    return count;
}

void ng_bounds_copy(const ng_tensor *to, const ng_tensor *from,
                    const ng_bounds *bounds)
{
    const int64_t n = units_of(to);

    for (int64_t unit = 0; unit < n; unit++)
        if (bounds->bound[unit] >= 0)
            memcpy(address_of(to, unit), address_of(from, unit),
                   ng_dtype_size(to->dtype));
}

void ng_bounds_give(ng_call *call, const ng_call *made,
                    const ng_bounds bounds[NG_MAX_TENSORS])
{
    for (int i = 0; i < made->n_outputs; i++) {
        if (bounds[i].bound == NULL)
            continue;
        if (call->n_inputs == NG_MAX_TENSORS)
            abort(); /* an operation's own mistake */

        ng_tensor *given = &call->input[call->n_inputs++];

        *given = made->output[i];
        snprintf(given->name, sizeof given->name, "made.%.100s",
                 made->output[i].name);
    }
}
