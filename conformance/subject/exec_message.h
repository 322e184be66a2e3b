/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program as subject is asked and answers, as safetensors in memory;
 * docs/subjects.md says what is in it. Private to the subject's host_exec*.c.
 */
#ifndef NG_CONFORMANCE_SUBJECT_EXEC_MESSAGE_H
#define NG_CONFORMANCE_SUBJECT_EXEC_MESSAGE_H

#include "conformance/subject/call.h"
#include "formats/files/tensor_file.h"

enum { NG_EXEC_MAX_KEY = 256 };

/* The message of a call, or of a greeting (call is null): its length in 8
 * bytes, little-endian, and so many of safetensors. Outputs go along with what
 * they hold. Returns null without memory; the caller frees it. */
unsigned char *ng_exec_message(size_t *size, const ng_call *call);

/* The unit, counted by strides, of element i in row-major order. */
int64_t ng_exec_unit(const ng_tensor *t, int64_t i);

/* The metadata KEYNAME ("takes." and an operation, say); "" where there is
 * none. */
const char *ng_exec_text(const ng_tensor_file *file, const char *key,
                         const char *name);

#endif
