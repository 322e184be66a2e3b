/* SPDX-License-Identifier: Apache-2.0
 *
 * One rounding laid open: the exact value, the codes on either side of it, how
 * far it is from each, where it goes and why.
 */
#ifndef NG_CONFORMANCE_CLI_ROUNDING_VIEW_H
#define NG_CONFORMANCE_CLI_ROUNDING_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/cli/real_number.h"
#include "formats/rules.h"

typedef struct ng_neighbour {
    bool exists;
    bool has_code; /* false: the slot after the largest finite */
    uint32_t code;
    ng_real value;
    ng_real distance; /* from x */
    ng_real share;    /* distance / step between the neighbours; where both
                         exist */
} ng_neighbour;

typedef struct ng_rounding_view {
    const ng_format *format;
    ng_rules rules;
    uint32_t random;                /* of stochastic rounding */
    ng_real x;                      /* as given */
    ng_real taken;                  /* as encoded: |x| where there is no sign */
    bool is_code;                   /* the value of a code, exactly */
    ng_neighbour toward_zero, away; /* finite x that no code has */
    uint32_t code;                  /* the reference's result */
    unsigned events;                /* 1u << NG_EVENT_... */
    ng_real value;                  /* of the result */
} ng_rounding_view;

/* Round x, with format, rules and random set in *view, by the reference, and
 * fill the rest. */
void ng_rounding_view_fill(ng_rounding_view *view, const ng_real *x);

/* floor(2^32 t), t the place of x between its neighbours: what stochastic
 * rounding adds r to. Both neighbours exist. */
uint32_t ng_rounding_view_threshold(const ng_rounding_view *view);

/* Say in words why the result is what it is. */
void ng_rounding_view_why(char *text, size_t size,
                          const ng_rounding_view *view);

/* Write "inexact, tie" or "none". */
void ng_events_text(char *text, size_t size, unsigned events);

#endif
