/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory for the tensors of a plug-in's call (NG_PLUGIN_CUDA), in the
 * process of the plug-in. It comes from CUDA's driver, which is opened here and
 * now: the program needs no CUDA to be built or to run, and the primary context
 * is the one that a plug-in's own runtime uses. (cuda_library.h, which this
 * project's kernels use, is there only where they were built.)
 *
 * The driver is libcuda.so.1, or the file that the environment's
 * NARROWGAUGE_LIBCUDA names.
 */
#ifndef NG_CONFORMANCE_SUBJECT_HOST_DEVICE_H
#define NG_CONFORMANCE_SUBJECT_HOST_DEVICE_H

#include <stddef.h>

#include "conformance/subject/host_wire.h"

/* All functions return false with one line in text, for an error of CUDA: which
 * function, and its name of the error. */

/* Open the driver, take the primary context of GPU 0, make a stream. */
bool ng_host_device_open(char *text, size_t size);

/* The stream, as plugin.h hands it out; null before opening. */
void *ng_host_device_stream(void);

/* Copy a call's tensors from the arena, guards included, to device memory: in
 * the first run data begins at a multiple of 256, in the second a unit (or the
 * alignment asked for) past one. Sets data[i] of all tensors. */
bool ng_host_device_place(void **data, const unsigned char *arena,
                          const ng_wire_call *call, char *text, size_t size);

/* Wait for the stream, then bring the outputs back to the arena with their
 * guards. *written is an input that has changed, or whose guards have; -1: none
 */
bool ng_host_device_collect(int32_t *written, unsigned char *arena,
                            const ng_wire_call *call, char *text, size_t size);

/* Give everything back: memory, stream, context. */
void ng_host_device_close(void);

#endif
