/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose scale, which word, which row: indices.
 */
#include <math.h>
#include <string.h>

#include "conformance/checks/recoding.h"
#include "reference/convert/ref_encode.h"
#include "reference/convert/ref_philox.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- the random stream -------------------------------------------------- */

static ng_status words_at(const ng_call *call, uint64_t (*index_of)(uint64_t))
{
    const ng_tensor *y = ng_call_output(call, "y");
    const ng_tensor *first = ng_call_input(call, "first");

    if (strcmp(call->operation, "philox") != 0 || y == NULL || first == NULL)
        return NG_NOT_COVERED;
    for (int64_t i = 0; i < y->shape[0]; i++)
        ((uint32_t *)y->data)[i] = ng_ref_philox(
            call->random.seed, call->random.stream,
            index_of(*(const uint64_t *)first->data + (uint64_t)i));
    return NG_OK;
}

static uint64_t index_cut(uint64_t i)
{
    return (uint32_t)i;
}

static uint64_t counter_cut(uint64_t i)
{
    return (uint64_t)(uint32_t)(i / 4) * 4 + i % 4;
}

static uint64_t index_signed(uint64_t i)
{
    return (uint64_t)(int64_t)(int32_t)(uint32_t)i;
}

#define WORDS(name)                                               \
    static ng_status name##_stream(const ng_call *call,           \
                                   const ng_specification *right) \
    {                                                             \
        (void)right;                                              \
        return words_at(call, name);                              \
    }

WORDS(index_cut)
WORDS(counter_cut)
WORDS(index_signed)

/* A step's number in 32 bits. */
static ng_status with_step(const ng_call *call, const ng_specification *right,
                           int64_t (*step_of)(int64_t))
{
    ng_call changed = *call;
    bool any = false;

    for (int i = 0; i < changed.n_attributes; i++)
        if (strcmp(changed.attribute[i].name, "t") == 0) {
            const int64_t t = changed.attribute[i].value;

            changed.attribute[i].value = step_of(t);
            any = step_of(t) != t;
        }
    return any ? ng_specified(right, &changed) : NG_NOT_COVERED;
}

static int64_t step_cut(int64_t t)
{
    return (uint32_t)t > 0 ? (int64_t)(uint32_t)t : 1;
}

static int64_t step_before(int64_t t)
{
    return t - 1;
}

static int64_t step_after(int64_t t)
{
    return t + 1;
}

static int64_t step_one(int64_t t)
{
    (void)t;
    return 1;
}

#define STEP(name)                                              \
    static ng_status with_##name(const ng_call *call,           \
                                 const ng_specification *right) \
    {                                                           \
        return with_step(call, right, name);                    \
    }

STEP(step_cut)
STEP(step_before)
STEP(step_after)
STEP(step_one)

/* ---- whose scale, when a block tensor is decoded ------------------------ */

/* Decode every element under the scale of the block at another place. */
static ng_status under(const ng_call *call, const ng_specification *right,
                       void (*place)(const ng_elements *, int64_t *row,
                                     int64_t *col))
{
    ng_elements x, y;

    if (right->bounds != NULL || !ng_elements_of(&x, call, "x")
        || !ng_elements_of(&y, call, "y") || x.scales == NULL
        || y.scales != NULL)
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);
    const ng_format *to = ng_format_of(y.codes->dtype);

    for (int64_t r = 0; status == NG_OK && r < x.rows; r++)
        for (int64_t c = 0; c < x.cols; c++) {
            int64_t row = r, col = c;

            place(&x, &row, &col);
            const ng_block b = ng_elements_block_at(&x, row, col);
            const double s =
                ng_value_of(x.scales->dtype, ng_elements_scale(&x, &b));
            const float product =
                (float)(s
                        * ng_value_of(x.codes->dtype,
                                      ng_elements_get(&x, r, c)));

            if (isnan(product)) /* the canonical NaN of the type */
                ng_elements_put(&y, r, c, (uint32_t)to->nan);
            else
                ng_elements_put(
                    &y, r, c,
                    ng_ref_encode(to, product, &call->rules, 0, NULL));
        }
    return status;
}

