/* SPDX-License-Identifier: Apache-2.0
 *
 * What a report says of the GPU beside CUDA's own answers: the driver's version
 * and the clocks, by the management library that comes with the driver.
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_GPU_STATE_H
#define NG_CONFORMANCE_CLI_BENCH_GPU_STATE_H

typedef struct ng_gpu_state {
    char driver[64];                    /* "580.95.05"; "" where nobody says */
    int sm_mhz, sm_max_mhz, memory_mhz; /* at this moment; 0: not known */
} ng_gpu_state;

/* Ask for the first GPU. */
ng_gpu_state ng_gpu_state_now(void);

#endif
