/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef NG_PKGLIBDIR
#define NG_PKGLIBDIR ""
#endif

static void *try(const char *folder, const char *beside, const char *name,
                 int flags, char *path, size_t size)
{
    char full[PATH_MAX + 128];
    void *module;

    snprintf(full, sizeof full, "%s%s%s", folder, beside, name);
    module = dlopen(full, flags);
    if (module != NULL && path != NULL)
        snprintf(path, size, "%s", full);
    return module;
}

void *ng_module_open(const char *name, int flags, char *path, size_t size)
{
    static const char *const beside[] = {"", ".libs/", "../lib/",
                                         "../lib/narrowgauge/", "../.libs/"};
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    void *module = NULL;

    if (length > 0) {
        self[length] = '\0';
        *(strrchr(self, '/') + 1) = '\0';
        for (size_t i = 0; module == NULL && i < sizeof beside / sizeof *beside;
             i++)
            module = try(self, beside[i], name, flags, path, size);
    }
    return module != NULL ? module
                          : try(NG_PKGLIBDIR, "/", name, flags, path, size);
}
