/* SPDX-License-Identifier: Apache-2.0
 *
 * What a result may depend on besides the subject: the GPU, and the toolkit
 * that built or runs the subject. Baselines of the gate are kept by both.
 */
#ifndef NG_CONFORMANCE_CLI_SUBJECT_MACHINE_H
#define NG_CONFORMANCE_CLI_SUBJECT_MACHINE_H

#include <stdbool.h>

#include <jansson.h>

/* {"gpu": ..., "toolkit": ...}, "none" where there is none.
 *   subject  cuda: the GPU that it runs on and its CUDA runtime; of the other
 *            built-in ones, which compute on the CPU, none
 *   foreign  a plug-in or a program: the first GPU that the driver lists
 *   toolkit  what the user says; null: as above
 * Null without memory. */
json_t *ng_subject_machine(const char *subject, bool foreign,
                           const char *toolkit);

#endif
