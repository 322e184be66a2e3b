/* SPDX-License-Identifier: Apache-2.0
 *
 * Which (code, scale) decode and re-encode to themselves: semantics section 9.
 *
 * A code is re-encoded in a group whose first element is the scale's own top
 * code, 127 or 255, as every group that coding makes has one: the largest
 * element a lies within half a step of s, and rounds to the top code (of
 * subnormal UE6M10 scales, below 2^-45, a half step is too much for that, and a
 * group without the top code may come back with a smaller scale). The top code
 * decodes to s, or to s * s: 22 bits, exact in FP32 for every s here, since
 * UE6M10 starts at 2^-55 and FP16 at 2^-24; its root is s again. Below the top
 * code v = t * t is rounded twice, by less than codes are apart.
 *   The range of the square sets the limit: the least decoded variance is
 * (2^-55 / 255)^2 = 2^-126, just normal in FP32. Scales are what cannot come
 * back: 0, under which every code decodes to 0; FP16's infinity, under which
 * codes decode to infinity and 0 to NaN, of which infinity codes to 0 and NaN
 * alone to scale 0. UE6M10's NaN comes back with code 0, the only one it has.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/proof.h"
#include "formats/fp32.h"
#include "formats/optim.h"
#include "formats/ue6m10.h"
#include "reference/optim/ref_companding.h"

enum { FP16_INFINITY = 0x7C00, GROUP = NG_STATE_GROUP };

typedef struct form {
    ng_state_kind kind;
    ng_state_coding coding;
    int compand;
} form;

static int top_of(const form *f)
{
    return f->kind == NG_MOMENTUM ? NG_MOMENTUM_MAX_CODE : NG_VARIANCE_MAX_CODE;
}

static uint32_t decode(const form *f, int code, uint32_t scale)
{
    return ng_ref_expand_code((uint8_t)code, (uint16_t)scale, f->kind,
                              f->coding, f->compand);
}

/* Code n numbers, given by their bits. */
static uint32_t encode(uint8_t *codes, const form *f, const uint32_t *bits,
                       int n)
{
    float x[GROUP];
    uint16_t scale;
    ng_group_counts counts = {0};

    memcpy(x, bits, (size_t)n * sizeof *x);
    ng_ref_compand_group(codes, &scale, x, n, f->kind, f->coding, f->compand,
                         &counts);
    return scale;
}

/* Whether first .. last, beside the top code, come back with the scale. */
static bool come_back(const form *f, int first, int last, uint32_t scale)
{
    uint32_t x[GROUP] = {decode(f, top_of(f), scale)};
    uint8_t codes[GROUP];

    for (int q = first; q <= last; q++)
        x[1 + q - first] = decode(f, q, scale);
    if (encode(codes, f, x, 2 + last - first) != scale
        || codes[0] != top_of(f))
        return false;
    for (int q = first; q <= last; q++)
        if (codes[1 + q - first] != (uint8_t)q)
            return false;
    return true;
}

/* How many magnitudes of codes do not come back under a scale, in either sign.
 */
static int64_t lost_under(const form *f, uint32_t scale)
{
    const int top = top_of(f);
    int64_t lost = 0;

    for (int first = 0; first <= top; first += GROUP - 1) {
        const int last = first + GROUP - 2 < top ? first + GROUP - 2 : top;
        bool whole = come_back(f, first, last, scale);

        if (whole && f->kind == NG_MOMENTUM)
            whole = come_back(f, -last, -first, scale);
        for (int q = first; !whole && q <= last; q++)
            lost += !come_back(f, q, q, scale)
                    || (f->kind == NG_MOMENTUM && !come_back(f, -q, -q, scale));
    }
    return lost;
}

/* Under a scale that is no positive number nothing comes back but code 0, and
 * that only if `zero` says so. */
static bool holds_nothing(const form *f, uint32_t scale, bool zero)
{
    for (int q = 0; q <= top_of(f); q++) {
        const uint32_t x = decode(f, q, scale);
        uint8_t code;
        const uint32_t again = encode(&code, f, &x, 1);
        const bool same = again == scale && code == q;

        if (same != (zero && q == 0))
            return false;
    }
    return true;
}

