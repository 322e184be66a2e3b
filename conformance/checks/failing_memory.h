/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that runs out at will: malloc and its kin stand in the C library's
 * place, for the program that includes this, and fail once when told
 * to. Under gcc's address sanitizer they lead to its own, so that what a failing
 * call leaks is found. FAILING_MEMORY is defined where all that can be done.
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

#if defined(__GLIBC__) && !defined(__SANITIZE_THREAD__) \
    && !defined(SANITIZED_MEMORY)
#define FAILING_MEMORY 1

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The sanitizer asks malloc for what a new thread needs, and cannot do without:
 * there allocations fail in the thread that said so alone. */
#ifdef __SANITIZE_ADDRESS__
#define REAL(name) __interceptor_##name
#define REAL_ALIGNED REAL(aligned_alloc)
#define OF_THREADS _Thread_local
#else
#define REAL(name) __libc_##name
#define REAL_ALIGNED REAL(memalign)
#define OF_THREADS
#endif

extern void *REAL(malloc)(size_t);
extern void *REAL(calloc)(size_t, size_t);
extern void *REAL(realloc)(void *, size_t);
extern void *REAL_ALIGNED(size_t, size_t);

static OF_THREADS int memory_left = -1; /* allocations before the one that fails */
static OF_THREADS bool memory_failed;

static bool fails(void)
{
    if (memory_left < 0 || memory_left-- > 0)
        return false;
    errno = ENOMEM;
    return memory_failed = true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : REAL(malloc)(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : REAL(calloc)(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : REAL(realloc)(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : REAL_ALIGNED(alignment, size);
}

/* The sanitizer's own would not ask malloc. */
char *strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);

    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

/* As malloc, but that it never fails: for what is not under test. */
static inline void *sure_malloc(size_t size)
{
    return REAL(malloc)(size);
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
