/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/json_schema.h"

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 32, MAX_PLACE = 256 };

/* Where in the document the walk is, and what it has to say. */
typedef struct walk {
    const json_t *root; /* the whole schema */
    const char *where;
    char place[MAX_PLACE]; /* a JSON pointer, "" at the top */
    int depth;
    ng_error *error;
} walk;

static ng_status check(walk *w, const json_t *value, const json_t *schema);

static ng_status misfit(const walk *w, const char *what, const char *detail)
{
    return ng_fail(w->error, NG_BAD_FILE, "%s: %s: %s%.100s", w->where,
                   *w->place != '\0' ? w->place : "/", what, detail);
}

static ng_status bad_schema(const walk *w, const char *what, const char *detail)
{
    return ng_fail(w->error, NG_BAD_VALUE, "%s: schema: %s %s", w->where, what,
                   detail);
}

static bool has_type(const json_t *value, const char *type)
{
    return strcmp(type, "object") == 0    ? json_is_object(value)
           : strcmp(type, "array") == 0   ? json_is_array(value)
           : strcmp(type, "string") == 0  ? json_is_string(value)
           : strcmp(type, "integer") == 0 ? json_is_integer(value)
           : strcmp(type, "number") == 0  ? json_is_number(value)
           : strcmp(type, "boolean") == 0 ? json_is_boolean(value)
           : strcmp(type, "null") == 0    ? json_is_null(value)
                                          : false;
}

static ng_status check_type(const walk *w, const json_t *value,
                            const json_t *type)
{
    char names[80];
    size_t used = 0;

    if (json_is_string(type))
        return has_type(value, json_string_value(type))
                   ? NG_OK
                   : misfit(w, "not of type ", json_string_value(type));
    for (size_t i = 0; i < json_array_size(type); i++) {
        const char *name = json_string_value(json_array_get(type, i));

        if (name == NULL)
            return bad_schema(w, "type", "is no name");
        if (has_type(value, name))
            return NG_OK;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i > 0 ? " or " : "", name);
        if (used >= sizeof names)
            return bad_schema(w, "type", "has too many names");
    }
    return misfit(w, "not of type ", names);
}

static ng_status check_enum(const walk *w, const json_t *value,
                            const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(value, json_array_get(list, i)))
            return NG_OK;
    return misfit(w, "none of the values that may stand there", "");
}

static ng_status check_const(const walk *w, const json_t *value,
                             const json_t *wanted)
{
    if (json_equal(value, wanted))
        return NG_OK;
    return json_is_string(wanted) ? misfit(w, "not ", json_string_value(wanted))
                                  : misfit(w, "another value", "");
}

static ng_status check_pattern(const walk *w, const char *text,
                               const char *pattern)
{
    regex_t regex;

    if (text == NULL)
        return NG_OK;
    if (pattern == NULL
        || regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return bad_schema(w, "pattern", "is none");

    const bool fits = regexec(&regex, text, 0, NULL, 0) == 0;

    regfree(&regex);
    return fits ? NG_OK : misfit(w, "does not match ", pattern);
}

/* Go one step down the document and check what is there. */
static ng_status check_below(walk *w, const char *step, const json_t *value,
                             const json_t *schema)
{
    const size_t length = strlen(w->place);

    if (++w->depth > MAX_DEPTH)
        return misfit(w, "nested too deep", "");
    snprintf(w->place + length, sizeof w->place - length, "/%.60s", step);

    const ng_status status = check(w, value, schema);

    w->place[length] = '\0';
    w->depth--;
    return status;
}

static ng_status check_required(const walk *w, const json_t *object,
                                const json_t *names)
{
    for (size_t i = 0; json_is_object(object) && i < json_array_size(names);
         i++) {
        const char *name = json_string_value(json_array_get(names, i));

        if (name == NULL)
            return bad_schema(w, "required", "is no name");
        if (json_object_get(object, name) == NULL)
            return misfit(w, "lacks the field ", name);
    }
    return NG_OK;
}

static ng_status check_members(walk *w, const json_t *object,
                               const json_t *schema)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    const char *name;
    json_t *value;
    ng_status status = NG_OK;

    json_object_foreach((json_t *)object, name, value) {
        const json_t *known = json_object_get(properties, name);

        if (known == NULL && json_is_false(others))
            status = misfit(w, "unknown field ", name);
        else if (known != NULL || json_is_object(others))
            status =
                check_below(w, name, value, known != NULL ? known : others);
        if (status != NG_OK)
            return status;
    }
    return NG_OK;
}

