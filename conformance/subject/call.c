/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/call.h"

#include <stdio.h>
#include <string.h>

static const ng_tensor *find(const ng_tensor *tensors, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(tensors[i].name, name) == 0)
            return &tensors[i];
    return NULL;
}

const ng_tensor *ng_call_input(const ng_call *call, const char *name)
{
    return find(call->input, call->n_inputs, name);
}

const ng_tensor *ng_call_output(const ng_call *call, const char *name)
{
    return find(call->output, call->n_outputs, name);
}

int64_t ng_call_attribute(const ng_call *call, const char *name,
                          int64_t otherwise)
{
    for (int i = 0; i < call->n_attributes; i++)
        if (strcmp(call->attribute[i].name, name) == 0)
            return call->attribute[i].value;
    return otherwise;
}

/* The tensor "name" or "name.part", input or output. */
static const ng_tensor *part_of(const ng_call *call, const char *name,
                                const char *part)
{
    char full[NG_MAX_NAME];
    const ng_tensor *tensor;

    snprintf(full, sizeof full, "%s%s", name, part);
    tensor = ng_call_input(call, full);
    return tensor != NULL ? tensor : ng_call_output(call, full);
}

ng_matrix ng_call_matrix(const ng_call *call, const char *name)
{
    const ng_tensor *t = part_of(call, name, "");
    ng_matrix view = {0};

    if (t != NULL) {
        view.data = t->data;
        view.dtype = t->dtype;
        view.rows = t->shape[0];
        view.cols = t->dtype == NG_E2M1X2
                        ? ng_call_attribute(call, "cols", 2 * t->shape[1])
                        : t->shape[1];
        view.ld = t->stride[0];
    }
    return view;
}

ng_scales ng_call_scales(const ng_call *call, const char *name)
{
    const ng_tensor *t = part_of(call, name, ".scales");
    ng_scales view = {0};

    if (t != NULL) {
        view.data = t->data;
        view.dtype = t->dtype;
        view.pow2 = ng_call_attribute(call, "pow2", 0) != 0;
        view.ld = t->stride[0];
        view.step = t->stride[1];
    }
    return view;
}

ng_mxfp4 ng_call_mxfp4(const ng_call *call, const char *name)
{
    const ng_tensor *t = part_of(call, name, ".codes");
    ng_mxfp4 view = {0};

    if (t != NULL) {
        view.codes = t->data;
        view.rows = t->shape[0];
        view.cols = ng_call_attribute(call, "cols", 2 * t->shape[1]);
        view.ld = t->stride[0];
        view.scales = ng_call_scales(call, name);
    }
    return view;
}

ng_mxfp8 ng_call_mxfp8(const ng_call *call, const char *name)
{
    const ng_tensor *t = part_of(call, name, ".codes");
    ng_mxfp8 view = {0};

    if (t != NULL) {
        view.codes = t->data;
        view.rows = t->shape[0];
        view.cols = t->shape[1];
        view.ld = t->stride[0];
        view.scales = ng_call_scales(call, name);
    }
    return view;
}

ng_fp8 ng_call_fp8(const ng_call *call, const char *name, ng_fp8_form form)
{
    const ng_tensor *t = part_of(call, name, ".codes");
    ng_fp8 view = {.form = form};

    if (t != NULL) {
        const int row_axis = form == NG_FP8_COL;

        view.codes = t->data;
        view.rows = t->shape[row_axis];
        view.cols = t->shape[1 - row_axis];
        view.ld = t->stride[0];
        view.scales = ng_call_scales(call, name);
    }
    return view;
}

const ng_groups *ng_call_groups(ng_groups *groups, const ng_call *call)
{
    const ng_tensor *offsets = ng_call_input(call, "offsets");

    if (offsets == NULL)
        return NULL;
    groups->n_groups = offsets->shape[0] - 1;
    groups->offsets = offsets->data;
    return groups;
}

ng_options ng_call_options(ng_groups *groups, const ng_call *call)
{
    return (ng_options){
        .rules = &call->rules,
        .groups = ng_call_groups(groups, call),
        .random = call->random,
        .events = call->events,
    };
}
