/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/subject_machine.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "conformance/subject/escape.h"
#ifdef HAVE_NVCC
#include "conformance/subject/cuda_library.h"
#endif

enum { NAME = 256 };

static void set(char text[NAME], const char *value)
{
    ng_escape(text, NAME, value, strlen(value));
}

/* The model in the first GPU's file of NVIDIA's driver: no library needed. */
static void read_driver(char gpu[NAME])
{
    glob_t files;
    char line[NAME] = "";

    if (glob("/proc/driver/nvidia/gpus/*/information", 0, NULL, &files) != 0)
        return;

    FILE *file = fopen(files.gl_pathv[0], "r");

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "Model:", 6) == 0) {
            const char *model = line + 6 + strspn(line + 6, " \t");

            ng_escape(gpu, NAME, model, strcspn(model, "\n"));
            break;
        }
    if (file != NULL)
        fclose(file);
    globfree(&files);
}

json_t *ng_subject_machine(const char *subject, bool foreign,
                           const char *toolkit)
{
    char gpu[NAME] = "none", kit[NAME] = "none";

    if (foreign)
        read_driver(gpu);
#ifdef HAVE_NVCC
    if (!foreign && strcmp(subject, "cuda") == 0) {
        ng_status status;
        ng_error error;
        const ng_cuda_library *cuda = ng_cuda_library_open(&status, &error);

        if (cuda != NULL) {
            set(gpu, cuda->device.name);
            snprintf(kit, sizeof kit, "CUDA %d.%d", cuda->device.runtime / 1000,
                     cuda->device.runtime % 1000 / 10);
        }
    }
#else
    (void)subject;
#endif
    if (toolkit != NULL)
        set(kit, toolkit);
    return json_pack("{s:s, s:s}", "gpu", gpu, "toolkit", kit);
}
