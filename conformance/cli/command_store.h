/* SPDX-License-Identifier: Apache-2.0
 *
 * Options that do no more than keep what they were given: a table of them, in
 * place of a case each in a command's parser.
 */
#ifndef NG_CONFORMANCE_CLI_COMMAND_STORE_H
#define NG_CONFORMANCE_CLI_COMMAND_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/cli/command.h"

/* What an option keeps, and the C type of its member. */
typedef enum ng_store_kind {
    NG_STORE_FLAG,  /* bool: true */
    NG_STORE_TEXT,  /* const char *: the value itself */
    NG_STORE_NUMBER /* int64_t or uint64_t: a whole number in [low, high] */
} ng_store_kind;

typedef struct ng_store {
    int key; /* argp's */
    ng_store_kind kind;
    size_t offset;      /* of the member, in the command's arguments */
    const char *option; /* NUMBER: "--steps", for a refusal */
    int64_t low, high;
} ng_store;

/* For a parser's default case: keep an option that is among the n of `table` in
 * state->input, which is the structure itself, and refuse what is no argument of
 * any. Returns 0, or ARGP_ERR_UNKNOWN for argp to go on with. */
error_t ng_command_store(const ng_store *table, int n, int key,
                         const char *value, const struct argp_state *state);

#endif
