/* SPDX-License-Identifier: Apache-2.0
 *
 * What coding never writes, and a loader therefore refuses.
 */
#include <inttypes.h>
#include <stddef.h>

#include "formats/files/file_error.h"
#include "formats/fp16.h"
#include "formats/fp32.h"
#include "formats/ue6m10.h"
#include "reference/optim/optimizer_file.h"
#include "reference/optim/ref_optim_views.h"

static ng_status check_pairs(const ng_weights *w, int64_t n, int split,
                             const char *tensor, const char *path,
                             ng_error *error)
{
    for (int64_t i = 0; i < n; i++) {
        const ng_ref_pair pair = ng_ref_load_pair(w, i);

        if (!ng_ref_pair_is_written(pair, w->dtype, w->correction_bits, split))
            return ng_file_fail(error, NG_BAD_FILE, path, tensor, "values",
                                "element %" PRId64 ": no weight splits into "
                                "low 0x%04X and correction %d",
                                i, pair.low, pair.rho);
    }
    return NG_OK;
}

static bool scale_is_written(uint16_t scale, int compand)
{
    /* FP16: no sign and no NaN. Every UE6M10 code is written by some group. */
    return compand != NG_COMPAND_FLASHOPTIM || scale <= NG_FP16_INFINITY;
}

/* ng codes all of a group by its scale, and there is none to code by in a scale
 * of 0 or NaN. */
static bool code_is_written(const ng_state *state, int64_t i, int compand)
{
    const uint8_t code = ((const uint8_t *)state->data)[i];
    const uint16_t scale = state->scales[i / NG_STATE_GROUP];

    if (state->kind == NG_MOMENTUM && code == 0x80)
        return false;
    return compand != NG_COMPAND_NG || code == 0
           || (scale != 0 && scale != NG_UE6M10_NAN);
}

static ng_status check_codes(const ng_state *state, int64_t n, int compand,
                             const ng_optimizer_array *array, const char *path,
                             ng_error *error)
{
    for (int64_t i = 0; i < n; i++) {
        if (i % NG_STATE_GROUP == 0
            && !scale_is_written(state->scales[i / NG_STATE_GROUP], compand))
            return ng_file_fail(
                error, NG_BAD_FILE, path, array[1].name, "values",
                "element %" PRId64 ": 0x%04X is no "
                "scale",
                i / NG_STATE_GROUP, state->scales[i / NG_STATE_GROUP]);
        if (!code_is_written(state, i, compand))
            return ng_file_fail(error, NG_BAD_FILE, path, array->name, "values",
                                "element %" PRId64 ": code 0x%02X is not "
                                "written under scale 0x%04X",
                                i, ((const uint8_t *)state->data)[i],
                                state->scales[i / NG_STATE_GROUP]);
    }
    return NG_OK;
}

/* A variance of FP32 is a sum of squares and so never has a sign (a NaN that a
 * step stores is canonical). */
static ng_status check_signs(const float *v, int64_t n,
                             const ng_optimizer_array *array, const char *path,
                             ng_error *error)
{
    for (int64_t i = 0; i < n; i++)
        if ((ng_fp32_bits(v[i]) & NG_FP32_SIGN) != 0)
            return ng_file_fail(error, NG_BAD_FILE, path, array->name, "values",
                                "element %" PRId64 ": 0x%08" PRIX32
                                " has a sign",
                                i, ng_fp32_bits(v[i]));
    return NG_OK;
}

/* Arrays come in the order of ng_optimizer_arrays: a state is followed by its
 * scales where it has them. */
ng_status ng_optimizer_check_values(const ng_optimizer *optimizer,
                                    const ng_parameter *p,
                                    const ng_optimizer_array *arrays,
                                    void *const *data, const char *path,
                                    ng_error *error)
{
    const int compand = optimizer->rules.compand;
    ng_weights w = p->weights;
    ng_state m = p->momentum, v = p->variance;
    ng_status status = NG_OK;
    int i = 1;

    w.low = data[0];
    if (w.correction_bits != 0)
        w.correction = data[i++];
    if (w.dtype != NG_FP32)
        status = check_pairs(&w, p->n, optimizer->rules.split,
                             arrays[w.correction_bits != 0].name, path, error);
    if (p->has_momentum) {
        m.data = data[i++];
        if (m.coding != NG_STATE_FP32) {
            m.scales = data[i++];
            if (status == NG_OK)
                status =
                    check_codes(&m, p->n, compand, &arrays[i - 2], path, error);
        }
    }
    if (!p->has_variance || status != NG_OK)
        return status;
    if (v.coding == NG_STATE_FP32)
        return check_signs(data[i], p->n, &arrays[i], path, error);
    v.data = data[i];
    v.scales = data[i + 1];
    return check_codes(&v, p->n, compand, &arrays[i], path, error);
}
