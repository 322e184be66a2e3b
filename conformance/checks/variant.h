/* SPDX-License-Identifier: Apache-2.0
 *
 * An operation comes in variants: each axis (a rule, an element type, a layout)
 * takes one of its values. A check runs over the product of the axes, less what
 * a profile pins.
 */
#ifndef NG_CONFORMANCE_CHECKS_VARIANT_H
#define NG_CONFORMANCE_CHECKS_VARIANT_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/dtype.h"
#include "formats/profile.h"
#include "formats/rules.h"

enum { NG_MAX_AXES = 6, NG_MAX_AXIS_VALUES = 9 };

typedef enum ng_axis_kind { NG_AXIS_RULE, NG_AXIS_DTYPE, NG_AXIS_FLAG }
    ng_axis_kind;

typedef struct ng_axis {
    const char *name;           /* of a rule axis the rule's; "x", "scales" ... */
    ng_axis_kind kind;
    ng_rule rule;               /* of a rule axis */
    int n_values;
    int value[NG_MAX_AXIS_VALUES];      /* rule values, ng_dtypes, or 0 and 1 */
} ng_axis;

typedef struct ng_variant {
    ng_rules rules;
    int n_axes;
    const ng_axis *axes;
    int value[NG_MAX_AXES];
} ng_variant;

/* A value of an axis as people write it: "nearest-even", "bf16", "yes". */
const char *ng_axis_label(const ng_axis *axis, int value);

/* The value of the axis of that name, or otherwise if there is none. */
int ng_variant_get(const ng_variant *variant, const char *axis, int otherwise);

/* Step through the product: first with i = 0, 1, ... Returns false past the end.
 * Where profile pins an axis's rule, only that value appears (none at all if
 * the axis lacks it). An axis with all of the specification's values takes a
 * peer's too, if one is pinned. */
bool ng_variant_at(ng_variant *variant, const ng_axis *axes, int n_axes,
                   const ng_profile *profile, int64_t i);

/* Whether an axis "name=value" has that value in the variant. A variant without
 * such an axis matches. */
bool ng_variant_matches(const ng_variant *variant, const char *name_value);

/* Write "rounding=up,overflow=ieee" (or "-" without axes). Returns the length
 * as snprintf does. */
int ng_variant_print(char *text, size_t size, const ng_variant *variant);

#endif
