/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of `quantize`.
 */
#ifndef NG_CONFORMANCE_CLI_QUANTIZE_ARGUMENTS_H
#define NG_CONFORMANCE_CLI_QUANTIZE_ARGUMENTS_H

#include "conformance/cli/quantize_run.h"

enum { NG_MAX_QUANTIZE_NAMES = 256 };

typedef struct ng_quantize_arguments {
    ng_quantize_plan plan;
    const char *operation, *profile, *in, *out;
    const char *part; /* "codes" or "scales" of a .npy file, or null */
    const char *set[NG_N_RULES], *name[NG_MAX_QUANTIZE_NAMES];
    int n_set, n_names;
    bool scales_given, to_given, pow2, json, quiet;
} ng_quantize_arguments;

/* Read the command line and check all that needs no file; *arguments comes
 * zeroed and ends complete, its plan's rules as --profile and --set make them.
 * Returns an exit status, the error line printed. */
int ng_quantize_parse(ng_quantize_arguments *arguments, int argc, char **argv);

bool ng_is_npy(const char *path);

#endif
