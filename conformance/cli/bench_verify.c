/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/bench_verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CASES_PER_STRATUM = 2 };

/* The first byte in which two sets of outputs differ. */
static void compare(char *line, size_t size, const ng_bench_case *got,
                    const ng_bench_case *want, const char *expected)
{
    for (int i = 0; i < got->call.n_outputs; i++) {
        const ng_tensor *g = &got->call.output[i], *w = &want->call.output[i];
        const unsigned char *g_bytes = g->data, *w_bytes = w->data;
        int64_t units, bytes, at = 0;

        if (ng_tensor_extent(&units, &bytes, g) != NG_OK
            || memcmp(g_bytes, w_bytes, (size_t)bytes) == 0)
            continue;
        while (g_bytes[at] == w_bytes[at])
            at++;
        snprintf(line, size,
                 "%s of %s differs from %s at unit %" PRId64
                 " (byte %02x, want %02x)",
                 g->name, got->shape, expected,
                 at / (int64_t)ng_dtype_size(g->dtype), g_bytes[at],
                 w_bytes[at]);
        return;
    }
}

static void run_strata(char *line, size_t size, const ng_operation *operation,
                       const ng_verify_plan *plan)
{
    ng_variant variant;

    if (!ng_variant_at(&variant, operation->axes, operation->n_axes,
                       plan->profile, 0)
        || (operation->offers != NULL && !operation->offers(&variant)))
        return;
    for (const ng_stratum *s = operation->strata; s->name != NULL; s++) {
        const int64_t n = s->level == 0 ? s->count(&variant, 0) : 0;

        for (int64_t i = 0; i < n && i < CASES_PER_STRATUM; i++) {
            const ng_case_id id = {operation, 0, s, i, plan->seed};
            ng_events events = {0};
            ng_failure failure;
            int64_t elements;

            if (!ng_verify_case(&failure, &events, &elements, &id, &variant,
                                plan)) {
                ng_failure_print(line, size, &failure);
                return;
            }
        }
    }
}

ng_status ng_bench_verify(char *line, size_t size, ng_bench_case *bench,
                          const ng_operation *operation,
                          const ng_subject *subject, const ng_subject *expected,
                          const ng_profile *profile)
{
    const ng_verify_plan plan = {.subject = subject,
                                 .expected = expected,
                                 .oracle = ng_subject_find("oracle"),
                                 .profile = profile,
                                 .seed = 1,
                                 .n_shards = 1};
    const bool in_bits = operation->bounded == NULL || subject->trusted;
    ng_bench_case twin;
    ng_status status = subject->run(&bench->call);

    line[0] = '\0';
    if (status != NG_OK || expected == NULL)
        return status;
    status = ng_bench_case_twin(&twin, bench);
    if (status == NG_OK)
        status = expected->run(&twin.call);
    if (status == NG_OK && in_bits)
        compare(line, size, bench, &twin, expected->name);
    ng_bench_case_end(&twin);
    if (status == NG_OK && line[0] == '\0')
        run_strata(line, size, operation, &plan);
    return status;
}
