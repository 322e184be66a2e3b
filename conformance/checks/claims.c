/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conformance/checks/proof.h"
#include "formats/format.h"

#define ALL_FP32 (INT64_C(1) << 32)

/* "name=value" texts that outlive the claims. */
static const char *keep(const char *format, const char *value)
{
    static char text[2 * NG_MAX_CLAIMS][48];
    static int n;

    snprintf(text[n], sizeof text[n], format, value);
    return text[n++];
}

/* Encoding: every FP32 number, in each deterministic rounding and each overflow
 * rule that the format has. */
static int encode_claims(ng_claim *claim)
{
    const ng_operation *operation;
    int n = 0;

    for (int i = 0; (operation = ng_operation_at(i)) != NULL; i++) {
        ng_profile profile = {.rules = ng_default_rules};
        ng_variant variant;

        if (strncmp(operation->name, "encode_", 7) != 0)
            continue;
        for (int64_t v = 0; ng_variant_at(&variant, operation->axes,
                                          operation->n_axes, &profile, v); v++) {
            const char *rounding = ng_rule_value_name(NG_RULE_ROUNDING,
                                                      variant.rules.rounding);
            const char *overflow = ng_rule_value_name(NG_RULE_OVERFLOW,
                                                      variant.rules.overflow);
            const bool both = operation->n_axes > 1;
            ng_claim *c = &claim[n];

            if (variant.rules.rounding == NG_STOCHASTIC)
                continue;
            *c = (ng_claim){.operation = operation->name, .stratum = "all",
                            .inputs = ALL_FP32};
            c->set[0] = keep("rounding=%s", rounding);
            if (both)
                c->set[1] = keep("overflow=%s", overflow);
            snprintf(c->slug, sizeof c->slug, "%s.%s%s%s", operation->name,
                     rounding, both ? "." : "", both ? overflow : "");
            snprintf(c->text, sizeof c->text,
                     "%s, %s%s%s: reference equals MPFR over all 2^32 FP32 "
                     "numbers", operation->name, rounding,
                     both ? ", overflow " : "", both ? overflow : "");
            snprintf(c->command, sizeof c->command,
                     "narrowgauge verify --level 2 --op %s --stratum all --set "
                     "%s%s%s", operation->name, c->set[0], both ? " --set " : "",
                     both ? c->set[1] : "");
            n++;
        }
    }
    return n;
}

/* Quantising to MXFP4: every BF16 number beside every block scale, in each scale
 * mode. */
static int mxfp4_claims(ng_claim *claim)
{
    for (int mode = 0; mode < NG_N_MX_SCALES; mode++) {
        const char *name = ng_rule_value_name(NG_RULE_MXFP4_SCALE, mode);
        ng_claim *c = &claim[mode];

        *c = (ng_claim){.operation = "quantize_mxfp4", .stratum = "sixteen"};
        c->set[0] = keep("mxfp4.scale=%s", name);
        c->set[1] = "rounding=nearest-even";
        c->set[2] = "x=bf16";
        snprintf(c->slug, sizeof c->slug, "quantize_mxfp4.%s.bf16", name);
        snprintf(c->text, sizeof c->text,
                 "BF16 to MXFP4, scale mode %s: reference equals MPFR over all "
                 "2^16 values under all 256 scales", name);
        snprintf(c->command, sizeof c->command,
                 "narrowgauge verify --level 2 --op quantize_mxfp4 --stratum "
                 "sixteen --set %s --set %s --set %s", c->set[0], c->set[1],
                 c->set[2]);
    }
    return NG_N_MX_SCALES;
}

/* To MXFP8 likewise, with each overflow rule (modes ceil and rceil leave nothing
 * past 448, so that it is one to them); and from MXFP8 every code under every
 * scale, to each type. */
static int mxfp8_claims(ng_claim *claim)
{
    static const char *const types[] = {"fp32", "bf16", "fp16"};
    int n = 0;

    for (int i = 0; i < NG_N_MX_SCALES * NG_N_OVERFLOWS; i++) {
        const int scale = i / NG_N_OVERFLOWS, rule = i % NG_N_OVERFLOWS;
        const char *mode = ng_rule_value_name(NG_RULE_MXFP8_SCALE, scale);
        const char *overflow = ng_rule_value_name(NG_RULE_OVERFLOW, rule);
        ng_claim *c = &claim[n];

        if (rule == NG_IEEE && (scale == NG_MX_CEIL || scale == NG_MX_RCEIL))
            continue;
        n++;
        *c = (ng_claim){.operation = "quantize_mxfp8", .stratum = "sixteen"};
        c->set[0] = keep("mxfp8.scale=%s", mode);
        c->set[1] = keep("overflow=%s", overflow);
        c->set[2] = "rounding=nearest-even";
        c->set[3] = "x=bf16";
        snprintf(c->slug, sizeof c->slug, "quantize_mxfp8.%s.%s.bf16", mode,
                 overflow);
        snprintf(c->text, sizeof c->text,
                 "BF16 to MXFP8, scale mode %s, overflow %s: reference equals "
                 "MPFR over all 2^16 values under all 256 scales", mode,
                 overflow);
        snprintf(c->command, sizeof c->command,
                 "narrowgauge verify --level 2 --op quantize_mxfp8 --stratum "
                 "sixteen --set %s --set %s --set %s --set %s", c->set[0],
                 c->set[1], c->set[2], c->set[3]);
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++, n++) {
        ng_claim *c = &claim[n];

        *c = (ng_claim){.operation = "dequantize_mxfp8", .stratum = "codes"};
        c->set[0] = keep("y=%s", types[i]);
        snprintf(c->slug, sizeof c->slug, "dequantize_mxfp8.%s", types[i]);
        snprintf(c->text, sizeof c->text,
                 "MXFP8 to %s: reference equals MPFR over all 256 codes under "
                 "all 256 scales", types[i]);
        snprintf(c->command, sizeof c->command,
                 "narrowgauge verify --level 2 --op dequantize_mxfp8 --stratum "
                 "codes --set %s", c->set[0]);
    }
    return n;
}

