/* SPDX-License-Identifier: Apache-2.0
 *
 * A case taken apart, so that it can be made smaller: its sizes (rows, columns,
 * lines of weights, groups of rows) and the elements of its inputs, one by one,
 * whatever their packing. How a tensor's axes follow from the sizes stands in
 * small_layout.c, a row for each kind of tensor; so any size can go down and all
 * tensors follow.
 *
 * What lies between elements (spare nibbles, absent bytes of packed words, gaps)
 * is no part of it but by one byte, `padding`.
 */
#ifndef NG_CONFORMANCE_CHECKS_SMALL_CASE_H
#define NG_CONFORMANCE_CHECKS_SMALL_CASE_H

#include "conformance/checks/verify.h"

typedef enum ng_size {
    NG_ROWS,  /* what groups divide: tokens */
    NG_COLS,  /* the other side, and the length of an array */
    NG_LINES, /* of weights, a group: N of a GEMM */
    NG_N_SIZES
} ng_size;

/* What an axis of a tensor counts. */
typedef enum ng_extent {
    NG_FIXED, /* neither */
    NG_BY_ROW,
    NG_BY_ROW_BLOCK, /* 128 rows; in each group the last may be short */
    NG_BY_COL,
    NG_BY_COL_32,
    NG_BY_COL_128,
    NG_BY_LINE,
    NG_BY_GROUP_LINE, /* lines of all groups */
    NG_BY_GROUP_LINE_128
} ng_extent;

typedef struct ng_small_tensor {
    ng_tensor like; /* name, type and rank */
    ng_extent axis[2];
    int64_t extent[2]; /* in elements; 1 past the rank */
    uint64_t *element; /* of an input; null of an output and of offsets */
} ng_small_tensor;

typedef struct ng_small {
    int64_t size[NG_N_SIZES];
    int64_t n_groups; /* -1: dense */
    int64_t *group;   /* rows of each */
    int n_inputs, n_outputs, n_attributes;
    ng_small_tensor input[NG_MAX_TENSORS], output[NG_MAX_TENSORS];
    ng_attribute attribute[NG_MAX_ATTRIBUTES];
    ng_random random;
    bool odd_layout;
    unsigned char padding;
} ng_small;

/* Which extents the tensor of that name has, rank 1 or 2. */
void ng_small_layout(ng_extent axis[2], const char *operation,
                     const char *tensor, int rank);

/* Take a case apart, before ng_case_spread. Returns false (*s empty) where its
 * tensors do not follow from sizes or there is no memory. */
bool ng_small_of(ng_small *s, const ng_case *c);

/* The same with other elements: of the sizes and groups given, all zero (null
 * group: dense). */
bool ng_small_resized(ng_small *s, const ng_small *from,
                      const int64_t size[NG_N_SIZES], int64_t n_groups,
                      const int64_t *group);

bool ng_small_copy(ng_small *to, const ng_small *from);
void ng_small_free(ng_small *s);

/* Without n rows, columns or lines from `first` on; without n groups and their
 * rows; without offsets, where one group holds all rows. Return false (*to
 * empty) where that cannot be. */
bool ng_small_without(ng_small *to, const ng_small *from, ng_size size,
                      int64_t first, int64_t n);
bool ng_small_without_groups(ng_small *to, const ng_small *from, int64_t first,
                             int64_t n);
bool ng_small_dense(ng_small *to, const ng_small *from);

/* How many elements its inputs have; an input's. */
int64_t ng_small_elements(const ng_small *s);
int64_t ng_small_count(const ng_small_tensor *t);

/* Fill an input from a dense tensor of its type and shape. */
void ng_small_read_elements(ng_small_tensor *t, const ng_tensor *from);

/* Put it together again as a case of that name. Returns false, c->failed set,
 * without memory; ng_case_end either way. */
bool ng_small_make(ng_case *c, const ng_small *s, const ng_case_id *id,
                   const ng_variant *variant);

#endif
