/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "conformance/subject/build_digest.h"

#include <link.h>
#include <string.h>

enum { MAX_FILES = 16 };

typedef struct digests {
    uint64_t sum[MAX_FILES];
    int n;
} digests;

static void add_file(digests *d, const char *path)
{
    uint64_t checksum = 0;
    int64_t size;

    if (d->n == MAX_FILES)
        return;
    (void)ng_checksum_file(&checksum, &size, path, NULL);
    d->sum[d->n++] = checksum;
}

/* libnarrowgauge.so, libnarrowgauge-cuda.so ...: the rest of what is loaded is
 * the machine's, and a run may go on elsewhere. */
static int add_library(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash != NULL ? slash + 1 : info->dlpi_name;

    (void)size;
    if (strncmp(name, "libnarrowgauge", strlen("libnarrowgauge")) == 0)
        add_file(context, info->dlpi_name);
    return 0;
}

void ng_build_digest(char text[NG_CHECKSUM_TEXT], const char *plugin)
{
    digests d = {.n = 0};

    add_file(&d, "/proc/self/exe");
    dl_iterate_phdr(add_library, &d);
    if (plugin != NULL)
        add_file(&d, plugin);
    ng_checksum_text(text, ng_checksum(d.sum, (size_t)d.n * sizeof *d.sum));
}
