/* SPDX-License-Identifier: Apache-2.0
 *
 * What an optimizer is made of. Private to optimizer*.c.
 */
#ifndef NG_REFERENCE_OPTIM_OPTIMIZER_PARTS_H
#define NG_REFERENCE_OPTIM_OPTIMIZER_PARTS_H

#include "reference/backend.h"
#include "reference/optim/optimizer.h"

typedef struct ng_group {
    ng_group_settings settings;
    uint64_t steps;
    ng_step_constants constants;    /* of the step under way */
} ng_group;

struct ng_optimizer {
    const ng_backend *backend;      /* null: the host and the reference */
    float *scale;                   /* the backend's: of every gradient */
    ng_optimizer_kind kind;
    ng_rules rules;
    ng_group *groups;
    int64_t n_groups;
    ng_parameter **parameters;
    bool *released;                 /* [n_parameters], by the release */
    int64_t n_parameters;
    bool releasing;
    ng_release_report release;      /* of the release under way, so far */
    uint64_t skipped, partial;
    ng_optim_counts counts;
    int64_t allocated, peak;        /* bytes of arrays */
};

/* Allocate zeroed bytes of an array and count them. Null, nothing counted, for
 * size 0 or without memory. */
void *ng_optimizer_take(ng_optimizer *optimizer, int64_t size);

/* Free such an array; null is allowed. */
void ng_optimizer_give(ng_optimizer *optimizer, void *data, int64_t size);

/* Copy an array to or from host memory; bytes may be 0. The status is the
 * backend's. */
ng_status ng_optimizer_read(void *to, const ng_optimizer *optimizer,
                            const void *from, int64_t bytes);
ng_status ng_optimizer_write(void *to, const ng_optimizer *optimizer,
                             const void *from, int64_t bytes);

/* Whether a parameter's gradient, times *scale (host, may be null), is finite;
 * its step by its group's constants; and the end of all that was begun. Without
 * a backend they cannot fail: the arrays are the optimizer's own and the
 * constants have been judged. */
ng_status ng_optimizer_look_at(bool *finite, const ng_optimizer *optimizer,
                               const ng_parameter *p, const float *scale);
ng_status ng_optimizer_move(ng_optimizer *optimizer, const ng_parameter *p,
                            const float *scale);
ng_status ng_optimizer_wait(const ng_optimizer *optimizer);

/* Free a parameter and its arrays. */
void ng_optimizer_free_parameter(ng_optimizer *optimizer, ng_parameter *p);

/* The bytes of each array of a parameter, total excepted. */
ng_optimizer_bytes ng_parameter_bytes(const ng_parameter *parameter);

/* Whether there is such a parameter, or an error line. */
ng_status ng_optimizer_find_parameter(const ng_optimizer *optimizer,
                                      int64_t parameter, ng_error *error);

#endif
