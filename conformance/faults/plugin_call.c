/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/faults/plugin_call.h"

#include <stdio.h>
#include <string.h>

static bool copy_tensor(ng_tensor *to, const ng_plugin_tensor *from)
{
    memset(to, 0, sizeof *to);
    snprintf(to->name, sizeof to->name, "%s", from->name);
    if (!ng_dtype_find(from->dtype, &to->dtype) || from->rank > NG_MAX_RANK
        || ng_dtype_size(to->dtype) != from->unit_bytes)
        return false;
    to->rank = (int)from->rank;
    memcpy(to->shape, from->shape, from->rank * sizeof *to->shape);
    memcpy(to->stride, from->stride, from->rank * sizeof *to->stride);
    to->data = from->data;
    return true;
}

static bool copy_rules(ng_rules *rules, const ng_plugin_call *from)
{
    for (int i = 0; i < NG_N_RULES; i++) {
        const char *text = ng_plugin_rule_of(from, ng_rule_name((ng_rule)i));
        int value;

        if (text == NULL || !ng_rule_value_find((ng_rule)i, text, &value))
            return false;
        ng_rules_set(rules, (ng_rule)i, value);
    }
    return true;
}

bool ng_plugin_call_read(ng_call *call, const ng_plugin_call *from)
{
    *call = (ng_call){.operation = from->operation,
                      .random = {from->seed, from->random_stream},
                      .n_attributes = (int)from->n_attributes,
                      .n_inputs = (int)from->n_inputs,
                      .n_outputs = (int)from->n_outputs};
    if (from->size != sizeof *from
        || from->tensor_size != sizeof(ng_plugin_tensor) || from->stream != NULL
        || from->n_inputs > NG_MAX_TENSORS || from->n_outputs > NG_MAX_TENSORS
        || from->n_attributes > NG_MAX_ATTRIBUTES
        || !copy_rules(&call->rules, from))
        return false;
    for (uint32_t i = 0; i < from->n_attributes; i++)
        call->attribute[i] =
            (ng_attribute){from->attribute[i]->name, from->attribute[i]->value};
    for (uint32_t i = 0; i < from->n_inputs; i++)
        if (!copy_tensor(&call->input[i], from->input[i]))
            return false;
    for (uint32_t i = 0; i < from->n_outputs; i++)
        if (!copy_tensor(&call->output[i], from->output[i]))
            return false;
    return true;
}
