/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of equally long FP32 arrays, one a shard, in a fixed tree, so that they
 * are the same bits in whatever order, and on whichever rank, the arrays come.
 *   The tree over n leaves: node (level 0, i) is leaf i; node (l + 1, i) is the
 * sum of (l, 2i) and (l, 2i + 1), in that order, or (l, 2i) itself where the
 * other lies past the end. A sum is made as soon as both parts are there: of n
 * leaves that come in order, at most log2(n) + 2 arrays are alive.
 * All memory is the backend's. Private to the model.
 */
#ifndef NG_REFERENCE_TRAIN_TREE_SUM_H
#define NG_REFERENCE_TRAIN_TREE_SUM_H

#include <stdint.h>

#include "formats/status.h"
#include "reference/backend.h"
#include "reference/train/comm.h"

/* Most nodes that leaves which follow each other leave unmatched: two a level,
 * of trees of 2^32 leaves. And most arrays that are kept to be used again. */
enum { NG_TREE_MAX_NODES = 64 };

typedef struct ng_tree_node {
    int level;
    int64_t index;
    float *sum;
} ng_tree_node;

/* Zero bytes are an empty one without leaves. */
typedef struct ng_tree {
    const ng_backend *backend;
    int64_t n; /* elements of an array; 0 is legal */
    int64_t leaves;
    int n_nodes, room; /* as many as come: there are no more leaves than ranks'
                          shards, but which of them wait depends on the ranks */
    ng_tree_node *nodes;
    int n_spare; /* arrays that were merged, to be used again */
    float *spare[NG_TREE_MAX_NODES];
} ng_tree;

/* Start over: n elements, so many leaves. What was there is freed. */
void ng_tree_begin(ng_tree *tree, const ng_backend *backend, int64_t n,
                   int64_t leaves);

/* An array of zeros for a leaf; give it to ng_tree_add, or to ng_tree_drop. */
ng_status ng_tree_leaf(float **leaf, ng_tree *tree);
void ng_tree_drop(ng_tree *tree, float *leaf);

/* Leaf `index` is there: sum what can be. Each index once.
 * Returns NG_OK; NG_BAD_SHAPE (index), or NG_NO_MEMORY; what the backend's sum
 * returns. The tree owns the leaf either way. */
ng_status ng_tree_add(ng_tree *tree, int64_t index, float *leaf);

/* Collective. Each rank has added the leaves of ng_comm_share; afterwards each
 * has the whole sum. Each rank sums a slice of it. */
ng_status ng_tree_reduce(ng_tree *tree, const ng_comm *comm, ng_error *error);

/* The whole sum, or null while leaves are missing. */
float *ng_tree_total(const ng_tree *tree);

void ng_tree_free(ng_tree *tree);

#endif
