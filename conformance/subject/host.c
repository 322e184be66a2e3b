/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/host.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/subject/escape.h"
#include "conformance/subject/host_limits.h"
#include "conformance/subject/host_parts.h"
#include "conformance/subject/plugin.h"
#include "conformance/subject/process.h"

/* After so many the subject is not asked again: about this operation, or about
 * anything. Enough to see that it was no chance, few enough to come to an end.
 */
enum { MAX_DEATHS = 8, MAX_HANGS = 1, MAX_ALL_HANGS = 5 };

static const ng_host_operation *find(const ng_host *host, const char *name)
{
    for (int i = 0; i < host->facts.n_operations; i++)
        if (strcmp(host->facts.operation[i].name, name) == 0)
            return &host->facts.operation[i];
    return NULL;
}

bool ng_host_takes_rule(const ng_host *host, const char *name, ng_rule rule,
                        int value)
{
    const ng_host_operation *operation = find(host, name);

    return operation != NULL && ng_host_takes_value(operation, rule, value);
}

static bool covers(const ng_call *call)
{
    const ng_host_operation *operation =
        call->foreign != NULL ? find(call->foreign->host, call->operation)
                              : NULL;

    return operation != NULL
           && (operation->memory == NG_PLUGIN_HOST
               || call->foreign->host->facts.has_device)
           && ng_host_takes(operation, call);
}

static bool is_malformed(const ng_host_operation *operation,
                         const ng_call *call)
{
    return call->foreign->expected != NG_OK
           && (operation->limits & NG_PLUGIN_CHECKS_INPUT) == 0;
}

/* Deaths and hangs are counted an operation at a time. */
static void count(ng_host *host, const ng_verdict *verdict)
{
    const bool died =
        host->process.pid == 0 && verdict->kind != NG_VERDICT_ENVIRONMENT;

    host->deaths += died;
    host->hangs += verdict->kind == NG_VERDICT_HUNG;
    host->all_hangs += verdict->kind == NG_VERDICT_HUNG;
}

static ng_status run(const ng_call *call)
{
    ng_host *host = call->foreign->host;
    const ng_host_operation *operation = find(host, call->operation);
    ng_verdict *verdict = &call->foreign->verdict;
    ng_status status = NG_NOT_COVERED;

    *verdict = (ng_verdict){0};
    if (!covers(call) || is_malformed(operation, call)
        || (call->foreign->expected == NG_OK
            && !ng_host_within_limits(operation, call)))
        return NG_NOT_COVERED;
    pthread_mutex_lock(&host->mutex);
    if (strcmp(host->operation, call->operation) != 0) {
        snprintf(host->operation, sizeof host->operation, "%s",
                 call->operation);
        host->deaths = host->hangs = 0;
        host->printed = false;
    }
    if (host->deaths >= MAX_DEATHS || host->hangs >= MAX_HANGS
        || host->all_hangs >= MAX_ALL_HANGS) {
        ng_verdict_set(verdict, NG_VERDICT_GIVEN_UP,
                       "not asked: it failed too often");
    } else {
        status = ng_host_ask(host, call, operation, verdict);
        count(host, verdict);
    }
    pthread_mutex_unlock(&host->mutex);
    return status;
}

const ng_subject *ng_host_subject(const ng_host *host)
{
    return &host->subject;
}

void ng_host_restart_turns(ng_host *host)
{
    if (host != NULL)
        host->turn = 1;
}

void ng_host_await_turn(ng_host *host, int64_t turn)
{
    if (host == NULL || turn == 0)
        return;
    pthread_mutex_lock(&host->turn_mutex);
    while (host->turn < turn)
        pthread_cond_wait(&host->turned, &host->turn_mutex);
    pthread_mutex_unlock(&host->turn_mutex);
}

void ng_host_end_turn(ng_host *host, int64_t turn)
{
    if (host == NULL || turn == 0)
        return;
    ng_host_await_turn(host, turn);
    pthread_mutex_lock(&host->turn_mutex);
    if (host->turn == turn) { /* else it has ended already */
        host->turn = turn + 1;
        pthread_cond_broadcast(&host->turned);
    }
    pthread_mutex_unlock(&host->turn_mutex);
}

const char *ng_host_library(const ng_host *host)
{
    return host->command == NULL ? host->library : NULL;
}

const char *ng_host_without_device(const ng_host *host)
{
    return host->without_device;
}