static ng_status check_items(walk *w, const json_t *array, const json_t *schema)
{
    const json_t *items = json_object_get(schema, "items");
    const json_t *least = json_object_get(schema, "minItems");
    const json_t *most = json_object_get(schema, "maxItems");
    const json_int_t n = (json_int_t)json_array_size(array);
    ng_status status = NG_OK;

    if ((least != NULL && n < json_integer_value(least))
        || (most != NULL && n > json_integer_value(most)))
        return misfit(w, "has too few or too many items", "");
    for (size_t i = 0; items != NULL && i < json_array_size(array); i++) {
        char step[24];

        snprintf(step, sizeof step, "%zu", i);
        status = check_below(w, step, json_array_get(array, i), items);
        if (status != NG_OK)
            break;
    }
    return status;
}

static ng_status check_range(const walk *w, const json_t *value,
                             const json_t *schema)
{
    const json_t *low = json_object_get(schema, "minimum");
    const json_t *high = json_object_get(schema, "maximum");

    if (low != NULL && json_number_value(value) < json_number_value(low))
        return misfit(w, "too small", "");
    if (high != NULL && json_number_value(value) > json_number_value(high))
        return misfit(w, "too large", "");
    return NG_OK;
}

static ng_status check_ref(walk *w, const json_t *value, const char *reference)
{
    static const char prefix[] = "#/$defs/";
    const json_t *target = NULL;

    if (reference != NULL && strncmp(reference, prefix, sizeof prefix - 1) == 0)
        target = json_object_get(json_object_get(w->root, "$defs"),
                                 reference + sizeof prefix - 1);
    if (target == NULL)
        return bad_schema(
            w, "$ref to nothing:", reference != NULL ? reference : "");
    if (++w->depth > MAX_DEPTH)
        return misfit(w, "nested too deep", "");

    const ng_status status = check(w, value, target);

    w->depth--;
    return status;
}

/* The error is that of the last one tried. */
static ng_status check_any(walk *w, const json_t *value, const json_t *list)
{
    ng_status status = NG_OK;

    if (json_array_size(list) == 0)
        return bad_schema(w, "anyOf", "is no list");
    for (size_t i = 0; i < json_array_size(list); i++) {
        status = check(w, value, json_array_get(list, i));
        if (status != NG_BAD_FILE)
            break;
    }
    return status;
}

/* Words that a schema may hold. */
static ng_status check_words(const walk *w, const json_t *schema)
{
    static const char *const words[] = {
        "$schema", "$id",         "$defs",      "$ref",
        "title",   "description", "type",       "const",
        "enum",    "required",    "properties", "additionalProperties",
        "items",   "minItems",    "maxItems",   "minimum",
        "maximum", "pattern",     "anyOf"};
    const char *name;
    json_t *value;

    if (!json_is_object(schema))
        return bad_schema(w, "not an object", "");
    json_object_foreach((json_t *)schema, name, value) {
        size_t i = 0;

        while (i < sizeof words / sizeof *words && strcmp(words[i], name) != 0)
            i++;
        if (i == sizeof words / sizeof *words)
            return bad_schema(w, "unknown word", name);
    }
    return NG_OK;
}

static ng_status check(walk *w, const json_t *value, const json_t *schema)
{
    const json_t *word;
    ng_status status = check_words(w, schema);

    if (status == NG_OK && (word = json_object_get(schema, "$ref")) != NULL)
        status = check_ref(w, value, json_string_value(word));
    if (status == NG_OK && (word = json_object_get(schema, "anyOf")) != NULL)
        status = check_any(w, value, word);
    if (status == NG_OK && (word = json_object_get(schema, "type")) != NULL)
        status = check_type(w, value, word);
    if (status == NG_OK && (word = json_object_get(schema, "const")) != NULL)
        status = check_const(w, value, word);
    if (status == NG_OK && (word = json_object_get(schema, "enum")) != NULL)
        status = check_enum(w, value, word);
    if (status == NG_OK && (word = json_object_get(schema, "pattern")) != NULL)
        status =
            check_pattern(w, json_string_value(value), json_string_value(word));
    if (status == NG_OK && json_is_number(value))
        status = check_range(w, value, schema);
    if (status == NG_OK)
        status = check_required(w, value, json_object_get(schema, "required"));
    if (status == NG_OK && json_is_object(value))
        status = check_members(w, value, schema);
    if (status == NG_OK && json_is_array(value))
        status = check_items(w, value, schema);
    return status;
}

ng_status ng_schema_check(const json_t *document, const json_t *schema,
                          const char *where, ng_error *error)
{
    walk w = {.root = schema, .where = where, .error = error};

    return check(&w, document, schema);
}
