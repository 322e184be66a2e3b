/* SPDX-License-Identifier: Apache-2.0
 *
 * Benchmark cases of SwiGLU, forward and backward, alone and quantised;
 * conformance/subject/swiglu_functions.h.
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_SWIGLU_H
#define NG_CONFORMANCE_CLI_BENCH_SWIGLU_H

#include "conformance/cli/bench_case.h"

/* Give bench->call, whose operation and rules are set, its tensors: dense rows
 * of BF16 numbers from 1/4 to 4 of both signs, gradients out in BF16 where they
 * are not quantised. Sets shape; tensors that there was no memory for have null
 * data. Returns false for an operation that is none of these. */
bool ng_bench_swiglu_begin(ng_bench_case *bench);

#endif
