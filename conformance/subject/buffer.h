/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for one tensor of a plug-in's call: between two pages that are
 * missing, so that a step too far stops at once, and with guard bytes on the
 * side where there is room for them.
 */
#ifndef NG_CONFORMANCE_SUBJECT_BUFFER_H
#define NG_CONFORMANCE_SUBJECT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: none yet. It keeps its pages from call to call. */
typedef struct ng_buffer {
    unsigned char *map; /* a missing page, `room` bytes, a missing page */
    size_t room;
    unsigned char *data;
    int64_t span;         /* bytes of data */
    size_t before, after; /* guard bytes there are, filled */
} ng_buffer;

/* Make room for span bytes at a multiple of alignment (a power of two up to a
 * page). at_end: they end at the page that is missing, or as near as alignment
 * lets them; else they begin at one. Returns false without memory. */
bool ng_buffer_place(ng_buffer *buffer, int64_t span, size_t alignment,
                     bool at_end);

/* Whether an address lies in the buffer's pages, the missing ones included. */
bool ng_buffer_holds(const ng_buffer *buffer, uintptr_t address);

#endif
