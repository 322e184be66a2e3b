/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that happened (docs/cases.md L-21 to L-23, L-28), where the model and
 * its backend could have them. Inputs and expected values are restated from
 * there, or worked out by hand.
 */
#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/model_fixture.h"
#include "reference/model/model.h"

static const ng_backend *b;

static void begin(void)
{
    fixture_at = 0;
    b = ng_backend_reference();
#ifdef _OPENMP
    omp_set_num_threads(1); /* nothing here is large */
#endif
}

/* ---- L-21 ---------------------------------------------------------------- */

/* Groups 0 and 3 of five have no rows: +0 over NaN in every carrier, and what
 * was there where it is added to. */
START_TEST(trap_l21_gradient_of_an_empty_expert)
{
    static const ng_carrier carriers[] = {NG_CARRY_FP32, NG_CARRY_BF16,
                                          NG_CARRY_FP8_COL};
    static const int64_t offsets[] = {0, 0, 8, 16, 16, 32};
    static const float want[] = {0.0f, 8.0f, 8.0f, 0.0f, 16.0f};
    const ng_row_groups groups = {{5, offsets}, NULL};
    ng_array ones = matrix_of(NG_CARRY_FP32, 32, 2);
    ng_array grad = array_of(NG_CARRY_FP32, 5, 2, 2, 0);

    for (int i = 0; i < 64; i++)
        floats(&ones)[i] = 1.0f;
    for (int c = 0; c < 3; c++) {
        const ng_array x = converted(carriers[c], &ones, &groups);

        memset(grad.data, 0xFF, 20 * sizeof(float));
        ck_assert_int_eq(
            b->linear_weight(b->context, &grad, &x, &x, &groups, false), NG_OK);
        for (int i = 0; i < 20; i++)
            ck_assert_uint_eq(ng_fp32_bits(floats(&grad)[i]),
                              ng_fp32_bits(want[i / 4]));
        /* -0 + 0 would be +0 */
        for (int i = 0; i < 20; i++)
            floats(&grad)[i] = -0.0f;
        ck_assert_int_eq(
            b->linear_weight(b->context, &grad, &x, &x, &groups, true), NG_OK);
        for (int i = 0; i < 20; i++)
            ck_assert_uint_eq(
                ng_fp32_bits(floats(&grad)[i]),
                ng_fp32_bits(want[i / 4] > 0.0f ? want[i / 4] : -0.0f));
    }
}
END_TEST

/* ---- L-22 ---------------------------------------------------------------- */

/* Ten rows in groups of 3 and 4: those past the last are neither read nor
 * written, whatever an array becomes. */
START_TEST(trap_l22_converted_rows_past_the_last)
{
    static const ng_carrier from[] = {NG_CARRY_FP32, NG_CARRY_BF16,
                                      NG_CARRY_FP8, NG_CARRY_MXFP4};
    static const ng_carrier to[] = {NG_CARRY_FP32, NG_CARRY_BF16, NG_CARRY_FP8,
                                    NG_CARRY_MXFP4};
    static const int64_t offsets[] = {0, 3, 7};
    const ng_row_groups groups = {{2, offsets}, NULL};
    ng_array ones = matrix_of(NG_CARRY_FP32, 10, 40);

    for (int i = 0; i < 400; i++)
        floats(&ones)[i] = 1.0f;
    for (int f = 0; f < 4; f++)
        for (int t = 0; t < 4; t++) {
            const ng_array x = converted(from[f], &ones, NULL);
            const ng_array y = matrix_of(to[t], 10, 40);
            const int64_t row = ng_carrier_row_bytes(to[t], 40);
            const int64_t scales = ng_carrier_row_scale_bytes(to[t], 40);
            ng_events events = {{0}};
            ng_array one;

            /* every bit set: a NaN in all of them but E2M1 */
            memset((char *)x.data + 7 * ng_carrier_row_bytes(from[f], 40), 0xFF,
                   (size_t)(3 * ng_carrier_row_bytes(from[f], 40)));
            ck_assert_int_eq(b->convert(b->context, &y, &x, &groups, &events),
                             NG_OK);
            ck_assert_uint_eq(events.count[NG_EVENT_NAN], 0);
            for (int64_t i = 7 * row; i < 10 * row; i++)
                ck_assert_uint_eq(((uint8_t *)y.data)[i], 0xA5);
            for (int64_t i = 7 * scales; i < 10 * scales; i++)
                ck_assert_uint_eq(((uint8_t *)y.scales)[i], 0xA5);
            /* 1 has one code in each, whatever it comes from */
            one = matrix_of(NG_CARRY_FP32, 10, 40);
            ck_assert_int_eq(b->convert(b->context, &one, &y, &groups, NULL),
                             NG_OK);
            for (int i = 0; i < 280; i++)
                ck_assert_float_eq(floats(&one)[i], 1.0f);
        }
}
END_TEST

