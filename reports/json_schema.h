/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON held to the schemas that this project publishes (reports/schema/). The
 * part of JSON Schema (draft 2020-12) that they use: type, const, enum,
 * required, properties, additionalProperties, items, minItems, maxItems,
 * minimum, maximum, pattern (POSIX extended), anyOf, $ref to #/$defs. A schema
 * with any other word that is no comment is refused, so that none goes
 * unheeded.
 */
#ifndef NG_REPORTS_JSON_SCHEMA_H
#define NG_REPORTS_JSON_SCHEMA_H

#include <jansson.h>

#include "formats/status.h"

/* Hold a document to a schema.
 *   where  opens the error line: "where: /operations/3/cases: not an integer"
 * Returns NG_OK; NG_BAD_FILE with that line where it does not fit; NG_BAD_VALUE
 * where the schema itself is at fault. */
ng_status ng_schema_check(const json_t *document, const json_t *schema,
                          const char *where, ng_error *error);

/* Read a JSON file (a regular one, of at most 64 MiB, no name twice in an
 * object) and hold it to the embedded schema of that name; a null name: to
 * none. Returns a new reference, or null with one line in *error and *status
 * NG_BAD_FILE or NG_NO_MEMORY. */
json_t *ng_schema_read(ng_status *status, const char *path, const char *name,
                       ng_error *error);

#endif
