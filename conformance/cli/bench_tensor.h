/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors of a benchmark's call.
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_TENSOR_H
#define NG_CONFORMANCE_CLI_BENCH_TENSOR_H

#include "conformance/cli/bench_case.h"

/* Add a dense tensor, zeroed, to the call's inputs or outputs; bench->block has
 * its memory. Of rank 1 cols is not read. Its data is null without memory. */
ng_tensor *ng_bench_add(ng_bench_case *bench, bool input, const char *name,
                        ng_dtype dtype, int rank, int64_t rows, int64_t cols);

#endif
