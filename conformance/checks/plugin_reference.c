/* SPDX-License-Identifier: Apache-2.0
 *
 * A plug-in for tests: this project's reference behind the interface of
 * plugin.h, every operation without any limit. What the interface loses or
 * mixes up shows as a difference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/subject/plugin.h"
#include "conformance/subject/subject.h"

enum { MAX_OPERATIONS = 256 };

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

static int32_t run(const ng_plugin_call *from)
{
    ng_call call = {.operation = from->operation,
                    .random = {from->seed, from->random_stream},
                    .n_attributes = (int)from->n_attributes,
                    .n_inputs = (int)from->n_inputs,
                    .n_outputs = (int)from->n_outputs};

    if (from->size != sizeof *from
        || from->tensor_size != sizeof(ng_plugin_tensor) || from->stream != NULL
        || !copy_rules(&call.rules, from))
        return NG_PLUGIN_FAILED;
    for (uint32_t i = 0; i < from->n_attributes; i++)
        call.attribute[i] =
            (ng_attribute){from->attribute[i]->name, from->attribute[i]->value};
    for (uint32_t i = 0; i < from->n_inputs; i++)
        if (!copy_tensor(&call.input[i], from->input[i]))
            return NG_PLUGIN_FAILED;
    for (uint32_t i = 0; i < from->n_outputs; i++)
        if (!copy_tensor(&call.output[i], from->output[i]))
            return NG_PLUGIN_FAILED;
    return ng_subject_reference.run(&call) == NG_OK ? NG_PLUGIN_OK
                                                    : NG_PLUGIN_REFUSED;
}

/* The names come from the test (a file, one a line): the list of operations is
 * the suite's, which is not in this library. */
static int read_names(char names[MAX_OPERATIONS][64], const char *path)
{
    FILE *file = fopen(path, "r");
    int n = 0;

    while (file != NULL && n < MAX_OPERATIONS
           && fgets(names[n], sizeof names[n], file) != NULL) {
        names[n][strcspn(names[n], "\n")] = '\0';
        n++;
    }
    if (file != NULL)
        fclose(file);
    return n;
}

int32_t ng_plugin(ng_plugin_table *table)
{
    static char names[MAX_OPERATIONS][64];
    static ng_plugin_operation operations[MAX_OPERATIONS];
    const char *path = getenv("NG_PLUGIN_OPERATIONS");
    const int n = path != NULL ? read_names(names, path) : 0;

    if (table->abi < NG_PLUGIN_ABI || table->size < sizeof *table)
        return NG_PLUGIN_FAILED;
    for (int i = 0; i < n; i++)
        operations[i] = (ng_plugin_operation){.name = names[i],
                                              .limits = NG_PLUGIN_CHECKS_INPUT};
    *table = (ng_plugin_table){.abi = NG_PLUGIN_ABI,
                               .name = "reference by plug-in",
                               .version = "1",
                               .n_operations = (uint32_t)n,
                               .operation_size = sizeof *operations,
                               .operations = operations,
                               .run = run};
    return NG_PLUGIN_OK;
}
