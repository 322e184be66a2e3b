/* SPDX-License-Identifier: Apache-2.0
 *
 * A disk that fails at will: some calls of the C library are in its place, for
 * the program that includes this, and fail from the n-th of their kind on. For
 * what no full disk and no directory in the way can bring about.
 */
#ifndef NG_CONFORMANCE_CHECKS_FAILING_CALLS_H
#define NG_CONFORMANCE_CHECKS_FAILING_CALLS_H

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum failing_call {
    FAIL_FSYNC,
    FAIL_CLOSE,
    FAIL_FTRUNCATE,
    FAIL_PREAD,
    FAIL_READDIR,
    FAIL_EXCHANGE,              /* the two that renameat2 does */
    N_FAILING_CALLS
};

/* How many more of a kind succeed before one fails; below 0: all succeed. */
static int calls_left[N_FAILING_CALLS] = {-1, -1, -1, -1, -1, -1};
static bool call_failed;

/* Let call n of this kind from here on, counted from 0, fail. */
static inline void fail_call(enum failing_call kind, int n)
{
    call_failed = false;
    calls_left[kind] = n;
}

/* No more; returns whether one did fail. */
static inline bool fail_calls_no_more(void)
{
    for (int i = 0; i < N_FAILING_CALLS; i++)
        calls_left[i] = -1;
    return call_failed;
}

static bool call_fails(enum failing_call kind)
{
    if (calls_left[kind] < 0 || calls_left[kind]-- > 0)
        return false;
    errno = kind == FAIL_EXCHANGE ? EINVAL : EIO;
    return call_failed = true;
}

int fsync(int descriptor)
{
    return call_fails(FAIL_FSYNC) ? -1
                                  : (int)syscall(SYS_fsync, descriptor);
}

/* As on a failing disk, the descriptor is gone all the same. */
int close(int descriptor)
{
    const int closed = (int)syscall(SYS_close, descriptor);

    return call_fails(FAIL_CLOSE) ? -1 : closed;
}

int ftruncate(int descriptor, off_t size)
{
    return call_fails(FAIL_FTRUNCATE)
               ? -1
               : (int)syscall(SYS_ftruncate, descriptor, size);
}

ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset)
{
    return call_fails(FAIL_PREAD)
               ? -1
               : syscall(SYS_pread64, descriptor, bytes, size, offset);
}

struct dirent *readdir(DIR *directory)
{
    struct dirent *(*real)(DIR *);
    void *symbol = dlsym(RTLD_NEXT, "readdir");

    memcpy(&real, &symbol, sizeof real);
    return call_fails(FAIL_READDIR) ? NULL : real(directory);
}

int renameat2(int from_directory, const char *from, int to_directory,
              const char *to, unsigned flags)
{
    return call_fails(FAIL_EXCHANGE)
               ? -1
               : (int)syscall(SYS_renameat2, from_directory, from,
                              to_directory, to, flags);
}

#endif
