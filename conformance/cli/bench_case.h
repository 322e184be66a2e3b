/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of real size for each operation: what `bench` times.
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_CASE_H
#define NG_CONFORMANCE_CLI_BENCH_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "conformance/cli/conversion.h"

typedef struct ng_bench_case {
    ng_call call;
    int64_t values; /* logical elements of the input; of a GEMM products */
    int64_t bytes;  /* inputs and outputs, each counted once */
    char shape[48];
    void *block[2 * NG_MAX_TENSORS];
    int n_blocks;
} ng_bench_case;

/* Make the inputs of about `size` values and room for the outputs. Inputs are
 * BF16 (of encoders FP32) numbers of a normal distribution, each row with a
 * magnitude of its own; block-scaled inputs are those, quantized by the
 * reference; decoders and pack get codes in turn. The same every time.
 * Returns NG_OK, NG_NOT_COVERED for an operation that it does not know, or
 * NG_NO_MEMORY. End it with ng_bench_case_end in every case. */
ng_status ng_bench_case_begin(ng_bench_case *bench, const char *operation,
                              const ng_rules *rules, int64_t size);

/* The same inputs with other room for the outputs: copy is filled, and must be
 * ended before bench is. */
ng_status ng_bench_case_twin(ng_bench_case *copy, const ng_bench_case *bench);

void ng_bench_case_end(ng_bench_case *bench);

#endif
