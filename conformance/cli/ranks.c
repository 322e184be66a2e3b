/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/ranks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/module.h"
#include "reference/train/comm_mpi.h"

static const char module_name[] = "narrowgauge-mpi.so";

/* How many ranks the launcher says there are: Open MPI's own variable, or the
 * process management interface's. */
static int launched_ranks(void)
{
    static const char *const variable[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

    for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
        const char *size = getenv(variable[i]);

        if (size != NULL)
            return atoi(size);
    }
    return 1;
}

static const ng_ranks_functions *functions_of(const ng_ranks *ranks)
{
    return dlsym(ranks->module, "ng_mpi_functions");
}

ng_status ng_ranks_begin(ng_ranks *ranks, ng_error *error)
{
    *ranks = (ng_ranks){.rank = 0, .size = 1};
    if (launched_ranks() <= 1)
        return NG_OK;
    ranks->module =
        ng_module_open(module_name, RTLD_NOW | RTLD_GLOBAL, NULL, 0);
    if (ranks->module == NULL || functions_of(ranks) == NULL)
        return ng_fail(error, NG_BAD_FILE,
                       "%s: cannot be opened (%s); without it use --shard I/N",
                       module_name, ranks->module == NULL ? dlerror()
                                                          : "no functions");
    if (functions_of(ranks)->begin(&ranks->rank, &ranks->size) != 0)
        return ng_fail(error, NG_BAD_FILE, "%s: MPI did not start", module_name);
    return NG_OK;
}

bool ng_ranks_gather(const ng_ranks *ranks, const char *text, char ***texts)
{
    if (ranks->module != NULL)
        return functions_of(ranks)->gather(text, texts) == 0;
    *texts = malloc(sizeof **texts);
    if (*texts == NULL)
        return false;
    (*texts)[0] = strdup(text);
    return (*texts)[0] != NULL;
}

const ng_comm *ng_ranks_comm(const ng_ranks *ranks)
{
    if (ranks->module == NULL)
        return ng_comm_self();

    /* A function through void *, as POSIX has it. */
    ng_mpi_comm_function *function;
    void *symbol = dlsym(ranks->module, NG_MPI_COMM);

    memcpy(&function, &symbol, sizeof function);
    return function == NULL ? NULL : function();
}

int ng_ranks_worst(const ng_ranks *ranks, int status)
{
    return ranks->module != NULL ? functions_of(ranks)->largest(status)
                                 : status;
}

int ng_ranks_end(ng_ranks *ranks, int status)
{
    status = ng_ranks_worst(ranks, status);
    if (ranks->module != NULL) {
        functions_of(ranks)->end();
        ranks->module = NULL;
    }
    return status;
}
