/* SPDX-License-Identifier: Apache-2.0
 *
 * libnarrowgauge-cuda.so, opened when something asks for a GPU.
 */
#ifndef NG_CONFORMANCE_SUBJECT_CUDA_LIBRARY_H
#define NG_CONFORMANCE_SUBJECT_CUDA_LIBRARY_H

#include "cuda/device.h"
#include "cuda/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of cuda/device.h, as the library has them. */
typedef struct ng_cuda_library {
    ng_status (*device_get)(ng_cuda_device *);
    const char *(*error_text)(void);
    ng_status (*allocate)(void **device, int64_t bytes);
    ng_status (*free)(void *device);
    ng_status (*allocate_host)(void **host, int64_t bytes);
    ng_status (*free_host)(void *host);
    ng_status (*copy)(void *to, const void *from, int64_t bytes, void *stream);
    ng_status (*fill)(void *device, int byte, int64_t bytes, void *stream);
    ng_status (*stream_create)(void **stream);
    ng_status (*stream_destroy)(void *stream);
    ng_status (*synchronize)(void *stream);
    ng_status (*event_create)(void **event);
    ng_status (*event_destroy)(void *event);
    ng_status (*event_record)(void *event, void *stream);
    ng_status (*event_seconds)(double *seconds, void *first, void *second);
    ng_cuda_device device; /* the GPU that was found */
} ng_cuda_library;

/* Open the library, once for the process, and look for a GPU: beside the
 * program (as built, or in a bundle's lib/), then where it was installed.
 * Returns null with a line in *error: *status is NG_NO_DEVICE where there is no
 * GPU or driver, NG_BAD_FILE where the library is missing or lacks
 * one of these functions. Thread-safe; never closed. */
const ng_cuda_library *ng_cuda_library_open(ng_status *status, ng_error *error);

/* A symbol of the opened library; null if it has none of that name. Store it in
 * a function pointer by *(void **)&function = ..., as POSIX has it. */
void *ng_cuda_library_find(const char *symbol);

#ifdef __cplusplus
}
#endif

#endif
