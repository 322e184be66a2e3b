/* SPDX-License-Identifier: Apache-2.0
 *
 * Every backward against central differences in FP64. The loss is the sum of
 * outputs times random cotangents; the forward that is differenced is written
 * here once more, in FP64, from the formulas of reference/backend.h. With
 * inputs and steps of the size of 1 and h = 2^-13, the differences are off by
 * h^2 |f'''| / 6 + 2^-53 |f| / h, about 1e-8; what the reference rounds in FP32
 * is bounded by 2^-24 times the number of operations in a chain (below 200
 * here) times the largest terms of the sum (below 50): 2^-24 * 200 * 50 < 6e-4.
 * A term left out or a wrong sign is of the size of 0.1.
 */
#ifndef NG_CONFORMANCE_CHECKS_GRADIENT_FIXTURE_H
#define NG_CONFORMANCE_CHECKS_GRADIENT_FIXTURE_H

#include "conformance/checks/model_fixture.h"

static const ng_backend *b;
static const double bound = 6e-4;

static inline void begin(void)
{
    fixture_at = 0;
    b = ng_backend_reference();
}

/* One input of an operation: its FP32 array, the FP64 copy that is differenced,
 * the gradient that backward gave. */
typedef struct input {
    const char *name;
    ng_array *x;
    const ng_array *grad;
    double *values;
} input;

typedef double loss_function(const void *context);

static inline double *doubles_of(const ng_array *x)
{
    const int64_t n = x->batch * x->rows * x->cols;
    double *values = malloc(((size_t)n + 1) * sizeof *values);

    for (int64_t i = 0; i < n; i++)
        values[i] = (double)floats(x)[i];
    return values;
}

/* Hold a gradient to the differences of the loss. `loss` reads in->values. */
static inline void check_input(const input *in, loss_function *loss,
                               const void *context)
{
    const double h = 0x1p-13;
    const int64_t n = in->x->batch * in->x->rows * in->x->cols;
    double largest = 0.0;

    for (int64_t i = 0; i < n; i++) {
        const double old = in->values[i];
        double up, down, want;
        const double got = (double)floats(in->grad)[i];

        in->values[i] = old + h;
        up = loss(context);
        in->values[i] = old - h;
        down = loss(context);
        in->values[i] = old;
        want = (up - down) / (2.0 * h);
        largest = fabs(want) > largest ? fabs(want) : largest;
        ck_assert_msg(fabs(got - want) <= bound, "%s[%lld]: %g, not %g",
                      in->name, (long long)i, got, want);
    }
    /* a gradient of zeros would prove nothing */
    ck_assert_msg(largest > 20.0 * bound, "%s: no gradient", in->name);
}

static inline ng_array like(const ng_array *x)
{
    ng_array y = array_of(x->carrier, x->batch, x->rows, x->cols, 0);

    return y;
}

static inline ng_array zeros_like(const ng_array *x)
{
    ng_array y = like(x);

    memset(y.data, 0, (size_t)ng_array_data_bytes(&y));
    return y;
}

/* <c, A x> = <A^T c, x> for the operator and its backward. */
static inline double dot(const ng_array *a, const ng_array *x)
{
    double sum = 0.0;

    for (int64_t i = 0; i < a->rows * a->cols; i++)
        sum += (double)floats(a)[i] * (double)floats(x)[i];
    return sum;
}

#endif
