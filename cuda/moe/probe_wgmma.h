/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs bare tensor-core instructions, so that how they add can be seen; the
 * program around it is conformance/cli/probe_wgmma.c.
 */
#ifndef NG_CUDA_MOE_PROBE_WGMMA_H
#define NG_CUDA_MOE_PROBE_WGMMA_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NG_PROBE_ROWS = 64, NG_PROBE_DEPTH = 32 };

/* Which instruction, and how it is used. */
typedef struct ng_probe_form {
    int n;              /* columns: 8, 64, 128 or 256 */
    int steps;          /* instructions in a chain, each adding 32 products */
    bool a_in_registers;
    bool from_zero;     /* the first ignores the accumulator (scale-d 0) */
} ng_probe_form;

/* For each of n_tiles tiles: D = C, then D += A_s * B_s^T for each step s, by
 * wgmma.m64nNk32 with E4M3 operands and FP32 accumulators.
 *   d  out uint32 [n_tiles][64][n]     FP32 bits; host memory, like the others
 *   a  in  uint8  [n_tiles][64][32 * steps]
 *   b  in  uint8  [n_tiles][n][32 * steps]
 *   c  in  uint32 [n_tiles][64][n]
 * Returns null, or what CUDA said. */
const char *ng_probe_wgmma(uint32_t *d, const uint8_t *a, const uint8_t *b,
                           const uint32_t *c, int n_tiles, ng_probe_form form);

/* The name of the GPU, or null (*error says why) where none of compute
 * capability 9.0 is there. The text stands until the next call. */
const char *ng_probe_device(const char **error);

#ifdef __cplusplus
}
#endif

#endif
