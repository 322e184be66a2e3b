/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_state.h"

#include "conformance/oracle/oracle_ieee.h"

enum { GROUP = 32 };

void ng_oracle_code_group(uint8_t *codes, uint16_t *scale, const mpfr_t *x,
                          int n, ng_state_kind kind, ng_state_coding coding,
                          int compand, ng_group_counts *counts)
{
    if (compand == NG_COMPAND_NG)
        ng_oracle_code_group_ng(codes, scale, x, n, kind, coding, counts);
    else
        ng_oracle_code_group_flashoptim(codes, scale, x, n, kind, coding,
                                        counts);
}

void ng_oracle_decode_code(mpfr_ptr y, uint8_t code, uint16_t scale,
                           ng_state_kind kind, ng_state_coding coding,
                           int compand)
{
    if (compand == NG_COMPAND_NG)
        ng_oracle_decode_code_ng(y, code, scale, kind, coding);
    else
        ng_oracle_decode_code_flashoptim(y, code, scale, kind, coding);
}

void ng_oracle_load_group(mpfr_t *y, const ng_state *x, int64_t first, int n,
                          int compand)
{
    for (int i = 0; i < n; i++)
        if (x->coding == NG_STATE_FP32)
            ng_oracle_from_fp32(y[i], ((const uint32_t *)x->data)[first + i]);
        else
            ng_oracle_decode_code(y[i], ((const uint8_t *)x->data)[first + i],
                                  x->scales[first / GROUP], x->kind, x->coding,
                                  compand);
}

void ng_oracle_store_group(const ng_state *y, int64_t first, const mpfr_t *x,
                           int n, int compand, ng_optim_counts *counts)
{
    if (y->coding != NG_STATE_FP32) {
        ng_oracle_code_group((uint8_t *)y->data + first,
                             &y->scales[first / GROUP], x, n, y->kind,
                             y->coding, compand, &counts->groups[y->kind]);
        return;
    }
    for (int i = 0; i < n; i++)
        ((uint32_t *)y->data)[first + i] = ng_oracle_to_fp32(x[i]);
}

int ng_oracle_group_size(int64_t left)
{
    return left < GROUP ? (int)left : GROUP;
}

ng_status ng_oracle_check_state(const ng_state *x, int64_t n)
{
    if (n < 0)
        return NG_BAD_SHAPE;
    if ((int)x->kind < 0 || x->kind >= NG_N_STATE_KINDS || (int)x->coding < 0
        || x->coding >= NG_N_STATE_CODINGS)
        return NG_BAD_LAYOUT;
    if (n > 0
        && (x->data == NULL
            || (x->coding != NG_STATE_FP32 && x->scales == NULL)))
        return NG_BAD_POINTER;
    return NG_OK;
}
