/* SPDX-License-Identifier: Apache-2.0
 *
 * A call whose tensors lie on the GPU: what a subject that runs kernels makes
 * of a call of the suite. Whole spans travel, gaps and guards included, so that
 * the suite sees every byte that a kernel wrote, also those that it should not.
 */
#ifndef NG_CONFORMANCE_SUBJECT_CUDA_CALL_H
#define NG_CONFORMANCE_SUBJECT_CUDA_CALL_H

#include "conformance/subject/call.h"
#include "conformance/subject/cuda_library.h"

enum { NG_CUDA_CALL_WORKSPACE = 1 << 22 }; /* bytes */

typedef ng_status ng_cuda_run(const void *row, const ng_call *device_call,
                              const ng_cuda_launch *launch);

/* Perform `call` with `run`, which launches its operation on device_call, a
 * copy of the call whose tensors (offsets too) are in device memory; launch has
 * the stream, a workspace of NG_CUDA_CALL_WORKSPACE bytes, and a refusal.
 *
 * Where the call counts events, the operation runs twice, without counts (the
 * fast path) and with them (the general one), over fresh outputs; where their
 * bytes part, at least one is wrong, and the call gets a byte that is neither.
 * Buffers start on 256-byte boundaries, or for outputs that were poisoned with
 * an even byte one unit of their type past one.
 *
 * With NARROWGAUGE_CUDA_APART in the environment every tensor gets an allocation
 * of its own, of its span and no byte more, for compute-sanitizer to watch.
 *
 * Returns what run returned, the refusal, or what CUDA said. Thread-safe: each
 * thread has a stream and memory of its own, kept for the next call. */
ng_status ng_cuda_call(const ng_cuda_library *cuda, const ng_call *call,
                       ng_cuda_run *run, const void *row);

#endif
