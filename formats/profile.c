/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "formats/files/input_file.h"
#include "formats/profiles_table.h"
#include "formats/text.h"

enum { MAX_PROFILE_BYTES = 64 * 1024, MAX_LINE = 1024 };

static const char suffix[] = ".profile"; /* of a user's own file */

/* Cut the line at its comment and at the blanks around what is left. */
static char *trim(char *line)
{
    char *end = strchr(line, '#');

    if (end == NULL)
        end = line + strlen(line);
    while (end > line && strchr(" \t\r", end[-1]) != NULL)
        end--;
    *end = '\0';
    return line + strspn(line, " \t");
}

/* Store words for people: the version or the source. */
static ng_status set_text(char *field, size_t size, const char *name,
                          const char *value, const char *where, int line,
                          ng_error *error)
{
    if (field[0] != '\0')
        return ng_fail(error, NG_BAD_FILE, "%s:%d: %s: given twice", where,
                       line, name);
    if (strlen(value) >= size)
        return ng_fail(error, NG_BAD_FILE, "%s:%d: %s: longer than %zu bytes",
                       where, line, name, size - 1);
    if (!ng_is_plain_text(value)) /* it goes into reports */
        return ng_fail(error, NG_BAD_FILE, "%s:%d: %s: no plain text in UTF-8",
                       where, line, name);
    strcpy(field, value);
    return NG_OK;
}

static ng_status set_rule(ng_profile *profile, const char *name,
                          const char *value, const char *where, int line,
                          ng_error *error)
{
    ng_rule rule;
    int number;

    if (!ng_rule_find(name, &rule))
        return ng_fail(error, NG_BAD_FILE, "%s:%d: %s: no such rule", where,
                       line, name);
    if (profile->pinned[rule])
        return ng_fail(error, NG_BAD_FILE, "%s:%d: %s: given twice", where,
                       line, name);
    if (!ng_rule_value_find(rule, value, &number))
        return ng_fail(error, NG_BAD_FILE, "%s:%d: %s: no such value: %s",
                       where, line, name, value);
    ng_rules_set(&profile->rules, rule, number);
    profile->pinned[rule] = true;
    return NG_OK;
}

static ng_status parse_line(ng_profile *profile, char *line, const char *where,
                            int number, ng_error *error)
{
    char *name = trim(line);
    char *value = name + strcspn(name, " \t");

    if (*name == '\0')
        return NG_OK;
    if (*value != '\0')
        *value++ = '\0';
    value += strspn(value, " \t");
    if (*value == '\0')
        return ng_fail(error, NG_BAD_FILE, "%s:%d: %s: no value", where, number,
                       name);
    if (strcmp(name, "version") == 0)
        return set_text(profile->version, sizeof profile->version, name, value,
                        where, number, error);
    if (strcmp(name, "source") == 0)
        return set_text(profile->source, sizeof profile->source, name, value,
                        where, number, error);
    return set_rule(profile, name, value, where, number, error);
}

ng_status ng_profile_parse(ng_profile *profile, const char *name,
                           const char *text, size_t size, const char *where,
                           ng_error *error)
{
    ng_profile parsed = {.rules = ng_default_rules};
    const char *end = text + size;
    int number = 1;

    if (strlen(name) >= sizeof parsed.name)
        return ng_fail(error, NG_BAD_FILE, "%s: name: too long", where);
    if (*name == '\0' || !ng_is_plain_text(name))
        return ng_fail(error, NG_BAD_FILE, "%s: name: no plain text in UTF-8",
                       where);
    strcpy(parsed.name, name);
    for (; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((newline != NULL ? newline : end) - text);
        char line[MAX_LINE];

        if (length >= sizeof line || memchr(text, '\0', length) != NULL)
            return ng_fail(error, NG_BAD_FILE,
                           "%s:%d: line: too long, or not text", where, number);
        memcpy(line, text, length);
        line[length] = '\0';
        const ng_status status = parse_line(&parsed, line, where, number, error);
        if (status != NG_OK)
            return status;
        text += length + (newline != NULL);
    }
    if (parsed.version[0] == '\0' || parsed.source[0] == '\0')
        return ng_fail(error, NG_BAD_FILE, "%s: %s: missing", where,
                       parsed.version[0] == '\0' ? "version" : "source");
    *profile = parsed;
    return NG_OK;
}

const char *ng_profile_name(int i)
{
    return i >= 0 && i < ng_n_profile_texts ? ng_profile_texts[i].name : NULL;
}

/* A profile in a file of the user's own; its name is the file's, less the
 * folder and the suffix. */
static ng_status load_file(ng_profile *profile, const char *path,
                           ng_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(base);
    const bool suffixed =
        length > sizeof suffix - 1
        && strcmp(base + length - (sizeof suffix - 1), suffix) == 0;
    char name[MAX_LINE];
    ng_input_file file;
    ng_status status;
    char *text;

    if ((size_t)snprintf(name, sizeof name, "%.*s",
                         (int)(length - (suffixed ? sizeof suffix - 1 : 0)),
                         base)
        >= sizeof name)
        return ng_file_fail(error, NG_BAD_FILE, path, NULL, "name", "too long");
    status = ng_input_open(&file, path, error);
    if (status != NG_OK)
        return status;
    text = file.size <= MAX_PROFILE_BYTES ? malloc((size_t)file.size + 1) : NULL;
    if (file.size > MAX_PROFILE_BYTES)
        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "size",
                              "over %d bytes", MAX_PROFILE_BYTES);
    else if (text == NULL)
        status = ng_fail(error, NG_NO_MEMORY, "%s: out of memory", path);
    else
        status = ng_input_read(text, &file, 0, (size_t)file.size, error);
    if (status == NG_OK)
        status = ng_profile_parse(profile, name, text, (size_t)file.size, path,
                                  error);
    free(text);
    ng_input_close(&file);
    return status;
}

ng_status ng_profile_load(ng_profile *profile, const char *name,
                          ng_error *error)
{
    const size_t length = strlen(name);

    if (strchr(name, '/') != NULL
        || (length > sizeof suffix - 1
            && strcmp(name + length - (sizeof suffix - 1), suffix) == 0))
        return load_file(profile, name, error);
    for (int i = 0; i < ng_n_profile_texts; i++)
        if (strcmp(name, ng_profile_texts[i].name) == 0)
            return ng_profile_parse(profile, name, ng_profile_texts[i].text,
                                    ng_profile_texts[i].size, name, error);
    return ng_fail(error, NG_BAD_FILE,
                   "%s: profile: no such name (narrowgauge ops --profiles lists them)",
                   name);
}