/* The side of a block taken as the size over the number of blocks. */
static void derived(int64_t *at, int64_t size, int64_t block)
{
    const int64_t n = ng_ceil_div(size, block);
    const int64_t side = n > 0 ? ng_ceil_div(size, n) : 1;

    *at = *at / side * block;
}

static void derived_row(const ng_elements *x, int64_t *row, int64_t *col)
{
    (void)col;
    derived(row, x->rows, x->block_rows);
}

static void derived_col(const ng_elements *x, int64_t *row, int64_t *col)
{
    (void)row;
    derived(col, x->cols, x->block_cols);
}

static void derived_both(const ng_elements *x, int64_t *row, int64_t *col)
{
    derived_row(x, row, col);
    derived_col(x, row, col);
}

static void first_col(const ng_elements *x, int64_t *row, int64_t *col)
{
    (void)x, (void)row;
    *col = 0;
}

static void first_row(const ng_elements *x, int64_t *row, int64_t *col)
{
    (void)x, (void)col;
    *row = 0;
}

#define UNDER(place)                                              \
    static ng_status under_##place(const ng_call *call,           \
                                   const ng_specification *right) \
    {                                                             \
        return under(call, right, place);                         \
    }

UNDER(derived_row)
UNDER(derived_col)
UNDER(derived_both)
UNDER(first_col)
UNDER(first_row)

/* ---- groups ------------------------------------------------------------- */

/* The last group goes on to the end of the rows. */
static ng_status rows_to_the_end(const ng_call *call,
                                 const ng_specification *right)
{
    static const char *const names[] = {"x", "x.codes", "a.codes", "gate"};
    const ng_tensor *x = NULL;
    ng_status status = NG_NOT_COVERED;
    ng_changed c;

    for (int i = 0; x == NULL && i < N(names); i++)
        x = ng_call_input(call, names[i]);
    ng_changed_begin(&c, call);
    const ng_tensor *offsets = ng_changed_input(&c, "offsets");

    if (offsets != NULL && x != NULL && x->rank == 2 && offsets->shape[0] > 1) {
        int64_t *last = (int64_t *)offsets->data + offsets->shape[0] - 1;

        if (*last < x->shape[0]) {
            *last = x->shape[0];
            status = ng_specified(right, &c.call);
        }
    }
    ng_changed_end(&c);
    return status;
}

static const ng_hypothesis list[] = {
    {NG_KIND_INDEX_32, "the element's index is cut to 32 bits",
     index_cut_stream},
    {NG_KIND_INDEX_32, "the counter of blocks is cut to 32 bits",
     counter_cut_stream},
    {NG_KIND_INDEX_32, "the element's index is a signed number of 32 bits",
     index_signed_stream},
    {NG_KIND_INDEX_32, "the step's number is cut to 32 bits", with_step_cut},
    {NG_KIND_STEP_COUNT, "the step before is taken", with_step_before},
    {NG_KIND_STEP_COUNT, "the step after is taken", with_step_after},
    {NG_KIND_STEP_COUNT, "every step is taken for the first", with_step_one},
    {NG_KIND_TILE_INDEX,
     "a tile's rows are counted as rows over tiles, not 128",
     under_derived_row},
    {NG_KIND_TILE_INDEX, "a block's columns are counted as columns over blocks",
     under_derived_col},
    {NG_KIND_TILE_INDEX, "a tile's sides are counted as sizes over tiles",
     under_derived_both},
    {NG_KIND_TILE_INDEX, "every block of a row has the first one's scale",
     under_first_col},
    {NG_KIND_TILE_INDEX, "every block of a column has the first one's scale",
     under_first_row},
    {NG_KIND_PAST_GROUPS, "the last group goes on to the end of the rows",
     rows_to_the_end},
};

const ng_hypotheses ng_index_hypotheses = {list, N(list)};
