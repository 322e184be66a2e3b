/* SPDX-License-Identifier: Apache-2.0
 *
 * What the operations of the reference backend refuse: a good call of each,
 * broken in one place at a time, gives the status that backend.h names and
 * leaves every output as it was. And the ends of what they take: no rotation,
 * no targets, groups of one expert, nothing at all.
 */
#include "conformance/checks/model_fixture.h"
#include "reference/optim/ref_step_constants.h"

static const ng_backend *b;

/* ---- a call -------------------------------------------------------------- */

enum { MAX_OUT = 3, MAX_IN = 6 };

/* Rows T = 4 (two sequences of 2), H = 8, E = 4, S = 2 unless said. */
static struct call {
    ng_array out[MAX_OUT], in[MAX_IN];
    ng_array kept[MAX_OUT]; /* the outputs before anything was changed */
    int64_t heads, width, length, first, top_k, experts, tokens, divisor;
    ng_attention_shape attention;
    ng_router_shape router;
    int32_t choice[16];
    int64_t index[16];
    ng_row_groups groups;
    int64_t offsets[3];
    /* what an operation adds to, or writes beside its arrays */
    int64_t load[4], nan_rows, n, row[8], source[8], starts[5];
    double sum;
} c;

static void begin(void)
{
    fixture_at = 0;
    b = ng_backend_reference();
}

static void outputs(int n, const ng_array *arrays)
{
    for (int i = 0; i < n; i++)
        c.out[i] = c.kept[i] = arrays[i];
}

/* [rows, cols] of 0xA5, for outputs. */
static ng_array fp32(int64_t rows, int64_t cols)
{
    return matrix_of(NG_CARRY_FP32, rows, cols);
}

static ng_array numbers(int64_t rows, int64_t cols)
{
    return random_matrix(rows, cols, 1.0);
}

#define OUTPUTS(...)                                                     \
    outputs((int)(sizeof((ng_array[]){__VA_ARGS__}) / sizeof(ng_array)), \
            (const ng_array[]){__VA_ARGS__})

static void poison(void *to, size_t size)
{
    memset(to, 0xA5, size);
}

static bool is_poison(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < size; i++)
        if (p[i] != 0xA5)
            return false;
    return true;
}

static bool untouched(void)
{
    for (int i = 0; i < MAX_OUT; i++)
        if (c.kept[i].data != NULL
            && !(is_poison(c.kept[i].data,
                           (size_t)ng_array_data_bytes(&c.kept[i]))
                 && is_poison(c.kept[i].scales,
                              (size_t)ng_array_scale_bytes(&c.kept[i]))))
            return false;
    return is_poison(c.load, sizeof c.load)
           && is_poison(&c.nan_rows, sizeof c.nan_rows)
           && is_poison(&c.n, sizeof c.n) && is_poison(c.row, sizeof c.row)
           && is_poison(c.source, sizeof c.source)
           && is_poison(c.starts, sizeof c.starts)
           && is_poison(&c.sum, sizeof c.sum);
}

typedef struct operation {
    const char *name;
    void (*good)(void);
    ng_status (*call)(void);
} operation;

static void start(const operation *op)
{
    fixture_end();
    memset(&c, 0, sizeof c);
    poison(c.load, sizeof c.load);
    poison(&c.nan_rows, sizeof c.nan_rows);
    poison(&c.n, sizeof c.n);
    poison(c.row, sizeof c.row);
    poison(c.source, sizeof c.source);
    poison(c.starts, sizeof c.starts);
    poison(&c.sum, sizeof c.sum);
    op->good();
}

static void want(const operation *op, ng_status status, const char *change)
{
    const ng_status got = op->call();

    ck_assert_msg(got == status, "%s: %s: want \"%s\", got \"%s\"", op->name,
                  change, ng_status_text(status), ng_status_text(got));
    ck_assert_msg(untouched() == (status != NG_OK), "%s: %s: outputs are %s",
                  op->name, change, status != NG_OK ? "touched" : "untouched");
}

