/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/command_store.h"

#include <string.h>

static void keep(const ng_store *row, const char *value,
                 const struct argp_state *state)
{
    char *const member = (char *)state->input + row->offset;
    const bool yes = true;
    int64_t number;

    switch (row->kind) {
    case NG_STORE_FLAG:
        memcpy(member, &yes, sizeof yes);
        break;
    case NG_STORE_TEXT:
        memcpy(member, &value, sizeof value);
        break;
    case NG_STORE_NUMBER:
        number =
            ng_command_number(state, row->option, value, row->low, row->high);
        memcpy(member, &number, sizeof number);
        break;
    }
}

error_t ng_command_store(const ng_store *table, int n, int key,
                         const char *value, const struct argp_state *state)
{
    for (int i = 0; i < n; i++)
        if (table[i].key == key) {
            keep(&table[i], value, state);
            return 0;
        }
    if (key == ARGP_KEY_ARG)
        ng_command_stray(state, value);
    return ARGP_ERR_UNKNOWN;
}
