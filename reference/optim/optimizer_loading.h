/* SPDX-License-Identifier: Apache-2.0
 *
 * What an optimizer's file is checked against, and its metadata. Private to
 * optimizer_load.c and optimizer_metadata.c.
 */
#ifndef NG_REFERENCE_OPTIM_OPTIMIZER_LOADING_H
#define NG_REFERENCE_OPTIM_OPTIMIZER_LOADING_H

#include "formats/files/tensor_file.h"
#include "reference/optim/optimizer_parts.h"

typedef struct ng_optimizer_loading {
    ng_optimizer *optimizer;
    const ng_tensor_file *file;
    const char *path;
    ng_error *error;
    ng_group *groups;           /* what the groups become */
    uint64_t skipped, partial;
} ng_optimizer_loading;

/* A pair that must be a count. */
ng_status ng_optimizer_read_count(uint64_t *value,
                                  const ng_optimizer_loading *in,
                                  const char *name);

/* Check kind, rules and number of groups; read skipped and partial steps and,
 * into groups, steps, hyper-parameters and the constants of the next step. */
ng_status ng_optimizer_read_metadata(ng_optimizer_loading *in);

#endif
