/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/cuda_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef NG_PKGLIBDIR
#define NG_PKGLIBDIR ""
#endif

static const char file_name[] = "libnarrowgauge-cuda.so";

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ng_cuda_library library;
static void *handle;
static ng_status opened;
static ng_error why;

/* Beside the program (as built, or in a bundle), then where it was installed.
 */
static void *open_file(void)
{
    static const char *const beside[] = {"", "../", "../lib/",
                                         "../lib/narrowgauge/"};
    char self[PATH_MAX], path[PATH_MAX + 64];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length > 0) {
        self[length] = '\0';
        *(strrchr(self, '/') + 1) = '\0';
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
            snprintf(path, sizeof path, "%s%s%s", self, beside[i], file_name);
            if (access(path, R_OK) == 0)
                return dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    }
    snprintf(path, sizeof path, "%s/%s", NG_PKGLIBDIR, file_name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void *ng_cuda_library_find(const char *symbol)
{
    return handle != NULL ? dlsym(handle, symbol) : NULL;
}

static void open_once(void)
{
#define FUNCTION(name)                           \
    {                                            \
        "ng_cuda_" #name, (void **)&library.name \
    }
    const struct {
        const char *symbol;
        void **function;
    } functions[] = {
        FUNCTION(device_get),    FUNCTION(error_text),
        FUNCTION(allocate),      FUNCTION(free),
        FUNCTION(allocate_host), FUNCTION(free_host),
        FUNCTION(copy),          FUNCTION(fill),
        FUNCTION(stream_create), FUNCTION(stream_destroy),
        FUNCTION(synchronize),   FUNCTION(event_create),
        FUNCTION(event_destroy), FUNCTION(event_record),
        FUNCTION(event_seconds),
    };
#undef FUNCTION

    handle = open_file();
    if (handle == NULL) {
        opened = ng_fail(&why, NG_BAD_FILE, "%s", dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        *functions[i].function = ng_cuda_library_find(functions[i].symbol);
        if (*functions[i].function == NULL) {
            opened = ng_fail(&why, NG_BAD_FILE, "%s: no function %s", file_name,
                             functions[i].symbol);
            return;
        }
    }
    opened = library.device_get(&library.device);
    if (opened != NG_OK)
        ng_fail(&why, opened, "no GPU: %s", library.error_text());
}

const ng_cuda_library *ng_cuda_library_open(ng_status *status, ng_error *error)
{
    pthread_once(&once, open_once);
    *status = opened;
    if (opened == NG_OK)
        return &library;
    if (error != NULL)
        *error = why;
    return NULL;
}
