/* SPDX-License-Identifier: Apache-2.0
 *
 * What the model refuses: a small model and a step of it, and what a refusal is
 * held to: its status and its line; outputs as they were, nothing leaked, and
 * the model whole afterwards: a step then gives the loss that it gave before.
 */
#ifndef NG_CONFORMANCE_CHECKS_MODEL_REFUSALS_H
#define NG_CONFORMANCE_CHECKS_MODEL_REFUSALS_H

#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/model_fixture.h"
#include "conformance/checks/scratch.h"
#include "reference/model/model.h"

static ng_error error;
static ng_recipe recipe; /* FP32 */

static inline ng_status parse(ng_recipe *out, const char *more)
{
    char lines[8192];

    snprintf(lines, sizeof lines, "%s%s", recipe_fp32, more);
    return ng_recipe_parse(out, lines, (int64_t)strlen(lines), "mine", &error);
}

static inline void begin(void)
{
    fixture_at = 0;
    error.text[0] = '\0';
    scratch_make();
    ck_assert_int_eq(parse(&recipe, ""), NG_OK);
#ifdef _OPENMP
    omp_set_num_threads(1); /* an allocation that fails, fails here */
#endif
}

static inline void end(void)
{
    ng_recipe_free(&recipe);
    fixture_end();
    scratch_remove();
}

static inline void expect(ng_status got, ng_status want, const char *words)
{
    ck_assert_msg(got == want, "want \"%s\", got \"%s\": %s",
                  ng_status_text(want), ng_status_text(got), error.text);
    ck_assert_msg(strcmp(error.text, words) == 0, "want \"%s\", got \"%s\"",
                  words, error.text);
}

static inline ng_model_config small(void)
{
    ng_model_config c = ng_model_config_default();

    c.vocabulary = 11;
    c.hidden = 8;
    c.layers = 2;
    c.length = 4;
    c.heads = 1;
    c.q_rank = 4;
    c.kv_rank = 4;
    c.nope_dim = 2;
    c.rope_dim = 2;
    c.v_dim = 2;
    c.ffn = 6;
    c.experts = 3;
    c.expert_ffn = 4;
    c.balance_loss = 0.01;
    c.mtp_depth = 1;
    c.init_std = 0.3;
    return c;
}

static inline ng_status make(ng_model **m, const ng_recipe *r, const ng_comm *comm)
{
    const ng_model_config c = small();

    return ng_model_create(m, &c, r, ng_backend_reference(), comm, &error);
}

static inline bool load_all(ng_model *m)
{
    bool fine = true;

    for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
        const ng_model_parameter *p = ng_model_parameter_of(m, i);
        float *theta = malloc((size_t)p->n * sizeof *theta);

        if (p->local) {
            ng_model_initial(theta, m, i, 5);
            fine &= ng_model_load(m, i, theta, &error) == NG_OK;
        }
        free(theta);
    }
    return fine;
}

static inline ng_model *good_model(const ng_recipe *r)
{
    ng_model *m = NULL;

    ck_assert_msg(make(&m, r, ng_comm_self()) == NG_OK, "%s", error.text);
    ck_assert(load_all(m));
    return m;
}

static const int32_t tokens[8] = {1, 7, 3, 3, 9, 2, 10, 0};
static const int32_t targets[8] = {7, 3, 3, 5, 2, 10, 0, -1};

static inline ng_model_shard good_shard(void)
{
    return (ng_model_shard){0, 2, 4, tokens, targets};
}

static inline ng_status step(double *loss, double *norm, ng_model *m)
{
    const ng_model_shard shard = good_shard();
    ng_model_result result = {.loss = 0.0};
    ng_status status = ng_model_begin_step(m, 1, 7, &error);

    if (status == NG_OK)
        status = ng_model_forward_backward(m, &shard, &error);
    if (status == NG_OK)
        status = ng_model_end_step(&result, m, &error);
    if (status == NG_OK)
        status = ng_model_gradient_norm(norm, m, &error);
    *loss = result.loss;
    return status;
}

static inline void write_text(const char *name, const char *text)
{
    scratch_write(name, text, strlen(text));
}

/* Run a program's one case. */
static inline int run_refusals(TCase *tcase)
{
    Suite *suite = suite_create("model, refusals");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

#endif
