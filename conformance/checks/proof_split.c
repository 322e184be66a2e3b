/* SPDX-License-Identifier: Apache-2.0
 *
 * What weight splitting restores, by trying every FP32 number: semantics
 * section 8. Inputs are told apart by their bits; what comes back is compared
 * with what went in, never with another split.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/proof.h"
#include "formats/fp32.h"
#include "formats/optim.h"
#include "reference/convert/ref_encode.h"
#include "reference/optim/ref_splitting.h"

enum { BLOCK = 1 << 16, N_BLOCKS = 1 << 16, STRETCH = 256 };

/* What happened in a part of the inputs. */
typedef struct tally {
    int64_t wrong;              /* inputs for which the claim does not hold */
    int64_t counted;            /* finite, saturated */
    int64_t other;              /* low is not the nearest, ties to even */
} tally;

typedef tally try_one(uint32_t theta);

static const uint32_t magnitude_mask = 0x7FFFFFFF;

static uint32_t merge(ng_ref_pair pair, ng_dtype dtype, int n_bits)
{
    return ng_ref_merge_weight(pair, dtype, n_bits, NG_SPLIT_ULP);
}

/* NaN and infinity go to themselves; and whatever was written, splitting what
 * it merges to writes it again. */
static bool keeps(uint32_t theta, ng_ref_pair pair, uint32_t back,
                  ng_dtype dtype, int n_bits)
{
    const ng_ref_pair again =
        ng_ref_split_weight(back, dtype, n_bits, NG_SPLIT_ULP);
    const uint32_t magnitude = theta & magnitude_mask;

    if (again.low != pair.low || again.rho != pair.rho)
        return false;
    if (magnitude < NG_FP32_INFINITY)
        return true;
    return !pair.saturated && pair.rho == 0
           && back == (magnitude > NG_FP32_INFINITY ? NG_FP32_NAN : theta);
}

/* A saturated theta takes the largest finite low and the largest rho. */
static bool is_last(ng_ref_pair pair, uint32_t theta, uint32_t max_low,
                    int n_bits)
{
    return pair.low == ((theta >> 16 & 0x8000) | max_low)
           && pair.rho == (1 << (n_bits - 1)) - 1;
}

/* The nearest BF16, ties to even, of a finite number below the last tie. */
static uint32_t nearest_even(uint32_t theta)
{
    return (theta + 0x7FFF + (theta >> 16 & 1)) >> 16;
}

/* Every finite theta below the tie of the largest BF16 with infinity comes back
 * bit for bit; the 2 * 32,768 others are counted. */
static tally try_bf16_16(uint32_t theta)
{
    const uint32_t magnitude = theta & magnitude_mask;
    const bool beyond =
        magnitude >= 0x7F7F8000 && magnitude < NG_FP32_INFINITY;
    const ng_ref_pair pair =
        ng_ref_split_weight(theta, NG_BF16, 16, NG_SPLIT_ULP);
    const uint32_t back = merge(pair, NG_BF16, 16);
    bool right = keeps(theta, pair, back, NG_BF16, 16)
                 && pair.saturated == beyond;

    if (beyond)
        right = right && is_last(pair, theta, 0x7F7F, 16);
    else if (magnitude < NG_FP32_INFINITY)
        right = right && back == theta;
    return (tally){.wrong = !right, .counted = pair.saturated};
}

/* The error is at most 1/512 of a BF16 ULP at theta: 128 FP32 steps, since 2^16
 * of them make one and steps up to the next binade are as long. Counted are
 * those whose nearest number of 24 bits is the last tie or beyond it. */
