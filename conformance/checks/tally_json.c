/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/tally_json.h"

static json_t *counts_of(const ng_tally *t)
{
    return json_pack("{s:I, s:I, s:I}", "cases", (json_int_t)t->cases,
                     "failed_cases", (json_int_t)t->failed_cases, "differences",
                     (json_int_t)t->differences);
}

/* All strata, also those that did not run, so that shards list the same; with
 * digests of their own, which say where a change is. */
static json_t *strata_of(const ng_operation_result *r)
{
    json_t *strata = json_object();

    for (int s = 0; r->operation->strata[s].name != NULL; s++) {
        const ng_tally *t = &r->stratum[s];
        json_t *counts = counts_of(t);

        json_object_set_new(counts, "inputs", ng_digest_json(t->inputs));
        json_object_set_new(counts, "outputs", ng_digest_json(t->outputs));
        json_object_set_new(strata, r->operation->strata[s].name, counts);
    }
    return strata;
}

static json_t *axes_of(const ng_operation_result *r)
{
    json_t *axes = json_object();

    for (int a = 0; a < r->operation->n_axes; a++) {
        const ng_axis *axis = &r->operation->axes[a];
        json_t *values = json_object();

        for (int v = 0; v < axis->n_values; v++)
            json_object_set_new(values, ng_axis_label(axis, axis->value[v]),
                                counts_of(&r->value[a][v]));
        json_object_set_new(axes, axis->name, values);
    }
    return axes;
}

json_t *ng_tally_json(const ng_operation_result *result)
{
    json_t *object = ng_measurement_json(&result->measured);

    if (object == NULL)
        return NULL;
    json_object_set_new(object, "strata", strata_of(result));
    json_object_set_new(object, "axes", axes_of(result));
    return object;
}

/* Add the counts and digests of part to those of sum, member by member. */
static void add_members(json_t *sum, const json_t *part)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)part, name, value) {
        json_t *mine = json_object_get(sum, name);

        if (mine == NULL)
            json_object_set_new(sum, name, json_deep_copy(value));
        else if (json_is_object(value))
            add_members(mine, value);
        else if (json_is_string(value))
            json_object_set_new(sum, name,
                                ng_digest_json(ng_digest_of_json(mine)
                                               + ng_digest_of_json(value)));
        else
            json_object_set_new(sum, name,
                                json_integer(json_integer_value(mine)
                                             + json_integer_value(value)));
    }
}

void ng_tally_json_merge(json_t *sum, const json_t *part)
{
    ng_measurement a, b;

    ng_measurement_of_json(&a, sum);
    ng_measurement_of_json(&b, part);
    ng_measurement_add(&a, &b);
    json_object_update_new(sum, ng_measurement_json(&a));
    add_members(json_object_get(sum, "strata"),
                json_object_get(part, "strata"));
    add_members(json_object_get(sum, "axes"), json_object_get(part, "axes"));
}
