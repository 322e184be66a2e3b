/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/command.h"

#include <errno.h>
#include <stdlib.h>

void ng_command_parse(const struct argp *argp, int argc, char **argv,
                      void *input)
{
    argp_err_exit_status = NG_EXIT_USAGE;
    const error_t failure = argp_parse(argp, argc, argv, 0, NULL, input);

    if (failure != 0)
        exit(failure == ENOMEM ? NG_EXIT_ENVIRONMENT : NG_EXIT_USAGE);
}

long long ng_command_number(struct argp_state *state, const char *option,
                            const char *text, long long low, long long high)
{
    char *end;

    errno = 0;
    const long long number = strtoll(text, &end, 0);
    if (end == text || *end != '\0' || errno != 0 || number < low
        || number > high)
        argp_failure(state, NG_EXIT_USAGE, 0, "%s: %s: not a whole number from %lld to %lld",
                   option, text, low, high);
    return number;
}
