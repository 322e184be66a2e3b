/* SPDX-License-Identifier: Apache-2.0
 *
 * The claims about weight splitting and companded states.
 */
#include <stdio.h>
#include <string.h>

#include "conformance/checks/proof.h"

#define ALL_FP32 (INT64_C(1) << 32)

static const ng_claim claims[] = {
    {.slug = "split.ulp.bf16-16",
     .text = "weight.split ulp, BF16 and 16 bits: every finite FP32 number "
             "whose BF16 is finite comes back bit for bit, zeros and "
             "subnormals included; the 65,536 others are counted; infinities "
             "and NaN stay; splitting what was merged writes the same pair",
     .inputs = ALL_FP32, .set = {"bf16-16"}, .prove = ng_prove_split},
    {.slug = "split.ulp.bf16-8",
     .text = "weight.split ulp, BF16 and 8 bits: the error is at most 1/512 of "
             "a BF16 ULP but for the 65,792 counted inputs; low is the nearest "
             "BF16, ties to even, but for 8,388,224 inputs within 1/512 ULP of "
             "a tie; splitting what was merged writes the same pair",
     .inputs = ALL_FP32, .set = {"bf16-8"}, .prove = ng_prove_split},
    {.slug = "split.ulp.fp16-16",
     .text = "weight.split ulp, FP16 and 16 bits: restored are the numbers "
             "with 2^-17 <= |x| <= 65520 and below them the multiples of 2^-40, "
             "no others; the error is at most 2^-17 FP16 ULP where low is finite",
     .inputs = ALL_FP32, .set = {"fp16-16"}, .prove = ng_prove_split},
    {.slug = "split.ulp.fp16-8",
     .text = "weight.split ulp, FP16 and 8 bits: the error is at most 2^-9 "
             "FP16 ULP where low is finite, which it is below 65519.9375",
     .inputs = ALL_FP32, .set = {"fp16-8"}, .prove = ng_prove_split},
    {.slug = "split.ties-to-even",
     .text = "no 16-bit correction can restore FP32 from the nearest BF16 with "
             "ties to even: every nonzero even low has 65,537 preimages, one "
             "more than a correction has values (odd ones 65,535)",
     .inputs = 2 * 0x7F7F, .prove = ng_prove_split_ties},
    {.slug = "split.flashoptim.bf16-16",
     .text = "weight.split flashoptim, BF16 and 16 bits: 22,760 of the 2^23 "
             "FP32 numbers in [1, 2) do not come back: 6,375 that lie 16,369 "
             "to 16,416 FP32 steps from low, and 16,385 whose low is 2",
     .inputs = INT64_C(1) << 23, .prove = ng_prove_split_flashoptim},
    {.slug = "states.ng.companded",
     .text = "state.compand ng: every code under every scale decodes and "
             "re-encodes to itself (128 magnitudes of momentum, of both signs, "
             "and 256 codes of variance under 65,534 scales); scale 0 holds "
             "zero alone, NaN no number",
     .inputs = INT64_C(384) * 65534, .set = {"ng", "companded"},
     .prove = ng_prove_states},
    {.slug = "states.ng.linear",
     .text = "state.compand ng, linear codes: every code under every scale "
             "decodes and re-encodes to itself; scale 0 holds zero alone, NaN "
             "no number",
     .inputs = INT64_C(384) * 65534, .set = {"ng", "linear"},
     .prove = ng_prove_states},
    {.slug = "states.flashoptim.companded",
     .text = "state.compand flashoptim: the (code, scale) that decode and "
             "re-encode to themselves are all codes under the 31,743 positive "
             "finite FP16 scales, and code 0 under 0; nothing else can, for "
             "under 0 all decodes to 0, under infinity to infinity or NaN",
     .inputs = INT64_C(384) * 31743, .set = {"flashoptim", "companded"},
     .prove = ng_prove_states},
    {.slug = "states.flashoptim.linear",
     .text = "state.compand flashoptim, linear codes: the same set as of "
             "companded ones",
     .inputs = INT64_C(384) * 31743, .set = {"flashoptim", "linear"},
     .prove = ng_prove_states},
    {.slug = "states.ng.scale",
     .text = "state.compand ng: from 2^-45 up the largest of a group has the "
             "top code at both ends of what makes a scale, so that the scale "
             "comes back too, momentum and variance",
     .inputs = INT64_C(2) * (65535 - 1024), .set = {"ng", "companded"},
     .prove = ng_prove_state_scales},
    {.slug = "states.zero",
     .text = "zero stays zero: beside anything zeros of either sign code to 0, "
             "which decodes to +0, under every scale, under both rules, "
             "companded and linear, momentum and variance",
     .inputs = INT64_C(4) * (65535 + 31744), .prove = ng_prove_state_zero},
};

int ng_optim_claims(ng_claim *claim)
{
    enum { N = sizeof claims / sizeof *claims };

    for (int i = 0; i < N; i++) {
        claim[i] = claims[i];
        snprintf(claim[i].command, sizeof claim[i].command, "prove --only %s",
                 claim[i].slug);
    }
    return N;
}
