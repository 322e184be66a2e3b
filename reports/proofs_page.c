/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/proofs_page.h"

#include <string.h>

#include "formats/files/atomic_write.h"
#include "reports/grouped_number.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* A power of two as such, any other number with its thousands apart. */
static const char *inputs_text(char *text, size_t size, json_int_t n)
{
    int k = 0;

    while (k < 62 && (json_int_t)1 << k < n)
        k++;
    if (k >= 16 && (json_int_t)1 << k == n)
        snprintf(text, size, "2^%d", k);
    else
        ng_number_grouped(text, size, n);
    return text;
}

static void print_page(FILE *out, const json_t *proofs)
{
    json_int_t inputs = 0, differences = 0;
    char a[40], b[40];
    json_t *entry;
    size_t i;

    json_array_foreach(proofs, i, entry) {
        inputs += number_of(entry, "inputs");
        differences += number_of(entry, "differences");
    }
    fprintf(out,
            "# Proofs\n\n"
            "Claims that were settled by trying every input: %zu claims, %s "
            "inputs, %s differences. `prove` makes this page and "
            "[proofs.json](proofs.json); it is built by `make prove`, lists its "
            "claims with `--list`, and repeats one with `--only NAME`. A run "
            "that was stopped goes on where it was. `make check` repeats a "
            "seeded sample, and fails if a claim of the program is missing "
            "here.\n\n"
            "| claim | inputs | differences | command |\n|---|---:|---:|---|\n",
            json_array_size(proofs), ng_number_grouped(a, sizeof a, inputs),
            ng_number_grouped(b, sizeof b, differences));
    json_array_foreach(proofs, i, entry)
        fprintf(out, "| %s | %s | %s | `%s` |\n", text_of(entry, "claim"),
                inputs_text(a, sizeof a, number_of(entry, "inputs")),
                ng_number_grouped(b, sizeof b, number_of(entry, "differences")),
                text_of(entry, "command"));
    fprintf(out, "\nTime, version and date of each are in the JSON.\n");
}

ng_status ng_proofs_page_write(const char *path, const json_t *proofs,
                               ng_error *error)
{
    ng_atomic_file file = {0};
    const ng_status status = ng_atomic_begin(&file, path, error);

    if (status != NG_OK)
        return status;
    print_page(file.stream, proofs);
    return ng_atomic_commit(&file, error);
}
