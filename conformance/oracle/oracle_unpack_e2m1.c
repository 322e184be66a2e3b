/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_unpack_e2m1.h"

#include "conformance/oracle/oracle_view.h"

ng_status ng_oracle_unpack_e2m1(const ng_matrix *y, const ng_matrix *x,
                                const ng_options *options)
{
    const ng_options o = ng_oracle_options(options);

    if (!ng_oracle_groups_legal(&o, x->rows))
        return NG_BAD_GROUPS;
    if (y->dtype != NG_E2M1 || x->dtype != NG_E2M1X2)
        return NG_BAD_DTYPE;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    for (int64_t r = 0; r < ng_oracle_rows(&o, x->rows); r++) {
        const uint8_t *from = (const uint8_t *)x->data + r * x->ld;
        uint8_t *to = (uint8_t *)y->data + r * y->ld;

        for (int64_t c = 0; c < x->cols; c++)
            to[c] = (uint8_t)ng_oracle_load_nibble(from, c);
    }
    return NG_OK;
}
