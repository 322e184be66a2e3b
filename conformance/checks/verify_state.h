/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of a long run: a JSON Lines file with a header that says which run
 * it is of, then a line a finished chunk, so that a run stopped at any moment
 * goes on where it was.
 */
#ifndef NG_CONFORMANCE_CHECKS_VERIFY_STATE_H
#define NG_CONFORMANCE_CHECKS_VERIFY_STATE_H

#include "conformance/checks/verify.h"

typedef struct ng_verify_state ng_verify_state;

typedef struct ng_chunk_id {
    ng_case_id id;              /* its index is not read */
    int64_t first, last;
} ng_chunk_id;

/* Open plan->state_path, reading what an earlier run left there. A last line
 * cut short is dropped, and all of a run of another build of the subject or of
 * this program. Returns NG_BAD_FILE, naming the file and the field, if
 * the file is unreadable or its header is of another run. */
ng_status ng_verify_state_open(ng_verify_state **out,
                               const ng_verify_plan *plan, ng_error *error);

/* If the chunk is done, add what it gave to *result and return true. A null
 * state has nothing done. */
bool ng_verify_state_skip(ng_verify_state *state, const ng_chunk_id *chunk,
                          ng_operation_result *result);

/* Remember a chunk and what it gave. A null state forgets. */
ng_status ng_verify_state_add(ng_verify_state *state, const ng_chunk_id *chunk,
                              const ng_operation_result *part, ng_error *error);

void ng_verify_state_close(ng_verify_state *state);

#endif
