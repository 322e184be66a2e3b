/* SPDX-License-Identifier: Apache-2.0
 *
 * What the launchers of conversions, products and activations refuse before they
 * speak to CUDA, so on a machine without a GPU too: a wrong call of each with the
 * status that the reference gives; a launch or a workspace that is wrong with
 * that of its header. Calls that are right are not made: they would run. Of those
 * with nothing to do, some are.
 */
#ifdef _OPENMP
#include <omp.h>
#endif
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/convert/convert_fp8_row_to_col.h"
#include "cuda/convert/convert_fp8_to_mxfp4.h"
#include "cuda/convert/convert_mxfp4_to_fp8.h"
#include "cuda/convert/convert_scales.h"
#include "cuda/convert/dequantize_fp8.h"
#include "cuda/convert/dequantize_mxfp4.h"
#include "cuda/convert/elements.h"
#include "cuda/convert/pack_e2m1.h"
#include "cuda/convert/quantize_fp8.h"
#include "cuda/convert/quantize_fp8_row_col.h"
#include "cuda/convert/quantize_mxfp4.h"
#include "cuda/convert/transpose_fp8_tile.h"
#include "cuda/moe/grouped_gemm_bf16.h"
#include "cuda/moe/grouped_gemm_fprop.h"
#include "cuda/moe/grouped_gemm_mxfp4_fprop.h"
#include "cuda/moe/grouped_gemm_wgrad.h"
#include "cuda/moe/swiglu.h"
#include "reference/convert/ref_convert_fp8_row_to_col.h"
#include "reference/convert/ref_convert_fp8_to_mxfp4.h"
#include "reference/convert/ref_convert_mxfp4_to_fp8.h"
#include "reference/convert/ref_dequantize_fp8.h"
#include "reference/convert/ref_dequantize_mxfp4.h"
#include "reference/convert/ref_pack_e2m1.h"
#include "reference/convert/ref_quantize_fp8.h"
#include "reference/convert/ref_quantize_mxfp4.h"
#include "reference/convert/ref_transpose_fp8_tile.h"
#include "reference/convert/ref_unpack_e2m1.h"
#include "reference/moe/ref_grouped_gemm_bf16.h"
#include "reference/moe/ref_grouped_gemm_fprop.h"
#include "reference/moe/ref_grouped_gemm_wgrad.h"
#include "reference/moe/ref_swiglu.h"

/* Those that are called here. */
#define LAUNCHERS(X)            \
    X(quantize_mxfp4)           \
    X(dequantize_mxfp4)         \
    X(quantize_fp8)             \
    X(dequantize_fp8)           \
    X(convert_mxfp4_to_fp8)     \
    X(convert_fp8_row_to_col)   \
    X(convert_fp8_to_mxfp4)     \
    X(transpose_fp8_tile)       \
    X(pack_e2m1)                \
    X(unpack_e2m1)              \
    X(convert_scales)           \
    X(quantize_fp8_row_col)     \
    X(encode)                   \
    X(decode)                   \
    X(philox)                   \
    X(grouped_gemm_bf16_fprop)  \
    X(grouped_gemm_wgrad)       \
    X(swiglu)                   \
    X(swiglu_mxfp4)             \
    X(swiglu_fp8)               \
    X(swiglu_backward)          \
    X(swiglu_backward_fp8)      \
    X(grouped_gemm_fprop)       \
    X(grouped_gemm_mxfp4_fprop) \
    X(grouped_gemm_bf16_wgrad)
#include "conformance/checks/cuda_refusals.h"

/* ---- wrong calls of conversions, beside the reference --------------------- */

enum { ROWS = 4, COLS = 256 };

/* FP32 scales of a square are the most that a call which is right writes. */
static _Alignas(256) unsigned char room[4][4 * COLS * (COLS + 1)];

/* Both sides of every conversion, as the ones that are right have them. */
typedef struct sides {
    ng_matrix bf16, e2m1, e2m1x2;
    ng_mxfp4 mxfp4;
    ng_fp8 row, col, tile, turned;
} sides;

