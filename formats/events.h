/* SPDX-License-Identifier: Apache-2.0
 *
 * What happened to the elements of an operation: numeric events, which are
 * results and no errors. A scalar function ORs their bits; an array function
 * counts the elements that had each.
 */
#ifndef NG_FORMATS_EVENTS_H
#define NG_FORMATS_EVENTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ng_event {
    NG_EVENT_INEXACT,       /* the code's value is not the exact result */
    NG_EVENT_TIE,           /* exactly half way between two neighbours */
    NG_EVENT_SUBNORMAL,     /* the code is a nonzero subnormal */
    NG_EVENT_FLUSHED,       /* a nonzero value became zero */
    NG_EVENT_SATURATED,     /* a finite value, once rounded, passes the largest */
    NG_EVENT_INFINITE,      /* an infinity came in */
    NG_EVENT_NAN,           /* a NaN came in, or a NaN block holds the element */
    NG_N_EVENTS
} ng_event;

typedef struct ng_events {
    uint64_t count[NG_N_EVENTS];
} ng_events;

/* "inexact", "tie" ...; never null for a valid event. */
const char *ng_event_name(ng_event event);

/* Count one element whose event bits (1u << NG_EVENT_...) are given. */
static inline void ng_events_count(ng_events *events, unsigned bits)
{
    for (int event = 0; event < NG_N_EVENTS; event++)
        events->count[event] += (bits >> event) & 1u;
}

static inline void ng_events_add(ng_events *sum, const ng_events *more)
{
    for (int event = 0; event < NG_N_EVENTS; event++)
        sum->count[event] += more->count[event];
}

#ifdef __cplusplus
}
#endif

#endif
