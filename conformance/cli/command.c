/* SPDX-License-Identifier: Apache-2.0
 *
 * argp adds two lines about --help to each error of its own and of its callers;
 * a stream for errors that is null keeps it silent. What getopt finds it prints
 * itself, in one line; the rest goes through ng_command_refuse.
 */
#include "conformance/cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/text.h"

/* The parser above a command's own. */
static error_t begin(int key, char *value, struct argp_state *state)
{
    (void)value;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->err_stream = NULL;
    state->child_inputs[0] = state->input;
    return 0;
}

void ng_command_parse(const struct argp *argp, int argc, char **argv,
                      void *input)
{
    const struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
    const struct argp above = {.parser = begin, .children = children};
    const error_t failure = argp_parse(&above, argc, argv, 0, NULL, input);

    if (failure != 0)
        exit(failure == ENOMEM ? NG_EXIT_ENVIRONMENT : NG_EXIT_USAGE);
}

void ng_command_refuse(const struct argp_state *state, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ng_make_plain_text(text);
    fprintf(stderr, "%s: %s\n", state->name, text);
    exit(NG_EXIT_USAGE);
}

long long ng_command_number(const struct argp_state *state, const char *option,
                            const char *text, long long low, long long high)
{
    char *end;

    errno = 0;
    /* Decimal, 010 too, or hexadecimal: strtoll's own choice has octal. */
    const size_t sign = *text == '-' || *text == '+';
    const bool hex = text[sign] == '0' && (text[sign + 1] | 0x20) == 'x';
    const long long number = strtoll(text, &end, hex ? 16 : 10);
    if (end == text || *end != '\0' || errno != 0 || number < low
        || number > high)
        ng_command_refuse(state, "%s: %s: not a whole number from %lld to %lld",
                          option, text, low, high);
    return number;
}

void ng_command_shard(int64_t *shard, int64_t *n_shards,
                      const struct argp_state *state, const char *value)
{
    int used = 0;

    if (sscanf(value, "%" SCNd64 "/%" SCNd64 "%n", shard, n_shards, &used) != 2
        || value[used] != '\0' || *shard < 1 || *n_shards < *shard)
        ng_command_refuse(state, "--shard: %s: not I/N with 1 <= I <= N",
                          value);
    (*shard)--;
}

void ng_command_list(const char **list, int *n, int most,
                     const struct argp_state *state, const char *option,
                     const char *value)
{
    if (*n == most)
        ng_command_refuse(state, "%s: more than %d", option, most);
    list[(*n)++] = value;
}

void ng_command_stray(const struct argp_state *state, const char *value)
{
    ng_command_refuse(state, "%s: unexpected argument", value);
}
