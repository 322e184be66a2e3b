/* SPDX-License-Identifier: Apache-2.0
 *
 * What writing and reading an optimizer's file share: which arrays a parameter
 * has, and how the metadata are named.
 * Private to optimizer_*.c.
 */
#ifndef NG_REFERENCE_OPTIM_OPTIMIZER_FILE_H
#define NG_REFERENCE_OPTIM_OPTIMIZER_FILE_H

#include <stddef.h>

#include "reference/optim/optimizer_parts.h"

enum {
    NG_OPTIMIZER_MAX_ARRAYS = 6,    /* of a parameter */
    NG_N_HYPER_NUMBERS = 8,
    NG_N_HYPER_FLAGS = 2
};

/* One array of a parameter, as its tensor in a file. */
typedef struct ng_optimizer_array {
    char name[NG_MAX_NAME];
    ng_dtype dtype;
    int rank;
    int64_t shape[NG_MAX_RANK];
    int64_t bytes;
    void *data;                     /* the optimizer's own */
} ng_optimizer_array;

/* Fill in the arrays of a parameter; returns how many. */
int ng_optimizer_arrays(ng_optimizer_array *arrays,
                        const ng_optimizer *optimizer, const ng_parameter *p);

/* Whether the values could have been written, to be asked before any is taken.
 * data stands for the optimizer's arrays: data[i] is what a file holds for
 * arrays[i]. Returns NG_OK, or NG_BAD_FILE with a line for the tensor. */
ng_status ng_optimizer_check_values(const ng_optimizer *optimizer,
                                    const ng_parameter *p,
                                    const ng_optimizer_array *arrays,
                                    void *const *data, const char *path,
                                    ng_error *error);

/* "fp32", "companded", "linear". */
const char *ng_state_coding_name(ng_state_coding coding);

/* "group.N.FIELD". */
void ng_optimizer_group_key(char *key, size_t size, int64_t group,
                            const char *field);

/* The fields of ng_hyper by number, in the order of their names. */
extern const char *const ng_hyper_number_names[NG_N_HYPER_NUMBERS];
extern const char *const ng_hyper_flag_names[NG_N_HYPER_FLAGS];
void ng_hyper_unpack(double *numbers, bool *flags, const ng_hyper *hyper);
void ng_hyper_pack(ng_hyper *hyper, const double *numbers, const bool *flags);

#endif
