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

enum { NO_WORD, A_WORD, TOO_LONG };

/* The next word of *text, between blanks; one that does not fit is not cut, for
 * it would say something else. */
static int next_word(char *word, size_t size, const char **text)
{
    *text += strspn(*text, " ,\n\t");
    const size_t length = strcspn(*text, " ,\n\t");

    if (length == 0)
        return NO_WORD;
    if (length >= size)
        return TOO_LONG;
    memset(word, 0, size);
    memcpy(word, *text, length);
    *text += length;
    return A_WORD;
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
    int got;

    while ((got = next_word(word, sizeof word, &text)) == A_WORD) {
        size_t i = 0;

        while (i < sizeof limits / sizeof *limits
               && strcmp(word, limits[i].name) != 0)
            i++;
        if (i == sizeof limits / sizeof *limits)
            return false;
        operation->limits |= limits[i].bit;
    }
    return got == NO_WORD;
}

static bool read_operation(ng_host_operation *operation,
                           const ng_tensor_file *answer)
{
    const char *takes = ng_exec_text(answer, "takes.", operation->name);
    char word[NG_HOST_MAX_TAKE];
    int got;

    while ((got = next_word(word, sizeof word, &takes)) == A_WORD) {
        if (operation->n_takes == NG_HOST_MAX_TAKES
            || !ng_host_take_is_known(word))
            return false;
        memcpy(operation->takes[operation->n_takes++], word, sizeof word);
    }
    return got == NO_WORD
           && read_limits(operation,
                          ng_exec_text(answer, "limits.", operation->name));
}

static bool bad_greeting(ng_verdict *verdict, const char *what)
{
    ng_verdict_set(verdict, NG_VERDICT_BAD_TABLE, "bad greeting: %s", what);
    return false;
}

static bool bad_operation(ng_verdict *verdict, const ng_host_facts *facts,
                          const char *what)
{
    ng_verdict_set(verdict, NG_VERDICT_BAD_TABLE,
                   "bad greeting: operation %d: %s", facts->n_operations, what);
    return false;
}

static bool is_listed(const ng_host_facts *facts, const char *name)
{
    for (int i = 0; i < facts->n_operations; i++)
        if (strcmp(facts->operation[i].name, name) == 0)
            return true;
    return false;
}

/* A name or a version, "" where there is none. Returns false if it is longer
 * than size - 1 bytes. */
static bool read_text(char *to, size_t size, const ng_tensor_file *answer,
                      const char *key)
{
    const char *text = ng_exec_text(answer, "", key);
    const size_t length = strlen(text);

    if (length >= size)
        return false;
    memcpy(to, text, length + 1);
    return true;
}

bool ng_host_exec_facts(ng_host_facts *facts, const ng_tensor_file *answer,
                        ng_verdict *verdict)
{
    const char *operations = ng_exec_text(answer, "", "operations");
    char word[NG_HOST_MAX_TEXT];
    int got;

    memset(facts, 0, sizeof *facts);
    if (!read_text(facts->name, sizeof facts->name, answer, "name")
        || !read_text(facts->version, sizeof facts->version, answer, "version"))
        return bad_greeting(verdict, "a name or version longer than 63 bytes");
    while ((got = next_word(word, sizeof word, &operations)) == A_WORD) {
        ng_host_operation *operation = &facts->operation[facts->n_operations];

        if (facts->n_operations == NG_HOST_MAX_OPERATIONS)
            return bad_greeting(verdict, "more than 256 operations");
        if (is_listed(facts, word))
            return bad_operation(verdict, facts, "a name given twice");
        memcpy(operation->name, word, sizeof word);
        if (!read_operation(operation, answer))
            return bad_operation(verdict, facts,
                                 "takes or limits that mean nothing");
        facts->n_operations++;
    }
    if (got == TOO_LONG)
        return bad_operation(verdict, facts, "a name longer than 63 bytes");
    return (facts->name[0] != '\0' && facts->n_operations > 0)
           || bad_greeting(verdict, "no name, or no operations");
}
_Static_assert(NG_HOST_MAX_OPERATIONS == 256 && NG_HOST_MAX_TEXT == 64,
               "as the words above say");
