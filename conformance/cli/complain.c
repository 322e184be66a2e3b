/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/complain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conformance/cli/command.h"
#include "formats/text.h"

int ng_complain(int exit_status, const char *command, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ng_make_plain_text(text);
    fprintf(stderr, "narrowgauge %s: %s\n", command, text);
    return exit_status;
}

int ng_exit_status(ng_status status, const ng_error *error)
{
    static const int full[] = {ENOSPC, EDQUOT, EFBIG, EIO, EBUSY};

    if (status == NG_OK)
        return NG_EXIT_OK;
    if (status == NG_NO_MEMORY)
        return NG_EXIT_ENVIRONMENT;
    if (status == NG_BAD_SUBJECT)
        return NG_EXIT_SUBJECT;
    /* The file functions give the cause as the system words it. */
    for (size_t i = 0; error != NULL && i < sizeof full / sizeof *full; i++)
        if (strstr(error->text, strerror(full[i])) != NULL)
            return NG_EXIT_ENVIRONMENT;
    return NG_EXIT_USAGE;
}

int ng_complain_status(const char *command, ng_status status,
                       const ng_error *error)
{
    return ng_complain(status == NG_NOT_COVERED ? NG_EXIT_CANNOT_RUN
                                                : ng_exit_status(status, error),
                       command, "%s", error->text);
}

int ng_print_json(json_t *json)
{
    if (json == NULL)
        return NG_EXIT_ENVIRONMENT;
    json_dumpf(json, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(json);
    return NG_EXIT_OK;
}
