/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_OPTIM_PROBE_STEPS_H
#define NG_CUDA_OPTIM_PROBE_STEPS_H

#include <stdint.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Try on the GPU what cuda/optim/exact.cuh says of its own seeds, which no
 * other machine has: the reciprocals of 2^23 significands, the roots of
 * 2^24, and the quotients of 2^23 numbers by each b whose reciprocal depends
 * on the seed and by 4096 others. differences: how many of each are not
 * those of IEEE arithmetic; *n_quotients were tried. Allocates and waits: a
 * check, no kernel to be used. */
ng_status ng_cuda_probe_steps(uint64_t differences[3], uint64_t *n_quotients);

#ifdef __cplusplus
}
#endif

#endif
