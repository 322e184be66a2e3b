/* SPDX-License-Identifier: Apache-2.0
 *
 * `bench --backend cuda` of optimizer steps: one parameter of up to 2^30 elements,
 * and a list of 2000 in one launch. Weights BF16 with 8 bits of correction,
 * gradients BF16, states companded where not said otherwise.
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_CUDA_OPTIM_H
#define NG_CONFORMANCE_CLI_BENCH_CUDA_OPTIM_H

#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>

#include "conformance/subject/cuda_library.h"

/* As ng_bench_cuda. *n counts the rows that were asked for. Each is verified
 * first: three parts of its elements, before and after a step, against the
 * reference. */
int ng_bench_cuda_optim(bool (*listed)(const void *context,
                                       const char *operation),
                        const void *context, int repeat, int64_t most,
                        json_t *list, const ng_cuda_library *cuda, int *n);

#endif
