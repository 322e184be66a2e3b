/* SPDX-License-Identifier: Apache-2.0
 *
 * Timing of `bench --backend cuda`: events around a batch of launches that
 * rotates the sets, N batches; then the same of device copies that read and
 * write as many bytes.
 */
#include "conformance/cli/bench_cuda.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conformance/cli/bench_cuda_optim.h"
#include "conformance/cli/bench_gpu_state.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/subject/subject_cuda.h"
#include "formats/version.h"

enum { MAX_REPEAT = 1000, WARM_UP = 3 };

typedef struct copying {
    const ng_cuda_library *cuda;
    char *memory; /* n_sets times a source and a target */
    int64_t half;
} copying;

static ng_status enqueue_copy(void *context, int s)
{
    const copying *c = context;
    char *from = c->memory + 2 * s * c->half;

    return c->cuda->copy(from + c->half, from, c->half, NULL);
}

static ng_status enqueue_call(void *context, int s)
{
    const ng_cuda_bench_case *c = context;
    const ng_cuda_launch launch = {.stream = NULL};

    return ng_subject_cuda_enqueue(&c->call[s], &launch);
}

ng_status ng_cuda_time(ng_spread *spread, const ng_cuda_library *cuda,
                       ng_cuda_enqueue *enqueue, void *context, int n_sets,
                       int repeat)
{
    static double seconds[MAX_REPEAT];
    void *first = NULL, *second = NULL;
    ng_status status = cuda->event_create(&first);
    int batch = 2 * n_sets;

    if (status == NG_OK)
        status = cuda->event_create(&second);
    for (int i = -WARM_UP; i < repeat && status == NG_OK; i++) {
        double all = 0;

        status = cuda->event_record(first, NULL);
        for (int k = 0; k < batch && status == NG_OK; k++)
            status = enqueue(context, k % n_sets);
        if (status == NG_OK)
            status = cuda->event_record(second, NULL);
        if (status == NG_OK)
            status = cuda->event_seconds(&all, first, second);
        if (i >= 0)
            seconds[i] = all / batch;
        while (i == -1 && all > 0 && all / batch * (batch + n_sets) < 1e-3
               && batch < 64 * n_sets)
            batch += n_sets;
    }
    if (first != NULL)
        cuda->event_destroy(first);
    if (second != NULL)
        cuda->event_destroy(second);
    if (status == NG_OK)
        *spread = ng_spread_of(seconds, repeat);
    return status;
}

ng_status ng_cuda_time_copy(ng_spread *spread, const ng_cuda_library *cuda,
                            int64_t bytes, int n_sets, int repeat)
{
    copying copy = {.cuda = cuda, .half = (bytes / 2 + 255) / 256 * 256};
    void *memory;
    ng_status status = cuda->allocate(&memory, 2 * n_sets * copy.half);

    if (status != NG_OK)
        return status;
    copy.memory = memory;
    status = cuda->fill(memory, 0x5A, 2 * n_sets * copy.half, NULL);
    if (status == NG_OK)
        status = ng_cuda_time(spread, cuda, enqueue_copy, &copy, n_sets, repeat);
    cuda->free(memory);
    return status;
}

static void print_header(const ng_cuda_library *cuda)
{
    const ng_cuda_device *d = &cuda->device;
    const ng_gpu_state state = ng_gpu_state_now();

    printf("narrowgauge %s, backend cuda, verified against the reference\n"
           "%s, %d multiprocessors, L2 %.0f MiB; driver %s, CUDA %d.%d\n"
           "bytes: inputs and outputs, each once; share: of a device copy that "
           "reads and writes as many bytes, rotated alike\n\n"
           "%-23s %-14s %-11s %9s %9s %9s %7s %7s %7s\n",
           ng_version_text(), d->name, d->n_multiprocessors,
           (double)d->l2_bytes / 1048576, state.driver, d->runtime / 1000,
           d->runtime % 1000 / 10, "operation", "form", "shape", "median us",
           "min", "max", "GB/s", "copy", "share");
}