#define REFUSES(operation, status, change) \
    do {                                   \
        start(operation);                  \
        change;                            \
        want(operation, status, #change);  \
    } while (0)

/* The good call, by itself. */
#define TAKES(operation) REFUSES(operation, NG_OK, (void)0)

/* Every row and column count of arrays first .. last - 1 must be what it is. */
#define SHAPES(operation, array, n)                          \
    for (int i = 0; i < (n); i++) {                          \
        REFUSES(operation, NG_BAD_SHAPE, c.array[i].rows++); \
        REFUSES(operation, NG_BAD_SHAPE, c.array[i].cols++); \
    }

#define CARRIERS(operation, array, n, wrong) \
    for (int i = 0; i < (n); i++)            \
    REFUSES(operation, NG_BAD_DTYPE, c.array[i].carrier = (wrong))

/* ---- rows ---------------------------------------------------------------- */

static void good_embedding(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(5, 8);
    c.choice[1] = 4;
}

static ng_status call_embedding(void)
{
    return b->embedding(b->context, &c.out[0], c.choice, &c.in[0]);
}

static void good_embedding_backward(void)
{
    OUTPUTS(fp32(5, 8));
    c.in[0] = numbers(4, 8);
    c.choice[1] = 4;
}

static ng_status call_embedding_backward(void)
{
    return b->embedding_backward(b->context, &c.out[0], c.choice, &c.in[0]);
}

START_TEST(embeddings)
{
    static const operation forward = {"embedding", good_embedding,
                                      call_embedding};
    static const operation backward = {
        "embedding_backward", good_embedding_backward, call_embedding_backward};

    TAKES(&forward);
    REFUSES(&forward, NG_BAD_SHAPE, c.out[0].cols++);
    REFUSES(&forward, NG_BAD_SHAPE, c.in[0].cols--);
    REFUSES(&forward, NG_BAD_VALUE, c.choice[3] = 5);
    REFUSES(&forward, NG_BAD_VALUE, c.choice[3] = -1);
    CARRIERS(&forward, out, 1, NG_CARRY_FP8);
    CARRIERS(&forward, in, 1, NG_CARRY_FP8_COL);
    TAKES(&backward);
    REFUSES(&backward, NG_BAD_SHAPE, c.out[0].cols++);
    REFUSES(&backward, NG_BAD_SHAPE, c.in[0].cols--);
    REFUSES(&backward, NG_BAD_VALUE, c.choice[3] = 5);
    REFUSES(&backward, NG_BAD_VALUE, c.choice[0] = INT32_MIN);
    CARRIERS(&backward, out, 1, NG_CARRY_BF16);
    CARRIERS(&backward, in, 1, NG_CARRY_MXFP4);
}
END_TEST

static void good_rmsnorm(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(4, 8);
    c.in[1] = numbers(1, 8);
}

static ng_status call_rmsnorm(void)
{
    return b->rmsnorm(b->context, &c.out[0], &c.in[0], &c.in[1], 1e-6f);
}

/* grad_x, grad_w from grad_y, x, w, grad_add. */
static void good_rmsnorm_backward(void)
{
    OUTPUTS(fp32(4, 8), fp32(1, 8));
    for (int i = 0; i < 4; i++)
        c.in[i] = numbers(i == 2 ? 1 : 4, 8);
}

static ng_status call_rmsnorm_backward(void)
{
    return b->rmsnorm_backward(b->context, &c.out[0], &c.out[1], &c.in[0],
                               &c.in[1], &c.in[2], &c.in[3], 1e-6f);
}

START_TEST(norms)
{
    static const operation forward = {"rmsnorm", good_rmsnorm, call_rmsnorm};
    static const operation backward = {
        "rmsnorm_backward", good_rmsnorm_backward, call_rmsnorm_backward};

    TAKES(&forward);
    SHAPES(&forward, out, 1);
    SHAPES(&forward, in, 2);
    CARRIERS(&forward, out, 1, NG_CARRY_FP8);
    CARRIERS(&forward, in, 2, NG_CARRY_MXFP4);
    REFUSES(&forward, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_BF16);
    TAKES(&backward);
    SHAPES(&backward, out, 2);
    SHAPES(&backward, in, 4);
    CARRIERS(&backward, out, 2, NG_CARRY_FP8);
    CARRIERS(&backward, in, 4, NG_CARRY_MXFP4);
    REFUSES(&backward, NG_BAD_DTYPE, c.out[1].carrier = NG_CARRY_BF16);
}
END_TEST

static void good_add(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(4, 8);
    c.in[1] = numbers(4, 8);
}

static ng_status call_add(void)
{
    return b->add(b->context, &c.out[0], &c.in[0], &c.in[1]);
}

static void good_take(void)
{
    OUTPUTS(fp32(4, 3));
    c.in[0] = numbers(4, 8);
    c.first = 5;
}

static ng_status call_take(void)
{
    return b->take_columns(b->context, &c.out[0], &c.in[0], c.first);
}

static void good_put(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(4, 3);
    c.first = 5;
}

static ng_status call_put(void)
{
    return b->put_columns(b->context, &c.out[0], &c.in[0], c.first);
}

START_TEST(columns)
{
    static const operation add = {"add", good_add, call_add};
    static const operation take = {"take_columns", good_take, call_take};
    static const operation put = {"put_columns", good_put, call_put};
    static const operation *const moves[] = {&take, &put};

    TAKES(&add);
    SHAPES(&add, out, 1);
    SHAPES(&add, in, 2);
    CARRIERS(&add, out, 1, NG_CARRY_MXFP4);
    CARRIERS(&add, in, 2, NG_CARRY_FP8);
    for (int m = 0; m < 2; m++) {
        TAKES(moves[m]);
        REFUSES(moves[m], NG_BAD_SHAPE, c.first++);
        REFUSES(moves[m], NG_BAD_SHAPE, c.first = -1);
        REFUSES(moves[m], NG_BAD_SHAPE, c.out[0].rows--);
        REFUSES(moves[m], NG_BAD_SHAPE, c.in[0].rows++);
        CARRIERS(moves[m], out, 1, NG_CARRY_FP8);
        CARRIERS(moves[m], in, 1, NG_CARRY_FP8_TILE);
    }
}
END_TEST

static void good_rope(void)
{
    OUTPUTS(fp32(4, 8));
    c.heads = c.width = c.length = 2;
}

static ng_status call_rope(void)
{
    return b->rope(b->context, &c.out[0], c.heads, c.width, c.length, 1e4,
                   false);
}

START_TEST(rotation)
{
    static const operation rope = {"rope", good_rope, call_rope};

    TAKES(&rope);
    REFUSES(&rope, NG_BAD_SHAPE, c.heads = 0);
    REFUSES(&rope, NG_BAD_SHAPE, c.heads = 3);
    REFUSES(&rope, NG_BAD_SHAPE, c.width = -2);
    REFUSES(&rope, NG_BAD_SHAPE, c.width = 3);
    REFUSES(&rope, NG_BAD_SHAPE, c.width = 6); /* of 4 that a head has */
    REFUSES(&rope, NG_BAD_SHAPE, c.length = 0);
    CARRIERS(&rope, out, 1, NG_CARRY_FP8);
    /* nothing to rotate: right, and nothing done */
    start(&rope);
    c.width = 0;
    ck_assert_int_eq(call_rope(), NG_OK);
    ck_assert(untouched());
}
END_TEST

/* k, v from kv [4, 2 (3 + 2)], k_rope [4, 1]. */
static void good_join(void)
{
    OUTPUTS(fp32(4, 8), fp32(4, 4));
    c.in[0] = numbers(4, 10);
    c.in[1] = numbers(4, 1);
    c.heads = 2;
    c.width = 3;
}

static ng_status call_join(void)
{
    return b->mla_join(b->context, &c.out[0], &c.out[1], &c.in[0], &c.in[1],
                       c.heads, c.width);
}

static void good_join_backward(void)
{
    OUTPUTS(fp32(4, 10), fp32(4, 1));
    c.in[0] = numbers(4, 8);
    c.in[1] = numbers(4, 4);
    c.heads = 2;
    c.width = 3;
}

static ng_status call_join_backward(void)
{
    return b->mla_join_backward(b->context, &c.out[0], &c.out[1], &c.in[0],
                                &c.in[1], c.heads, c.width);
}

START_TEST(joins)
{
    static const operation forward = {"mla_join", good_join, call_join};
    static const operation backward = {"mla_join_backward", good_join_backward,
                                       call_join_backward};
    static const operation *const both[] = {&forward, &backward};

    for (int o = 0; o < 2; o++) {
        TAKES(both[o]);
        SHAPES(both[o], out, 2);
        SHAPES(both[o], in, 2);
        REFUSES(both[o], NG_BAD_SHAPE, c.heads = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.heads = 3);
        REFUSES(both[o], NG_BAD_SHAPE, c.width = -1);
        REFUSES(both[o], NG_BAD_SHAPE, c.width = 2);
        /* k fits, but v is a column wider a head than kv has room for */
        REFUSES(both[o], NG_BAD_SHAPE,
                (o == 0 ? &c.out[1] : &c.in[1])->cols += 2);
        CARRIERS(both[o], out, 2, NG_CARRY_FP8);
        CARRIERS(both[o], in, 2, NG_CARRY_MXFP4);
    }
}
END_TEST

/* ---- attention ----------------------------------------------------------- */

/* y, lse from q, k, v: two heads that share a key. */
static void good_attention(void)
{
    OUTPUTS(fp32(4, 4), fp32(4, 2));
    c.in[0] = numbers(4, 6);
    c.in[1] = numbers(4, 3);
    c.in[2] = numbers(4, 2);
    c.attention = (ng_attention_shape){2, 2, 2, 1, 3, 2, 1.0f};
}

static ng_status call_attention(void)
{
    return b->attention(b->context, &c.out[0], &c.out[1], &c.in[0], &c.in[1],
                        &c.in[2], &c.attention);
}

/* grad_q, grad_k, grad_v from q, k, v, grad_y, y, lse. */
static void good_attention_backward(void)
{
    good_attention();
    ck_assert_int_eq(call_attention(), NG_OK);
    c.in[3] = numbers(4, 4);
    c.in[4] = c.out[0];
    c.in[5] = c.out[1];
    OUTPUTS(fp32(4, 6), fp32(4, 3), fp32(4, 2));
}

static ng_status call_attention_backward(void)
{
    return b->attention_backward(b->context, &c.out[0], &c.out[1], &c.out[2],
                                 &c.in[3], &c.in[4], &c.in[5], &c.in[0],
                                 &c.in[1], &c.in[2], &c.attention);
}

START_TEST(attentions)
{
    static const operation forward = {"attention", good_attention,
                                      call_attention};
    static const operation backward = {
        "attention_backward", good_attention_backward, call_attention_backward};
    static const operation *const both[] = {&forward, &backward};

    for (int o = 0; o < 2; o++) {
        TAKES(both[o]);
        SHAPES(both[o], out, 2 + o);
        SHAPES(both[o], in, 3 + 3 * o);
        REFUSES(both[o], NG_BAD_SHAPE, c.attention.sequences = -2);
        REFUSES(both[o], NG_BAD_SHAPE, c.attention.length = -2);
        REFUSES(both[o], NG_BAD_SHAPE, c.attention.heads = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.attention.kv_heads = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.attention.kv_heads = 3);
        CARRIERS(both[o], out, 2 + o, NG_CARRY_FP8);
        CARRIERS(both[o], in, 3 + 3 * o, NG_CARRY_MXFP4);
    }
    REFUSES(&forward, NG_BAD_DTYPE, c.out[1].carrier = NG_CARRY_BF16);
    REFUSES(&backward, NG_BAD_DTYPE, c.in[5].carrier = NG_CARRY_BF16);
}
END_TEST

/* ---- linear layers: two groups, of 1 and 3 rows -------------------------- */

static void grouped(void)
{
    c.offsets[1] = 1;
    c.offsets[2] = 4;
    c.groups = (ng_row_groups){{2, c.offsets}, NULL};
}

static ng_array stacked(int64_t rows, int64_t cols)
{
    ng_array a = numbers(2 * rows, cols);

    a.batch = 2;
    a.rows = rows;
    return a;
}

static void good_linear(void)
{
    OUTPUTS(fp32(4, 3));
    c.in[0] = numbers(4, 8);
    c.in[1] = stacked(3, 8);
    grouped();
}

static ng_status call_linear(void)
{
    return b->linear(b->context, &c.out[0], &c.in[0], &c.in[1], &c.groups);
}

static void good_linear_backward(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(4, 3);
    c.in[1] = stacked(3, 8);
    grouped();
}

static ng_status call_linear_backward(void)
{
    return b->linear_backward(b->context, &c.out[0], &c.in[0], &c.in[1], NULL,
                              &c.groups);
}

static void good_linear_weight(void)
{
    OUTPUTS(array_of(NG_CARRY_FP32, 2, 3, 8, 0));
    c.in[0] = numbers(4, 3);
    c.in[1] = numbers(4, 8);
    grouped();
}

static ng_status call_linear_weight(void)
{
    return b->linear_weight(b->context, &c.out[0], &c.in[0], &c.in[1],
                            &c.groups, false);
}

START_TEST(products)
{
    static const operation forward = {"linear", good_linear, call_linear};
    static const operation backward = {"linear_backward", good_linear_backward,
                                       call_linear_backward};
    static const operation weight = {"linear_weight", good_linear_weight,
                                     call_linear_weight};
    static const operation *const all[] = {&forward, &backward, &weight};

    for (int o = 0; o < 3; o++) {
        TAKES(all[o]);
        SHAPES(all[o], out, 1);
        SHAPES(all[o], in, 2);
        REFUSES(all[o], NG_BAD_SHAPE,
                (o < 2 ? &c.in[1] : &c.out[0])->batch = 1);
        REFUSES(all[o], NG_BAD_SHAPE, c.offsets[2] = 5);
        REFUSES(all[o], NG_BAD_SHAPE, c.offsets[0] = 1);
        REFUSES(all[o], NG_BAD_SHAPE, c.offsets[1] = 5);
        REFUSES(all[o], NG_BAD_SHAPE, c.groups.host.n_groups = 1);
        CARRIERS(all[o], out, 1, NG_CARRY_FP8);
        CARRIERS(all[o], in, 2, NG_CARRY_MXFP4);
    }
    REFUSES(&forward, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_BF16);
    REFUSES(&forward, NG_BAD_DTYPE, c.in[0].carrier = NG_CARRY_FP8);
    REFUSES(&backward, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_BF16);
    REFUSES(&backward, NG_BAD_POINTER, c.in[0].carrier = NG_CARRY_FP8);
    REFUSES(&weight, NG_BAD_DTYPE, c.out[0].carrier = NG_CARRY_BF16);
    REFUSES(&weight, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_FP8_COL);
}
END_TEST

/* ---- carriers ------------------------------------------------------------ */

static void good_convert(void)
{
    OUTPUTS(matrix_of(NG_CARRY_FP8, 4, 8));
    c.in[0] = numbers(4, 8);
    grouped();
}

static ng_status call_convert(void)
{
    return b->convert(b->context, &c.out[0], &c.in[0],
                      c.groups.host.offsets != NULL ? &c.groups : NULL, NULL);
}

static void good_transpose(void)
{
    OUTPUTS(fp32(8, 4));
    c.in[0] = numbers(4, 8);
}

static ng_status call_transpose(void)
{
    return b->transpose(b->context, &c.out[0], &c.in[0]);
}

/* To the col form, of which two groups need two blocks. */
static void good_col(void)
{
    good_convert();
    OUTPUTS(array_of(NG_CARRY_FP8_COL, 1, 4, 8, 2));
}

START_TEST(conversions)
{
    static const operation convert = {"convert", good_convert, call_convert};
    static const operation col = {"convert to col", good_col, call_convert};
    static const operation transpose = {"transpose", good_transpose,
                                        call_transpose};

    TAKES(&convert);
    SHAPES(&convert, out, 1);
    SHAPES(&convert, in, 1);
    REFUSES(&convert, NG_BAD_SHAPE, c.in[0].batch = 2);
    /* a batch has no groups */
    REFUSES(&convert, NG_BAD_SHAPE, c.in[0].batch = c.out[0].batch = 2);
    CARRIERS(&convert, out, 1, NG_CARRY_NONE);
    CARRIERS(&convert, in, 1, NG_CARRY_FP8_COL);
    CARRIERS(&convert, in, 1, NG_CARRY_FP8_TILE);
    REFUSES(&convert, NG_BAD_DTYPE, c.out[0].carrier = NG_CARRY_FP8_TILE;
            c.in[0].carrier = NG_CARRY_MXFP4);
    REFUSES(&convert, NG_BAD_DTYPE, c.out[0].carrier = NG_CARRY_FP8_COL;
            c.in[0].carrier = NG_CARRY_FP8_COL);
    TAKES(&col);
    REFUSES(&col, NG_BAD_SHAPE, c.out[0].blocks = 1);
    REFUSES(&col, NG_BAD_SHAPE, c.out[0].batch = c.in[0].batch = 2;
            c.groups.host.offsets = NULL);
    TAKES(&transpose);
    SHAPES(&transpose, out, 1);
    SHAPES(&transpose, in, 1);
    REFUSES(&transpose, NG_BAD_SHAPE, c.in[0].batch = 2);
    REFUSES(&transpose, NG_BAD_DTYPE, c.in[0].carrier = NG_CARRY_BF16);
    REFUSES(&transpose, NG_BAD_DTYPE,
            c.in[0].carrier = c.out[0].carrier = NG_CARRY_FP8);
}
END_TEST

/* ---- SwiGLU -------------------------------------------------------------- */

static void good_swiglu(void)
{
    OUTPUTS(fp32(4, 4));
    c.in[0] = numbers(4, 8);
    c.in[1] = numbers(4, 1);
}

static ng_status call_swiglu(void)
{
    return b->swiglu(b->context, &c.out[0], &c.in[0], &c.in[1], NULL, NULL);
}

static void good_swiglu_col(void)
{
    good_swiglu();
    OUTPUTS(array_of(NG_CARRY_FP8_COL, 1, 4, 4, 1));
}

/* grad_gate_up, grad_weight from grad_h, gate_up, weight. */
static void good_swiglu_backward(void)
{
    OUTPUTS(fp32(4, 8), fp32(4, 1));
    c.in[0] = numbers(4, 4);
    c.in[1] = numbers(4, 8);
    c.in[2] = numbers(4, 1);
}

static ng_status call_swiglu_backward(void)
{
    return b->swiglu_backward(b->context, &c.out[0], &c.out[1], &c.in[0],
                              &c.in[1], &c.in[2]);
}

START_TEST(gates)
{
    static const operation forward = {"swiglu", good_swiglu, call_swiglu};
    static const operation col = {"swiglu to col", good_swiglu_col,
                                  call_swiglu};
    static const operation backward = {"swiglu_backward", good_swiglu_backward,
                                       call_swiglu_backward};

    TAKES(&forward);
    SHAPES(&forward, out, 1);
    SHAPES(&forward, in, 2);
    CARRIERS(&forward, out, 1, NG_CARRY_FP8_TILE);
    CARRIERS(&forward, in, 2, NG_CARRY_FP8_COL);
    REFUSES(&forward, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_BF16);
    TAKES(&col);
    REFUSES(&col, NG_BAD_SHAPE, c.out[0].blocks = 0);
    TAKES(&backward);
    SHAPES(&backward, out, 2);
    SHAPES(&backward, in, 3);
    CARRIERS(&backward, out, 2, NG_CARRY_FP8);
    CARRIERS(&backward, in, 3, NG_CARRY_FP8_COL);
    REFUSES(&backward, NG_BAD_DTYPE, c.out[1].carrier = NG_CARRY_BF16);
    REFUSES(&backward, NG_BAD_DTYPE, c.in[2].carrier = NG_CARRY_BF16);
}
END_TEST

/* ---- mixture of experts -------------------------------------------------- */

static ng_router_shape router_shape(void)
{
    return (ng_router_shape){.experts = 4,
                             .top_k = 2,
                             .n_groups = 2,
                             .top_groups = 1,
                             .normalize = true,
                             .route_scale = 1.0f,
                             .sequences = 2,
                             .length = 2,
                             .balance = 0.5f};
}

/* scores, weight from logits, bias. */
static void good_router(void)
{
    OUTPUTS(fp32(4, 4), fp32(4, 2));
    c.in[0] = numbers(4, 4);
    c.in[1] = numbers(1, 4);
    c.router = router_shape();
}

static ng_status call_router(void)
{
    return b->router(b->context, &c.out[0], c.choice, &c.out[1], c.load,
                     &c.nan_rows, &c.sum, &c.in[0], &c.in[1], &c.router);
}

/* grad_logits from grad_weight, scores. */
static void good_router_backward(void)
{
    OUTPUTS(fp32(4, 4));
    c.in[0] = numbers(4, 2);
    c.in[1] = numbers(4, 4);
    for (int i = 0; i < 8; i++)
        c.choice[i] = i % 2;
    c.router = router_shape();
}

static ng_status call_router_backward(void)
{
    return b->router_backward(b->context, &c.out[0], &c.in[0], &c.in[1],
                              c.choice, &c.router, 1.0f);
}

START_TEST(routers)
{
    static const operation forward = {"router", good_router, call_router};
    static const operation backward = {"router_backward", good_router_backward,
                                       call_router_backward};
    static const operation *const both[] = {&forward, &backward};

    for (int o = 0; o < 2; o++) {
        TAKES(both[o]);
        SHAPES(both[o], out, 2 - o);
        SHAPES(both[o], in, 2);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.experts = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.experts = INT64_C(1) << 32);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.top_k = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.top_k = 3); /* candidates: 2 */
        REFUSES(both[o], NG_BAD_SHAPE, c.router.n_groups = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.n_groups = 3);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.top_groups = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.top_groups = 3);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.length = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.sequences = 3);
        CARRIERS(both[o], out, 2 - o, NG_CARRY_BF16);
        CARRIERS(both[o], in, 2, NG_CARRY_BF16);
    }
}
END_TEST

