/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda" in parts: for each of the suite's tables of typed functions
 * (conversions.h, gemm_functions.h ...) one that fills it with the launchers of
 * libnarrowgauge-cuda.so. Private to subject_cuda*.c.
 *
 * The functions of those tables know no launch: it is the thread's own, set
 * before they are called, and so is the call that lies on the host.
 */
#ifndef NG_CONFORMANCE_SUBJECT_SUBJECT_CUDA_PARTS_H
#define NG_CONFORMANCE_SUBJECT_SUBJECT_CUDA_PARTS_H

#include "conformance/subject/call.h"
#include "conformance/subject/cuda_call.h"
#include "conformance/subject/cuda_library.h"

extern _Thread_local const ng_cuda_launch *ng_cuda_launch_now;

/* A launcher's caller answers for its offsets, which lie on the device. Those of
 * the call in hand lie on the host: look, as such a caller would. NG_OK where
 * there is none there (ng_subject_cuda_enqueue). */
ng_status ng_cuda_check_offsets(int64_t rows);

typedef struct ng_subject_cuda_part {
    /* Look the launchers up. Called once, before any thread runs the subject. */
    void (*open)(const ng_cuda_library *cuda);
    bool (*covers)(const ng_call *call);
    /* Launch; the thread's launch is set. */
    ng_status (*run)(const ng_call *device_call);
    /* What runs on the host, of a call that lies there; null if nothing does. */
    bool (*is_on_host)(const ng_call *call);
    ng_status (*run_on_host)(const ng_call *call);
    /* Its calls can be enqueued: ng_subject_cuda_enqueue. */
    bool enqueues;
} ng_subject_cuda_part;

extern const ng_subject_cuda_part ng_subject_cuda_conversions;
extern const ng_subject_cuda_part ng_subject_cuda_gemms;
extern const ng_subject_cuda_part ng_subject_cuda_optimizers;
extern const ng_subject_cuda_part ng_subject_cuda_swiglus;

#endif
