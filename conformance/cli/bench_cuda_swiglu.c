/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of SwiGLU in `bench --backend cuda`. What is timed writes no values:
 * codes and scales alone. They are held against those of a call that writes the
 * values too, and that against the reference's quantiser on the same values;
 * values and gradients themselves lie within the bounds of the oracle, or are
 * left to `verify` where it was not built.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/judge.h"
#include "conformance/cli/bench_cuda.h"
#include "conformance/subject/subject.h"
#include "conformance/subject/subject_cuda.h"

enum { PARTS = 3, PART_ROWS = 64, BOUNDED_ROWS = 2, POISON = 0xA5 };

static bool is_backward(const ng_cuda_bench_case *c)
{
    return strstr(c->row->operation, "backward") != NULL;
}

static bool is_fp8(const ng_cuda_bench_case *c)
{
    return strstr(c->row->operation, "fp8") != NULL;
}

/* What is quantised: outputs that a call may leave out. */
static const char *const *intermediates(const ng_cuda_bench_case *c)
{
    static const char *const forward[] = {"values", NULL};
    static const char *const backward[] = {"grad_gate", "grad_up", NULL};

    return is_backward(c) ? backward : forward;
}

static bool quantizes(const ng_cuda_bench_case *c)
{
    return is_fp8(c) || strstr(c->row->operation, "mxfp4") != NULL;
}

static ng_status add_coded(ng_cuda_bench_case *c, ng_call *call,
                           const char *codes, const char *scales,
                           const ng_cuda_library *cuda)
{
    const int64_t rows = c->row->rows, cols = c->row->cols;
    ng_status status =
        is_fp8(c)
            ? ng_cuda_bench_add(c, call, true, codes, NG_E4M3, rows, cols, cuda)
            : ng_cuda_bench_add(c, call, true, codes, NG_E2M1X2, rows, cols / 2,
                                cuda);

    if (status == NG_OK)
        status =
            is_fp8(c)
                ? ng_cuda_bench_add(c, call, true, scales, NG_FP32, rows,
                                    ng_ceil_div(cols, NG_FP8_BLOCK), cuda)
                : ng_cuda_bench_add(c, call, true, scales, NG_UE8M0, rows,
                                    ng_ceil_div(cols, NG_MXFP4_BLOCK), cuda);
    return status;
}

ng_status ng_cuda_bench_swiglu_make(ng_cuda_bench_case *c, ng_call *call,
                                    const ng_cuda_library *cuda)
{
    static const char *const inputs[] = {"gate", "up", "grad_y"};
    const int64_t rows = c->row->rows, cols = c->row->cols;
    ng_status status = NG_OK;

    for (int i = 0; i < (is_backward(c) ? 3 : 2) && status == NG_OK; i++)
        status = ng_cuda_bench_add(c, call, false, inputs[i], NG_BF16, rows,
                                   cols, cuda);
    if (status != NG_OK)
        return status;
    if (!is_backward(c))
        return quantizes(c) ? add_coded(c, call, "y.codes", "y.scales", cuda)
                            : ng_cuda_bench_add(c, call, true, "y", NG_BF16,
                                                rows, cols, cuda);
    if (quantizes(c)) {
        status =
            add_coded(c, call, "grad_gate.codes", "grad_gate.scales", cuda);
        return status == NG_OK
                   ? add_coded(c, call, "grad_up.codes", "grad_up.scales", cuda)
                   : status;
    }
    status = ng_cuda_bench_add(c, call, true, "grad_gate", NG_BF16, rows, cols,
                               cuda);
    return status == NG_OK ? ng_cuda_bench_add(c, call, true, "grad_up",
                                               NG_BF16, rows, cols, cuda)
                           : status;
}

/* Run a call over poison. */
static ng_status run(const ng_call *call, const ng_cuda_library *cuda)
{
    const ng_cuda_launch launch = {.stream = NULL};
    ng_status status = NG_OK;
    int64_t units, bytes;

    for (int i = 0; i < call->n_outputs && status == NG_OK; i++)
        if ((status = ng_tensor_extent(&units, &bytes, &call->output[i]))
            == NG_OK)
            status = cuda->fill(call->output[i].data, POISON, bytes, NULL);
    if (status == NG_OK)
        status = ng_subject_cuda_enqueue(call, &launch);
    return status == NG_OK ? cuda->synchronize(NULL) : status;
}

