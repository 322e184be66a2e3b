/* SPDX-License-Identifier: Apache-2.0
 *
 * Right numbers in the wrong places: nibbles, packed scales, scale grids.
 */
#include <string.h>

#include "conformance/checks/hypothesis.h"
#include "conformance/subject/elements.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

/* Change every unit of an output that is of that type and in use. */
static bool change_output(const ng_call *call, ng_dtype dtype,
                          uint64_t (*change)(ng_dtype, uint64_t))
{
    const ng_tensor *offsets = ng_call_input(call, "offsets");
    bool found = false;

    for (int i = 0; i < call->n_outputs; i++) {
        const ng_tensor *t = &call->output[i];
        int64_t rows = t->shape[0];

        if (t->dtype != dtype || t->rank != 2)
            continue;
        if (offsets != NULL && strstr(t->name, "scales") == NULL)
            rows = ((const int64_t *)offsets->data)[offsets->shape[0] - 1];
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < t->shape[1]; c++) {
                const int64_t index[2] = {r, c};

                ng_unit_put(t, index, change(dtype, ng_unit_get(t, index)));
            }
        found = true;
    }
    return found;
}

static uint64_t swap_nibbles(ng_dtype dtype, uint64_t byte)
{
    return dtype == NG_E2M1X2 ? (byte & 0xF) << 4 | byte >> 4 : byte;
}

static uint64_t swap_bytes(ng_dtype dtype, uint64_t word)
{
    return dtype == NG_UE8M0X4 ? (word & 0xFF) << 24 | (word & 0xFF00) << 8
                                     | (word >> 8 & 0xFF00) | word >> 24
                               : word;
}

static ng_status changed_output(const ng_call *call,
                                const ng_specification *right, ng_dtype dtype,
                                uint64_t (*change)(ng_dtype, uint64_t))
{
    if (right->bounds != NULL)
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);

    return status != NG_OK                      ? status
           : change_output(call, dtype, change) ? NG_OK
                                                : NG_NOT_COVERED;
}

/* Every input: what is of no such type does not change. */
static ng_status changed_inputs(const ng_call *call,
                                const ng_specification *right,
                                uint64_t (*change)(ng_dtype, uint64_t))
{
    ng_changed c;
    bool any = false;
    ng_status status = NG_NOT_COVERED;

    ng_changed_begin(&c, call);
    for (int i = 0; i < call->n_inputs; i++)
        any |= ng_changed_units(&c, call->input[i].name, change);
    if (any)
        status = ng_specified(right, &c.call);
    ng_changed_end(&c);
    return status;
}

static ng_status nibbles_written(const ng_call *call,
                                 const ng_specification *right)
{
    return changed_output(call, right, NG_E2M1X2, swap_nibbles);
}

static ng_status nibbles_read(const ng_call *call,
                              const ng_specification *right)
{
    return changed_inputs(call, right, swap_nibbles);
}

static ng_status bytes_written(const ng_call *call,
                               const ng_specification *right)
{
    return changed_output(call, right, NG_UE8M0X4, swap_bytes);
}

static ng_status bytes_read(const ng_call *call, const ng_specification *right)
{
    return changed_inputs(call, right, swap_bytes);
}

/* Turn every n x n part of a plane of scales, n its width, where it is made of
 * such parts. */
static bool turn(const ng_tensor *t)
{
    const int64_t n = t->shape[1];

    if (t->rank != 2 || n < 2 || t->shape[0] % n != 0 || t->dtype == NG_UE8M0X4)
        return false;
    for (int64_t r = 0; r < t->shape[0]; r++)
        for (int64_t c = r % n + 1; c < n; c++) {
            const int64_t one[2] = {r, c}, other[2] = {r - r % n + c, r % n};
            const uint64_t bits = ng_unit_get(t, one);

            ng_unit_put(t, one, ng_unit_get(t, other));
            ng_unit_put(t, other, bits);
        }
    return t->shape[0] > 0;
}

static ng_status scales_turned(const ng_call *call,
                               const ng_specification *right)
{
    static const char *const names[] = {"b.scales", "x.scales", "a.scales"};
    ng_status status = NG_NOT_COVERED;
    ng_changed c;

    ng_changed_begin(&c, call);
    for (int i = 0; i < N(names); i++) {
        const ng_tensor *t = ng_changed_input(&c, names[i]);

        if (t != NULL && turn(t)) {
            status = ng_specified(right, &c.call);
            break;
        }
    }
    ng_changed_end(&c);
    return status;
}

static ng_status scales_written_turned(const ng_call *call,
                                       const ng_specification *right)
{
    const ng_tensor *t = ng_call_output(call, "y.scales");

    if (right->bounds != NULL || t == NULL)
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);

    return status != NG_OK ? status : turn(t) ? NG_OK : NG_NOT_COVERED;
}

static const ng_hypothesis list[] = {
    {NG_KIND_NIBBLES, "the even element is written to the high half of a byte",
     nibbles_written},
    {NG_KIND_NIBBLES, "the even element is read from the high half of a byte",
     nibbles_read},
    {NG_KIND_PACKED_SCALES, "the first of four scales is written highest",
     bytes_written},
    {NG_KIND_PACKED_SCALES, "the first of four scales is read highest",
     bytes_read},
    {NG_KIND_SCALES_TURNED, "the grid of scales is read transposed",
     scales_turned},
    {NG_KIND_SCALES_TURNED,
     "the grid of scales is written as it was, not transposed",
     scales_written_turned},
};

const ng_hypotheses ng_layout_hypotheses = {list, N(list)};
