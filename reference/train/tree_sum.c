/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/tree_sum.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FLOAT = sizeof(float) };

/* An empty array still needs a pointer that is not null. */
static int64_t array_bytes(const ng_tree *tree)
{
    return tree->n > 0 ? tree->n * FLOAT : FLOAT;
}

void ng_tree_free(ng_tree *tree)
{
    for (int i = 0; i < tree->n_nodes; i++)
        tree->backend->free(tree->backend->context, tree->nodes[i].sum);
    for (int i = 0; i < tree->n_spare; i++)
        tree->backend->free(tree->backend->context, tree->spare[i]);
    free(tree->nodes);
    *tree = (ng_tree){0};
}

void ng_tree_begin(ng_tree *tree, const ng_backend *backend, int64_t n,
                   int64_t leaves)
{
    if (tree->n != n || tree->backend != backend)
        ng_tree_free(tree);
    for (int i = 0; i < tree->n_nodes; i++)
        ng_tree_drop(tree, tree->nodes[i].sum);
    tree->n_nodes = 0;
    tree->backend = backend;
    tree->n = n;
    tree->leaves = leaves;
}

ng_status ng_tree_leaf(float **leaf, ng_tree *tree)
{
    const ng_backend *b = tree->backend;
    float *zeros = tree->n_spare > 0 ? tree->spare[--tree->n_spare]
                                     : b->alloc(b->context, array_bytes(tree));

    if (zeros == NULL)
        return NG_NO_MEMORY;
    *leaf = zeros;
    return b->zero(b->context, zeros, array_bytes(tree));
}

void ng_tree_drop(ng_tree *tree, float *leaf)
{
    if (leaf == NULL)
        return;
    if (tree->n_spare < NG_TREE_MAX_NODES)
        tree->spare[tree->n_spare++] = leaf;
    else
        tree->backend->free(tree->backend->context, leaf);
}

/* How many nodes a level of a tree has. */
static int64_t width(int64_t leaves, int level)
{
    for (; level > 0; level--)
        leaves = ng_ceil_div(leaves, 2);
    return leaves;
}

/* The node of the same parent, or -1. */
static int sibling(const ng_tree *tree, const ng_tree_node *node)
{
    for (int i = 0; i < tree->n_nodes; i++)
        if (tree->nodes[i].level == node->level
            && tree->nodes[i].index == (node->index ^ 1))
            return i;
    return -1;
}

/* Room for one more node. */
static bool has_room(ng_tree *tree)
{
    const int room = tree->room > 0 ? 2 * tree->room : NG_TREE_MAX_NODES;
    ng_tree_node *nodes;

    if (tree->n_nodes < tree->room)
        return true;
    nodes = realloc(tree->nodes, (size_t)room * sizeof *nodes);
    if (nodes == NULL)
        return false;
    tree->nodes = nodes;
    tree->room = room;
    return true;
}

/* Put a node in, and make every sum that it completes. */
static ng_status insert(ng_tree *tree, ng_tree_node node)
{
    const ng_backend *b = tree->backend;

    while (width(tree->leaves, node.level) > 1) {
        if (node.index % 2 != 0
            || node.index + 1 < width(tree->leaves, node.level)) {
            const int other = sibling(tree, &node);

            if (other < 0)
                break;

            const ng_tree_node right =
                node.index % 2 != 0 ? node : tree->nodes[other];
            const ng_tree_node left =
                node.index % 2 != 0 ? tree->nodes[other] : node;

            tree->nodes[other] = tree->nodes[--tree->n_nodes];

            const ng_status status =
                b->sum(b->context, left.sum, left.sum, right.sum, tree->n);

            ng_tree_drop(tree, right.sum);
            node.sum = left.sum;
            if (status != NG_OK) {
                ng_tree_drop(tree, node.sum);
                return status;
            }
        }
        node.level++;
        node.index /= 2;
    }
    if (!has_room(tree)) {
        ng_tree_drop(tree, node.sum);
        return NG_NO_MEMORY;
    }
    tree->nodes[tree->n_nodes++] = node;
    return NG_OK;
}

