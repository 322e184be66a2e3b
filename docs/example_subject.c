/* cc -O2 -fPIC -shared -Iconformance/subject -o example_subject.so docs/example_subject.c -lm
 *
 * A whole subject: FP32 rows to MXFP4, E2M1 codes under a UE8M0 scale for 32. */
#include <math.h>
#include "plugin.h"

static uint8_t encode(float y) /* the nearest code, ties to the even one */
{
    static const float middle[7] = {.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5};
    uint8_t c = 0;
    while (c < 7 && (fabsf(y) > middle[c] || (fabsf(y) == middle[c] && c % 2)))
        c++;
    return signbit(y) ? c | 8 : c;
}

static int32_t run(const ng_plugin_call *call)
{
    const ng_plugin_tensor *x = ng_plugin_input(call, "x");
    const ng_plugin_tensor *codes = ng_plugin_output(call, "y.codes");
    const ng_plugin_tensor *scales = ng_plugin_output(call, "y.scales");
    const ng_plugin_tensor *offsets = ng_plugin_input(call, "offsets");
    const int64_t rows = offsets ? ((const int64_t *)offsets->data)[offsets->shape[0] - 1]
                                 : x->shape[0];
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0, cols = x->shape[1]; c < cols; c += 32) {
            float v[32] = {0}, amax = 0;
            int64_t n = cols - c < 32 ? cols - c : 32, bad = 0;
            for (int64_t i = 0; i < n; i++) {
                v[i] = *(const float *)ng_plugin_at(x, r, c + i);
                bad |= !isfinite(v[i]);
                amax = fmaxf(amax, fabsf(v[i]));
            }
            int e = amax < 0x1p-125f ? -127 : bad ? 128 : ilogbf(amax) - 2;
            *(uint8_t *)ng_plugin_at(scales, r, c / 32) = (uint8_t)(bad ? 255 : e + 127);
            for (int64_t i = 0; i < n; i += 2)
                *(uint8_t *)ng_plugin_at(codes, r, (c + i) / 2) =
                    bad ? 0 : (uint8_t)(encode(ldexpf(v[i], -e)) | encode(ldexpf(v[i + 1], -e)) << 4);
        }
    return NG_PLUGIN_OK;
}

int32_t ng_plugin(ng_plugin_table *table)
{
    static const char *const takes[] = {"x=fp32", "y.scales=ue8m0", "rounding=nearest-even",
                                        "mxfp4.scale=floor", NULL};
    static const ng_plugin_operation operations[] = {{.name = "quantize_mxfp4", .takes = takes}};
    *table = (ng_plugin_table){.abi = NG_PLUGIN_ABI, .name = "example", .version = "1.0",
                               .n_operations = 1, .operation_size = sizeof *operations,
                               .operations = operations, .run = run};
    return NG_PLUGIN_OK;
}
