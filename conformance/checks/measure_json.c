/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/measure.h"

json_t *ng_digest_json(uint64_t digest)
{
    char text[17];

    snprintf(text, sizeof text, "%016" PRIx64, digest);
    return json_string(text);
}

uint64_t ng_digest_of_json(const json_t *value)
{
    const char *text = json_string_value(value);

    return text != NULL ? strtoull(text, NULL, 16) : 0;
}

static json_t *count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static uint64_t count_of(const json_t *value)
{
    return (uint64_t)json_integer_value(value);
}

/* Only what there is: most binades of most operations are empty. */
json_t *ng_measurement_json(const ng_measurement *m)
{
    json_t *ulp = json_array(), *error = json_array(), *binades = json_array();
    bool any = false;

    for (int i = 0; i < NG_ULP_BINS; i++)
        any = any || m->ulp[i] > 0;
    for (int i = 0; any && i < NG_ULP_BINS; i++)
        json_array_append_new(ulp, count(m->ulp[i]));
    for (int i = 0; i < NG_N_BINADES; i++) {
        const int binade = NG_LOWEST_BINADE + i;
        const ng_binade_error *e = &m->error[i];

        if (e->n > 0)
            json_array_append_new(
                error, json_pack("[i, I, I, I]", binade, (json_int_t)e->n,
                                 (json_int_t)e->sum, (json_int_t)e->most));
        if (m->scale[i] > 0)
            json_array_append_new(
                binades, json_pack("[i, I]", binade, (json_int_t)m->scale[i]));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o}}", "inputs",
                     ng_digest_json(m->inputs), "outputs",
                     ng_digest_json(m->outputs), "ulp", ulp, "error", error,
                     "scales", "zero", count(m->zero_scales), "nan",
                     count(m->nan_scales), "binades", binades);
}

/* The place of a row's binade; -1 if it has none. */
static int place_of(const json_t *row)
{
    const json_int_t at =
        json_integer_value(json_array_get(row, 0)) - NG_LOWEST_BINADE;

    return json_is_integer(json_array_get(row, 0)) && at >= 0
                   && at < NG_N_BINADES
               ? (int)at
               : -1;
}

void ng_measurement_of_json(ng_measurement *m, const json_t *object)
{
    const json_t *scales = json_object_get(object, "scales");
    json_t *row;
    size_t i;

    memset(m, 0, sizeof *m);
    m->inputs = ng_digest_of_json(json_object_get(object, "inputs"));
    m->outputs = ng_digest_of_json(json_object_get(object, "outputs"));
    m->zero_scales = count_of(json_object_get(scales, "zero"));
    m->nan_scales = count_of(json_object_get(scales, "nan"));
    for (i = 0; i < NG_ULP_BINS; i++)
        m->ulp[i] = count_of(json_array_get(json_object_get(object, "ulp"), i));
    json_array_foreach(json_object_get(object, "error"), i, row)
        if (place_of(row) >= 0)
            m->error[place_of(row)] =
                (ng_binade_error){count_of(json_array_get(row, 1)),
                                  count_of(json_array_get(row, 2)),
                                  count_of(json_array_get(row, 3))};
    json_array_foreach(json_object_get(scales, "binades"), i, row)
        if (place_of(row) >= 0)
            m->scale[place_of(row)] = count_of(json_array_get(row, 1));
}
