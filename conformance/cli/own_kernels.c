/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/own_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/cli/command.h"
#include "conformance/cli/own_call.h"

/* A subject is opened once, whatever number of its kernels is named. */
struct ng_own_subject {
    char *name;
    ng_chosen_subject chosen;
};

struct ng_own_opened {
    int subject;
    char operation[64];
};

static ng_status no_memory(ng_error *error)
{
    return ng_fail(error, NG_NO_MEMORY, "out of memory");
}

/* ---- opening ------------------------------------------------------------- */

static ng_status status_of(int exit_status)
{
    return exit_status == NG_EXIT_CANNOT_RUN    ? NG_NOT_COVERED
           : exit_status == NG_EXIT_ENVIRONMENT ? NG_NO_MEMORY
           : exit_status == NG_EXIT_USAGE       ? NG_BAD_VALUE
                                                : NG_BAD_SUBJECT;
}

static ng_status open_subject(int *number, ng_own_subjects *own,
                              const char *name, ng_error *error)
{
    struct ng_own_subject *more, *subject;
    int exit_status;

    for (*number = 0; *number < own->n_subjects; ++*number)
        if (strcmp(own->subjects[*number].name, name) == 0)
            return NG_OK;
    more = realloc(own->subjects, ((size_t)own->n_subjects + 1) * sizeof *more);
    if (more == NULL)
        return no_memory(error);
    own->subjects = more;
    subject = &more[own->n_subjects];
    exit_status = ng_subject_open(&subject->chosen, name, own->timeout, error);
    if (exit_status != NG_EXIT_OK)
        return status_of(exit_status);
    subject->name = strdup(name);
    if (subject->name == NULL) {
        ng_subject_release(&subject->chosen);
        return no_memory(error);
    }
    own->n_subjects++;
    return NG_OK;
}

static ng_status check_operation(const ng_chosen_subject *chosen,
                                 const char *operation, ng_error *error)
{
    char list[256] = "";
    const char *name;
    size_t n = 0;

    if (chosen->host == NULL)
        return NG_OK;
    for (int i = 0; (name = ng_host_operation_name(chosen->host, i)) != NULL;
         i++) {
        if (strcmp(name, operation) == 0)
            return NG_OK;
        if (n + strlen(name) + 3 < sizeof list)
            n += (size_t)sprintf(list + n, "%s%s", n > 0 ? ", " : "", name);
    }
    return ng_fail(error, NG_BAD_SUBJECT, "%.100s lacks the operation%s%s",
                   chosen->subject->name, n > 0 ? "; it has " : "", list);
}

static ng_status open_kernel(void *context, int *kernel, const char *subject,
                             const char *operation, ng_error *error)
{
    ng_own_subjects *own = context;
    struct ng_own_opened *more;
    int number;
    ng_status status = open_subject(&number, own, subject, error);

    if (status == NG_OK)
        status =
            check_operation(&own->subjects[number].chosen, operation, error);
    if (status != NG_OK)
        return status;
    more = realloc(own->kernels, ((size_t)own->n_kernels + 1) * sizeof *more);
    if (more == NULL)
        return no_memory(error);
    own->kernels = more;
    more[own->n_kernels].subject = number;
    snprintf(more[own->n_kernels].operation, sizeof more->operation, "%s",
             operation);
    *kernel = own->n_kernels++;
    return NG_OK;
}

/* ---- a call -------------------------------------------------------------- */

/* What a plug-in did instead of answering rightly ends the training; that it
 * printed does not. */
static ng_status judge(const ng_chosen_subject *chosen, ng_status status,
                       const ng_verdict *verdict, ng_error *error)
{
    const char *name = chosen->subject->name;

    if (verdict->kind == NG_VERDICT_ENVIRONMENT)
        return ng_fail(error, NG_NO_MEMORY, "%s: %s", name, verdict->text);
    if (verdict->kind != NG_VERDICT_NONE && verdict->kind != NG_VERDICT_PRINTED)
        return ng_fail(error, NG_BAD_SUBJECT, "%s %s", name, verdict->text);
    if (status == NG_NO_MEMORY) /* the machine's, not a wrong answer */
        return ng_fail(error, NG_NO_MEMORY, "%s: %s", name,
                       ng_status_text(status));
    if (status == NG_NOT_COVERED && chosen->host != NULL
        && *ng_host_without_device(chosen->host) != '\0')
        return ng_fail(error, NG_NOT_COVERED, "%s wants device memory: %s",
                       name, ng_host_without_device(chosen->host));
    if (status == NG_NOT_COVERED)
        return ng_fail(error, NG_BAD_SUBJECT,
                       "%s does not take this call: its types, shapes, values "
                       "or rules are outside of what it says it takes",
                       name);
    if (status != NG_OK)
        return ng_fail(error, NG_BAD_SUBJECT, "%s: %s", name,
                       ng_status_text(status));
    return NG_OK;
}

