/* SPDX-License-Identifier: Apache-2.0
 *
 * A YAML file read by a schema: a table of the fields that may stand in it and
 * where each goes in a structure. Mappings within mappings have names with
 * dots: "model.hidden". A file from outside is hostile: its size and depth are
 * limited, and an unknown key, a second one, a wrong type, a number that is not
 * one, an anchor, an alias, a tag or a second document is refused with one line
 *     PATH:LINE: FIELD: what is wrong
 */
#ifndef NG_FORMATS_FILES_YAML_SCHEMA_H
#define NG_FORMATS_FILES_YAML_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    NG_YAML_MAX_BYTES = 64 << 10, /* of a file */
    NG_YAML_MAX_DEPTH = 4,        /* mappings within mappings */
    NG_YAML_MAX_NAME = 64         /* bytes of a field's name, dots included */
};

/* How a field is written, and its C type. */
typedef enum ng_yaml_kind {
    NG_YAML_WHOLE,  /* int64_t: decimal digits, a minus before them */
    NG_YAML_NUMBER, /* double: a decimal number, finite */
    NG_YAML_FLAG,   /* bool: true or false */
    NG_YAML_CHOICE, /* int: the index of one of `choices` */
    NG_YAML_TEXT    /* char[size]: any UTF-8 without control bytes */
} ng_yaml_kind;

typedef struct ng_yaml_field {
    const char *name;
    ng_yaml_kind kind;
    size_t offset;
    double low, high;           /* WHOLE, NUMBER: both taken; whole ones are
                                   2^53 at most */
    const char *const *choices; /* CHOICE: ended by null */
    size_t size;                /* TEXT: bytes, the end included */
    bool required;
    const char *meaning; /* with its unit, for a listing */
} ng_yaml_field;

typedef struct ng_yaml_schema {
    const ng_yaml_field *fields;
    int n_fields;
} ng_yaml_schema;

/* The number of a field by its name; -1 if there is none. */
int ng_yaml_find(const ng_yaml_schema *schema, const char *name);

/* Read the file at `path`. Fields that it does not name keep what *out has.
 *   out    in-out  the structure
 *   lines  out     [n_fields] the line of each field; 0: not in the file
 * Returns NG_OK; NG_BAD_FILE or NG_NO_MEMORY with *out and lines undefined. */
ng_status ng_yaml_read(void *out, int *lines, const ng_yaml_schema *schema,
                       const char *path, ng_error *error);

/* Set one field from a text NAME=VALUE, as an option gives it. The line of the
 * field becomes 0, and errors begin with the text itself.
 * Returns NG_OK, NG_BAD_VALUE. */
ng_status ng_yaml_set(void *out, int *lines, const ng_yaml_schema *schema,
                      const char *assignment, ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
