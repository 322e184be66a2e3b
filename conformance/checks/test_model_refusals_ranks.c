/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that fail in the middle of a step, and the trees of sums over shards.
 */
#include "conformance/checks/model_ranks.h"
#include "conformance/checks/model_refusals.h"
#include "reference/train/tree_sum.h"

/* ---- ranks --------------------------------------------------------------- */

/* Threads as ranks, whose exchange number `cut` and all further ones fail. */
typedef struct wire {
    const ng_comm *comm;
    int left;
} wire;

static ng_status cut_counts(void *context, int64_t *from, const int64_t *to,
                            int64_t n, ng_error *e)
{
    wire *w = context;

    if (w->left-- <= 0)
        return ng_fail(e, NG_BAD_FILE, "the wire is cut");
    return w->comm->exchange_counts(w->comm->context, from, to, n, e);
}

static ng_status cut_bytes(void *context, void *from, const int64_t *from_bytes,
                           const void *to, const int64_t *to_bytes, ng_error *e)
{
    wire *w = context;

    if (w->left-- <= 0)
        return ng_fail(e, NG_BAD_FILE, "the wire is cut");
    return w->comm->exchange(w->comm->context, from, from_bytes, to, to_bytes,
                             e);
}

typedef struct attempt {
    int cut;
    ng_status status;
    ng_error error;
    bool was_cut;
    double loss, norm;
} attempt;

/* A step of two shards, on one of two ranks; then, if it was cut, a whole one
 * with the same model: what it held is gone. */
static void try_step(void *argument, const ng_comm *comm)
{
    attempt *a = argument;
    const ng_model_config c = small();
    wire w = {comm, a->cut};
    ng_comm cutting = *comm;
    ng_model *m = NULL;
    const ng_model_shard shard = {comm->rank, 1, 4, tokens + 4 * comm->rank,
                                  targets + 4 * comm->rank};

    cutting.context = &w;
    cutting.exchange_counts = cut_counts;
    cutting.exchange = cut_bytes;
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    a->status = ng_model_create(&m, &c, &recipe, ng_backend_reference(),
                                &cutting, &a->error);
    for (int64_t i = 0; a->status == NG_OK && i < ng_model_n_parameters(m);
         i++) {
        float theta[256];

        ng_model_initial(theta, m, i, 5);
        if (ng_model_parameter_of(m, i)->local)
            a->status = ng_model_load(m, i, theta, &a->error);
    }
    for (int try = 0; try < 2; try++) {
        ng_model_result result = {.loss = 0.0};

        if (a->status == NG_OK)
            a->status = ng_model_begin_step(m, 2, 7, &a->error);
        if (a->status == NG_OK)
            a->status = ng_model_forward_backward(m, &shard, &a->error);
        if (a->status == NG_OK)
            a->status = ng_model_end_step(&result, m, &a->error);
        if (a->status == NG_OK)
            a->status = ng_model_gradient_norm(&a->norm, m, &a->error);
        a->loss = result.loss;
        if (a->cut >= 1000 || w.left >= 0 || try == 1)
            break;
        if (a->status != NG_BAD_FILE
            || strstr(a->error.text, "the wire is cut") == NULL)
            break;
        a->was_cut = true;
        w.left = 1000;
        a->status = NG_OK;
    }
    ng_model_free(m);
}

START_TEST(ranks_that_are_cut_off)
{
    attempt whole[2] = {{.cut = 1000}, {.cut = 1000}};
    void *arguments[2] = {&whole[0], &whole[1]};
    int cut = 0;

    run_ranks(2, try_step, arguments);
    ck_assert_msg(whole[0].status == NG_OK, "%s", whole[0].error.text);
    for (;; cut++) {
        attempt parts[2] = {{.cut = cut}, {.cut = cut}};
        void *of_parts[2] = {&parts[0], &parts[1]};

        run_ranks(2, try_step, of_parts);
        for (int r = 0; r < 2; r++) {
            ck_assert_msg(parts[r].status == NG_OK, "cut %d, rank %d: %s", cut,
                          r, parts[r].error.text);
            ck_assert_double_eq(parts[r].loss, whole[0].loss);
            ck_assert_double_eq(parts[r].norm, whole[0].norm);
        }
        ck_assert(parts[0].was_cut == parts[1].was_cut);
        if (!parts[0].was_cut)
            break;
    }
    ck_assert_int_gt(cut, 15);
}
END_TEST

