/* SPDX-License-Identifier: Apache-2.0
 *
 * The grouped GEMMs' part of bench_case.h. Tensors:
 * conformance/subject/gemm_functions.h.
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_GEMM_H
#define NG_CONFORMANCE_CLI_BENCH_GEMM_H

#include "conformance/cli/bench_case.h"

/* Give bench->call, whose operation and rules are set, its tensors: four groups
 * of unequal size, one of them empty, FP32 scales (of MXFP4 UE8M0), BF16 out;
 * bench->values becomes the number of products. Sets shape; tensors that there
 * was no memory for have null data. Returns false for an operation that is none
 * of these. */
bool ng_bench_gemm_begin(ng_bench_case *bench);

#endif