ng_status ng_tree_add(ng_tree *tree, int64_t index, float *leaf)
{
    if (index < 0 || index >= tree->leaves) {
        ng_tree_drop(tree, leaf);
        return NG_BAD_SHAPE;
    }
    return insert(tree, (ng_tree_node){0, index, leaf});
}

float *ng_tree_total(const ng_tree *tree)
{
    return tree->n_nodes == 1 && width(tree->leaves, tree->nodes[0].level) == 1
               ? tree->nodes[0].sum
               : NULL;
}

/* The nodes that a rank is left with: what insert makes of its leaves, without
 * the arrays, in the order of their first leaves. */
static int loose_ends(ng_tree_node *ends, int64_t leaves, int rank, int size)
{
    int64_t first, last;
    int n = 0;

    ng_comm_share(&first, &last, leaves, rank, size);
    while (first < last) {
        ng_tree_node node = {0, first, NULL};
        int64_t past = first + 1;

        /* Climb while the node is a left one whose sibling the rank has too, or
         * a left one without sibling. */
        while (width(leaves, node.level) > 1 && node.index % 2 == 0) {
            const int64_t end = (node.index + 2) << node.level;
            const int64_t reach = end < leaves ? end : leaves;

            if (reach > last)
                break;
            past = reach;
            node.level++;
            node.index /= 2;
        }
        ends[n++] = node;
        first = past;
    }
    return n;
}

static const ng_tree_node *find(const ng_tree *tree, ng_tree_node node)
{
    for (int i = 0; i < tree->n_nodes; i++)
        if (tree->nodes[i].level == node.level
            && tree->nodes[i].index == node.index)
            return &tree->nodes[i];
    return NULL;
}

typedef struct slice {
    int64_t first, n;
} slice;

static slice slice_of(const ng_tree *tree, int rank, int size)
{
    int64_t first, last;

    ng_comm_share(&first, &last, tree->n, rank, size);
    return (slice){first, last - first};
}

/* One line for what has none of its own, and the status. */
static ng_status fail(ng_error *error, ng_status status)
{
    return ng_fail(error, status, "sum over shards: %s",
                   ng_status_text(status));
}

/* What every rank sends and gets: slice q of each of its loose ends to rank q.
 */
static ng_status scatter(float *from, ng_tree *tree, const ng_comm *comm,
                         int64_t *from_bytes, int64_t *to_bytes, int n_ends,
                         const ng_tree_node *ends, ng_error *error)
{
    const ng_backend *b = tree->backend;
    float *to = b->alloc(b->context, tree->n * n_ends * FLOAT + FLOAT);
    ng_status status = to == NULL ? NG_NO_MEMORY : NG_OK;
    int64_t at = 0;

    for (int q = 0; q < comm->size && status == NG_OK; q++) {
        const slice part = slice_of(tree, q, comm->size);

        to_bytes[q] = n_ends * part.n * FLOAT;
        for (int i = 0; i < n_ends && status == NG_OK; i++, at += part.n) {
            const ng_tree_node *node = find(tree, ends[i]);

            status = node == NULL
                         ? NG_BAD_SHAPE
                         : b->copy(b->context, to + at, node->sum + part.first,
                                   part.n * FLOAT);
        }
    }
    if (status == NG_OK)
        status = comm->exchange(comm->context, from, from_bytes, to, to_bytes,
                                error);
    else
        fail(error, status);
    b->free(b->context, to);
    return status;
}

/* Sum this rank's slice of all loose ends in the tree, leave it in *total. */
static ng_status sum_slice(float **total, ng_tree *of_slice, const float *from,
                           int64_t leaves, const ng_comm *comm)
{
    const ng_backend *b = of_slice->backend;
    const int64_t n = of_slice->n;
    ng_status status = NG_OK;

    for (int p = 0; p < comm->size && status == NG_OK; p++) {
        ng_tree_node ends[NG_TREE_MAX_NODES];
        const int n_ends = loose_ends(ends, leaves, p, comm->size);

        for (int i = 0; i < n_ends && status == NG_OK; i++, from += n) {
            status = ng_tree_leaf(&ends[i].sum, of_slice);
            if (status == NG_OK)
                status = b->copy(b->context, ends[i].sum, from, n * FLOAT);
            if (status == NG_OK)
                status = insert(of_slice, ends[i]);
        }
    }
    *total = ng_tree_total(of_slice);
    return status != NG_OK ? status : *total == NULL ? NG_BAD_SHAPE : NG_OK;
}

