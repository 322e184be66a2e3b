/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* CLOCK_BOOTTIME */
#include "conformance/subject/orphans.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 200 }; /* of looking through /proc, a millisecond apart */

void ng_orphans_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

unsigned long long ng_orphans_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (unsigned long long)now.tv_sec
               * (unsigned long long)sysconf(_SC_CLK_TCK)
           + (unsigned long long)now.tv_nsec
                 / (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK));
}

/* Read fields 4 and 22 of /proc/PID/stat (proc(5)): the parent, and when it was
 * started, in ticks since boot. */
static bool read_stat(const char *pid, int *parent, unsigned long long *start)
{
    char path[64], text[1024];
    const char *at;
    FILE *file;
    size_t n;

    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    at = strrchr(text, ')'); /* the name may hold blanks and brackets */
    for (int field = 2; at != NULL && field < 4; field++)
        at = strchr(at + 1, ' ');
    if (at == NULL)
        return false;
    *parent = (int)strtol(at, NULL, 10);
    for (int field = 4; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at == NULL)
        return false;
    *start = strtoull(at, NULL, 10);
    return true;
}

/* End those that are there. Returns how many. */
static int end_some(unsigned long long since, int (*is_ours)(int pid))
{
    DIR *folder = opendir("/proc");
    const int self = (int)getpid();
    struct dirent *entry;
    int n = 0;

    // cppcheck-suppress readdirCalled ; of one stream it is safe in glibc
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const int pid = (int)strtol(entry->d_name, NULL, 10);
        unsigned long long start = 0;
        int parent = 0;

        if (pid <= 0 || !read_stat(entry->d_name, &parent, &start)
            || parent != self || start < since || is_ours(pid))
            continue;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        n++;
    }
    if (folder != NULL)
        closedir(folder);
    return n;
}

void ng_orphans_end(unsigned long long since, int (*is_ours)(int pid))
{
    const struct timespec moment = {.tv_nsec = 1000000};

    for (int i = 0; i < ROUNDS && end_some(since, is_ours) > 0; i++)
        nanosleep(&moment, NULL);
}
