/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_expand.h"

#include <string.h>

#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_state.h"
#include "conformance/oracle/oracle_weight.h"
#include "formats/fp32.h"

ng_status ng_oracle_expand(float *y, const ng_state *x, int64_t n,
                           const ng_optim_options *options)
{
    const int compand = ng_oracle_optim_rules(options)->compand;
    const ng_status status = ng_oracle_check_state(x, n);
    mpfr_t element;

    if (status != NG_OK)
        return status;
    if (n > 0 && y == NULL)
        return NG_BAD_POINTER;
    if (x->coding == NG_STATE_FP32) {
        if (n > 0)
            memcpy(y, x->data, (size_t)n * sizeof *y);
        return NG_OK;
    }
    mpfr_init2(element, NG_ORACLE_FP32_BITS);
    for (int64_t i = 0; i < n; i++) {
        ng_oracle_decode_code(element, ((const uint8_t *)x->data)[i],
                              x->scales[i / NG_STATE_GROUP], x->kind, x->coding,
                              compand);
        y[i] = ng_fp32_from_bits(ng_oracle_to_fp32(element));
    }
    mpfr_clear(element);
    return NG_OK;
}