json_t *ng_cuda_bench_row_json(const ng_cuda_library *cuda,
                               const char *operation, const char *form,
                               const char *shape, ng_spread s, ng_spread copy,
                               int64_t bytes, int n_sets)
{
    const double rate = (double)bytes / s.median / 1e9;
    const double limit = (double)bytes / copy.median / 1e9;
    const ng_cuda_device *d = &cuda->device;
    const ng_gpu_state state = ng_gpu_state_now(); /* clocks still busy */
    char runtime[16];

    snprintf(runtime, sizeof runtime, "%d.%d", d->runtime / 1000,
             d->runtime % 1000 / 10);
    return json_pack(
        "{s:s, s:s, s:s, s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:b, s:{}, "
        "s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:i, s:i, s:i}",
        "op", operation, "form", form, "shape", shape, "median_us",
        s.median * 1e6, "min_us", s.min * 1e6, "max_us", s.max * 1e6, "bytes",
        (json_int_t)bytes, "rate", rate, "limit", limit, "share", rate / limit,
        "verified", 1, "peer", "gpu", d->name, "driver", state.driver,
        "cuda", runtime, "commit", ng_version_text(), "rotated_sets", n_sets, "unit",
        "GB/s", "limit_is", "device copy of as many bytes, same run",
        "sm_mhz", state.sm_mhz, "sm_max_mhz", state.sm_max_mhz, "memory_mhz",
        state.memory_mhz);
}

static void report(json_t *list, const ng_cuda_bench_case *c,
                   const ng_cuda_library *cuda, ng_spread s, ng_spread copy)
{
    const double rate = (double)c->bytes / s.median / 1e9;
    const double limit = (double)c->bytes / copy.median / 1e9;
    char shape[48];

    snprintf(shape, sizeof shape, "%" PRId64 "x%" PRId64, c->row->rows,
             c->row->cols);
    if (list != NULL) {
        json_array_append_new(
            list, ng_cuda_bench_row_json(cuda, c->row->operation, c->row->form,
                                         shape, s, copy, c->bytes, c->n_sets));
        return;
    }
    printf("%-23s %-14s %-11s %9.2f %9.2f %9.2f %7.0f %7.0f %5.1f %%\n",
           c->row->operation, c->row->form, shape, s.median * 1e6, s.min * 1e6,
           s.max * 1e6, rate, limit, 100 * rate / limit);
    fflush(stdout);
}

static int run_row(const ng_cuda_bench_row *row, const ng_cuda_library *cuda,
                   int repeat, json_t *list)
{
    ng_cuda_bench_case c;
    ng_spread spread, copy;
    char line[512] = "";
    ng_status status = ng_cuda_bench_begin(&c, row, cuda);

    if (status == NG_OK)
        status = ng_cuda_bench_verify(line, sizeof line, &c, cuda);
    if (status == NG_OK && line[0] == '\0') {
        status = ng_cuda_time(&spread, cuda, enqueue_call, &c, c.n_sets, repeat);
        if (status == NG_OK)
            status = ng_cuda_time_copy(&copy, cuda, c.bytes, c.n_sets, repeat);
        if (status == NG_OK)
            report(list, &c, cuda, spread, copy);
    }
    ng_cuda_bench_end(&c, cuda);
    if (status == NG_NOT_COVERED)
        return NG_EXIT_OK;
    if (status != NG_OK)
        return ng_complain(status == NG_NO_MEMORY ? NG_EXIT_ENVIRONMENT
                                                  : NG_EXIT_SUBJECT,
                           "bench", "%s, %s: %s %s", row->operation, row->form,
                           ng_status_text(status), cuda->error_text());
    if (line[0] != '\0')
        return ng_complain(NG_EXIT_DIFFERENCE, "bench", "%s, %s: not timed: %s",
                           row->operation, row->form, line);
    return NG_EXIT_OK;
}

int ng_bench_cuda(bool (*listed)(const void *context, const char *operation),
                  const void *context, int repeat, int64_t most, json_t *list)
{
    const ng_cuda_bench_row *row;
    ng_status status;
    ng_error error = {""};
    const ng_cuda_library *cuda = ng_cuda_library_open(&status, &error);
    int exit_status = NG_EXIT_OK, n = 0;

    if (cuda == NULL)
        return ng_complain(NG_EXIT_CANNOT_RUN, "bench", "%s", error.text);
    if (list == NULL)
        print_header(cuda);
    for (int i = 0; (row = ng_cuda_bench_row_at(i)) != NULL; i++) {
        if (!listed(context, row->operation)
            || (most > 0 && row->rows * row->cols > most))
            continue;
        const int s = run_row(row, cuda, repeat, list);

        n++;
        if (exit_status == NG_EXIT_OK)
            exit_status = s;
        if (s == NG_EXIT_ENVIRONMENT)
            return s;
    }

    const int of_steps =
        ng_bench_cuda_optim(listed, context, repeat, most, list, cuda, &n);

    if (exit_status == NG_EXIT_OK)
        exit_status = of_steps;
    return n > 0 ? exit_status
                 : ng_complain(NG_EXIT_CANNOT_RUN, "bench",
                               "--backend: cuda: does not offer what was asked "
                               "for");
}