static tally try_bf16_8(uint32_t theta)
{
    const uint32_t magnitude = theta & magnitude_mask;
    const bool beyond =
        magnitude >= 0x7F7F7F80 && magnitude < NG_FP32_INFINITY;
    const ng_ref_pair pair =
        ng_ref_split_weight(theta, NG_BF16, 8, NG_SPLIT_ULP);
    const uint32_t back = merge(pair, NG_BF16, 8);
    tally t = {.counted = pair.saturated};
    bool right = keeps(theta, pair, back, NG_BF16, 8)
                 && pair.saturated == beyond;

    if (beyond) {
        right = right && is_last(pair, theta, 0x7F7F, 8);
    } else if (magnitude < NG_FP32_INFINITY) {
        const int64_t off = (int64_t)(back & magnitude_mask) - magnitude;
        const int64_t from_tie = (int64_t)(magnitude & 0xFFFF) - 0x8000;

        t.other = pair.low != nearest_even(theta);
        right = right && (back ^ theta) >> 31 == 0 && llabs(off) <= 128
                && (t.other == 0 || llabs(from_tie) <= 128);
    }
    t.wrong = !right;
    return t;
}

/* 2^-(n+1) of the spacing of FP16 at theta, 2^-24 below 2^-13. */
static double fp16_error_bound(double theta, int n_bits)
{
    const int e = fabs(theta) < 0x1p-14 ? -14 : ilogb(theta);

    return ldexp(1, e - 10 - n_bits - 1);
}

static tally try_fp16(uint32_t theta, int n_bits, double end)
{
    const double value = (double)ng_fp32_from_bits(theta);
    const bool finite = (theta & magnitude_mask) < NG_FP32_INFINITY;
    const bool beyond = finite && fabs(value) >= end;
    const ng_ref_pair pair =
        ng_ref_split_weight(theta, NG_FP16, n_bits, NG_SPLIT_ULP);
    const uint32_t back = merge(pair, NG_FP16, n_bits);
    bool right = keeps(theta, pair, back, NG_FP16, n_bits)
                 && pair.saturated == beyond;

    if (beyond)
        right = right && is_last(pair, theta, 0x7BFF, n_bits);
    else if (finite)
        right = right
                && fabs((double)ng_fp32_from_bits(back) - value)
                       <= fp16_error_bound(value, n_bits);
    if (finite && n_bits == 16) {
        const bool restored =
            fabs(value) <= 65520
            && (fabs(value) >= 0x1p-17 || fmod(value, 0x1p-40) == 0);

        right = right && (back == theta) == restored;
    }
    return (tally){.wrong = !right, .counted = pair.saturated};
}

static tally try_fp16_16(uint32_t theta)
{
    return try_fp16(theta, 16, 65520);
}

/* Half way between the last number of 18 fraction bits and 65520. */
static tally try_fp16_8(uint32_t theta)
{
    return try_fp16(theta, 8, 65520 - 0x1p-4);
}

static const struct {
    const char *set;
    try_one *try;
    int64_t counted, other;     /* over all inputs */
} proofs[] = {
    {"bf16-16", try_bf16_16, 65536, 0},
    {"bf16-8", try_bf16_8, 65792, 8388224},
    {"fp16-16", try_fp16_16, 2 * (0x7F800000 - 0x477FF000), 0},
    {"fp16-8", try_fp16_8, 2 * (0x7F800000 - 0x477FEFF0), 0},
};

static tally try_block(try_one *try, uint32_t block)
{
    tally sum = {0};

    for (uint32_t i = 0; i < BLOCK; i++) {
        const tally one = try(block * BLOCK + i);

        sum.wrong += one.wrong;
        sum.counted += one.counted;
        sum.other += one.other;
    }
    return sum;
}

