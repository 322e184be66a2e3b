/* SPDX-License-Identifier: Apache-2.0
 *
 * A directory of a test's own, and files made in it byte by byte.
 */
#ifndef NG_CONFORMANCE_CHECKS_SCRATCH_H
#define NG_CONFORMANCE_CHECKS_SCRATCH_H

#include <check.h>
#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/checks/suite_runner.h"

static char scratch[256];       /* its path; set up anew for each test */

static inline void scratch_make(void)
{
    const char *root = getenv("TMPDIR");

    snprintf(scratch, sizeof scratch, "%s/ng-check-XXXXXX",
             root != NULL ? root : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(scratch));
}

/* A path in it; the text lasts until the fourth call after. */
static inline const char *scratch_path(const char *name)
{
    static char path[4][512];
    static unsigned turn;

    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch, name);
    return path[turn];
}

/* Entries of the directory besides . and .. */
static inline int scratch_count(void)
{
    DIR *directory = opendir(scratch);
    int n = 0;

    ck_assert_ptr_nonnull(directory);
    while (readdir(directory) != NULL)
        n++;
    closedir(directory);
    return n - 2;
}

static inline int scratch_remove_one(const char *path, const struct stat *facts,
                                     int kind, struct FTW *at)
{
    (void)facts, (void)kind, (void)at;
    return remove(path);
}

/* With all that is below it. */
static inline void scratch_remove(void)
{
    ck_assert_int_eq(
        nftw(scratch, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline const char *scratch_write(const char *name, const void *bytes,
                                        size_t size)
{
    const char *path = scratch_path(name);

    unlink(path);       /* ext4 flushes a file that is cut and written anew */
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

/* The bytes of a file, to be freed by the caller. */
static inline unsigned char *scratch_read(size_t *size, const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat facts;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fstat(fileno(file), &facts), 0);
    *size = (size_t)facts.st_size;
    unsigned char *bytes = malloc(*size + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* Byte i of the golden arrays (gen_golden_files.py), restated. */
static inline unsigned char golden_byte(const char *name, size_t i)
{
    size_t sum = 37 * i;

    while (*name != '\0')
        sum += (unsigned char)*name++;
    return (unsigned char)sum;
}

#endif
