/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/page_file.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/files/atomic_write.h"

ng_status ng_page_write(const char *directory, const char *name,
                        ng_page_printer *print, const json_t *document,
                        ng_error *error)
{
    char path[4096];
    ng_atomic_file file;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name)
        >= sizeof path)
        return ng_fail(error, NG_BAD_FILE, "%s: name: too long", directory);

    const ng_status status = ng_atomic_begin(&file, path, error);

    if (status != NG_OK)
        return status;
    print(file.stream, document);
    return ng_atomic_commit(&file, error);
}

bool ng_page_plot(const char *directory, const char *script)
{
    int result;
    pid_t ended;
    const pid_t child = fork();

    if (child == 0) {
        if (chdir(directory) != 0)
            _exit(127);
        execlp("gnuplot", "gnuplot", script, (char *)NULL);
        _exit(127);
    }
    do
        ended = child > 0 ? waitpid(child, &result, 0) : -1;
    while (child > 0 && ended < 0 && errno == EINTR);
    return ended > 0 && WIFEXITED(result) && WEXITSTATUS(result) == 0;
}