static int window_claims(ng_claim *claim)
{
    static const int headroom[] = {6, 0};

    for (int i = 0; i < 2; i++) {
        ng_claim *c = &claim[i];
        char digit[8];

        *c = (ng_claim){.inputs = INT64_C(16) * 256 * 256,
                        .prove = ng_prove_window};
        snprintf(digit, sizeof digit, "%d", headroom[i]);
        c->set[0] = keep("headroom=%s", digit);
        snprintf(c->slug, sizeof c->slug, "window.headroom%d", headroom[i]);
        snprintf(c->text, sizeof c->text,
                 "MXFP4 to FP8 with headroom %d: all codes of a block come "
                 "through unchanged if and only if its scale lies at most %d "
                 "binades below the largest; by magnitude, .5 and 1.5 to %d, 1 "
                 "and 3 to %d, 2 and 6 to %d, 4 to %d, 0 always",
                 headroom[i], 8 + headroom[i], 8 + headroom[i],
                 9 + headroom[i], 10 + headroom[i], 11 + headroom[i]);
        snprintf(c->command, sizeof c->command, "prove --only %s", c->slug);
    }
    return 2;
}

static int identity_claims(ng_claim *claim)
{
    int n = 0;

    for (int f = 0; f < NG_N_FORMATS; f++) {
        ng_claim *c = &claim[n];

        if (ng_formats[f].bits > 16)
            continue;
        *c = (ng_claim){.inputs = INT64_C(1) << ng_formats[f].bits,
                        .prove = ng_prove_identity};
        c->set[0] = ng_formats[f].name;
        snprintf(c->slug, sizeof c->slug, "identity.%s", ng_formats[f].name);
        snprintf(c->text, sizeof c->text,
                 "every %s code decodes to a value that encodes to the same "
                 "code (NaN codes to the canonical one)", ng_formats[f].name);
        snprintf(c->command, sizeof c->command, "prove --only %s", c->slug);
        n++;
    }
    return n;
}

/* All 2^16 products, as both rules add a single one. */
static int product_claims(ng_claim *claim)
{
    for (int i = 0; i < NG_N_GEMMS; i++) {
        ng_claim *c = &claim[i];
        const char *rule = ng_rule_value_name(NG_RULE_GEMM, i);

        *c = (ng_claim){.operation = "grouped_gemm_fprop",
                        .stratum = "products", .inputs = 1 << 16};
        c->set[0] = keep("gemm.accumulate=%s", rule);
        c->set[1] = "d=fp32";
        c->set[2] = "scales=fp32";
        snprintf(c->slug, sizeof c->slug, "products.%s", rule);
        snprintf(c->text, sizeof c->text,
                 "E4M3 code times E4M3 code in a GEMM, gemm.accumulate %s: "
                 "reference equals oracle over all 2^16 pairs", rule);
        snprintf(c->command, sizeof c->command,
                 "narrowgauge verify --op grouped_gemm_fprop --stratum products"
                 " --set %s --set d=fp32 --set scales=fp32", c->set[0]);
    }
    return NG_N_GEMMS;
}

int ng_claims(ng_claim claim[NG_MAX_CLAIMS])
{
    int n = encode_claims(claim);

    n += mxfp4_claims(claim + n);
    n += mxfp8_claims(claim + n);
    n += window_claims(claim + n);
    n += product_claims(claim + n);
    n += identity_claims(claim + n);
    n += ng_optim_claims(claim + n);
    return n;
}

/* Prove by a verify run that is narrowed to one variant and one stratum. */
static ng_status prove_by_verify(ng_proof *proof, const ng_claim *claim,
                                 const ng_proof_means *means, ng_error *error)
{
    const ng_operation *operation = ng_operation_find(claim->operation);
    ng_profile profile;
    ng_status status = ng_profile_load(&profile, "ng", error);
    ng_verify_plan plan = {
        .subject = ng_subject_find("reference"),
        .expected = ng_subject_find("oracle"),
        .profile = &profile, .level = 2, .seed = means->seed, .n_shards = 1,
        .sample = means->sample, .stratum = claim->stratum,
        .axes = claim->set, .state_path = means->state_path,
        .progress = means->progress, .context = means->context};

    while (plan.n_axes < 4 && claim->set[plan.n_axes] != NULL)
        plan.n_axes++;
    if (status != NG_OK)
        return status;
    if (plan.expected == NULL)
        return ng_fail(error, NG_NOT_COVERED, "%s: no MPFR in this build",
                       claim->slug);

    ng_operation_result *result = calloc(1, sizeof *result);

    if (result == NULL)
        return ng_fail(error, NG_NO_MEMORY, "%s: out of memory", claim->slug);
    status = ng_verify(result, &operation, 1, &plan, error);
    if (status == NG_OK) {
        proof->inputs = result->elements;
        proof->differences = result->differences;
    }
    free(result);
    return status;
}

ng_status ng_prove(ng_proof *proof, const ng_claim *claim,
                   const ng_proof_means *means, ng_error *error)
{
    struct timespec start, end;
    ng_status status;

    *proof = (ng_proof){0};
    clock_gettime(CLOCK_MONOTONIC, &start);
    status = claim->prove != NULL
                 ? claim->prove(proof, claim, means, error)
                 : prove_by_verify(proof, claim, means, error);
    clock_gettime(CLOCK_MONOTONIC, &end);
    proof->seconds = (double)(end.tv_sec - start.tv_sec)
                     + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    return status;
}