/* Groups of one expert are worth its z; a row without weight has no gradient
 * through the weights; a NaN row counts in no load, and takes no part in the
 * balance loss but as one of the tokens. */
START_TEST(router_ends)
{
    static const float logits[4] = {-200.0f, 9.0f, -200.0f, -200.0f};

    start(&(operation){"router", good_router, call_router});
    c.router.n_groups = 4;
    c.router.top_groups = 2;
    c.router.sequences = 1;
    c.router.length = 1;
    c.in[0].rows = c.out[0].rows = c.out[1].rows = 1;
    memcpy(c.in[0].data, logits, sizeof logits);
    memset(c.in[1].data, 0, 4 * sizeof(float));
    c.load[0] = c.load[1] = c.nan_rows = 0;
    c.sum = 0.0;
    ck_assert_int_eq(call_router(), NG_OK);
    ck_assert_int_eq(c.choice[0], 1);
    ck_assert_int_eq(c.choice[1], 0); /* of equals the first */
    ck_assert(c.load[0] == 1 && c.load[1] == 1 && c.nan_rows == 0);

    /* softmax leaves 0 to what the bias chooses: weights 0, gradients 0 */
    c.router.balance = 0.0f;
    c.router.softmax = true;
    c.router.n_groups = c.router.top_groups = 1;
    floats(&c.in[1])[2] = floats(&c.in[1])[3] = 5.0f;
    ck_assert_int_eq(call_router(), NG_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(c.choice[i], 2 + i);
        ck_assert_float_eq(floats(&c.out[1])[i], 0.0f);
    }

    const ng_array grad = fp32(1, 4), g = numbers(1, 2);

    ck_assert_int_eq(b->router_backward(b->context, &grad, &g, &c.out[0],
                                        c.choice, &c.router, 1.0f),
                     NG_OK);
    for (int e = 0; e < 4; e++)
        ck_assert_float_eq(floats(&grad)[e], 0.0f);

    /* two tokens, of which the second is a NaN row: f of the two chosen experts
     * is E / (S L) = 4 / (2 2) = 1, P half a token's; alpha 1/2 */
    start(&(operation){"router", good_router, call_router});
    c.router.n_groups = c.router.top_groups = c.router.sequences = 1;
    c.in[0].rows = c.out[0].rows = c.out[1].rows = 2;
    memset(c.in[0].data, 0, 4 * sizeof(float));
    for (int e = 4; e < 8; e++)
        floats(&c.in[0])[e] = NAN;
    memset(c.in[1].data, 0, 4 * sizeof(float));
    memset(c.load, 0, sizeof c.load);
    c.nan_rows = 0;
    c.sum = 0.0;
    ck_assert_int_eq(call_router(), NG_OK);
    ck_assert_int_eq(c.nan_rows, 1);
    ck_assert(c.load[0] == 1 && c.load[1] == 1 && c.load[2] == 0);
    ck_assert_double_eq(c.sum, 0.5 * (1.0 * 0.125 + 1.0 * 0.125));
}
END_TEST

