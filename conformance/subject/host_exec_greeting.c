/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program says of itself when it is greeted: its name, its operations
 * and their limits. Hostile, like all that comes from a subject.
 */
#include <stdio.h>
#include <string.h>

#include "conformance/subject/exec_message.h"
#include "conformance/subject/host_parts.h"
#include "conformance/subject/plugin.h"

/* The next word of *text, cut at blanks. Returns false at the end. */
static bool next_word(char *word, size_t size, const char **text)
{
    *text += strspn(*text, " ,\n\t");
    const size_t length = strcspn(*text, " ,\n\t");

    if (length == 0)
        return false;
    snprintf(word, size, "%.*s", (int)length, *text);
    *text += length;
    return true;
}

static bool read_limits(ng_host_operation *operation, const char *text)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } limits[] = {{"no-groups", NG_PLUGIN_NO_GROUPS},
                  {"no-nan", NG_PLUGIN_NO_NAN},
                  {"no-infinity", NG_PLUGIN_NO_INFINITY},
                  {"no-empty", NG_PLUGIN_NO_EMPTY},
                  {"checks-input", NG_PLUGIN_CHECKS_INPUT}};
    char word[NG_HOST_MAX_TEXT];

    while (next_word(word, sizeof word, &text)) {
        size_t i = 0;

        while (i < sizeof limits / sizeof *limits
               && strcmp(word, limits[i].name) != 0)
            i++;
        if (i == sizeof limits / sizeof *limits)
            return false;
        operation->limits |= limits[i].bit;
    }
    return true;
}

static bool read_operation(ng_host_operation *operation,
                           const ng_tensor_file *answer)
{
    const char *takes = ng_exec_text(answer, "takes.", operation->name);
    char word[NG_HOST_MAX_TAKE];

    while (next_word(word, sizeof word, &takes)) {
        if (operation->n_takes == NG_HOST_MAX_TAKES
            || !ng_host_take_is_known(word))
            return false;
        memcpy(operation->takes[operation->n_takes++], word, sizeof word);
    }
    return read_limits(operation,
                       ng_exec_text(answer, "limits.", operation->name));
}

bool ng_host_exec_facts(ng_host_facts *facts, const ng_tensor_file *answer,
                        ng_verdict *verdict)
{
    const char *operations = ng_exec_text(answer, "", "operations");
    char word[NG_HOST_MAX_TEXT];

    memset(facts, 0, sizeof *facts);
    snprintf(facts->name, sizeof facts->name, "%s",
             ng_exec_text(answer, "", "name"));
    snprintf(facts->version, sizeof facts->version, "%s",
             ng_exec_text(answer, "", "version"));
    while (facts->n_operations < NG_HOST_MAX_OPERATIONS
           && next_word(word, sizeof word, &operations)) {
        ng_host_operation *operation = &facts->operation[facts->n_operations++];

        memcpy(operation->name, word, sizeof word);
        if (!read_operation(operation, answer)) {
            ng_verdict_set(verdict, NG_VERDICT_BAD_TABLE,
                           "bad greeting: takes or limits of operation %d",
                           facts->n_operations - 1);
            return false;
        }
    }
    if (facts->name[0] != '\0' && facts->n_operations > 0)
        return true;
    ng_verdict_set(verdict, NG_VERDICT_BAD_TABLE,
                   "bad greeting: no name, or no operations");
    return false;
}
