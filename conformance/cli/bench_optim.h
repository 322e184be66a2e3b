/* SPDX-License-Identifier: Apache-2.0
 *
 * The optimizer's part of bench_case.h. Tensors and attributes:
 * conformance/subject/optim_functions.h.
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_OPTIM_H
#define NG_CONFORMANCE_CLI_BENCH_OPTIM_H

#include "conformance/cli/bench_case.h"

/* Give bench->call, whose operation and rules are set, its tensors and
 * attributes: bench->values elements as one flat tensor (of step_constants one
 * step, and values is how many numbers that makes). Weights are BF16 with 8
 * bits of correction, states companded, gradients BF16. Sets shape; tensors
 * that there was no memory for have null data. Returns NG_OK, NG_NOT_COVERED
 * for an operation that is none of the optimizer's, or what the reference
 * returned when it coded the inputs. */
ng_status ng_bench_optim_begin(ng_bench_case *bench);

#endif