static void good_permutation(void)
{
    c.tokens = 4;
    c.top_k = 2;
    c.experts = 4;
    c.choice[3] = 3;
}

static ng_status call_permutation(void)
{
    return b->permutation(b->context, c.row, c.source, c.starts, c.choice,
                          c.tokens, c.top_k, c.experts);
}

static void good_gather(void)
{
    OUTPUTS(matrix_of(NG_CARRY_MXFP4, 4, 8));
    c.in[0] = numbers(2, 8);
    c.in[0] = converted(NG_CARRY_MXFP4, &c.in[0], NULL);
    c.divisor = 2;
    c.index[3] = 3;
}

static ng_status call_gather(void)
{
    return b->gather(b->context, &c.out[0], &c.in[0], c.index, c.divisor);
}

/* y [4, 8] from 8 rows, weight, add. */
static void good_combine(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(8, 8);
    c.in[1] = numbers(4, 2);
    c.in[2] = numbers(4, 8);
    c.top_k = 2;
    c.index[5] = 7;
}

static ng_status call_combine(void)
{
    return b->combine(b->context, &c.out[0], &c.in[0], c.index, &c.in[1],
                      &c.in[2], c.top_k);
}

START_TEST(moved_rows)
{
    static const operation permutation = {"permutation", good_permutation,
                                          call_permutation};
    static const operation gather = {"gather", good_gather, call_gather};
    static const operation combine = {"combine", good_combine, call_combine};

    TAKES(&permutation);
    REFUSES(&permutation, NG_BAD_SHAPE, c.tokens = -1);
    REFUSES(&permutation, NG_BAD_SHAPE, c.top_k = 0);
    REFUSES(&permutation, NG_BAD_SHAPE, c.experts = 0);
    REFUSES(&permutation, NG_BAD_VALUE, c.choice[7] = 4);
    REFUSES(&permutation, NG_BAD_VALUE, c.choice[7] = -1);
    TAKES(&gather);
    REFUSES(&gather, NG_BAD_SHAPE, c.out[0].cols++);
    REFUSES(&gather, NG_BAD_SHAPE, c.divisor = 0);
    REFUSES(&gather, NG_BAD_VALUE, c.index[0] = 4);
    REFUSES(&gather, NG_BAD_VALUE, c.index[0] = -1);
    REFUSES(&gather, NG_BAD_DTYPE, c.in[0].carrier = NG_CARRY_FP8);
    REFUSES(&gather, NG_BAD_DTYPE,
            c.in[0].carrier = c.out[0].carrier = NG_CARRY_FP8_COL);
    TAKES(&combine);
    REFUSES(&combine, NG_BAD_SHAPE, c.top_k = 0);
    REFUSES(&combine, NG_BAD_SHAPE, c.in[0].cols++);
    REFUSES(&combine, NG_BAD_SHAPE, c.in[1].rows--);
    REFUSES(&combine, NG_BAD_SHAPE, c.in[2].rows--);
    REFUSES(&combine, NG_BAD_SHAPE, c.in[2].cols++);
    REFUSES(&combine, NG_BAD_VALUE, c.index[5] = 8);
    REFUSES(&combine, NG_BAD_VALUE, c.index[0] = -1);
    CARRIERS(&combine, out, 1, NG_CARRY_FP8);
    CARRIERS(&combine, in, 3, NG_CARRY_FP8_COL);
    REFUSES(&combine, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_BF16);
}
END_TEST