/* Groups that reach past the rows, or go back, are refused by whatever takes
 * them, before anything is written. */
START_TEST(trap_l22_offsets_past_the_rows)
{
    static const int64_t past[] = {0, 3, 11}, back[] = {0, 7, 3};
    static const int64_t late[] = {1, 3, 7};
    static const int64_t *const offsets[] = {past, back, late};
    ng_array x = random_matrix(10, 40, 1.0);

    for (int i = 0; i < 3; i++) {
        const ng_row_groups groups = {{2, offsets[i]}, NULL};
        static const ng_carrier to[] = {NG_CARRY_FP8, NG_CARRY_FP8_COL,
                                        NG_CARRY_MXFP4, NG_CARRY_BF16,
                                        NG_CARRY_FP32};

        for (int t = 0; t < 5; t++) {
            const ng_array y = array_of(to[t], 1, 10, 40, 2);
            const ng_array h = array_of(to[t], 1, 10, 20, 2);

            ck_assert_int_eq(b->convert(b->context, &y, &x, &groups, NULL),
                             NG_BAD_SHAPE);
            ck_assert_int_eq(b->swiglu(b->context, &h, &x, NULL, &groups, NULL),
                             NG_BAD_SHAPE);
            for (int64_t n = 0; n < ng_array_data_bytes(&h); n++)
                ck_assert(((uint8_t *)y.data)[n] == 0xA5
                          && ((uint8_t *)h.data)[n] == 0xA5);
        }
    }
}
END_TEST

/* A backend whose memory holds what the last user left: NaN, then 448, then
 * 6 in every nibble. */
static int recycled;

static void *alloc_recycled(void *context, int64_t bytes)
{
    void *memory = ng_backend_reference()->alloc(context, bytes);

    if (memory != NULL)
        memset(memory, recycled, (size_t)bytes);
    return memory;
}

enum {
    SEQUENCES = 2,
    LENGTH = 4,
    TOKENS = SEQUENCES * LENGTH,
    VOCABULARY = 11
};

static ng_model_config small(void)
{
    ng_model_config c = ng_model_config_default();

    c.vocabulary = VOCABULARY;
    c.hidden = 40;
    c.layers = 2;
    c.length = LENGTH;
    c.heads = 2;
    c.q_rank = 24;
    c.kv_rank = 16;
    c.nope_dim = 8;
    c.rope_dim = 8;
    c.v_dim = 8;
    c.ffn = 48;
    c.experts = 8; /* of which some get no row */
    c.expert_ffn = 24;
    c.balance_loss = 0.01;
    c.mtp_depth = 1;
    c.init_std = 0.2;
    return c;
}

/* The four recipes: FP32, then those that come with the program. */
static void open_recipe(ng_recipe *recipe, int i)
{
    static const char *const names[] = {"fp32", "bf16", "fp8", "mxfp4"};
    ng_error error = {""};

    if (i == 0)
        ck_assert_int_eq(ng_recipe_parse(recipe, recipe_fp32,
                                         (int64_t)sizeof recipe_fp32 - 1,
                                         names[0], &error),
                         NG_OK);
    else
        ck_assert_int_eq(ng_recipe_open(recipe, names[i], &error), NG_OK);
}

static ng_model *model_over(const ng_backend *backend, const ng_recipe *recipe)
{
    const ng_model_config config = small();
    ng_error error = {""};
    ng_model *m = NULL;

    ck_assert_int_eq(
        ng_model_create(&m, &config, recipe, backend, ng_comm_self(), &error),
        NG_OK);
    for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
        const ng_model_parameter *p = ng_model_parameter_of(m, i);
        float *theta = malloc((size_t)p->n * sizeof *theta);

        ng_model_initial(theta, m, i, 5);
        ck_assert_int_eq(ng_model_load(m, i, theta, &error), NG_OK);
        free(theta);
    }
    return m;
}

typedef struct outcome {
    ng_model_result result;
    double norm;
} outcome;

static outcome step(ng_model *m, const ng_model_shard *shard, int64_t targets)
{
    ng_error error = {""};
    outcome out;

    ck_assert_int_eq(ng_model_begin_step(m, 1, targets, &error), NG_OK);
    ck_assert_msg(ng_model_forward_backward(m, shard, &error) == NG_OK, "%s",
                  error.text);
    ck_assert_msg(ng_model_end_step(&out.result, m, &error) == NG_OK, "%s",
                  error.text);
    ck_assert_int_eq(ng_model_gradient_norm(&out.norm, m, &error), NG_OK);
    return out;
}

