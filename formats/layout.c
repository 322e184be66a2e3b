/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/layout.h"

#include <stddef.h>

ng_status ng_groups_check(const ng_groups *groups, int64_t rows)
{
    if (groups == NULL)
        return NG_OK;
    if (groups->n_groups < 0)
        return NG_BAD_GROUPS;
    if (groups->offsets == NULL)
        return NG_BAD_POINTER;
    if (groups->offsets[0] != 0)
        return NG_BAD_GROUPS;
    for (int64_t g = 0; g < groups->n_groups; g++)
        if (groups->offsets[g + 1] < groups->offsets[g])
            return NG_BAD_GROUPS;
    return groups->offsets[groups->n_groups] <= rows ? NG_OK : NG_BAD_GROUPS;
}

int64_t ng_groups_rows(const ng_groups *groups, int64_t rows)
{
    return groups == NULL ? rows : groups->offsets[groups->n_groups];
}

int64_t ng_groups_blocks(const ng_groups *groups, int64_t rows, int64_t block)
{
    int64_t blocks = 0;

    if (groups == NULL)
        return ng_ceil_div(rows, block);
    for (int64_t g = 0; g < groups->n_groups; g++)
        blocks += ng_ceil_div(groups->offsets[g + 1] - groups->offsets[g],
                              block);
    return blocks;
}
