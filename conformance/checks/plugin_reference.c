/* SPDX-License-Identifier: Apache-2.0
 *
 * A plug-in for tests: this project's reference behind the interface of
 * plugin.h, every operation without any limit. What the interface loses or
 * mixes up shows as a difference. With NG_PLUGIN_PROFILE it is a stranger that
 * follows that profile, whatever it is asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/faults/plugin_call.h"
#include "conformance/subject/subject.h"
#include "formats/profile.h"

enum { MAX_OPERATIONS = 256 };

/* A stand-in's device memory is read and written like the host's. */
static bool is_on_device(void)
{
    const char *memory = getenv("NG_PLUGIN_MEMORY");

    return memory != NULL && strcmp(memory, "cuda") == 0;
}

static int32_t run(const ng_plugin_call *from)
{
    ng_plugin_call plain = *from;
    ng_call call;

    if ((from->stream != NULL) != is_on_device())
        return NG_PLUGIN_FAILED;
    plain.stream = NULL;
    if (!ng_plugin_call_read(&call, &plain))
        return NG_PLUGIN_FAILED;
    if (getenv("NG_PLUGIN_PROFILE") != NULL) {
        ng_profile profile;
        ng_error error;

        if (ng_profile_load(&profile, getenv("NG_PLUGIN_PROFILE"), &error)
            != NG_OK)
            return NG_PLUGIN_FAILED;
        call.rules = profile.rules;
    }
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
        operations[i] = (ng_plugin_operation){
            .name = names[i],
            .memory = is_on_device() ? NG_PLUGIN_CUDA : NG_PLUGIN_HOST,
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