static const int32_t text[SEQUENCES][LENGTH + 2] = {{1, 7, 3, 3, 9, 2},
                                                    {4, 0, 10, 5, 5, 8}};

/* Sequences first .. of the text; the targets of those not asked for are -1. */
static ng_model_shard shard_of(int32_t *tokens, int32_t *targets, int first,
                               int n, unsigned asked)
{
    for (int s = 0; s < n; s++)
        for (int i = 0; i < LENGTH; i++) {
            tokens[s * LENGTH + i] = text[first + s][i];
            targets[s * LENGTH + i] =
                (asked >> s & 1) != 0 ? text[first + s][i + 1] : -1;
        }
    return (ng_model_shard){0, n, LENGTH, tokens, targets};
}

/* First and second steps in new and in recycled memory of any contents: the
 * same loss and the same gradients. */
START_TEST(trap_l22_recycled_memory)
{
    static const int contents[] = {0x00, 0xFF, 0x7E, 0x77};
    ng_backend backend = *b;
    int32_t tokens[TOKENS], targets[TOKENS];
    const ng_model_shard shard = shard_of(tokens, targets, 0, SEQUENCES, 3);
    ng_recipe recipe;
    outcome first = {.norm = 0.0};
    float *gradients[256] = {NULL};

    backend.alloc = alloc_recycled;
    open_recipe(&recipe, _i);
    for (int c = 0; c < 4; c++) {
        ng_model *m;

        recycled = contents[c];
        m = model_over(&backend, &recipe);
        ck_assert_int_le(ng_model_n_parameters(m), 256);
        for (int twice = 0; twice < 2; twice++) {
            const outcome now = step(m, &shard, TOKENS);

            if (c == 0 && twice == 0)
                first = now;
            ck_assert(isfinite(now.norm) && now.norm > 0.0);
            ck_assert_double_eq(now.norm, first.norm);
            ck_assert_double_eq(now.result.loss, first.result.loss);
            ck_assert_double_eq(now.result.mtp_loss, first.result.mtp_loss);
            ck_assert_double_eq(now.result.balance_loss,
                                first.result.balance_loss);
            for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
                const size_t bytes =
                    (size_t)ng_model_parameter_of(m, i)->n * sizeof(float);

                if (gradients[i] == NULL) {
                    gradients[i] = malloc(bytes);
                    memcpy(gradients[i], ng_model_gradient(m, i), bytes);
                }
                ck_assert_mem_eq(ng_model_gradient(m, i), gradients[i], bytes);
            }
        }
        ng_model_free(m);
    }
    for (int i = 0; i < 256; i++)
        free(gradients[i]);
    ng_recipe_free(&recipe);
}
END_TEST

/* ---- L-23 ---------------------------------------------------------------- */

/* Where rows and matrices start; no such memory is touched, nor exists. */
START_TEST(trap_l23_rows_and_matrices)
{
    static const struct {
        ng_carrier carrier;
        int64_t row, cols, data, scales;
    } rows[] = {
        {NG_CARRY_FP8, 65535, 64 * 512, 2147450880, 65535LL * 256 * 4},
        {NG_CARRY_FP8, 65535, 128 * 512, 4294901760, 65535LL * 512 * 4},
        {NG_CARRY_MXFP4, 65535, 128 * 512, 2147450880, 65535LL * 2048},
        {NG_CARRY_BF16, 65535, 128 * 512, 8589803520, 0},
        {NG_CARRY_FP32, 65535, 128 * 512, 17179607040, 0},
    };
    static const struct {
        ng_carrier carrier;
        int64_t matrix, data, scales; /* of 32768 x 65536 */
    } matrices[] = {
        {NG_CARRY_FP8_TILE, 2, 4294967296, 2LL * 256 * 512 * 4},
        {NG_CARRY_BF16, 3, 12884901888, 0},
    };
    char *const base = (char *)(uintptr_t)4096;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ng_array a = {
            rows[i].carrier, 1, 65536, rows[i].cols, 0, base, base};
        const ng_array part = ng_array_rows(&a, rows[i].row, 1);

        ck_assert_int_eq((char *)part.data - base, rows[i].data);
        ck_assert_int_eq((char *)part.scales - base, rows[i].scales);
        ck_assert_int_eq(part.rows, 1);
        ck_assert_int_eq(ng_array_data_bytes(&a), rows[i].data / 65535 * 65536);
    }
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        const ng_array a = {
            matrices[i].carrier, 4, 32768, 65536, 0, base, base};
        const ng_array part = ng_array_batch(&a, matrices[i].matrix, 1);

        ck_assert_int_eq((char *)part.data - base, matrices[i].data);
        ck_assert_int_eq((char *)part.scales - base, matrices[i].scales);
        ck_assert_int_eq(part.batch, 1);
    }
}
END_TEST

