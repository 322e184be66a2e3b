/* SPDX-License-Identifier: Apache-2.0
 *
 * A planted fault as a plug-in: the one that NG_FAULT names, with its own
 * operations and nothing that says what it is.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/faults/fault.h"
#include "conformance/faults/plugin_call.h"

static const fault *chosen;

static int32_t run(const ng_plugin_call *from)
{
    ng_call call;

    if (!ng_plugin_call_read(&call, from))
        return NG_PLUGIN_FAILED;
    return chosen->run(&call) == NG_OK ? NG_PLUGIN_OK : NG_PLUGIN_REFUSED;
}

int32_t ng_plugin(ng_plugin_table *table)
{
    static ng_plugin_operation operations[FAULT_MAX_OPERATIONS];
    const char *name = getenv("NG_FAULT");
    uint32_t n = 0;

    for (int i = 0; name != NULL && (chosen = ng_fault_at(i)) != NULL
                    && strcmp(chosen->name, name) != 0;
         i++)
        continue;
    if (name == NULL || chosen == NULL)
        return NG_PLUGIN_FAILED;
    for (; n < FAULT_MAX_OPERATIONS && chosen->operation[n] != NULL; n++)
        operations[n] = (ng_plugin_operation){.name = chosen->operation[n],
                                              .limits = NG_PLUGIN_CHECKS_INPUT,
                                              .takes = chosen->takes};
    *table = (ng_plugin_table){.abi = NG_PLUGIN_ABI,
                               .name = "kernel",
                               .version = "1",
                               .n_operations = n,
                               .operation_size = sizeof *operations,
                               .operations = operations,
                               .run = run};
    return NG_PLUGIN_OK;
}
