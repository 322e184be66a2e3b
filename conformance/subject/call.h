/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of one operation: rules, attributes and named tensors. Everything
 * that runs an operation (reference, oracle, headers, a plug-in, a process)
 * takes this form, so that a new operation changes no interface.
 *
 * Names: a plain array is "x" or "y"; the parts of a block-scaled tensor are
 * "x.codes" and "x.scales"; group offsets are "offsets" (int64). A packed
 * tensor's logical width travels as the attribute "cols". Those of optimizers:
 * optim_functions.h.
 */
#ifndef NG_CONFORMANCE_SUBJECT_CALL_H
#define NG_CONFORMANCE_SUBJECT_CALL_H

#include <stdint.h>

#include "conformance/subject/verdict.h"
#include "formats/options.h"
#include "formats/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NG_MAX_TENSORS = 12, NG_MAX_ATTRIBUTES = 16 };

typedef struct ng_attribute {
    const char *name;
    int64_t value;
} ng_attribute;

/* What a subject in another process (host.h) is told beside the call, and says
 * beside a status. */
typedef struct ng_foreign {
    struct ng_host *host;
    int repeat;                 /* 1: the same call once more, laid out anew */
    ng_status expected;         /* what the specification answers: a call that
                                   it refuses is made only where the subject
                                   says that it checks its input */
    ng_verdict verdict;         /* out: NG_VERDICT_NONE if it just answered */
} ng_foreign;

typedef struct ng_call {
    const char *operation;
    ng_rules rules;
    ng_random random;
    int n_attributes, n_inputs, n_outputs;
    ng_attribute attribute[NG_MAX_ATTRIBUTES];
    ng_tensor input[NG_MAX_TENSORS];
    ng_tensor output[NG_MAX_TENSORS];
    ng_events *events;                  /* added to; may be null */
    int64_t guard;                      /* bytes before and after every output
                                           that may be read and restored */
    ng_foreign *foreign;                /* null but for such a subject */
} ng_call;

/* The tensor of that name among the inputs or outputs, or null. */
const ng_tensor *ng_call_input(const ng_call *call, const char *name);
const ng_tensor *ng_call_output(const ng_call *call, const char *name);

/* The attribute's value, or otherwise if the call has none of that name. */
int64_t ng_call_attribute(const ng_call *call, const char *name,
                          int64_t otherwise);

/* Typed views of a call's tensors. `name` is "x" or "y"; a view of a tensor
 * that the call lacks has null data. Logical sizes come from the attributes
 * "rows" and "cols" where present, else from the shapes. */
ng_matrix ng_call_matrix(const ng_call *call, const char *name);
ng_mxfp4 ng_call_mxfp4(const ng_call *call, const char *name);
ng_mxfp8 ng_call_mxfp8(const ng_call *call, const char *name);
ng_fp8 ng_call_fp8(const ng_call *call, const char *name, ng_fp8_form form);
ng_scales ng_call_scales(const ng_call *call, const char *name);

/* Fill *groups from the input "offsets". Returns null if the call is dense. */
const ng_groups *ng_call_groups(ng_groups *groups, const ng_call *call);

/* The options of the call: its rules, groups (stored in *groups), random
 * stream and event counters. */
ng_options ng_call_options(ng_groups *groups, const ng_call *call);

#ifdef __cplusplus
}
#endif

#endif
