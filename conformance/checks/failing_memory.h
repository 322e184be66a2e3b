/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that runs out at will: malloc and its kin stand in the C library's
 * place, for the program that includes this, and fail once when told
 * to. FAILING_MEMORY is defined where that can be done: not beside a sanitizer,
 * whose own malloc must be the program's.
 */
#ifndef NG_CONFORMANCE_CHECKS_FAILING_MEMORY_H
#define NG_CONFORMANCE_CHECKS_FAILING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __has_feature /* clang's way to say what gcc says by a macro */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED_MEMORY 1
#endif
#endif

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) \
    && !defined(__SANITIZE_THREAD__) && !defined(SANITIZED_MEMORY)
#define FAILING_MEMORY 1

#include <errno.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static int memory_left = -1;           /* allocations before the one that fails */
static bool memory_failed;

static bool fails(void)
{
    if (memory_left < 0 || memory_left-- > 0)
        return false;
    errno = ENOMEM;
    return memory_failed = true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

/* Let allocation n from here on, counted from 0, fail. */
static inline void fail_at(int n)
{
    memory_failed = false;
    memory_left = n;
}

/* No more; returns whether one did fail. */
static inline bool fail_no_more(void)
{
    memory_left = -1;
    return memory_failed;
}
#endif

#endif
