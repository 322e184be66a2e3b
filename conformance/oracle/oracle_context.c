/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_context.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* only for its destructor */
static _Thread_local ng_oracle_context *mine;

/* Every variable of the given widths, in one list for init and clear. */
enum { N_NARROW = 9, N_WIDE = 4, N_INTEGERS = 8 };

static void list(ng_oracle_context *c, mpfr_ptr narrow[N_NARROW],
                 mpfr_ptr wide[N_WIDE], mpz_ptr integer[N_INTEGERS])
{
    mpfr_ptr const some[N_NARROW] = {c->magnitude, c->lower, c->upper,
                                     c->below,     c->above, c->x,
                                     c->scale,     c->unit,  c->amax};
    mpfr_ptr const more[N_WIDE] = {c->wide_magnitude, c->wide_below,
                                   c->wide_above, c->t};
    mpz_ptr const last[N_INTEGERS] = {
        c->counter[0], c->counter[1], c->counter[2], c->counter[3],
        c->key[0],     c->key[1],     c->product[0], c->product[1]};

    for (int i = 0; i < N_NARROW; i++)
        narrow[i] = some[i];
    for (int i = 0; i < N_WIDE; i++)
        wide[i] = more[i];
    for (int i = 0; i < N_INTEGERS; i++)
        integer[i] = last[i];
}

static void clear(void *context)
{
    ng_oracle_context *c = context;
    mpfr_ptr narrow[N_NARROW], wide[N_WIDE];
    mpz_ptr integer[N_INTEGERS];

    list(c, narrow, wide, integer);
    for (int i = 0; i < N_NARROW; i++)
        mpfr_clear(narrow[i]);
    for (int i = 0; i < N_WIDE; i++)
        mpfr_clear(wide[i]);
    for (int i = 0; i < N_INTEGERS; i++)
        mpz_clear(integer[i]);
    for (int id = 0; id < NG_N_FORMATS; id++) {
        ng_oracle_grid *grid = &c->scaled[id];

        if (grid->own == NULL)
            continue;
        for (uint32_t code = 0; code <= ng_oracle_formats[id].max + 1; code++)
            mpfr_clear(grid->own[code]);
        free(grid->own);
        mpfr_clear(grid->unit);
    }
    for (int64_t i = 0; i < c->n_elements; i++)
        mpfr_clear(c->element[i]);
    free(c->element);
    free(c->bits);
    free(c);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    mine = NULL;
}

/* The main thread ends without running destructors. */
static void clear_mine(void)
{
    if (mine != NULL)
        clear(mine);
}

static void make_key(void)
{
    if (pthread_key_create(&key, clear) != 0)
        abort();
    atexit(clear_mine);
}

ng_oracle_context *ng_oracle_here(void)
{
    if (mine != NULL)
        return mine;
    pthread_once(&once, make_key);

    ng_oracle_context *c = calloc(1, sizeof *c);
    mpfr_ptr narrow[N_NARROW], wide[N_WIDE];
    mpz_ptr integer[N_INTEGERS];

    if (c == NULL)
        abort();
    list(c, narrow, wide, integer);
    for (int i = 0; i < N_NARROW; i++)
        mpfr_init2(narrow[i], NG_ORACLE_BITS);
    for (int i = 0; i < N_WIDE; i++)
        mpfr_init2(wide[i], NG_ORACLE_WIDE_BITS);
    for (int i = 0; i < N_INTEGERS; i++)
        mpz_init(integer[i]);
    for (int id = 0; id < NG_N_FORMATS; id++) {
        c->grid[id].id = (ng_format_id)id;
        c->grid[id].value = ng_oracle_values((ng_format_id)id);
        c->scaled[id].id = (ng_format_id)id;
    }
    if (pthread_setspecific(key, c) != 0)
        abort();
    return mine = c;
}

void ng_oracle_reserve(ng_oracle_context *context, int64_t n)
{
    ng_oracle_context *c = context;

    if (n <= c->n_elements)
        return;
    c->element = realloc(c->element, (size_t)n * sizeof *c->element);
    c->bits = realloc(c->bits, (size_t)n * sizeof *c->bits);
    if (c->element == NULL || c->bits == NULL)
        abort();
    for (; c->n_elements < n; c->n_elements++)
        mpfr_init2(c->element[c->n_elements], NG_ORACLE_BITS);
}