static form form_of(const ng_claim *claim, ng_state_kind kind)
{
    return (form){.kind = kind,
                  .coding = strcmp(claim->set[1], "linear") == 0
                                ? NG_STATE_LINEAR
                                : NG_STATE_COMPANDED,
                  .compand = strcmp(claim->set[0], "ng") == 0
                                 ? NG_COMPAND_NG
                                 : NG_COMPAND_FLASHOPTIM};
}

ng_status ng_prove_states(ng_proof *proof, const ng_claim *claim,
                          const ng_proof_means *means, ng_error *error)
{
    (void)error;
    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++) {
        const form f = form_of(claim, (ng_state_kind)kind);
        const bool ng = f.compand == NG_COMPAND_NG;
        const int end = ng ? NG_UE6M10_MAX_CODE + 1 : FP16_INFINITY;
        int64_t lost = 0;

#pragma omp parallel for schedule(dynamic, 64) reduction(+ : lost)
        for (int scale = 1; scale < end; scale++)
            lost += lost_under(&f, (uint32_t)scale);
        lost += !holds_nothing(&f, 0, true);
        lost += !holds_nothing(&f, (uint32_t)end, ng);  /* NaN, infinity */
        proof->differences += lost;
        proof->inputs += (int64_t)(end - 1) * (top_of(&f) + 1);
        if (means->progress != NULL)
            means->progress(means->context, claim->slug, kind + 1,
                            NG_N_STATE_KINDS);
    }
    return NG_OK;
}

/* From 2^-45 up (UE6M10's normal numbers) a group alone at either end of what
 * makes a scale has the top code, so what it decodes to makes the scale again:
 * of the least and the largest magnitude under each scale, found by trying FP32
 * numbers up and down from the scale. */
static int64_t scale_lost(const form *f, uint32_t scale)
{
    const uint32_t middle = decode(f, top_of(f), scale);
    int64_t lost = 0;

    for (int side = 0; side < 2; side++) {
        uint32_t inside = middle;
        uint32_t step = UINT32_C(1) << 14;      /* past half a step, squared */
        uint8_t code;

        /* The last number on this side that still makes the scale. */
        for (; step > 0; step /= 2) {
            const uint32_t next = side == 0 ? inside - step : inside + step;

            if (encode(&code, f, &next, 1) == scale)
                inside = next;
        }
        if (encode(&code, f, &inside, 1) != scale || code != top_of(f))
            lost = 1;
    }
    return lost;
}

ng_status ng_prove_state_scales(ng_proof *proof, const ng_claim *claim,
                                const ng_proof_means *means, ng_error *error)
{
    enum { LEAST = 1 << 10 };           /* 2^-45 */

    (void)means, (void)error;
    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++) {
        const form f = form_of(claim, (ng_state_kind)kind);

        for (uint32_t scale = LEAST; scale <= NG_UE6M10_MAX_CODE; scale++) {
            proof->differences += scale_lost(&f, scale);
            proof->inputs++;
        }
    }
    return NG_OK;
}

/* Zero, of either sign, codes to 0 beside anything, alone to scale 0, and 0
 * decodes to +0: under both rules, in both codings, every scale that can be
 * written. The group beside it is the scale's own top code. */
ng_status ng_prove_state_zero(ng_proof *proof, const ng_claim *claim,
                              const ng_proof_means *means, ng_error *error)
{
    (void)claim, (void)means, (void)error;
    for (int i = 0; i < 8; i++) {
        const form f = {(ng_state_kind)(i & 1),
                        i & 2 ? NG_STATE_LINEAR : NG_STATE_COMPANDED,
                        i & 4 ? NG_COMPAND_FLASHOPTIM : NG_COMPAND_NG};
        const uint32_t end = f.compand == NG_COMPAND_NG
                                 ? NG_UE6M10_MAX_CODE + 1
                                 : FP16_INFINITY;

        for (uint32_t scale = 0; scale < end; scale++) {
            const uint32_t x[] = {decode(&f, top_of(&f), scale), 0,
                                  NG_FP32_SIGN};
            uint8_t codes[3] = {1, 1, 1};

            proof->differences += decode(&f, 0, scale) != 0
                                  || encode(codes, &f, x, 3) != scale
                                  || codes[1] != 0 || codes[2] != 0;
            proof->inputs++;
        }
    }
    return NG_OK;
}
