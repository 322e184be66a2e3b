/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/operation.h"

#include <string.h>

const ng_operation *ng_operation_at(int i)
{
    if (i < ng_n_scalar_operations)
        return &ng_scalar_operations[i];
    i -= ng_n_scalar_operations;
    if (i < ng_n_block_operations)
        return &ng_block_operations[i];
    i -= ng_n_block_operations;
    if (i < ng_n_gemm_operations)
        return &ng_gemm_operations[i];
    i -= ng_n_gemm_operations;
    if (i < ng_n_swiglu_operations)
        return &ng_swiglu_operations[i];
    i -= ng_n_swiglu_operations;
    return i < ng_n_optim_operations ? &ng_optim_operations[i] : NULL;
}

const ng_operation *ng_operation_find(const char *name)
{
    const ng_operation *operation;

    for (int i = 0; (operation = ng_operation_at(i)) != NULL; i++)
        if (strcmp(operation->name, name) == 0)
            return operation;
    return NULL;
}