static sides right(int64_t rows, int64_t cols)
{
    const uint32_t one = 0x3F800000; /* the bytes, too, are powers of two */

    for (size_t i = 0; i < sizeof room[1]; i += sizeof one)
        memcpy(room[1] + i, &one, sizeof one);

    const ng_scales bytes = {room[1], NG_UE8M0, false, cols, 1};
    const ng_scales words = {room[1], NG_FP32, true, cols, 1};
    const ng_scales columns = {room[1], NG_FP32, true, rows + 1, 1};
    const sides s = {
        .bf16 = {room[0], NG_BF16, rows, cols, cols},
        .e2m1 = {room[0], NG_E2M1, rows, cols, cols},
        .e2m1x2 = {room[2], NG_E2M1X2, rows, cols, cols},
        .mxfp4 = {room[2], rows, cols, cols, bytes},
        .row = {room[3], NG_FP8_ROW, rows, cols, cols, words},
        .col = {room[0], NG_FP8_COL, rows, cols, rows, columns},
        .tile = {room[0], NG_FP8_TILE, rows, cols, cols, words},
        .turned = {room[2], NG_FP8_TILE, cols, rows, rows, columns},
    };

    return s;
}

/* Break the n-th thing; false: there is no n-th. */
static bool break_scales(ng_scales *s, int n)
{
    switch (n) {
    case 0:
        s->data = NULL;
        return true;
    case 1:
        s->ld = 0;
        return true;
    case 2:
        s->step = 0;
        return true;
    case 3:
        s->ld = s->step = 1;
        return true;
    case 4:
        s->ld = INT64_MAX;
        return true;
    default:
        s->dtype = (ng_dtype)(n - 5);
        return n - 5 <= NG_N_DTYPES;
    }
}

static bool break_matrix(ng_matrix *x, int n)
{
    switch (n) {
    case 0:
        x->data = NULL;
        return true;
    case 1:
        x->rows = -1;
        return true;
    case 2:
        x->cols++;
        return true;
    case 3:
        x->ld = x->cols / 2 - 1;
        return true;
    case 4:
        x->ld = INT64_MAX / 2;
        return true;
    default:
        x->dtype = (ng_dtype)(n - 5);
        return n - 5 <= NG_N_DTYPES;
    }
}

static bool break_mxfp4(ng_mxfp4 *x, int n)
{
    switch (n) {
    case 0:
        x->codes = NULL;
        return true;
    case 1:
        x->rows++;
        return true;
    case 2:
        x->cols = -1;
        return true;
    case 3:
        x->ld = x->cols / 2 - 1;
        return true;
    case 4:
        x->ld = INT64_MAX;
        return true;
    default:
        return break_scales(&x->scales, n - 5);
    }
}

static bool break_fp8(ng_fp8 *x, int n)
{
    switch (n) {
    case 0:
        x->codes = NULL;
        return true;
    case 1:
        x->rows = -1;
        return true;
    case 2:
        x->cols++;
        return true;
    case 3:
        x->ld = 0;
        return true;
    case 4:
        x->ld = INT64_MAX;
        return true;
    case 5:
    case 6:
    case 7:
    case 8:
        x->form = (ng_fp8_form)(n - 5);
        return true;
    default:
        return break_scales(&x->scales, n - 9);
    }
}

/* The options of a call: the rules as they are, one that there is not, and one
 * that wants powers of two. Dense: of ragged rows the launchers know less. */
enum { N_OPTIONS = 3 };

static ng_options options_of(int n, ng_rules *rules)
{
    *rules = ng_default_rules;
    if (n == 1)
        rules->rounding = (ng_rounding)100;
    if (n == 2)
        rules->rounding = NG_STOCHASTIC;
    return (ng_options){.rules = rules};
}

/* The launcher's status, where the reference refuses; a call that it takes is
 * made where there is nothing to do. */
