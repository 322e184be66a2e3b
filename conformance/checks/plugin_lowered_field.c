/* SPDX-License-Identifier: Apache-2.0
 *
 * A subject as wrong as a published kernel: FP8 rows to FP8 columns, where the
 * exponent field of a code is lowered by the difference of the scales' fields,
 * and set to 0, the significand kept, where it would pass below 1; a field that
 * was 0 gives 0 (docs/cases.md L-29). README's demonstration on a machine without
 * a GPU: test_demonstration.sh.
 */
#include <string.h>

#include "plugin.h"

static uint8_t lowered(uint8_t code, int by)
{
    const int field = code >> 3 & 15;

    if (field == 0)
        return 0;
    return (uint8_t)((code & 0x87) | (field > by ? field - by : 0) << 3);
}

static uint32_t scale(const ng_plugin_tensor *scales, int64_t row, int64_t col)
{
    uint32_t bits;

    memcpy(&bits, ng_plugin_at(scales, row, col / 128), sizeof bits);
    return bits;
}

static int32_t run(const ng_plugin_call *call)
{
    const ng_plugin_tensor *x = ng_plugin_input(call, "x.codes");
    const ng_plugin_tensor *from = ng_plugin_input(call, "x.scales");
    const ng_plugin_tensor *y = ng_plugin_output(call, "y.codes");
    const ng_plugin_tensor *to = ng_plugin_output(call, "y.scales");
    const int64_t rows = x->shape[0];

    for (int64_t first = 0; first < rows; first += 128)
        for (int64_t c = 0; c < x->shape[1]; c++) {
            const int64_t end = first + 128 < rows ? first + 128 : rows;
            uint32_t most = 0; /* positive numbers are ordered as their bits */

            for (int64_t r = first; r < end; r++)
                if (scale(from, r, c) > most)
                    most = scale(from, r, c);
            memcpy(ng_plugin_at(to, c, first / 128), &most, sizeof most);
            for (int64_t r = first; r < end; r++) {
                const int by =
                    (int)(most >> 23) - (int)(scale(from, r, c) >> 23);

                *(uint8_t *)ng_plugin_at(y, c, r) =
                    lowered(*(const uint8_t *)ng_plugin_at(x, r, c), by);
            }
        }
    return NG_PLUGIN_OK;
}

int32_t ng_plugin(ng_plugin_table *table)
{
    static const char *const takes[] = {"x.scales=fp32", "y.scales=fp32",
                                        "pow2=1", "fp8.scale=pow2", NULL};
    static const ng_plugin_operation operations[] = {
        {.name = "fp8_row_to_fp8_col",
         .takes = takes,
         .limits = NG_PLUGIN_NO_GROUPS | NG_PLUGIN_NO_NAN}};

    *table = (ng_plugin_table){.abi = NG_PLUGIN_ABI,
                               .name = "lowered field",
                               .version = "1.0",
                               .n_operations = 1,
                               .operation_size = sizeof *operations,
                               .operations = operations,
                               .run = run};
    return NG_PLUGIN_OK;
}
