/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conformance/checks/shrink.h"
#include "conformance/checks/small_file.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/subject/escape.h"

static int refuse(ng_status status, const ng_error *error)
{
    return ng_complain(ng_exit_status(status, error), "verify", "%s",
                       error->text);
}

/* Say what came of it where it did not fail. */
static bool is_fine(const ng_failure *failure, bool passed, int64_t elements)
{
    const char *name = failure->id.operation->name;

    if (failure->not_covered)
        printf("not covered: %s, beyond the subject's limits\n", name);
    else if (passed)
        printf("passed: %s, %" PRId64 " elements, no difference\n", name,
               elements);
    return failure->not_covered || passed;
}

static int status_of(const ng_failure *failure)
{
    return ng_verdict_is_failure(failure->verdict.kind) ? NG_EXIT_SUBJECT
           : failure->verdict.kind == NG_VERDICT_ENVIRONMENT
               ? NG_EXIT_ENVIRONMENT
               : NG_EXIT_DIFFERENCE;
}

static int replay_line(const ng_verify_plan *plan, const char *line)
{
    ng_case_id id;
    ng_variant variant;
    ng_failure failure;
    ng_events events = {0};
    ng_error error;
    int64_t elements;
    char text[1536];

    if (ng_failure_parse(&id, line, plan->profile, &error) != NG_OK)
        return refuse(NG_BAD_FILE, &error);
    ng_variant_at(&variant, id.operation->axes, id.operation->n_axes,
                  plan->profile, id.variant);
    const bool passed =
        ng_verify_case(&failure, &events, &elements, &id, &variant, plan);

    if (is_fine(&failure, passed, elements))
        return NG_EXIT_OK;
    ng_failure_print(text, sizeof text, &failure);
    puts(text);
    return status_of(&failure);
}

/* "FAIL op=... variant=... file=... at=y[3] want=07 got=06", and the inputs. */
static void print_small(const ng_search *s, const char *path)
{
    char text[1024];

    ng_variant_print(text, sizeof text, s->variant);
    printf("FAIL op=%s variant=%s", s->failure.id.operation->name, text);
    ng_escape(text, sizeof text, path, strlen(path));
    printf(" file=%s", text);
    ng_failure_print_fault(text, sizeof text, &s->failure);
    printf(" %s\n", text);
    ng_search_words(text, sizeof text, s);
    printf("     %s\n", text);
}

static int replay_file(const ng_verify_plan *plan, const char *path,
                       const char *profile)
{
    ng_profile of_file, other;
    ng_variant variant;
    ng_search s = {.variant = &variant};
    ng_verify_plan asking = *plan;
    ng_rules expected;
    ng_error error;
    ng_case c;
    ng_status status =
        ng_small_read(&s.best, &s.failure.id, &variant, &of_file, path, &error);

    if (status != NG_OK)
        return refuse(status, &error);
    expected = variant.rules;
    if (profile != NULL) {
        status = ng_profile_load(&other, profile, &error);
        for (int r = 0; status == NG_OK && r < NG_N_RULES; r++)
            if (other.pinned[r])
                ng_rules_set(&expected, (ng_rule)r,
                             ng_rules_get(&other.rules, (ng_rule)r));
    }
    asking.profile = &of_file;
    asking.expected_rules = &expected;

    const bool made = ng_small_make(&c, &s.best, &s.failure.id, &variant);
    int exit_status = NG_EXIT_OK;

    if (status == NG_OK && !made)
        status = ng_fail(&error, NG_NO_MEMORY, "out of memory");
    if (status != NG_OK) {
        exit_status = refuse(status, &error);
    } else if (!is_fine(&s.failure,
                        ng_verify_made_case(&s.failure, &c, &asking),
                        ng_small_elements(&s.best))) {
        print_small(&s, path);
        exit_status = status_of(&s.failure);
    }
    ng_case_end(&c);
    ng_small_free(&s.best);
    return exit_status;
}

int ng_replay(const ng_verify_plan *plan, const char *what, const char *profile)
{
    return strstr(what, " op=") != NULL ? replay_line(plan, what)
                                        : replay_file(plan, what, profile);
}