/* ---- L-28 ---------------------------------------------------------------- */

/* Batch 2, sequence 4: row t is token t mod 4 of sequence t div 4. With (1, 0)
 * in each row RoPE leaves cosine and sine of the position, an angle in radians
 * (base^0 = 1); nearest FP32 numbers, from MPFR at 200 bits. */
START_TEST(trap_l28_position_in_the_sequence)
{
    static const float want[LENGTH][2] = {
        {1.0f, 0.0f},
        {0x1.14a280p-1f, 0x1.aed548p-1f},
        {-0x1.aa2266p-2f, 0x1.d18f6ep-1f},
        {-0x1.fae04cp-1f, 0x1.210386p-3f},
    };
    ng_array x = matrix_of(NG_CARRY_FP32, TOKENS, 2);

    for (int t = 0; t < TOKENS; t++) {
        floats(&x)[2 * t] = 1.0f;
        floats(&x)[2 * t + 1] = 0.0f;
    }
    ck_assert_int_eq(b->rope(b->context, &x, 1, 2, LENGTH, 1e4, false), NG_OK);
    for (int t = 0; t < TOKENS; t++)
        for (int i = 0; i < 2; i++)
            ck_assert_float_eq(floats(&x)[2 * t + i], want[t % LENGTH][i]);
}
END_TEST

/* The first token of each sequence sees itself alone, the others no token of
 * another sequence: with equal scores and v = 2^t the sums are exact, and so
 * are the means of 1, 2 and 4 tokens. */
START_TEST(trap_l28_attention_within_the_sequence)
{
    static const float want[TOKENS] = {1.0f,  1.5f,  0.0f, 3.75f,
                                       16.0f, 24.0f, 0.0f, 60.0f};
    const ng_attention_shape shape = {SEQUENCES, LENGTH, 1, 1, 2, 1, 1.0f};
    ng_array q = matrix_of(NG_CARRY_FP32, TOKENS, 2), k = q;
    ng_array v = matrix_of(NG_CARRY_FP32, TOKENS, 1);
    ng_array y = matrix_of(NG_CARRY_FP32, TOKENS, 1);
    ng_array lse = matrix_of(NG_CARRY_FP32, TOKENS, 1);

    memset(q.data, 0, 2 * TOKENS * sizeof(float));
    for (int t = 0; t < TOKENS; t++)
        floats(&v)[t] = (float)(1 << t);
    ck_assert_int_eq(b->attention(b->context, &y, &lse, &q, &k, &v, &shape),
                     NG_OK);
    for (int t = 0; t < TOKENS; t++)
        if (want[t] != 0.0f) /* a third is not exact */
            ck_assert_float_eq(floats(&y)[t], want[t]);
}
END_TEST

/* The whole model: what a batch of two says of one of its sequences, the
 * further tokens that it predicts included, is what that sequence says alone,
 * whatever the other one holds. */
START_TEST(trap_l28_sequences_of_a_batch)
{
    int32_t tokens[TOKENS], targets[TOKENS];
    ng_recipe recipe;
    ng_model *m;

    open_recipe(&recipe, _i);
    m = model_over(b, &recipe);
    for (int s = 0; s < SEQUENCES; s++) {
        ng_model_shard shard = shard_of(tokens, targets, s, 1, 1);
        const outcome alone = step(m, &shard, LENGTH);
        outcome together;

        shard = shard_of(tokens, targets, 0, SEQUENCES, 1u << s);
        together = step(m, &shard, LENGTH);
        ck_assert_int_eq(together.result.targets, LENGTH);
        ck_assert_double_gt(alone.result.mtp_loss, 0.0);
        ck_assert_double_eq(together.result.loss, alone.result.loss);
        ck_assert_double_eq(together.result.mtp_loss, alone.result.mtp_loss);
    }
    ng_model_free(m);
    ng_recipe_free(&recipe);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model traps");
    TCase *tcase = tcase_create("traps");

    tcase_add_checked_fixture(tcase, begin, fixture_end);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, trap_l21_gradient_of_an_empty_expert);
    tcase_add_test(tcase, trap_l22_converted_rows_past_the_last);
    tcase_add_test(tcase, trap_l22_offsets_past_the_rows);
    tcase_add_loop_test(tcase, trap_l22_recycled_memory, 0, 4);
    tcase_add_test(tcase, trap_l23_rows_and_matrices);
    tcase_add_test(tcase, trap_l28_position_in_the_sequence);
    tcase_add_test(tcase, trap_l28_attention_within_the_sequence);
    tcase_add_loop_test(tcase, trap_l28_sequences_of_a_batch, 0, 4);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