/* What one rank sends itself must be what it expects. */
START_TEST(a_rank_by_itself)
{
    const ng_comm *self = ng_comm_self();
    const int64_t three = 3, four = 4;
    char from[4] = "abc";

    expect(self->exchange(self->context, from, &four, "xyz", &three, &error),
           NG_BAD_SHAPE, "a rank expects 4 bytes of itself, and sends 3");
    ck_assert_str_eq(from, "abc");
    self->abort(self->context, 4); /* there is no other to end */
    self->free(self->context);
}
END_TEST

/* ---- trees of sums ------------------------------------------------------- */

static int sums_left;

static ng_status failing_sum(void *context, float *y, const float *a,
                             const float *x, int64_t n)
{
    return sums_left-- > 0 ? ng_backend_reference()->sum(context, y, a, x, n)
                           : NG_NOT_COVERED;
}

static ng_status add_leaf(ng_tree *tree, int64_t index)
{
    float *leaf = NULL;

    ck_assert_int_eq(ng_tree_leaf(&leaf, tree), NG_OK);
    leaf[0] = index < 0 ? 0.0f : (float)(1 << index % 20);
    return ng_tree_add(tree, index, leaf);
}

START_TEST(trees)
{
    ng_backend backend = *ng_backend_reference();
    ng_tree tree = {0};
    float *leaves[NG_TREE_MAX_NODES + 2];

    backend.sum = failing_sum;
    sums_left = 1;
    ng_tree_begin(&tree, &backend, 3, 4);
    ng_tree_drop(&tree, NULL);
    ck_assert_int_eq(add_leaf(&tree, -1), NG_BAD_SHAPE);
    ck_assert_int_eq(add_leaf(&tree, 4), NG_BAD_SHAPE);
    ck_assert_int_eq(add_leaf(&tree, 0), NG_OK);
    ck_assert_int_eq(add_leaf(&tree, 1), NG_OK);
    ck_assert_int_eq(add_leaf(&tree, 2), NG_OK);
    ck_assert_int_eq(add_leaf(&tree, 3), NG_NOT_COVERED);
    ck_assert_ptr_null(ng_tree_total(&tree));
    expect(ng_tree_reduce(&tree, ng_comm_self(), &error), NG_BAD_SHAPE,
           "sum over shards: bad shape");

    /* begun anew: 1 + 2 + 4 + 8 */
    sums_left = 100;
    ng_tree_begin(&tree, &backend, 3, 4);
    for (int64_t i = 3; i >= 0; i--)
        ck_assert_int_eq(add_leaf(&tree, i), NG_OK);
    ck_assert_ptr_nonnull(ng_tree_total(&tree));
    ck_assert_float_eq(ng_tree_total(&tree)[0], 15.0f);

    /* every other leaf: no sum can be made, and all of them wait */
    ng_tree_begin(&tree, &backend, 1, 1000);
    for (int64_t i = 0; i < 500; i++)
        ck_assert_int_eq(add_leaf(&tree, 2 * i), NG_OK);
    ck_assert_int_eq(tree.n_nodes, 500);
    ck_assert_int_eq(add_leaf(&tree, 1), NG_OK); /* it completes one */
    ck_assert_int_eq(tree.n_nodes, 500);
    /* 24 ranks of 8 shards, by waves: three sums of each wait before the last
     * one. 9 times 2^20 - 1, and 2^12 - 1 */
    sums_left = 191;
    ng_tree_begin(&tree, &backend, 1, 192);
    for (int64_t wave = 0; wave < 8; wave++)
        for (int64_t rank = 0; rank < 24; rank++)
            ck_assert_int_eq(add_leaf(&tree, 8 * rank + wave), NG_OK);
    ck_assert_ptr_nonnull(ng_tree_total(&tree));
    ck_assert_float_eq(ng_tree_total(&tree)[0], 9441270.0f);
    /* more arrays than are kept for later */
    for (int i = 0; i < NG_TREE_MAX_NODES + 2; i++)
        ck_assert_int_eq(ng_tree_leaf(&leaves[i], &tree), NG_OK);
    for (int i = 0; i < NG_TREE_MAX_NODES + 2; i++)
        ng_tree_drop(&tree, leaves[i]);
    ck_assert_int_eq(tree.n_spare, NG_TREE_MAX_NODES);
    ng_tree_free(&tree);
    ck_assert_int_eq(tree.n_spare, 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("ranks");

    tcase_add_test(tcase, ranks_that_are_cut_off);
    tcase_add_test(tcase, a_rank_by_itself);
    tcase_add_test(tcase, trees);
    return run_refusals(tcase);
}
