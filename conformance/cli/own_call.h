/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of the training backend as a call of a subject: arrays become named
 * tensors, under the rules that the backend follows.
 */
#ifndef NG_CONFORMANCE_CLI_OWN_CALL_H
#define NG_CONFORMANCE_CLI_OWN_CALL_H

#include "conformance/subject/call.h"
#include "reference/backend.h"

/* What had to be copied, for a subject sees tensors without gaps, and no output
 * that is an input. */
typedef struct ng_own_call_memory {
    void *block[4];
    int n;
} ng_own_call_memory;

/* Describe a call, as ng_own_kernels.run (backend.h) has its arrays; host memory.
 * Outputs are filled with the byte `poison` first. Returns NG_OK or
 * NG_NO_MEMORY; ng_own_call_end in both cases, which after a good call puts what
 * had to be apart into y. */
ng_status ng_own_call_begin(ng_call *call, ng_own_call_memory *memory,
                            const char *operation, const ng_array *y,
                            const ng_array *a, const ng_array *b,
                            const ng_row_groups *groups, int poison);

/* The first output that is all that byte; null if none is. */
const ng_tensor *ng_own_call_unwritten(const ng_call *call, int poison);

void ng_own_call_end(const ng_call *call, ng_own_call_memory *memory,
                     const ng_array *y, bool good);

#endif