/* All blocks of 2^16 numbers, or a sample: an odd multiplier permutes them. */
ng_status ng_prove_split(ng_proof *proof, const ng_claim *claim,
                         const ng_proof_means *means, ng_error *error)
{
    const bool whole = means->sample <= 0 || means->sample >= N_BLOCKS;
    const int64_t n = whole ? N_BLOCKS : means->sample;
    int64_t wrong = 0, counted = 0, other = 0;
    size_t which = 0;

    (void)error;
    while (strcmp(proofs[which].set, claim->set[0]) != 0)
        which++;
    for (int64_t first = 0; first < n; first += STRETCH) {
        const int64_t end = first + STRETCH < n ? first + STRETCH : n;

#pragma omp parallel for schedule(dynamic, 1) \
    reduction(+ : wrong, counted, other)
        for (int64_t i = first; i < end; i++) {
            const uint64_t at = (uint64_t)i * 40503 + means->seed;
            const tally t =
                try_block(proofs[which].try, (uint32_t)(at % N_BLOCKS));

            wrong += t.wrong;
            counted += t.counted;
            other += t.other;
        }
        if (means->progress != NULL)
            means->progress(means->context, claim->slug, end, n);
    }
    proof->inputs = n * BLOCK;
    proof->differences = wrong;
    if (whole)
        proof->differences += llabs(counted - proofs[which].counted)
                              + llabs(other - proofs[which].other);
    return NG_OK;
}

/* With ties to even a nonzero even low stands for the FP32 numbers from one tie
 * to the other, both included: 65,537, one more than rho has values, whatever
 * rho means. An odd one stands for 65,535. Rounding is monotonic, so trying the
 * ends and what lies past them is enough. */
ng_status ng_prove_split_ties(ng_proof *proof, const ng_claim *claim,
                              const ng_proof_means *means, ng_error *error)
{
    const ng_rules rules = {.rounding = NG_NEAREST_EVEN, .overflow = NG_IEEE};

    (void)claim, (void)means, (void)error;
    for (uint32_t low = 1; low <= 0x7F7F; low++)
        for (uint32_t sign = 0; sign <= 0x8000; sign += 0x8000) {
            const bool even = low % 2 == 0;
            const uint32_t first = (low << 16) - 0x8000 + !even;
            const uint32_t last = (low << 16) + 0x8000 - !even;
            bool same = last - first + 1 == (even ? 65537 : 65535);

            for (uint32_t end = 0; end < 4; end++) {
                const uint32_t bits = end == 0   ? first - 1
                                      : end == 1 ? first
                                      : end == 2 ? last
                                                 : last + 1;
                unsigned events = 0;
                const uint32_t got = ng_ref_encode(
                    &ng_formats[NG_FORMAT_BF16],
                    ng_fp32_from_bits(sign << 16 | bits), &rules, 0, &events);

                same = same
                       && (got == (sign | low)) == (end == 1 || end == 2);
            }
            proof->differences += !same;
            proof->inputs++;
        }
    return NG_OK;
}

/* FlashOptim with 16 bits: of the 2^23 numbers in [1, 2) 22,760 do not come
 * back. M is 32767 where half an ulp is 32,768 FP32 steps: 6,375 of them, all
 * 16,369 to 16,416 steps from low. And where low is 2, whose half ulp is 65,536
 * steps long, every second one is lost: 16,385. */
ng_status ng_prove_split_flashoptim(ng_proof *proof, const ng_claim *claim,
                                    const ng_proof_means *means,
                                    ng_error *error)
{
    enum { LOW_TWO = 0x4000, LOST_BELOW_TWO = 6375, LOST_AT_TWO = 16385 };
    int64_t lost[2] = {0}, elsewhere = 0;

    (void)claim, (void)means, (void)error;
    for (uint32_t theta = 0x3F800000; theta < 0x40000000; theta++) {
        const ng_ref_pair pair =
            ng_ref_split_weight(theta, NG_BF16, 16, NG_SPLIT_FLASHOPTIM);
        const uint32_t back =
            ng_ref_merge_weight(pair, NG_BF16, 16, NG_SPLIT_FLASHOPTIM);
        const int64_t off =
            llabs((int64_t)theta - ((int64_t)pair.low << 16));
        const bool at_two = pair.low == LOW_TWO;

        lost[at_two] += back != theta;
        elsewhere +=
            back != theta && !at_two && (off < 16369 || off > 16416);
        proof->inputs++;
    }
    proof->differences = llabs(lost[0] - LOST_BELOW_TWO)
                         + llabs(lost[1] - LOST_AT_TWO) + elsewhere;
    return NG_OK;
}
