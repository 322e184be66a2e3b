/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_split_weights.h"

#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_weight.h"
#include "formats/fp32.h"

ng_status ng_oracle_split_weights(const ng_weights *y, const float *theta,
                                  int64_t n, const ng_optim_options *options)
{
    const int split = ng_oracle_optim_rules(options)->split;
    const ng_status status = ng_oracle_check_weights(y, n);
    MPFR_DECL_INIT(x, NG_ORACLE_FP32_BITS);
    ng_optim_counts counts = {0};

    if (status != NG_OK)
        return status;
    if (n > 0 && theta == NULL)
        return NG_BAD_POINTER;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = ng_fp32_bits(theta[i]);

        if (y->dtype == NG_FP32) {
            ((uint32_t *)y->low)[i] = bits;
            continue;
        }
        ng_oracle_from_fp32(x, bits);
        ng_oracle_store_weight(y, i, x, split, &counts);
    }
    ng_oracle_count_optim(options, &counts);
    return NG_OK;
}
