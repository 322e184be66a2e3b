/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_BENCH_FILL_NUMBERS_H
#define NG_CUDA_BENCH_FILL_NUMBERS_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fill a matrix [rows, cols] of BF16 or FP32 with numbers to time on: about
 * normal (a sum of four uniforms), each row with a magnitude of its own, 2^-4
 * to 2^3. The same for the same seed, on every device. Returns as launch.h
 * says. */
ng_status ng_cuda_fill_numbers(const ng_matrix *y, uint64_t seed,
                               const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
