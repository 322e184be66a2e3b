/* SPDX-License-Identifier: Apache-2.0
 *
 * The device: what it is, its memory, copies, streams and events, for callers
 * that have no CUDA headers. Everything works on the current device of the
 * calling thread. Functions that return ng_status give NG_DEVICE_ERROR where
 * CUDA reports an error, NG_NO_MEMORY where it has no room, NG_NO_DEVICE where
 * it finds no GPU; ng_cuda_error_text() then says what it said.
 */
#ifndef NG_CUDA_DEVICE_H
#define NG_CUDA_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_cuda_device {
    char name[256];
    int major, minor; /* compute capability */
    int n_multiprocessors;
    int64_t l2_bytes, memory_bytes, shared_bytes; /* the last a block's */
    int clock_khz, memory_clock_khz; /* the largest; 0: not known */
    int driver, runtime;             /* 1000 * major + 10 * minor */
} ng_cuda_device;

/* Describe the current device. Returns NG_NO_DEVICE where there is no GPU, no
 * driver, or one too old for this library's kernels. */
ng_status ng_cuda_device_get(ng_cuda_device *device);

/* What the last error that CUDA reported to this thread was: CUDA's own words
 * and the call. "" before the first. Never null. */
const char *ng_cuda_error_text(void);

/* Device memory; a byte where none is asked for. Free accepts null. */
ng_status ng_cuda_allocate(void **device, int64_t bytes);
ng_status ng_cuda_free(void *device);

/* Host memory that copies run at full speed from and to. */
ng_status ng_cuda_allocate_host(void **host, int64_t bytes);
ng_status ng_cuda_free_host(void *host);

/* Enqueue a copy of that many bytes; either side may be host or device. */
ng_status ng_cuda_copy(void *to, const void *from, int64_t bytes, void *stream);

/* Enqueue a fill with one byte. */
ng_status ng_cuda_fill(void *device, int byte, int64_t bytes, void *stream);

ng_status ng_cuda_stream_create(void **stream);
ng_status ng_cuda_stream_destroy(void *stream);

/* Wait for a stream and return any error of the work on it. */
ng_status ng_cuda_synchronize(void *stream);

/* Events, for timing: record between pieces of work, then ask for the time
 * between two of them, which waits for the second. */
ng_status ng_cuda_event_create(void **event);
ng_status ng_cuda_event_destroy(void *event);
ng_status ng_cuda_event_record(void *event, void *stream);
ng_status ng_cuda_event_seconds(double *seconds, void *first, void *second);

#ifdef __cplusplus
}
#endif

#endif
