/* SPDX-License-Identifier: Apache-2.0
 *
 * What `quantize` prints: error statistics, a tensor a line, and as JSON.
 */
#ifndef NG_CONFORMANCE_CLI_QUANTIZE_REPORT_H
#define NG_CONFORMANCE_CLI_QUANTIZE_REPORT_H

#include "conformance/cli/quantize_run.h"

void ng_quantize_print(const ng_sources *sources,
                       const ng_error_statistics *statistics,
                       const ng_quantize_plan *plan, const char *in,
                       const char *out);

json_t *ng_quantize_json(const ng_sources *sources,
                         const ng_error_statistics *statistics,
                         const ng_quantize_plan *plan, const char *in,
                         const char *out);

/* Say on standard error which tensors of the file were left out. */
void ng_quantize_say_skipped(const ng_sources *sources, const char *in);

#endif
