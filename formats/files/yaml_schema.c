/* SPDX-License-Identifier: Apache-2.0
 *
 * libyaml's document interface builds the whole tree; the tree is walked once.
 * An alias makes two parents of one node: a node that is met twice is therefore
 * refused, which also ends every cycle and every tree that grows by sharing.
 */
#include "formats/files/yaml_schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "formats/files/file_error.h"
#include "formats/files/input_file.h"
#include "formats/text.h"

static ng_status no_memory(ng_error *error, const char *path)
{
    (void)ng_fail(error, NG_NO_MEMORY, "%s: out of memory", path);
    return NG_NO_MEMORY;
}

typedef struct reading {
    void *out;
    int *lines;
    const ng_yaml_schema *schema;
    yaml_document_t *document;
    bool *seen; /* by node */
    const char *path;
    ng_error *error;
} reading;

/* A text of a file or an option: how long it is, and whether it was quoted. */
typedef struct scalar {
    const char *text;
    size_t length;
    bool quoted;
} scalar;

int ng_yaml_find(const ng_yaml_schema *schema, const char *name)
{
    for (int i = 0; i < schema->n_fields; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- values ------------------------------------------------------------- */

static bool all_of(const scalar *value, const char *bytes)
{
    return value->length > 0 && strspn(value->text, bytes) == value->length;
}

static const char *take_whole(int64_t *out, const ng_yaml_field *field,
                              const scalar *value)
{
    char *end;

    errno = 0;
    if (value->quoted || !all_of(value, "-0123456789"))
        return "is not a whole number";
    const intmax_t number = strtoimax(value->text, &end, 10);
    if (*end != '\0' || end == value->text)
        return "is not a whole number";
    if (errno != 0 || number < (intmax_t)field->low
        || number > (intmax_t)field->high)
        return "is out of range";
    *out = number;
    return NULL;
}

/* strtod takes hexadecimal, "inf" and "nan" as well, which are kept out by
 * their letters; and the program never leaves the locale "C". */
static const char *take_number(double *out, const ng_yaml_field *field,
                               const scalar *value)
{
    char *end;

    if (value->quoted || !all_of(value, "+-.0123456789eE"))
        return "is not a number";
    const double number = strtod(value->text, &end);
    if (*end != '\0' || end == value->text)
        return "is not a number";
    if (!(number >= field->low && number <= field->high))
        return "is out of range";
    *out = number;
    return NULL;
}

static const char *take_flag(bool *out, const scalar *value)
{
    const bool is_true = strcmp(value->text, "true") == 0;

    if (value->quoted || (!is_true && strcmp(value->text, "false") != 0))
        return "is neither true nor false";
    *out = is_true;
    return NULL;
}

static const char *take_choice(int *out, const ng_yaml_field *field,
                               const scalar *value)
{
    for (int i = 0; field->choices[i] != NULL; i++)
        if (strcmp(field->choices[i], value->text) == 0) {
            *out = i;
            return NULL;
        }
    return "is none of its choices";
}

static const char *take_text(char *out, const ng_yaml_field *field,
                             const scalar *value)
{
    if (value->length >= field->size)
        return "is too long";
    for (size_t i = 0; i < value->length; i++)
        if ((unsigned char)value->text[i] < 0x20 || value->text[i] == 0x7F)
            return "holds a control byte";
    if (!ng_is_utf8(value->text))
        return "is not UTF-8";
    memcpy(out, value->text, value->length + 1);
    return NULL;
}

/* What is wrong with the value, or null once it is taken. */
static const char *take(void *out, const ng_yaml_field *field,
                        const scalar *value)
{
    void *at = (char *)out + field->offset;

    if (strlen(value->text) != value->length)
        return "holds a NUL byte";
    switch (field->kind) {
    case NG_YAML_WHOLE:
        return take_whole(at, field, value);
    case NG_YAML_NUMBER:
        return take_number(at, field, value);
    case NG_YAML_FLAG:
        return take_flag(at, value);
    case NG_YAML_CHOICE:
        return take_choice(at, field, value);
    case NG_YAML_TEXT:
        return take_text(at, field, value);
    }
    return "is of no kind";
}

/* What may stand there: for the end of an error line. */
static void describe(char *text, size_t size, const ng_yaml_field *field)
{
    size_t used = 0;

    text[0] = '\0';
    switch (field->kind) {
    case NG_YAML_WHOLE:
    case NG_YAML_NUMBER:
        snprintf(text, size, " (%.15g .. %.15g)", field->low, field->high);
        break;
    case NG_YAML_CHOICE:
        for (int i = 0; field->choices[i] != NULL && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     i == 0 ? " (" : ", ", field->choices[i]);
        if (used < size)
            snprintf(text + used, size - used, ")");
        break;
    case NG_YAML_TEXT:
        snprintf(text, size, " (at most %zu bytes)", field->size - 1);
        break;
    case NG_YAML_FLAG:
        break;
    }
}

/* One line for a value that cannot be taken. */
static ng_status refuse(ng_error *error, ng_status status, const char *where,
                        const ng_yaml_field *field, const scalar *value,
                        const char *fault)
{
    char may_be[128];

    describe(may_be, sizeof may_be, field);
    return ng_file_fail(error, status, where, NULL, field->name,
                        "\"%.64s\" %s%s", value->text, fault, may_be);
}

/* ---- the tree ----------------------------------------------------------- */

static ng_status fail_at(const reading *r, size_t line, const char *field,
                         const char *fault)
{
    char where[4096];

    snprintf(where, sizeof where, "%s:%zu", r->path, line);
    return ng_file_fail(r->error, NG_BAD_FILE, where, NULL, field, "%s", fault);
}

static size_t line_of(const yaml_node_t *node)
{
    return node->start_mark.line + 1;
}

/* A node by its index, met for the first time; null, and a line, otherwise. */
static const yaml_node_t *visit(const reading *r, int index, const char *field)
{
    const yaml_node_t *node = yaml_document_get_node(r->document, index);

    if (node == NULL || r->seen[index - 1]) {
        (void)fail_at(r, node == NULL ? 1 : line_of(node), field,
                      "an alias: write the value again");
        return NULL;
    }
    r->seen[index - 1] = true;
    if (node->tag != NULL
        && strncmp((const char *)node->tag, "tag:yaml.org,2002:", 18) == 0
        && (strcmp((const char *)node->tag + 18, "str") == 0
            || strcmp((const char *)node->tag + 18, "seq") == 0
            || strcmp((const char *)node->tag + 18, "map") == 0))
        return node;
    (void)fail_at(r, line_of(node), field, "a tag: none is needed");
    return NULL;
}

static ng_status take_scalar(const reading *r, const char *name,
                             const yaml_node_t *key, const yaml_node_t *node)
{
    const int number = ng_yaml_find(r->schema, name);

    if (number < 0)
        return fail_at(r, line_of(key), name, "there is no such field");
    if (node->type != YAML_SCALAR_NODE)
        return fail_at(r, line_of(key), name, "is not a single value");
    if (r->lines[number] != 0)
        return fail_at(r, line_of(key), name, "stands there twice");

    const ng_yaml_field *field = &r->schema->fields[number];
    const scalar value = {(const char *)node->data.scalar.value,
                          node->data.scalar.length,
                          node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE};
    const char *fault = take(r->out, field, &value);

    r->lines[number] = (int)line_of(key);
    if (fault == NULL)
        return NG_OK;

    char where[4096];

    snprintf(where, sizeof where, "%s:%zu", r->path, line_of(node));
    return refuse(r->error, NG_BAD_FILE, where, field, &value, fault);
}

/* Whether some field's name begins with `name` and a dot. */
static bool is_section(const ng_yaml_schema *schema, const char *name)
{
    const size_t length = strlen(name);

    for (int i = 0; i < schema->n_fields; i++)
        if (strncmp(schema->fields[i].name, name, length) == 0
            && schema->fields[i].name[length] == '.')
            return true;
    return false;
}

static ng_status take_mapping(const reading *r, const char *prefix,
                              const yaml_node_t *mapping, int depth)
{
    const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;

    for (; pair < mapping->data.mapping.pairs.top; pair++) {
        char name[NG_YAML_MAX_NAME];
        const yaml_node_t *key = visit(r, pair->key, prefix);
        const yaml_node_t *value =
            key == NULL ? NULL : visit(r, pair->value, prefix);

        if (value == NULL)
            return NG_BAD_FILE;
        if (key->type != YAML_SCALAR_NODE
            || strlen((const char *)key->data.scalar.value)
                   != key->data.scalar.length)
            return fail_at(r, line_of(key), "key", "is not a name");
        if ((size_t)snprintf(name, sizeof name, "%s%s%s", prefix,
                             *prefix == '\0' ? "" : ".",
                             (const char *)key->data.scalar.value)
            >= sizeof name)
            return fail_at(r, line_of(key), name, "there is no such field");

        const bool deeper = value->type == YAML_MAPPING_NODE
                            && is_section(r->schema, name)
                            && depth < NG_YAML_MAX_DEPTH;
        const ng_status status = deeper
                                     ? take_mapping(r, name, value, depth + 1)
                                     : take_scalar(r, name, key, value);

        if (status != NG_OK)
            return status;
    }
    return NG_OK;
}

static ng_status take_document(reading *r)
{
    const yaml_node_t *root = yaml_document_get_root_node(r->document);
    const size_t n_nodes =
        (size_t)(r->document->nodes.top - r->document->nodes.start);

    if (root == NULL || root->type != YAML_MAPPING_NODE)
        return fail_at(r, root == NULL ? 1 : line_of(root), "document",
                       "is not a mapping");
    r->seen = calloc(n_nodes, sizeof *r->seen);
    if (r->seen == NULL)
        return no_memory(r->error, r->path);
    r->seen[root - r->document->nodes.start] = true;

    ng_status status = take_mapping(r, "", root, 1);

    free(r->seen);
    for (int i = 0; i < r->schema->n_fields && status == NG_OK; i++)
        if (r->schema->fields[i].required && r->lines[i] == 0)
            status = ng_file_fail(r->error, NG_BAD_FILE, r->path, NULL,
                                  r->schema->fields[i].name, "is missing");
    return status;
}

/* ---- the file ----------------------------------------------------------- */

static ng_status fail_parser(const reading *r, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(r->error, r->path);
    return fail_at(
        r,
        parser->error == YAML_READER_ERROR ? parser->mark.line + 1
                                           : parser->problem_mark.line + 1,
        "YAML", parser->problem == NULL ? "cannot be read" : parser->problem);
}

/* There is one document, and nothing after it. */
static ng_status expect_end(const reading *r, yaml_parser_t *parser)
{
    yaml_document_t next;

    if (!yaml_parser_load(parser, &next))
        return fail_parser(r, parser);

    const yaml_node_t *root = yaml_document_get_root_node(&next);
    const ng_status status =
        root == NULL ? NG_OK
                     : fail_at(r, line_of(root), "document", "a second one");

    yaml_document_delete(&next);
    return status;
}

/* libyaml takes time in the square of the brackets that are open, and of the
 * columns that are indented. No field of ours needs brackets. */
static ng_status check_brackets(const reading *r, const char *text, size_t size)
{
    size_t line = 1, open = 0;

    for (size_t i = 0; i < size; i++) {
        line += text[i] == '\n';
        open += text[i] == '[' || text[i] == '{';
        if (open > 1000)
            return fail_at(r, line, "YAML", "has too many brackets");
    }
    return NG_OK;
}

static ng_status parse(reading *r, const char *text, size_t size)
{
    yaml_parser_t parser;
    yaml_document_t document;
    ng_status status = check_brackets(r, text, size);

    if (status != NG_OK)
        return status;
    if (!yaml_parser_initialize(&parser))
        return no_memory(r->error, r->path);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    if (!yaml_parser_load(&parser, &document))
        status = fail_parser(r, &parser);
    else {
        r->document = &document;
        status = take_document(r);
        if (status == NG_OK)
            status = expect_end(r, &parser);
        yaml_document_delete(&document);
        r->document = NULL;
    }
    yaml_parser_delete(&parser);
    return status;
}

/* The bytes of a file that is not too long, to be freed. */
static ng_status read_text(char **text, const ng_input_file *file,
                           ng_error *error)
{
    ng_status status;

    if (file->size > NG_YAML_MAX_BYTES) {
        (void)ng_file_fail(error, NG_BAD_FILE, file->path, NULL, "size",
                           "%" PRId64 " bytes are more than %d", file->size,
                           NG_YAML_MAX_BYTES);
        return NG_BAD_FILE;
    }
    *text = calloc((size_t)file->size + 1, 1);
    if (*text == NULL)
        return no_memory(error, file->path);
    status = ng_input_read(*text, file, 0, (size_t)file->size, error);
    if (status != NG_OK)
        free(*text);
    return status;
}

ng_status ng_yaml_read(void *out, int *lines, const ng_yaml_schema *schema,
                       const char *path, ng_error *error)
{
    reading r = {out, lines, schema, NULL, NULL, path, error};
    ng_input_file file;
    char *text;
    ng_status status = ng_input_open(&file, path, error);

    if (status != NG_OK)
        return status;
    memset(lines, 0, (size_t)schema->n_fields * sizeof *lines);
    status = read_text(&text, &file, error);
    if (status == NG_OK) {
        status = parse(&r, text, (size_t)file.size);
        free(text);
    }
    ng_input_close(&file);
    return status;
}

ng_status ng_yaml_set(void *out, int *lines, const ng_yaml_schema *schema,
                      const char *assignment, ng_error *error)
{
    char name[NG_YAML_MAX_NAME];
    const char *equals = strchr(assignment, '=');
    const size_t length =
        equals == NULL ? sizeof name : (size_t)(equals - assignment);

    if (length >= sizeof name)
        return ng_fail(error, NG_BAD_VALUE, "%s: is not NAME=VALUE",
                       assignment);
    memcpy(name, assignment, length);
    name[length] = '\0';

    const int number = ng_yaml_find(schema, name);

    if (number < 0)
        return ng_fail(error, NG_BAD_VALUE, "%s: %s: there is no such field",
                       assignment, name);

    const ng_yaml_field *field = &schema->fields[number];
    const scalar value = {equals + 1, strlen(equals + 1), false};
    const char *fault = take(out, field, &value);

    lines[number] = 0;
    return fault == NULL
               ? NG_OK
               : refuse(error, NG_BAD_VALUE, assignment, field, &value, fault);
}
