/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/bench_projection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/bench_machine.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "formats/fp32.h"

enum { RUNS = 64, IN_A_ROW = 8192, N = RUNS * IN_A_ROW };

/* Seconds of one sweep over the sample; the codes go to y. */
static double sweep(const ng_subject *subject, float *x, unsigned char *y)
{
    const int64_t n = N;
    const ng_call call = {.operation = "encode_e4m3",
                          .rules = ng_default_rules,
                          .n_inputs = 1,
                          .input = {ng_tensor_dense("x", NG_FP32, 1, &n, x)},
                          .n_outputs = 1,
                          .output = {ng_tensor_dense("y", NG_E4M3, 1, &n, y)}};
    const double start = ng_seconds_now();

    return subject->run(&call) == NG_OK ? ng_seconds_now() - start : NAN;
}

static void note(json_t *list, double oracle, double both)
{
    json_t *object;
    size_t i;

    json_array_foreach(list, i, object)
        if (strcmp(json_string_value(json_object_get(object, "op")),
                   "encode_e4m3")
            == 0)
            json_object_set_new(
                object, "all_fp32_two_processes",
                json_pack("{s:f, s:f}", "oracle_seconds", oracle,
                          "oracle_and_reference_seconds", both));
}

int ng_bench_project(const ng_subject *oracle, json_t *list)
{
    const double per_process = 0x1p31 / N;
    float *x = malloc(N * sizeof *x);
    unsigned char *y = malloc(2 * N);
    int status = NG_EXIT_OK;

    if (x == NULL || y == NULL) {
        status = ng_complain(NG_EXIT_ENVIRONMENT, "bench", "out of memory");
    } else {
        for (uint32_t i = 0; i < N; i++)
            x[i] = ng_fp32_from_bits(
                i / IN_A_ROW * (uint32_t)(0x100000000 / RUNS) + i % IN_A_ROW);
        const double a = sweep(oracle, x, y) * per_process;
        const double b = sweep(&ng_subject_reference, x, y + N) * per_process;

        if (!isfinite(a + b))
            status = ng_complain(NG_EXIT_ENVIRONMENT, "bench",
                                 "encode_e4m3: the sweep was not made");
        else if (memcmp(y, y + N, N) != 0)
            status = ng_complain(NG_EXIT_DIFFERENCE, "bench",
                                 "encode_e4m3: oracle and reference differ");
        else if (list != NULL)
            note(list, a, a + b);
        else
            printf("\nAll 2^32 FP32 -> E4M3 in two processes: oracle %.1f min, "
                   "with the reference beside it %.1f min\n(projected from %d "
                   "runs of %d bit patterns: %.1f and %.1f ns a value)\n",
                   a / 60, (a + b) / 60, RUNS, IN_A_ROW, a / 0x1p31 * 1e9,
                   b / 0x1p31 * 1e9);
    }
    free(x);
    free(y);
    return status;
}
