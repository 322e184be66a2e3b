/* SPDX-License-Identifier: Apache-2.0
 *
 * What every matrix operation takes beside its tensors. A null pointer to it
 * means the defaults throughout. Zero-initialize, then name what differs.
 */
#ifndef NG_FORMATS_OPTIONS_H
#define NG_FORMATS_OPTIONS_H

#include "formats/events.h"
#include "formats/layout.h"
#include "formats/rules.h"

/* The stream of random words of stochastic rounding: element i of the tensor,
 * counted row-major, uses word i mod 4 of Philox4x32-10 with the counter
 * (i div 4, stream) and the key seed, 64 bits each, low word first. */
typedef struct ng_random {
    uint64_t seed, stream;
} ng_random;

typedef struct ng_options {
    const ng_rules *rules;      /* null: ng_default_rules */
    const ng_groups *groups;    /* null: dense, all rows */
    ng_random random;           /* read by stochastic rounding only */
    ng_events *events;          /* counts are added here; may be null */
} ng_options;

#endif