/* A call as it stands, its outputs poisoned. *covered: whether the subject takes
 * it; else it was not made. *unwritten, [NG_MAX_NAME]: an output that is poison
 * alone, or "". */
typedef struct asked {
    bool covered;
    char unwritten[NG_MAX_NAME];
} asked;

typedef struct question {
    const ng_chosen_subject *chosen;
    const char *operation;
    const ng_array *y, *a, *b;
    const ng_row_groups *groups;
} question;

static ng_status ask_once(asked *out, const question *q, int poison,
                          ng_error *error)
{
    ng_foreign foreign = {.host = q->chosen->host};
    ng_own_call_memory memory = {.n = 0};
    const ng_tensor *unwritten = NULL;
    ng_call call = {.operation = q->operation};
    ng_status status = ng_own_call_begin(&call, &memory, q->operation, q->y,
                                         q->a, q->b, q->groups, poison);

    *out = (asked){.covered = true};
    if (status != NG_OK) {
        no_memory(error);
    } else {
        call.foreign = q->chosen->host != NULL ? &foreign : NULL;
        out->covered = q->chosen->subject->covers(&call);
        status = out->covered ? q->chosen->subject->run(&call) : NG_NOT_COVERED;
        status = judge(q->chosen, status, &foreign.verdict, error);
    }
    if (status == NG_OK)
        unwritten = ng_own_call_unwritten(&call, poison);
    if (unwritten != NULL)
        snprintf(out->unwritten, sizeof out->unwritten, "%s", unwritten->name);
    ng_own_call_end(&call, &memory, q->y, status == NG_OK && unwritten == NULL);
    return status;
}

/* What is poison alone may be the result: then it is so over another poison. */
static ng_status ask(bool *covered, const question *q, ng_error *error)
{
    asked answer;
    ng_status status = ask_once(&answer, q, 0xA5, error);

    if (status == NG_OK && answer.unwritten[0] != '\0')
        status = ask_once(&answer, q, 0x5A, error);
    if (status == NG_OK && answer.unwritten[0] != '\0')
        status =
            ng_fail(error, NG_BAD_SUBJECT, "%s left its output %s as it was",
                    q->chosen->subject->name, answer.unwritten);
    *covered = answer.covered;
    return status;
}

/* The same of x in FP32, which has the same values: for kernels that take no
 * BF16. */
static ng_status ask_wide(const question *narrow, ng_error *error)
{
    const ng_backend *reference = ng_backend_reference();
    ng_array wide = *narrow->a;
    question q = *narrow;
    ng_status status;
    bool covered;

    wide.carrier = NG_CARRY_FP32;
    wide.data = malloc((size_t)ng_array_data_bytes(&wide));
    if (wide.data == NULL)
        return no_memory(error);
    q.a = &wide;
    status =
        reference->convert(reference->context, &wide, narrow->a, NULL, NULL);
    /* *error holds what the subject said of BF16. */
    status = status == NG_OK
                 ? ask(&covered, &q, error)
                 : ng_fail(error, status, "%s", ng_status_text(status));
    free(wide.data);
    return status;
}

static ng_status run_kernel(void *context, int kernel, const ng_array *y,
                            const ng_array *a, const ng_array *b,
                            const ng_row_groups *groups, ng_error *error)
{
    const ng_own_subjects *own = context;
    const struct ng_own_opened *opened = &own->kernels[kernel];
    const question q = {&own->subjects[opened->subject].chosen,
                        opened->operation,
                        y,
                        a,
                        b,
                        groups};
    bool covered;
    const ng_status status = ask(&covered, &q, error);

    return !covered && a->carrier == NG_CARRY_BF16
                   && strncmp(opened->operation, "quantize", 8) == 0
               ? ask_wide(&q, error)
               : status;
}

/* ---- all of them --------------------------------------------------------- */

const ng_own_kernels *ng_own_subjects_begin(ng_own_subjects *own,
                                            double timeout)
{
    *own = (ng_own_subjects){.table = {own, open_kernel, run_kernel},
                             .timeout = timeout};
    return &own->table;
}

void ng_own_subjects_end(ng_own_subjects *own)
{
    for (int i = 0; i < own->n_subjects; i++) {
        ng_subject_release(&own->subjects[i].chosen);
        free(own->subjects[i].name);
    }
    free(own->subjects);
    free(own->kernels);
    *own = (ng_own_subjects){.subjects = NULL};
}
