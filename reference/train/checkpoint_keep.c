/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "reference/train/checkpoint.h"
#include "reference/train/checkpoint_files.h"

/* How many checkpoints a root has, and their lowest and highest step. */
static int64_t count(int64_t *lowest, int64_t *highest, DIR *directory)
{
    const struct dirent *entry;
    int64_t n = 0, step;

    rewinddir(directory);
    // cppcheck-suppress readdirCalled ; of one stream it is safe in glibc
    while ((entry = readdir(directory)) != NULL)
        if (ng_checkpoint_step_of(&step, entry->d_name)) {
            *lowest = n == 0 || step < *lowest ? step : *lowest;
            *highest = n == 0 || step > *highest ? step : *highest;
            n++;
        }
    return n;
}

/* Given another name first, a checkpoint is not half there for a moment. */
static ng_status take_away(const char *root, int64_t step, ng_error *error)
{
    char name[2][64];
    char *path = NULL, *doomed = NULL;
    ng_status status = NG_OK;

    ng_checkpoint_step_names(name[0], name[1], sizeof name[0], step);
    path = ng_checkpoint_join(root, name[0], "");
    doomed = ng_checkpoint_join(root, name[1], "");
    if (path == NULL || doomed == NULL)
        status = ng_fail(error, NG_NO_MEMORY, "%s: out of memory", root);
    else if (rename(path, doomed) != 0)
        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "remove", "%s",
                              strerror(errno));
    else
        ng_checkpoint_remove(doomed);
    free(path);
    free(doomed);
    return status;
}

ng_status ng_checkpoint_keep(const char *root, int64_t newest, int64_t n,
                             ng_error *error)
{
    DIR *directory = opendir(root);
    ng_status status = NG_OK;
    int64_t lowest = 0, highest = 0;

    if (directory == NULL)
        return ng_file_fail(error, NG_BAD_FILE, root, NULL, "open", "%s",
                            strerror(errno));
    while (status == NG_OK && count(&lowest, &highest, directory) > 0
           && highest > newest)
        status = take_away(root, highest, error);
    while (status == NG_OK && n > 0 && count(&lowest, &highest, directory) > n)
        status = take_away(root, lowest, error);
    closedir(directory);
    return status;
}
