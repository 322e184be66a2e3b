/* SPDX-License-Identifier: Apache-2.0
 *
 * What a subject's process leaves behind: children of its that moved to another
 * process group, or session, and so escape the signal to the group.
 */
#ifndef NG_CONFORMANCE_SUBJECT_ORPHANS_H
#define NG_CONFORMANCE_SUBJECT_ORPHANS_H

/* Have the kernel make orphans of a subject ours, not init's. Call it before a
 * subject starts. */
void ng_orphans_adopt(void);

/* A moment, in the kernel's ticks, for the other function. */
unsigned long long ng_orphans_now(void);

/* End our children that were started at `since` or later, but for those that
 * ng_process_start started and that have not ended: is_ours says which. Tries
 * for a bounded time, as one that forks all the time may outrun it. */
void ng_orphans_end(unsigned long long since, int (*is_ours)(int pid));

#endif
