/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda" for callers whose tensors already lie on the device: bench.
 */
#ifndef NG_CONFORMANCE_SUBJECT_SUBJECT_CUDA_H
#define NG_CONFORMANCE_SUBJECT_SUBJECT_CUDA_H

#include "conformance/subject/call.h"
#include "cuda/launch.h"

/* Enqueue a call whose tensors, offsets too, are in device memory. The subject
 * must be open. Returns what the launcher returned, or NG_NOT_COVERED. */
ng_status ng_subject_cuda_enqueue(const ng_call *device_call,
                                  const ng_cuda_launch *launch);

#endif
