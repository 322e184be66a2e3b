/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_compand.h"

#include <string.h>

#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_state.h"
#include "conformance/oracle/oracle_weight.h"
#include "formats/fp32.h"

ng_status ng_oracle_compand(const ng_state *y, const float *x, int64_t n,
                            const ng_optim_options *options)
{
    const int compand = ng_oracle_optim_rules(options)->compand;
    const ng_status status = ng_oracle_check_state(y, n);
    ng_optim_counts counts = {0};
    mpfr_t element[NG_STATE_GROUP];

    if (status != NG_OK)
        return status;
    if (n > 0 && x == NULL)
        return NG_BAD_POINTER;
    if (y->coding == NG_STATE_FP32) {
        if (n > 0)
            memcpy(y->data, x, (size_t)n * sizeof *x);
        return NG_OK;
    }
    for (int i = 0; i < NG_STATE_GROUP; i++)
        mpfr_init2(element[i], NG_ORACLE_FP32_BITS);
    for (int64_t first = 0; first < n; first += NG_STATE_GROUP) {
        const int size = ng_oracle_group_size(n - first);

        for (int i = 0; i < size; i++)
            ng_oracle_from_fp32(element[i], ng_fp32_bits(x[first + i]));
        ng_oracle_store_group(y, first, (const mpfr_t *)element, size, compand,
                              &counts);
    }
    for (int i = 0; i < NG_STATE_GROUP; i++)
        mpfr_clear(element[i]);
    ng_oracle_count_optim(options, &counts);
    return NG_OK;
}
