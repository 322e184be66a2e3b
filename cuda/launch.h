/* SPDX-License-Identifier: Apache-2.0
 *
 * How an operation is launched: the argument that every launcher of cuda/ takes
 * last. A launcher mirrors the reference's function of its name and differs so:
 *
 *   - Views point to device memory, and so do options->groups->offsets, which
 *     the host never reads: offsets that break their rules are the caller's
 *     error. options->events, a host counter, is not touched: see below.
 *   - It only enqueues work on the stream: nothing is synchronized, allocated
 *     or printed. A refusal, any status that CUDA did not give, means
 *     that nothing was enqueued.
 *   - Every result is that of the reference, bit for bit, for any sizes,
 *     strides and pointers that the views' types allow. Pointers and lines on
 *     16-byte boundaries take the fast path.
 *   - NG_BAD_POINTER also for a pointer that is not aligned for its type, and
 *     for no launch. NG_DEVICE_ERROR, NG_NO_DEVICE or NG_NO_MEMORY where CUDA
 *     says so (ng_cuda_error_text() of device.h): what was enqueued then is not
 *     known, and CUDA may speak of work that came before.
 */
#ifndef NG_CUDA_LAUNCH_H
#define NG_CUDA_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/events.h"
#include "formats/options.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-initialize, then name what differs. */
typedef struct ng_cuda_launch {
    void *stream;    /* a cudaStream_t; null: the default stream */
    void *workspace; /* device memory, on a 256-byte boundary, as
                        large as the operation's query says */
    int64_t workspace_bytes;
    ng_events *events; /* device memory, 8-byte aligned; counts are
                          added. May be null. Counting them all takes
                          the general path, which is slow. */
    bool inexact_only; /* count INEXACT alone: fast where the
                          operation's header says so */
    int32_t *refusal;  /* device memory, may be null: an operation that
                          refuses values it meets (its header says so)
                          stores the ng_status here and leaves the
                          outputs untouched. Set it to 0 before. */
} ng_cuda_launch;

#ifdef __cplusplus
}
#endif

#endif
