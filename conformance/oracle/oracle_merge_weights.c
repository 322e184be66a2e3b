/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_merge_weights.h"

#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_weight.h"
#include "formats/fp32.h"

ng_status ng_oracle_merge_weights(float *theta, const ng_weights *x, int64_t n,
                                  const ng_optim_options *options)
{
    const int split = ng_oracle_optim_rules(options)->split;
    const ng_status status = ng_oracle_check_weights(x, n);
    MPFR_DECL_INIT(value, NG_ORACLE_FP32_BITS);

    if (status != NG_OK)
        return status;
    if (n > 0 && theta == NULL)
        return NG_BAD_POINTER;
    for (int64_t i = 0; i < n; i++) {
        if (x->dtype == NG_FP32) {
            theta[i] = ((const float *)x->low)[i];
            continue;
        }
        ng_oracle_load_weight(value, x, i, split);
        theta[i] = ng_fp32_from_bits(ng_oracle_to_fp32(value));
    }
    return NG_OK;
}
