/* SPDX-License-Identifier: Apache-2.0
 *
 * What the operations of the reference backend refuse: a good call of each,
 * broken in one place at a time, gives the status that backend.h names and
 * leaves every output as it was. A test has a pair of functions an operation:
 * one fills `c` with a good call, the other makes the call.
 */
#ifndef NG_CONFORMANCE_CHECKS_BACKEND_REFUSALS_H
#define NG_CONFORMANCE_CHECKS_BACKEND_REFUSALS_H

#include "conformance/checks/model_fixture.h"

static const ng_backend *b;

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

static inline void begin(void)
{
    fixture_at = 0;
    b = ng_backend_reference();
}

static inline void outputs(int n, const ng_array *arrays)
{
    for (int i = 0; i < n; i++)
        c.out[i] = c.kept[i] = arrays[i];
}

/* [rows, cols] of 0xA5, for outputs. */
static inline ng_array fp32(int64_t rows, int64_t cols)
{
    return matrix_of(NG_CARRY_FP32, rows, cols);
}

static inline ng_array numbers(int64_t rows, int64_t cols)
{
    return random_matrix(rows, cols, 1.0);
}

#define OUTPUTS(...)                                                     \
    outputs((int)(sizeof((ng_array[]){__VA_ARGS__}) / sizeof(ng_array)), \
            (const ng_array[]){__VA_ARGS__})

static inline void poison(void *to, size_t size)
{
    memset(to, 0xA5, size);
}

static inline bool is_poison(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < size; i++)
        if (p[i] != 0xA5)
            return false;
    return true;
}

static inline bool untouched(void)
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

static inline void start(const operation *op)
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

static inline void want(const operation *op, ng_status status, const char *change)
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

/* Run a program's one case. */
static inline int run_refusals(TCase *tcase)
{
    Suite *suite = suite_create("backend, refusals");

    tcase_add_checked_fixture(tcase, begin, fixture_end);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

#endif