/* ---- loss ---------------------------------------------------------------- */

static void good_entropy(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(4, 8);
    c.choice[1] = 7;
    c.choice[2] = -1;
}

static ng_status call_entropy(void)
{
    return b->cross_entropy(b->context, &c.sum, &c.n, &c.out[0], &c.in[0],
                            c.choice, 1.0f);
}

START_TEST(losses)
{
    static const operation entropy = {"cross_entropy", good_entropy,
                                      call_entropy};
    double loss = 3.0;
    int64_t n = 5;

    TAKES(&entropy);
    SHAPES(&entropy, out, 1);
    REFUSES(&entropy, NG_BAD_VALUE, c.choice[3] = 8);
    CARRIERS(&entropy, out, 1, NG_CARRY_FP8);
    CARRIERS(&entropy, in, 1, NG_CARRY_MXFP4);
    /* no targets, no gradient asked for: nothing is added */
    start(&entropy);
    for (int t = 0; t < 4; t++)
        c.choice[t] = -1;
    ck_assert_int_eq(
        b->cross_entropy(b->context, &loss, &n, NULL, &c.in[0], c.choice, 1.0f),
        NG_OK);
    ck_assert_double_eq(loss, 3.0);
    ck_assert_int_eq(n, 5);
}
END_TEST

