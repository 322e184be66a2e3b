/* SPDX-License-Identifier: Apache-2.0
 *
 * How long the exhaustive proof of E4M3 would take here.
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_PROJECTION_H
#define NG_CONFORMANCE_CLI_BENCH_PROJECTION_H

#include <jansson.h>

#include "conformance/subject/subject.h"

/* Time the encoding of FP32 bit patterns to E4M3 as the sweep over all 2^32 of
 * them meets them, 64 runs of 8192 in a row spread evenly over the whole, by
 * the oracle and by the reference; print what the sweep would take in two
 * processes, or note it in the row "encode_e4m3" of the JSON list (may be
 * null). Returns an exit status. */
int ng_bench_project(const ng_subject *oracle, json_t *list);

#endif
