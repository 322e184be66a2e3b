/* SPDX-License-Identifier: Apache-2.0
 *
 * ng_schema_read: results come back from outside, and are not trusted.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/files/input_file.h"
#include "reports/json_schema.h"
#include "reports/texts_table.h"

enum { MAX_BYTES = 64 << 20 };

static const ng_embedded *schema_named(const char *name)
{
    for (int i = 0; i < ng_n_schema_texts; i++)
        if (strcmp(ng_schema_texts[i].name, name) == 0)
            return &ng_schema_texts[i];
    return NULL;
}

static json_t *parse(const char *path, const char *bytes, size_t size,
                     ng_error *error)
{
    json_error_t why;
    json_t *document = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &why);

    if (document == NULL)
        ng_fail(error, NG_BAD_FILE, "%s:%d: not JSON: %s", path, why.line,
                why.text);
    return document;
}

json_t *ng_schema_read(ng_status *status, const char *path, const char *name,
                       ng_error *error)
{
    const ng_embedded *text = name != NULL ? schema_named(name) : NULL;
    ng_input_file file;
    json_t *document = NULL, *schema = NULL;
    char *bytes = NULL;

    *status = ng_input_open(&file, path, error);
    if (*status != NG_OK)
        return NULL;
    if (file.size > MAX_BYTES)
        *status =
            ng_fail(error, NG_BAD_FILE, "%s: size: more than 64 MiB", path);
    else if ((bytes = malloc((size_t)file.size + 1)) == NULL)
        *status = ng_fail(error, NG_NO_MEMORY, "%s: out of memory", path);
    else
        *status = ng_input_read(bytes, &file, 0, (size_t)file.size, error);
    if (*status == NG_OK
        && (document = parse(path, bytes, (size_t)file.size, error)) == NULL)
        *status = NG_BAD_FILE;
    ng_input_close(&file);
    free(bytes);
    if (*status != NG_OK || name == NULL)
        return document;

    if (text != NULL)
        schema = json_loadb(text->text, text->size, 0, NULL);
    *status = schema != NULL ? ng_schema_check(document, schema, path, error)
                             : ng_fail(error, NG_BAD_VALUE, "%s: no schema %s",
                                       path, name);
    json_decref(schema);
    if (*status == NG_OK)
        return document;
    json_decref(document);
    return NULL;
}