#define BESIDE(name, y, x, what)                                            \
    do {                                                                    \
        const ng_status want = ng_ref_##name(y, x, &options);               \
                                                                            \
        if (want != NG_OK || (rows == 0 || cols == 0))                      \
            expect(cuda_##name(y, x, &options, &launch), want, #name what); \
    } while (0)

/* Break y, then x. */
#define EACH(name, y_of, y_break, x_of, x_break)                        \
    do {                                                                \
        for (int o = 0; o < N_OPTIONS; o++)                             \
            for (int n = 0;; n++) {                                     \
                ng_rules rules;                                         \
                const ng_options options = options_of(o, &rules);       \
                const sides good = right(rows, cols);                   \
                sides bad = good;                                       \
                                                                        \
                if (!y_break(&bad.y_of, n))                             \
                    break;                                              \
                BESIDE(name, &bad.y_of, &good.x_of, ", y");             \
            }                                                           \
        for (int o = 0; o < N_OPTIONS; o++)                             \
            for (int n = 0;; n++) {                                     \
                ng_rules rules;                                         \
                const ng_options options = options_of(o, &rules);       \
                const sides good = right(rows, cols);                   \
                sides bad = good;                                       \
                                                                        \
                if (!x_break(&bad.x_of, n))                             \
                    break;                                              \
                BESIDE(name, &good.y_of, &bad.x_of, ", x");             \
            }                                                           \
        {                                                               \
            const ng_options options = {.rules = NULL};                 \
            const sides good = right(rows, cols);                       \
                                                                        \
            BESIDE(name, NULL, &good.x_of, ", no y");                   \
            BESIDE(name, &good.y_of, NULL, ", no x");                   \
            expect(cuda_##name(&good.y_of, &good.x_of, &options, NULL), \
                   NG_BAD_POINTER, #name ", no launch");                \
        }                                                               \
    } while (0)

static void conversions(int64_t rows, int64_t cols)
{
    int32_t refusal = 0;
    const ng_cuda_launch launch = {.refusal = &refusal};

    EACH(quantize_mxfp4, mxfp4, break_mxfp4, bf16, break_matrix);
    EACH(dequantize_mxfp4, bf16, break_matrix, mxfp4, break_mxfp4);
    EACH(quantize_fp8, row, break_fp8, bf16, break_matrix);
    EACH(dequantize_fp8, bf16, break_matrix, row, break_fp8);
    EACH(dequantize_fp8, e2m1, break_matrix, tile, break_fp8);
    EACH(convert_mxfp4_to_fp8, row, break_fp8, mxfp4, break_mxfp4);
    EACH(convert_mxfp4_to_fp8, col, break_fp8, mxfp4, break_mxfp4);
    EACH(convert_fp8_row_to_col, col, break_fp8, row, break_fp8);
    EACH(convert_fp8_to_mxfp4, mxfp4, break_mxfp4, row, break_fp8);
    EACH(transpose_fp8_tile, turned, break_fp8, tile, break_fp8);
    EACH(pack_e2m1, e2m1x2, break_matrix, e2m1, break_matrix);
    EACH(unpack_e2m1, e2m1, break_matrix, e2m1x2, break_matrix);
}

/* ---- wrong products and activations --------------------------------------- */

/* What they take: T tokens, N and K. Lines of what the products take are longer
 * than they must be, so that one column more is wrong in that alone. */
typedef struct operands {
    ng_matrix d, a_bf16, b_bf16, grad, c, n_bf16;
    ng_fp8 a, b, a_col, b_col, y;
    ng_mxfp4 a_mxfp4, y_mxfp4;
    ng_matrix gate, up, grad_y, values, grad_gate, grad_up;
} operands;

static operands right_operands(int64_t t, int64_t n, int64_t k)
{
    const sides s = right(t, k); /* scales are powers of two */
    const ng_scales plane = {room[1], NG_FP32, false, 1, COLS};
    const ng_matrix tokens = {room[0], NG_BF16, t, k, k + 1};
    const ng_matrix values = {room[2], NG_FP32, t, k, k};
    operands o = {
        .d = {room[2], NG_FP32, t, n, n + 1},
        .a_bf16 = tokens,
        .b_bf16 = {room[3], NG_BF16, n, k, k},
        .grad = {room[2], NG_FP32, n, k, k},
        .c = {room[2], NG_FP32, n, k, k},
        .n_bf16 = {room[3], NG_BF16, t, n, n},
        .a = s.row,
        .b = {room[3], NG_FP8_TILE, n, k, k, plane},
        .a_col = {room[0], NG_FP8_COL, t, n, t, plane},
        .b_col = {room[3], NG_FP8_COL, t, k, t, plane},
        .y = s.row,
        .a_mxfp4 = s.mxfp4,
        .y_mxfp4 = s.mxfp4,
        .gate = tokens,
        .up = tokens,
        .grad_y = tokens,
        .values = values,
        .grad_gate = values,
        .grad_up = values,
    };

    o.a.ld++;
    o.a.scales.ld++;
    return o;
}

/* The n-th thing of one of them; false: there is no n-th. */
static bool break_operands(operands *o, int which, int n)
{
    ng_matrix *const matrices[] = {&o->d,      &o->a_bf16,    &o->b_bf16,
                                   &o->grad,   &o->c,         &o->n_bf16,
                                   &o->gate,   &o->up,        &o->grad_y,
                                   &o->values, &o->grad_gate, &o->grad_up};
    ng_fp8 *const fp8s[] = {&o->a, &o->b, &o->a_col, &o->b_col, &o->y};
    ng_mxfp4 *const mxfp4s[] = {&o->a_mxfp4, &o->y_mxfp4};

    if (which < 12)
        return break_matrix(matrices[which], n);
    if (which < 17)
        return break_fp8(fp8s[which - 12], n);
    return break_mxfp4(mxfp4s[which - 17], n);
}

static void products(int64_t t, int64_t n, int64_t k)
{
    const ng_cuda_launch launch = {.workspace = room[3],
                                   .workspace_bytes = INT64_MAX};

#define PRODUCT(name, ...)                                            \
    do {                                                              \
        const ng_status want = ng_ref_##name(__VA_ARGS__, &options);  \
                                                                      \
        if (want != NG_OK)                                            \
            expect(cuda_##name(__VA_ARGS__, &options, &launch), want, \
                   #name ", beside the reference");                   \
    } while (0)
    for (int which = 0; which < 19; which++)
        for (int i = 0;; i++) {
            const ng_options options = {.rules = NULL};
            operands o = right_operands(t, n, k);

            if (!break_operands(&o, which, i))
                break;
            PRODUCT(grouped_gemm_fprop, &o.d, &o.a, &o.b);
            PRODUCT(grouped_gemm_mxfp4_fprop, &o.d, &o.a_mxfp4, &o.b);
            PRODUCT(grouped_gemm_wgrad, &o.grad, NULL, &o.a_col, &o.b_col);
            PRODUCT(grouped_gemm_wgrad, &o.grad, &o.c, &o.a_col, &o.b_col);
            PRODUCT(grouped_gemm_bf16_fprop, &o.d, &o.a_bf16, &o.b_bf16);
            PRODUCT(grouped_gemm_bf16_wgrad, &o.grad, NULL, &o.n_bf16,
                    &o.a_bf16);
            PRODUCT(grouped_gemm_bf16_wgrad, &o.grad, &o.c, &o.n_bf16,
                    &o.a_bf16);
            PRODUCT(swiglu, &o.values, &o.gate, &o.up);
            PRODUCT(swiglu_mxfp4, &o.y_mxfp4, &o.values, &o.gate, &o.up);
            PRODUCT(swiglu_fp8, &o.y, NULL, &o.values, &o.gate, &o.up);
            PRODUCT(swiglu_backward, &o.grad_gate, &o.grad_up, &o.grad_y,
                    &o.gate, &o.up);
            PRODUCT(swiglu_backward_fp8, &o.y, &o.a, &o.grad_gate, &o.grad_up,
                    &o.grad_y, &o.gate, &o.up);
        }
#undef PRODUCT
}

/* ---- launches ------------------------------------------------------------ */

static void launches(void)
{
    ng_rules rules = ng_default_rules;
    const sides s = right(ROWS, COLS);
    static const int64_t offsets[] = {0, 1, ROWS};
    ng_groups bad = {2, offsets};
    const ng_options ragged = {.groups = &bad};
    ng_cuda_launch launch = {.events = (ng_events *)(void *)(room[0] + 4)};
    ng_fp8 col = s.col;

    expect(cuda_quantize_mxfp4(&s.mxfp4, &s.bf16, NULL, &launch),
           NG_BAD_POINTER, "events off their boundary");
    launch.events = NULL;
    launch.refusal = (int32_t *)(void *)(room[0] + 2);
    expect(cuda_quantize_mxfp4(&s.mxfp4, &s.bf16, NULL, &launch),
           NG_BAD_POINTER, "a refusal off its boundary");
    launch.refusal = NULL;
    bad.n_groups = -1;
    expect(cuda_quantize_mxfp4(&s.mxfp4, &s.bf16, &ragged, &launch),
           NG_BAD_GROUPS, "groups below 0");
    bad.n_groups = INT64_MAX;
    expect(cuda_quantize_mxfp4(&s.mxfp4, &s.bf16, &ragged, &launch),
           NG_BAD_GROUPS, "more groups than memory holds");
    bad = (ng_groups){2, NULL};
    expect(cuda_quantize_mxfp4(&s.mxfp4, &s.bf16, &ragged, &launch),
           NG_BAD_POINTER, "no offsets");
    bad.offsets = (const int64_t *)(const void *)(room[0] + 4);
    expect(cuda_quantize_mxfp4(&s.mxfp4, &s.bf16, &ragged, &launch),
           NG_BAD_POINTER, "offsets off their boundary");

    /* Two passes, the second of which cannot be: neither is made. */
    const ng_options up = {.rules = &rules};

    rules.rounding = NG_UP;
    rules.fp8_scale = NG_FP8_FP32;
    col.scales.dtype = NG_UE8M0;
    expect(cuda_quantize_fp8_row_col(&s.row, &col, &s.bf16, &up, &launch),
           NG_BAD_RULES, "quantize_fp8_row_col, bytes of general scales");

    const ng_scales words = {room[0], NG_FP32, true, 1, 1};
    const ng_scales bytes = {room[1], NG_UE8M0, true, 1, 1};

    expect(cuda_convert_scales(&bytes, &words, 1, 1, &launch), NG_BAD_POINTER,
           "convert_scales, nowhere to refuse");
    launch.refusal = (int32_t *)(void *)(room[0] + 1);
    expect(cuda_convert_scales(&bytes, &words, 1, 1, &launch), NG_BAD_POINTER,
           "convert_scales, a refusal off its boundary");
}

static void elements(void)
{
    const ng_cuda_launch launch = {.stream = NULL};
    ng_rules rules = ng_default_rules;
    const ng_random random = {0, 0};
    void *y = room[0];
    float *x = (float *)(void *)room[1];
    float *odd = (float *)(void *)(room[1] + 2);

    expect(cuda_encode(y, x, NULL, 1, NG_FORMAT_E4M3, &rules, NULL),
           NG_BAD_POINTER, "encode, no launch");
    expect(cuda_encode(y, x, NULL, -1, NG_FORMAT_E4M3, &rules, &launch),
           NG_BAD_SHAPE, "encode, n below 0");
    expect(cuda_encode(y, x, NULL, 1, NG_FORMAT_FP32, &rules, &launch),
           NG_BAD_DTYPE, "encode, FP32");
    expect(cuda_encode(y, odd, NULL, 1, NG_FORMAT_E4M3, &rules, &launch),
           NG_BAD_POINTER, "encode, x off its boundary");
    expect(
        cuda_encode(room[0] + 1, x, NULL, 1, NG_FORMAT_BF16, &rules, &launch),
        NG_BAD_POINTER, "encode, y off its boundary");
    expect(cuda_encode(y, x, (uint32_t *)(void *)odd, 1, NG_FORMAT_E4M3, &rules,
                       &launch),
           NG_BAD_POINTER, "encode, random words off their boundary");
    expect(cuda_encode(y, x, NULL, 1, NG_FORMAT_E4M3, NULL, &launch),
           NG_BAD_POINTER, "encode, no rules");
    expect(cuda_encode(NULL, NULL, NULL, 0, NG_FORMAT_E4M3, &rules, &launch),
           NG_OK, "encode, nothing");
    expect(cuda_decode(odd, y, 1, NG_FORMAT_E4M3, &rules, &launch),
           NG_BAD_POINTER, "decode, y off its boundary");
    rules.rounding = (ng_rounding)100;
    expect(cuda_decode(x, y, 1, NG_FORMAT_E4M3, &rules, &launch), NG_BAD_RULES,
           "decode, a rule that there is not");
    expect(
        cuda_philox(y, (uint64_t *)(void *)(room[1] + 4), 1, &random, &launch),
        NG_BAD_POINTER, "philox, first off its boundary");
    expect(cuda_philox(y, (uint64_t *)(void *)room[1], 1, NULL, &launch),
           NG_BAD_POINTER, "philox, no seed");
}

/* A workspace that is wanted: too small, not there, off its boundary. */
static void workspaces(void)
{
    const sides s = right(ROWS, COLS);
    const ng_matrix weights = {room[1], NG_BF16, 2, COLS - 1, COLS - 1};
    const ng_matrix tokens = {room[0], NG_BF16, ROWS, COLS - 1, COLS - 1};
    const ng_matrix d = {room[2], NG_BF16, ROWS, 2, 2};
    const ng_scales plane = {room[1], NG_FP32, false, 1, COLS};
    const ng_fp8 a = {room[0], NG_FP8_COL, ROWS, COLS, ROWS, plane};
    const ng_matrix w = {room[2], NG_FP32, 4, 4, 4};
    ng_fp8 narrow = a;
    ng_rules stochastic = ng_default_rules;
    const ng_options slow = {.rules = &stochastic};
    ng_cuda_launch launch = {.workspace = room[3]};

    narrow.cols = 4;
    stochastic.rounding = NG_STOCHASTIC;
    expect(cuda_grouped_gemm_bf16_fprop(&d, &tokens, &weights, NULL, &launch),
           NG_NO_MEMORY, "bf16_fprop, no workspace");
    expect(cuda_grouped_gemm_wgrad(&w, NULL, &narrow, &narrow, NULL, &launch),
           NG_NO_MEMORY, "wgrad, no workspace");
    launch.workspace_bytes = INT64_MAX;
    launch.workspace = room[3] + 16;
    expect(cuda_grouped_gemm_bf16_fprop(&d, &tokens, &weights, NULL, &launch),
           NG_BAD_POINTER, "bf16_fprop, a workspace off its boundary");
    expect(cuda_grouped_gemm_wgrad(&w, NULL, &narrow, &narrow, NULL, &launch),
           NG_BAD_POINTER, "wgrad, a workspace off its boundary");
    expect(cuda_swiglu_mxfp4(&s.mxfp4, NULL, &s.bf16, &s.bf16, &slow, &launch),
           NG_BAD_POINTER, "swiglu_mxfp4, a workspace off its boundary");
    launch.workspace = NULL;
    expect(cuda_grouped_gemm_bf16_fprop(&d, &tokens, &weights, NULL, &launch),
           NG_BAD_POINTER, "bf16_fprop, a workspace that is not there");

    /* Sizes that cannot be counted; nothing of them is read. */
    const int64_t many = INT32_MAX - 1024;
    ng_fp8 long_a = narrow;
    ng_matrix wide = {room[2], NG_BF16, 1, INT64_C(1) << 30, INT64_C(1) << 30};
    ng_fp8 one = narrow, wide_b = narrow;
    const ng_groups experts = {64, (const int64_t *)(void *)room[1]};
    const ng_options grouped = {.groups = &experts};

    long_a.rows = long_a.ld = many;
    expect(cuda_grouped_gemm_wgrad(&w, NULL, &long_a, &long_a, NULL, &launch),
           NG_BAD_SHAPE, "wgrad, tokens past 2^31 in the copy");
    one.cols = 1;
    wide_b.cols = wide.cols;
    wide.rows = 64;
    expect(
        cuda_grouped_gemm_wgrad(&wide, NULL, &one, &wide_b, &grouped, &launch),
        NG_BAD_SHAPE, "wgrad, thread blocks past 2^31");
}

int main(void)
{
    if (!find_launchers())
        return 99;
#ifdef _OPENMP
    omp_set_num_threads(1); /* the calls that the reference takes are small */
#endif
    conversions(ROWS, COLS);
    conversions(0, COLS);
    conversions(ROWS, 0);
    products(ROWS, 8, COLS);
    products(0, 8, COLS);
    products(ROWS, 0, COLS);
    products(ROWS, 8, 0);
    launches();
    elements();
    workspaces();
    printf("%d calls refused\n", refused);
    return failed || refused < 500;
}