/* ---- the step, and names ------------------------------------------------- */

/* One step of plain descent through the table: theta - lr g, by hand. */
START_TEST(step)
{
    const ng_hyper hyper = {.lr = 0.5};
    float low[4] = {1.0f, -2.0f, 3.0f, 0.0f};
    float gradient[4] = {1.0f, 1.0f, -2.0f, 0.25f};
    static const float want[4] = {0.5f, -2.5f, 4.0f, -0.125f};
    const ng_weights theta = {.low = low, .dtype = NG_FP32};
    const ng_gradient g = {.data = gradient, .dtype = NG_FP32};
    ng_step_constants constants;

    ck_assert_int_eq(
        ng_ref_step_constants(&constants, NG_SGD, &hyper, 1, NULL, NULL),
        NG_OK);
    ck_assert_int_eq(
        b->step(b->context, &theta, NULL, NULL, &g, 4, &constants, NULL, NULL),
        NG_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(low[i], want[i]);
    ck_assert_int_eq(
        b->step(b->context, &theta, NULL, NULL, &g, -1, &constants, NULL, NULL),
        NG_BAD_SHAPE);
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(low[i], want[i]);
}
END_TEST

START_TEST(names)
{
    ng_carrier carrier = NG_CARRY_FP8;

    for (int i = 0; i < NG_N_CARRIERS; i++) {
        ck_assert(ng_carrier_find(ng_carrier_name((ng_carrier)i), &carrier));
        ck_assert_int_eq(carrier, i);
    }
    ck_assert(!ng_carrier_find("FP8", &carrier)
              && !ng_carrier_find("", &carrier));
    ck_assert_int_eq(carrier, NG_N_CARRIERS - 1);
    ck_assert_ptr_null(b->alloc(b->context, -1));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend, refusals");
    TCase *tcase = tcase_create("refusals");

    tcase_add_checked_fixture(tcase, begin, fixture_end);
    tcase_add_test(tcase, embeddings);
    tcase_add_test(tcase, norms);
    tcase_add_test(tcase, columns);
    tcase_add_test(tcase, rotation);
    tcase_add_test(tcase, joins);
    tcase_add_test(tcase, attentions);
    tcase_add_test(tcase, products);
    tcase_add_test(tcase, conversions);
    tcase_add_test(tcase, gates);
    tcase_add_test(tcase, routers);
    tcase_add_test(tcase, router_ends);
    tcase_add_test(tcase, moved_rows);
    tcase_add_test(tcase, losses);
    tcase_add_test(tcase, step);
    tcase_add_test(tcase, names);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
