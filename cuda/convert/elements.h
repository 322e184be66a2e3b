/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of scalars: what the kernels' element functions return, so that they
 * can be verified over every input where they run. Not built for speed.
 */
#ifndef NG_CUDA_CONVERT_ELEMENTS_H
#define NG_CUDA_CONVERT_ELEMENTS_H

#include <stdint.h>

#include "cuda/launch.h"
#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Encode FP32 numbers as codes.
 *   y       out [n], uint8_t (formats of up to 8 bits) or uint16_t
 *   x       in  [n]
 *   random  in  [n], the words of stochastic rounding; null: 0
 *   rules   host; rounding, overflow, e2m1_nan are read
 * Events are counted. Returns NG_OK, NG_BAD_POINTER, NG_BAD_SHAPE (n < 0),
 * NG_BAD_DTYPE (format FP32), NG_BAD_RULES, or what CUDA said. */
ng_status ng_cuda_encode(void *y, const float *x, const uint32_t *random,
                         int64_t n, ng_format_id format, const ng_rules *rules,
                         const ng_cuda_launch *launch);

/* Decode codes to FP32: y [n], x [n] as above; the rule nan is read. No
 * events. */
ng_status ng_cuda_decode(float *y, const void *x, int64_t n,
                         ng_format_id format, const ng_rules *rules,
                         const ng_cuda_launch *launch);

/* Words *first ... *first + n - 1 of the random stream; y [n] and first [1] in
 * device memory, random on the host. */
ng_status ng_cuda_philox(uint32_t *y, const uint64_t *first, int64_t n,
                         const ng_random *random, const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
