/* SPDX-License-Identifier: Apache-2.0
 *
 * The window of the hierarchical scale alignment, by trying it: all 16 codes
 * under all pairs of scale bytes. Two blocks of one row: the first holds the
 * code under scale b, the second zeros under scale a. What went in and what came
 * out are compared as exact rationals in MPFR, and the theorem's "if and only
 * if" is asked of every pair.
 */
#include "conformance/checks/proof.h"

#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "reference/convert/ref_convert_mxfp4_to_fp8.h"

/* Twice the magnitude of each E2M1 code: 0 .5 1 1.5 2 3 4 6. */
static const int twice[8] = {0, 1, 2, 3, 4, 6, 8, 12};

/* The value of an FP8 code under its FP32 scale, by the definition of E4M3. */
static void fp8_value(mpfr_t value, uint8_t code, float scale)
{
    const int field = code >> 3 & 15;
    const int significand = field > 0 ? 8 + (code & 7) : code & 7;

    mpfr_set_si_2exp(value, code & 0x80 ? -significand : significand,
                     (field > 0 ? field : 1) - 10, MPFR_RNDN);
    mpfr_mul_d(value, value, (double)scale, MPFR_RNDN);
}

/* How far below the largest scale a code still comes through: the theorem. */
static int window_of(uint8_t code, int headroom)
{
    static const int beyond[8] = {10000, 8, 9, 8, 10, 9, 11, 10};

    return beyond[code & 7] + headroom;
}

static int64_t try_pair(int headroom, unsigned code, unsigned b, unsigned a,
                        mpfr_t in, mpfr_t out)
{
    uint8_t codes[32] = {(uint8_t)code}, scale_bytes[2] = {(uint8_t)b,
                                                           (uint8_t)a};
    uint8_t fp8[64];
    float fp8_scale;
    ng_rules rules = ng_default_rules;
    ng_events events = {0};
    const ng_mxfp4 x = {.codes = codes, .rows = 1, .cols = 64, .ld = 32,
                        .scales = {.data = scale_bytes, .dtype = NG_UE8M0,
                                   .ld = 2, .step = 1}};
    const ng_fp8 y = {.codes = fp8, .form = NG_FP8_ROW, .rows = 1, .cols = 64,
                      .ld = 64, .scales = {.data = &fp8_scale, .dtype = NG_FP32,
                                           .ld = 1, .step = 1}};
    const ng_options options = {.rules = &rules, .events = &events};

    rules.headroom = headroom;
    if (ng_ref_convert_mxfp4_to_fp8(&y, &x, &options) != NG_OK)
        return 1;
    if (b == 255)               /* a NaN scale gives NaN codes, and no loss */
        return fp8[0] != 0x7F || events.count[NG_EVENT_INEXACT] != 0;

    /* The largest scale that is a number. */
    const unsigned largest = a == 255 || a < b ? b : a;
    const bool expected = (int)(largest - b) <= window_of((uint8_t)code,
                                                          headroom);
    const int magnitude = twice[code & 7];

    mpfr_set_si_2exp(in, code & 8 ? -magnitude : magnitude, (int)b - 128,
                     MPFR_RNDN);
    fp8_value(out, fp8[0], fp8_scale);
    const bool same = mpfr_equal_p(in, out) != 0;
    const bool sign_kept = (fp8[0] & 0x80) == (code & 8) << 4;

    return same != expected || !sign_kept
           || (events.count[NG_EVENT_INEXACT] == 0) != same;
}

/* All, or a sample: an odd multiplier permutes them. */
ng_status ng_prove_window(ng_proof *proof, const ng_claim *claim,
                          const ng_proof_means *means, ng_error *error)
{
    const int headroom = atoi(strchr(claim->set[0], '=') + 1);
    const int64_t all = INT64_C(16) * 256 * 256;
    const int64_t n =
        means->sample > 0 && means->sample < all ? means->sample : all;
    mpfr_t in, out;

    (void)error;
    mpfr_init2(in, 64);
    mpfr_init2(out, 64);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t at = (uint64_t)i * 40503 + means->seed;

        proof->differences += try_pair(headroom, at & 15, at >> 4 & 255,
                                       at >> 12 & 255, in, out);
    }
    proof->inputs = n;
    mpfr_clear(in);
    mpfr_clear(out);
    mpfr_free_cache();
    return NG_OK;
}
