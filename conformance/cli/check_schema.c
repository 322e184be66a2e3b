/* SPDX-License-Identifier: Apache-2.0
 *
 * check-schema SCHEMA.json FILE.json: whether the file fits the schema. Exits
 * with 0; 1 after one line on why not; 2 where one of the two is no JSON, or
 * the schema is at fault.
 */
#include <stdbool.h>
#include <stdio.h>

#include "reports/json_schema.h"

int main(int argc, char **argv)
{
    ng_error error;
    ng_status status;

    if (argc != 3) {
        fputs("Usage: check-schema SCHEMA.json FILE.json\n", stderr);
        return 2;
    }

    json_t *schema = ng_schema_read(&status, argv[1], NULL, &error);
    json_t *file =
        schema != NULL ? ng_schema_read(&status, argv[2], NULL, &error) : NULL;
    const bool read = file != NULL;

    if (read)
        status = ng_schema_check(file, schema, argv[2], &error);
    json_decref(schema);
    json_decref(file);
    if (status == NG_OK)
        return 0;
    fprintf(stderr, "check-schema: %s\n", error.text);
    return read && status == NG_BAD_FILE ? 1 : 2;
}