/* Rows first .. first + n - 1 of a device tensor on the host; free its data. */
static ng_tensor fetch(const ng_tensor *device, int64_t first, int64_t n,
                       const ng_cuda_library *cuda)
{
    const int64_t size = (int64_t)ng_dtype_size(device->dtype);
    const int64_t line = device->shape[1] * size;
    ng_tensor host = ng_tensor_dense(device->name, device->dtype, 2,
                                     (int64_t[]){n, device->shape[1]},
                                     malloc((size_t)(n * line)));

    if (host.data != NULL
        && cuda->copy(host.data, (const char *)device->data + first * line,
                      n * line, NULL)
               != NG_OK) {
        free(host.data);
        host.data = NULL;
    }
    return host;
}

static void drop(ng_call *call)
{
    for (int i = 0; i < call->n_inputs; i++)
        free(call->input[i].data);
    for (int i = 0; i < call->n_outputs; i++)
        free(call->output[i].data);
}

/* The same rows of a whole call on the host, without its offsets: rows are
 * independent of one another. Outputs come as they are. */
static ng_status fetch_call(ng_call *host, const ng_call *device, int64_t first,
                            int64_t n, const ng_cuda_library *cuda)
{
    bool whole = true;

    *host = *device;
    host->n_inputs = host->n_outputs = 0;
    for (int i = 0; i < device->n_inputs; i++)
        if (strcmp(device->input[i].name, "offsets") != 0) {
            ng_tensor *t = &host->input[host->n_inputs++];

            *t = fetch(&device->input[i], first, n, cuda);
            whole = whole && t->data != NULL;
        }
    for (int i = 0; i < device->n_outputs; i++) {
        ng_tensor *t = &host->output[host->n_outputs++];

        *t = fetch(&device->output[i], first, n, cuda);
        whole = whole && t->data != NULL;
    }
    return whole ? NG_OK : NG_NO_MEMORY;
}

/* The first byte in which two tensors of one shape differ. */
static bool same(char *line, size_t size, const ng_tensor *want,
                 const ng_tensor *got, int64_t first)
{
    const int64_t unit = (int64_t)ng_dtype_size(want->dtype);
    const int64_t bytes = want->shape[0] * want->shape[1] * unit;
    const unsigned char *w = want->data, *g = got->data;

    for (int64_t i = 0; i < bytes; i++)
        if (w[i] != g[i]) {
            snprintf(line, size,
                     "%s[%" PRId64 ",%" PRId64 "]: want byte %02x, got %02x",
                     got->name, first + i / unit / want->shape[1],
                     i / unit % want->shape[1], w[i], g[i]);
            return false;
        }
    return true;
}

/* Codes and scales by the reference's quantiser on the values that the kernel
 * made. */
static ng_status check_codes(char *line, size_t size, const ng_call *made,
                             int64_t first)
{
    static const char *const names[] = {"made.values", "made.grad_gate",
                                        "made.grad_up"};
    ng_call want = *made;
    const int n_outputs = made->n_outputs;
    ng_status status = NG_OK;

    for (int i = 0; i < n_outputs; i++) {
        const ng_tensor *t = &made->output[i];
        int64_t units, bytes = 0;

        if (ng_tensor_extent(&units, &bytes, t) != NG_OK) {
            status = NG_BAD_SHAPE;
            bytes = 0;
        }
        want.output[i].data = calloc((size_t)bytes + 1, 1);
        if (want.output[i].data == NULL)
            status = NG_NO_MEMORY;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strcmp(t->name, names[k] + strlen("made.")) == 0) {
                ng_tensor *input = &want.input[want.n_inputs++];

                *input =
                    ng_tensor_dense(names[k], t->dtype, 2, t->shape, t->data);
            }
    }
    if (status == NG_OK)
        status = ng_subject_reference.run(&want);
    for (int i = 0; i < n_outputs; i++) {
        if (status == NG_OK && line[0] == '\0')
            same(line, size, &want.output[i], &made->output[i], first);
        free(want.output[i].data);
    }
    return status;
}