const char *ng_host_operation_name(const ng_host *host, int i)
{
    return i >= 0 && i < host->facts.n_operations
               ? host->facts.operation[i].name
               : NULL;
}

/* Keep what the first loading said, its texts escaped. Names of operations that
 * do not survive that are no names of ours. */
static void keep_facts(ng_host *host)
{
    char name[NG_HOST_MAX_TEXT * 4], version[NG_HOST_MAX_TEXT * 4];
    ng_host_facts *facts = &host->facts;

    *facts = host->arena->facts;
    if (!facts->has_device)
        ng_escape(host->without_device, sizeof host->without_device,
                  host->arena->text,
                  strnlen(host->arena->text, sizeof host->arena->text));
    ng_escape(name, sizeof name, facts->name,
              strnlen(facts->name, sizeof facts->name));
    ng_escape(version, sizeof version, facts->version,
              strnlen(facts->version, sizeof facts->version));
    snprintf(host->name, sizeof host->name, "%s %s", name, version);
    if (facts->n_operations < 0 || facts->n_operations > NG_HOST_MAX_OPERATIONS)
        facts->n_operations = 0;
    for (int i = 0; i < facts->n_operations; i++) {
        ng_host_operation *operation = &facts->operation[i];
        char escaped[NG_HOST_MAX_TEXT];

        ng_escape(escaped, sizeof escaped, operation->name,
                  strnlen(operation->name, sizeof operation->name));
        memcpy(operation->name, escaped, sizeof escaped);
        if (operation->n_takes > NG_HOST_MAX_TAKES)
            operation->n_takes = NG_HOST_MAX_TAKES;
        for (int k = 0; k < NG_HOST_MAX_TAKES; k++) {
            operation->takes[k][NG_HOST_MAX_TAKE - 1] = '\0';
            if (k < operation->n_takes
                && strchr(operation->takes[k], '=') == NULL)
                operation->n_takes = k; /* the loader checked; this holds */
        }                               /*   though the arena was struck */
    }
}

static ng_host *open_host(const char *library, const char *command,
                          double timeout, ng_verdict *verdict)
{
    ng_host *host = calloc(1, sizeof *host);

    *verdict = (ng_verdict){0};
    if (host == NULL) {
        ng_host_environment(verdict, "subject", ENOMEM);
        return NULL;
    }
    pthread_mutex_init(&host->mutex, NULL);
    pthread_mutex_init(&host->turn_mutex, NULL);
    pthread_cond_init(&host->turned, NULL);
    /* Its threads share the processors with ours, which wait for it: spinning
     * at a barrier would take them away. Read by its OpenMP when it starts. */
    setenv("OMP_WAIT_POLICY", "passive", 0);
    host->socket = host->arena_fd = host->to = host->from = -1;
    host->timeout = timeout;
    host->library = strdup(library);
    host->command = command != NULL ? strdup(command) : NULL;
    if (host->library == NULL || (command != NULL && host->command == NULL)
        || !ng_host_make_arena(host))
        ng_host_environment(verdict, "shared memory", errno);
    else if (ng_host_start(host, verdict)) {
        keep_facts(host);
        host->subject = (ng_subject){.name = host->name,
                                     .description = host->library,
                                     .covers = covers,
                                     .run = run};
        return host;
    }
    ng_host_close(host);
    return NULL;
}

ng_host *ng_host_open(const char *library, double timeout, ng_verdict *verdict)
{
    return open_host(library, NULL, timeout, verdict);
}

ng_host *ng_host_open_command(const char *command, double timeout,
                              ng_verdict *verdict)
{
    return open_host("", command, timeout, verdict);
}

void ng_host_close(ng_host *host)
{
    if (host == NULL)
        return;
    if (host->socket >= 0)
        close(host->socket);
    /* One that has device memory sees that, and gives it back. */
    ng_process_end(&host->process, host->facts.has_device ? 2 : 0, NULL);
    if (host->arena != NULL)
        munmap(host->arena, host->arena_bytes);
    if (host->arena_fd >= 0)
        close(host->arena_fd);
    pthread_cond_destroy(&host->turned);
    pthread_mutex_destroy(&host->turn_mutex);
    pthread_mutex_destroy(&host->mutex);
    ng_host_exec_close(host);
    free(host->command);
    free(host->library);
    free(host);
}