/* Give every rank this rank's slice of the sum. */
static ng_status gather(float *sum, const float *mine, const ng_tree *tree,
                        const ng_comm *comm, int64_t *from_bytes,
                        int64_t *to_bytes, ng_error *error)
{
    const ng_backend *b = tree->backend;
    const slice own = slice_of(tree, comm->rank, comm->size);
    float *to = b->alloc(b->context, own.n * comm->size * FLOAT + FLOAT);
    ng_status status = to == NULL ? NG_NO_MEMORY : NG_OK;

    for (int q = 0; q < comm->size && status == NG_OK; q++) {
        from_bytes[q] = slice_of(tree, q, comm->size).n * FLOAT;
        to_bytes[q] = own.n * FLOAT;
        status = b->copy(b->context, to + q * own.n, mine, own.n * FLOAT);
    }
    if (status == NG_OK)
        status =
            comm->exchange(comm->context, sum, from_bytes, to, to_bytes, error);
    else
        fail(error, status);
    b->free(b->context, to);
    return status;
}

ng_status ng_tree_reduce(ng_tree *tree, const ng_comm *comm, ng_error *error)
{
    const ng_backend *b = tree->backend;
    const slice own = slice_of(tree, comm->rank, comm->size);
    ng_tree_node ends[NG_TREE_MAX_NODES], of_rank[NG_TREE_MAX_NODES];
    const int n_ends = loose_ends(ends, tree->leaves, comm->rank, comm->size);
    int64_t n_all = 0;
    ng_tree of_slice = {0};
    float *from = NULL, *mine = NULL, *sum = NULL;
    ng_status status;

    if (comm->size == 1)
        return ng_tree_total(tree) != NULL ? NG_OK : fail(error, NG_BAD_SHAPE);

    int64_t *bytes = calloc(2 * (size_t)comm->size, sizeof *bytes);

    if (bytes == NULL)
        return fail(error, NG_NO_MEMORY);
    for (int p = 0; p < comm->size; p++) {
        const int n = loose_ends(of_rank, tree->leaves, p, comm->size);

        bytes[p] = n * own.n * FLOAT;
        n_all += n;
    }
    from = b->alloc(b->context, n_all * own.n * FLOAT + FLOAT);
    if (from == NULL) {
        status = fail(error, NG_NO_MEMORY);
        goto done;
    }
    status = scatter(from, tree, comm, bytes, bytes + comm->size, n_ends, ends,
                     error);
    if (status != NG_OK)
        goto done;
    ng_tree_begin(&of_slice, b, own.n, tree->leaves);
    status = sum_slice(&mine, &of_slice, from, tree->leaves, comm);
    if (status == NG_OK)
        status = ng_tree_leaf(&sum, tree);
    if (status != NG_OK) {
        fail(error, status);
        goto done;
    }
    status = has_room(tree) ? gather(sum, mine, tree, comm, bytes,
                                     bytes + comm->size, error)
                            : fail(error, NG_NO_MEMORY);
    if (status != NG_OK) {
        ng_tree_drop(tree, sum);
        goto done;
    }
    for (int i = 0; i < tree->n_nodes; i++)
        ng_tree_drop(tree, tree->nodes[i].sum);
    tree->n_nodes = 1;
    tree->nodes[0] = (ng_tree_node){0, 0, sum};
    while (width(tree->leaves, tree->nodes[0].level) > 1)
        tree->nodes[0].level++;
done:
    ng_tree_free(&of_slice);
    b->free(b->context, from);
    free(bytes);
    return status;
}
