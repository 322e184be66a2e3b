/* SPDX-License-Identifier: Apache-2.0
 *
 * What the reference returns, bits and event counts, does not depend on the
 * number of threads: every block-level operation on 1, 2 and 5 of them.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/operation.h"
#include "conformance/checks/suite_runner.h"
#include "conformance/subject/subject.h"

enum { VARIANTS = 5, CASES = 3 };
static const int threads[] = {1, 2, 5, 5};
enum { N_RUNS = sizeof threads / sizeof *threads };

static void set_threads(int n)
{
#ifdef _OPENMP
    omp_set_dynamic(0);
    omp_set_num_threads(n);
#else
    (void)n;
#endif
}

/* Run a case on 1 thread, then on others, and compare with the first. */
static void run_case(ng_case *c)
{
    ng_outputs first, outputs;
    ng_call first_call, call;
    ng_events first_events = {{0}};

    for (int i = 0; i < N_RUNS; i++) {
        ng_outputs *to = i == 0 ? &first : &outputs;
        ng_call *by = i == 0 ? &first_call : &call;
        ng_events events = {{0}};

        ck_assert(ng_outputs_make(to, by, c, 0xA5));
        by->events = &events;
        set_threads(threads[i]);
        ck_assert_int_eq(ng_subject_reference.run(by), NG_OK);
        if (i == 0) {
            first_events = events;
            continue;
        }

        const ng_difference d =
            ng_outputs_compare(&first_call, &first, &call, &outputs);

        ck_assert_msg(d.tensor == NULL, "%s on %d threads: %s[%lld,%lld]",
                      call.operation, threads[i], d.tensor,
                      (long long)d.index[0], (long long)d.index[1]);
        ck_assert_mem_eq(&events, &first_events, sizeof events);
        ng_outputs_free(&outputs);
    }
    ng_outputs_free(&first);
}

static void run_stratum(const ng_operation *operation,
                        const ng_variant *variant, const ng_stratum *stratum)
{
    for (int64_t i = 0; i < CASES && i < stratum->count(variant, 1); i++) {
        ng_case c;

        ng_case_begin(&c, operation->name, variant, stratum->name, i, 7);
        stratum->fill(&c, i);
        ng_case_spread(&c);
        ck_assert(!c.failed);
        run_case(&c);
        ng_case_end(&c);
    }
}

/* Some variants, spread over all, and always one that rounds stochastically,
 * where each element takes a random word of its own. */
START_TEST(same_on_any_number)
{
    const ng_operation *operation = &ng_block_operations[_i];
    ng_profile profile = {.rules = ng_default_rules};
    ng_variant variant;
    int64_t n = 0;
    bool stochastic = false;

    while (ng_variant_at(&variant, operation->axes, operation->n_axes, &profile,
                         n))
        n++;
    for (int64_t v = 0; v < n; v++) {
        ng_variant_at(&variant, operation->axes, operation->n_axes, &profile,
                      v);
        if (operation->offers != NULL && !operation->offers(&variant))
            continue;

        const bool first_stochastic =
            variant.rules.rounding == NG_STOCHASTIC && !stochastic;

        if (v % (n / VARIANTS + 1) != 0 && !first_stochastic)
            continue;
        stochastic = stochastic || first_stochastic;
        for (const ng_stratum *s = operation->strata; s->name != NULL; s++)
            if (strcmp(s->name, "random") == 0
                || strcmp(s->name, "ragged") == 0
                || strcmp(s->name, "planes") == 0)
                run_stratum(operation, &variant, s);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("threads");
    TCase *tcase = tcase_create("threads");

#ifndef _OPENMP
    puts("SKIP: built without OpenMP");
    return 77;
#endif
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, same_on_any_number, 0, ng_n_block_operations);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