/* Values and gradients against the oracle's bounds. */
static ng_status check_bounds(char *line, size_t size, const ng_call *made,
                              const ng_subject *oracle)
{
    ng_bounds bounds[NG_MAX_TENSORS] = {{NULL, NULL}};
    ng_judgement judged = {0, 0, 0};
    ng_excess excess = {.tensor = NULL};
    ng_status status = NG_OK;

    for (int i = 0; i < made->n_outputs; i++) {
        const ng_tensor *t = &made->output[i];
        const int64_t n = t->shape[0] * t->shape[1];

        if (strchr(t->name, '.') != NULL)
            continue; /* codes and scales: exact */
        bounds[i].exact = calloc((size_t)n, sizeof(double));
        bounds[i].bound = calloc((size_t)n, sizeof(double));
        if (bounds[i].exact == NULL || bounds[i].bound == NULL)
            status = NG_NO_MEMORY;
        else
            for (int64_t k = 0; k < n; k++)
                bounds[i].bound[k] = NG_UNWRITTEN;
    }
    if (status == NG_OK)
        status = oracle->bounds(made, bounds);
    for (int i = 0; i < made->n_outputs; i++) {
        if (status == NG_OK && bounds[i].bound != NULL)
            ng_bounds_judge(&excess, &judged, &made->output[i], &bounds[i]);
        free(bounds[i].exact);
        free(bounds[i].bound);
    }
    if (status == NG_OK && excess.count > 0 && line[0] == '\0')
        snprintf(line, size,
                 "%s[%" PRId64 ",%" PRId64 "]: got %a, exact %a, bound %a",
                 excess.tensor, excess.index[0], excess.index[1], excess.value,
                 excess.exact, excess.bound);
    return status;
}

static int64_t part_at(const ng_cuda_bench_case *c, int i)
{
    return i * (c->row->rows - PART_ROWS) / (PARTS - 1);
}

/* Parts of a call that has been run; values are outputs of it. */
static ng_status check_made(char *line, size_t size,
                            const ng_cuda_bench_case *c, const ng_call *device,
                            const ng_cuda_library *cuda)
{
    const ng_subject *oracle = ng_subject_find("oracle");
    ng_status status = NG_OK;

    for (int i = 0; i < PARTS && status == NG_OK && line[0] == '\0'; i++) {
        ng_call host;

        status = fetch_call(&host, device, part_at(c, i), PART_ROWS, cuda);
        if (status == NG_OK && quantizes(c))
            status = check_codes(line, size, &host, part_at(c, i));
        drop(&host);
        if (status != NG_OK || oracle == NULL || oracle->bounds == NULL)
            continue;
        status = fetch_call(&host, device, part_at(c, i), BOUNDED_ROWS, cuda);
        if (status == NG_OK)
            status = check_bounds(line, size, &host, oracle);
        drop(&host);
    }
    return status;
}

/* The call that is timed against one that wrote the values too. */
static ng_status check_timed(char *line, size_t size,
                             const ng_cuda_bench_case *c, const ng_call *full,
                             const ng_cuda_library *cuda)
{
    const ng_call *timed = &c->call[0];
    ng_tensor want[NG_MAX_TENSORS] = {{.rank = 0}};
    ng_status status = NG_OK;

    for (int i = 0; i < timed->n_outputs; i++)
        want[i] = fetch(&full->output[i], 0, c->row->rows, cuda);
    status = run(timed, cuda);
    for (int i = 0; i < timed->n_outputs; i++) {
        ng_tensor got = {.data = NULL};

        if (status == NG_OK)
            got = fetch(&timed->output[i], 0, c->row->rows, cuda);
        if (status == NG_OK && (got.data == NULL || want[i].data == NULL))
            status = NG_NO_MEMORY;
        if (status == NG_OK && line[0] == '\0')
            same(line, size, &want[i], &got, 0);
        free(got.data);
        free(want[i].data);
    }
    return status;
}

ng_status ng_cuda_bench_swiglu_verify(char *line, size_t size,
                                      const ng_cuda_bench_case *c,
                                      const ng_cuda_library *cuda)
{
    ng_call full = c->call[0];
    const int n = full.n_outputs;
    ng_status status = NG_OK;

    line[0] = '\0';
    for (const char *const *name = intermediates(c);
         quantizes(c) && *name != NULL && status == NG_OK; name++) {
        ng_tensor *t = &full.output[full.n_outputs++];

        *t = ng_tensor_dense(*name, NG_FP32, 2,
                             (int64_t[]){c->row->rows, c->row->cols}, NULL);
        status = cuda->allocate(&t->data, 4 * c->row->rows * c->row->cols);
    }
    if (status == NG_OK)
        status = run(&full, cuda);
    if (status == NG_OK)
        status = check_made(line, size, c, &full, cuda);
    if (status == NG_OK && line[0] == '\0' && quantizes(c))
        status = check_timed(line, size, c, &full, cuda);
    for (int i = n; i < full.n_outputs; i++)
        cuda->free(full.output[i].data);
    return status;
}
