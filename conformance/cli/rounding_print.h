/* SPDX-License-Identifier: Apache-2.0
 *
 * A rounding, for people and as JSON.
 */
#ifndef NG_CONFORMANCE_CLI_ROUNDING_PRINT_H
#define NG_CONFORMANCE_CLI_ROUNDING_PRINT_H

#include <jansson.h>

#include "conformance/cli/rounding_view.h"

/* What a format offers: UE6M10 rounds nearest-even alone; it and E2M1 only
 * saturate. */
bool ng_rounding_offers_mode(const ng_format *format, int rounding);
bool ng_rounding_offers_overflow(const ng_format *format, int overflow);

/* Print one rounding; input is the value as it was typed. */
void ng_rounding_print(const ng_rounding_view *view, const char *input);
json_t *ng_rounding_json(const ng_rounding_view *view, const char *input);

/* Print what every mode and overflow rule gives for view->x. Without a random
 * word the stochastic row says from which word on the result changes. */
void ng_rounding_print_modes(const ng_rounding_view *view, const char *input,
                             bool has_random);
json_t *ng_rounding_modes_json(const ng_rounding_view *view, const char *input);

#endif
