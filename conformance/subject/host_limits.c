/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/host_limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conformance/subject/plugin.h"

/* Whether `value` is one of "value|value". */
static bool is_listed(const char *list, const char *value)
{
    const size_t length = strlen(value);

    for (;; list++) {
        const size_t n = strcspn(list, "|");

        if (n == length && strncmp(list, value, n) == 0)
            return true;
        list += n;
        if (*list == '\0')
            return false;
    }
}

static bool takes(const char *take, const ng_call *call, bool attributes)
{
    const char *values = strchr(take, '=') + 1;
    char name[NG_HOST_MAX_TAKE], number[24];
    const ng_tensor *tensor;
    ng_rule rule;

    snprintf(name, sizeof name, "%.*s", (int)(values - take - 1), take);
    if (ng_rule_find(name, &rule))
        return is_listed(
            values, ng_rule_value_name(rule, ng_rules_get(&call->rules, rule)));
    tensor = ng_call_input(call, name);
    if (tensor == NULL)
        tensor = ng_call_output(call, name);
    if (tensor != NULL)
        return is_listed(values, ng_dtype_name(tensor->dtype));

    /* A tensor that this call lacks limits nothing: types are no numbers. */
    if (!attributes || strspn(values, "-0123456789|") != strlen(values))
        return true;
    snprintf(number, sizeof number, "%" PRId64,
             ng_call_attribute(call, name, 0));
    return is_listed(values, number);
}

bool ng_host_takes(const ng_host_operation *operation, const ng_call *call)
{
    for (int i = 0; i < operation->n_takes; i++)
        if (!takes(operation->takes[i], call, false))
            return false;
    return true;
}

bool ng_host_takes_value(const ng_host_operation *operation, ng_rule rule,
                         int value)
{
    const size_t length = strlen(ng_rule_name(rule));

    for (int i = 0; i < operation->n_takes; i++) {
        const char *take = operation->takes[i];

        if (strncmp(take, ng_rule_name(rule), length) == 0
            && take[length] == '='
            && !is_listed(take + length + 1, ng_rule_value_name(rule, value)))
            return false;
    }
    return true;
}

static bool is_dense(const ng_tensor *t)
{
    int64_t stride = 1;

    for (int axis = t->rank - 1; axis >= 0; axis--) {
        if (t->shape[axis] > 1 && t->stride[axis] != stride)
            return false;
        stride *= t->shape[axis];
    }
    return true;
}

static bool is_row_major(const ng_tensor *t)
{
    return t->rank == 0 || t->shape[t->rank - 1] <= 1
           || t->stride[t->rank - 1] == 1;
}

static bool is_empty(const ng_tensor *t)
{
    for (int axis = 0; axis < t->rank; axis++)
        if (t->shape[axis] == 0)
            return true;
    return false;
}

static bool layout_fits(uint32_t limits, const ng_tensor *t)
{
    return ((limits & NG_PLUGIN_DENSE_ONLY) == 0 || is_dense(t))
           && ((limits & NG_PLUGIN_ROW_MAJOR_ONLY) == 0 || is_row_major(t))
           && ((limits & NG_PLUGIN_NO_EMPTY) == 0 || !is_empty(t));
}

/* What a unit holds: 'n' a NaN, 'i' an infinity, ' ' neither. */
static char kind_of(ng_dtype dtype, uint64_t bits)
{
    switch (dtype) {
    case NG_FP32:
        bits &= 0x7FFFFFFF;
        return bits > 0x7F800000 ? 'n' : bits == 0x7F800000 ? 'i' : ' ';
    case NG_BF16:
        bits &= 0x7FFF;
        return bits > 0x7F80 ? 'n' : bits == 0x7F80 ? 'i' : ' ';
    case NG_FP16:
        bits &= 0x7FFF;
        return bits > 0x7C00 ? 'n' : bits == 0x7C00 ? 'i' : ' ';
    case NG_FP64:
        bits &= INT64_MAX;
        return bits > UINT64_C(0x7FF) << 52    ? 'n'
               : bits == UINT64_C(0x7FF) << 52 ? 'i'
                                               : ' ';
    case NG_E4M3:
        return (bits & 0x7F) == 0x7F ? 'n' : ' ';
    case NG_UE8M0:
        return bits == 0xFF ? 'n' : ' ';
    case NG_UE6M10:
        return bits == 0xFFFF ? 'n' : ' ';
    case NG_UE8M0X4:
        for (int i = 0; i < 4; i++)
            if ((bits >> 8 * i & 0xFF) == 0xFF)
                return 'n';
        return ' ';
    default:
        return ' ';
    }
}

/* Whether a unit of that kind is anywhere among those of a matrix or vector. */
static bool holds(const ng_tensor *t, bool nan, bool infinity)
{
    const int64_t rows = t->rank == 2 ? t->shape[0] : 1;
    const int64_t cols = t->rank > 0 ? t->shape[t->rank - 1] : 1;
    const size_t size = ng_dtype_size(t->dtype);

    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            const int64_t unit =
                (t->rank == 2 ? r * t->stride[0] : 0)
                + (t->rank > 0 ? c * t->stride[t->rank - 1] : 0);
            uint64_t bits = 0;

            memcpy(&bits, (const char *)t->data + unit * (int64_t)size, size);
            const char kind = kind_of(t->dtype, bits);
            if ((nan && kind == 'n') || (infinity && kind == 'i'))
                return true;
        }
    return false;
}

static bool divides(int64_t multiple, int64_t n)
{
    return multiple <= 1 || n % multiple == 0;
}

/* Rows and cols of the first input, in elements. */
static bool sizes_fit(const ng_host_operation *operation, const ng_call *call)
{
    const ng_tensor *offsets = ng_call_input(call, "offsets");
    const ng_tensor *x =
        call->n_inputs > 0 ? &call->input[0] : &call->output[0];
    const int64_t length = x->rank > 0 ? x->shape[x->rank - 1] : 1;
    const int64_t cols = ng_call_attribute(
        call, "cols", x->dtype == NG_E2M1X2 ? 2 * length : length);

    if (!divides(operation->col_multiple, cols)
        || (x->rank == 2 && !divides(operation->row_multiple, x->shape[0])))
        return false;
    for (int64_t g = 0; offsets != NULL && g + 1 < offsets->shape[0]; g++) {
        const int64_t *at = offsets->data;

        if (!divides(operation->group_multiple, at[g + 1] - at[g]))
            return false;
    }
    return true;
}

bool ng_host_within_limits(const ng_host_operation *operation,
                           const ng_call *call)
{
    const bool nan = (operation->limits & NG_PLUGIN_NO_NAN) != 0;
    const bool infinity = (operation->limits & NG_PLUGIN_NO_INFINITY) != 0;

    for (int i = 0; i < operation->n_takes; i++)
        if (!takes(operation->takes[i], call, true))
            return false;
    if ((operation->limits & NG_PLUGIN_NO_GROUPS) != 0
        && ng_call_input(call, "offsets") != NULL)
        return false;
    if (!sizes_fit(operation, call))
        return false;
    for (int i = 0; i < call->n_inputs; i++)
        if (!layout_fits(operation->limits, &call->input[i])
            || ((nan || infinity) && holds(&call->input[i], nan, infinity)))
            return false;
    for (int i = 0; i < call->n_outputs; i++)
        if (!layout_fits(operation->limits, &call->output[i]))
            return false;
    return true;
}
