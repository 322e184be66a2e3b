/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that a recipe can have done by a kernel of the user's own
 * (SITE.operation): which call of the backend each one is, between which
 * carriers, and whether a site makes such a call.
 */
#ifndef NG_REFERENCE_MODEL_OWN_OPERATION_H
#define NG_REFERENCE_MODEL_OWN_OPERATION_H

#include "reference/model/recipe.h"

/* The calls of backend.h of which some are operations of semantics.md. */
typedef enum ng_own_call {
    NG_OWN_CONVERT,
    NG_OWN_TRANSPOSE,
    NG_OWN_LINEAR, /* linear; linear_backward of FP8, which is one by the
                      weights transposed */
    NG_OWN_WEIGHT, /* linear_weight, accumulating */
    NG_OWN_SWIGLU, /* without weights of the rows */
    NG_OWN_SWIGLU_BACKWARD /* likewise */
} ng_own_call;

typedef struct ng_own_operation {
    const char *name; /* as `narrowgauge ops` has it */
    ng_own_call call;
    int from, to; /* bits 1 << ng_carrier, of every input (of LINEAR, of the
                     rows) and of the output */
} ng_own_operation;

/* The operation of a name; null if there is none. */
const ng_own_operation *ng_own_operation_find(const char *name);

/* Whether such a call is that operation. */
bool ng_own_operation_is(const ng_own_operation *operation, ng_own_call call,
                         ng_carrier from, ng_carrier to);

/* A site of a layer, or of all layers (then NG_SITE_HEAD is the head's too). */
typedef struct ng_own_place {
    const ng_layer_recipe *recipe;
    ng_carrier residual;
    ng_site site;
    bool all;
} ng_own_place;

/* Whether the model makes a call that is that operation (null: none) there. */
bool ng_own_operation_fits(const ng_own_operation *operation,
                           const ng_own_place *place);

/* The names of those that fit: "a, b, c". */
enum { NG_OWN_MAX_LIST = 360 };
void ng_own_operations_that_fit(char text[NG_OWN_MAX_LIST],
                                const ng_own_place *place);

#endif
