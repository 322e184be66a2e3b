/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of tensors: conformance/subject/call.h, gemm_functions.h,
 * swiglu_functions.h.
 */
#include "conformance/cli/own_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct building {
    ng_call *call;
    ng_own_call_memory *memory;
    int poison;
    bool failed;
} building;

static void *get(building *w, int64_t bytes)
{
    void *block = malloc((size_t)bytes + 1);

    if (block == NULL)
        w->failed = true;
    else
        w->memory->block[w->memory->n++] = block;
    return block;
}

static void add(building *w, bool output, const char *name, const char *part,
                ng_dtype dtype, int64_t rows, int64_t cols, void *data)
{
    ng_call *c = w->call;
    const int64_t shape[2] = {rows, cols};
    char full[NG_MAX_NAME];

    snprintf(full, sizeof full, "%s%s", name, part);
    if (output && data != NULL)
        memset(data, w->poison, (size_t)(rows * cols) * ng_dtype_size(dtype));
    *(output ? &c->output[c->n_outputs++] : &c->input[c->n_inputs++]) =
        ng_tensor_dense(full, dtype, 2, shape, data);
}

static void attribute(building *w, const char *name, int64_t value)
{
    w->call->attribute[w->call->n_attributes++] = (ng_attribute){name, value};
}

static int64_t blocks(int64_t n, int64_t block)
{
    return (n + block - 1) / block;
}

/* An array by its carrier; a batch is stacked. */
static void add_array(building *w, bool output, const char *name,
                      const ng_array *x)
{
    const int64_t rows = x->batch * x->rows, cols = x->cols;
    const int64_t wide = blocks(cols, NG_FP8_BLOCK);

    switch (x->carrier) {
    case NG_CARRY_FP8:
        add(w, output, name, ".codes", NG_E4M3, rows, cols, x->data);
        add(w, output, name, ".scales", NG_FP32, rows, wide, x->scales);
        break;
    case NG_CARRY_FP8_COL:
        add(w, output, name, ".codes", NG_E4M3, cols, rows, x->data);
        add(w, output, name, ".scales", NG_FP32, cols, x->blocks, x->scales);
        break;
    case NG_CARRY_FP8_TILE:
        add(w, output, name, ".codes", NG_E4M3, rows, cols, x->data);
        add(w, output, name, ".scales", NG_FP32,
            x->batch * blocks(x->rows, NG_FP8_BLOCK), wide, x->scales);
        break;
    case NG_CARRY_MXFP4:
        add(w, output, name, ".codes", NG_E2M1X2, rows, blocks(cols, 2),
            x->data);
        add(w, output, name, ".scales", NG_UE8M0, rows,
            blocks(cols, NG_MXFP4_BLOCK), x->scales);
        attribute(w, "cols", cols);
        break;
    default:
        add(w, output, name, "",
            x->carrier == NG_CARRY_FP32 ? NG_FP32 : NG_BF16, rows, cols,
            x->data);
    }
}

static void add_groups(building *w, const ng_row_groups *groups)
{
    ng_call *c = w->call;
    int64_t n;

    if (groups == NULL)
        return;
    n = groups->host.n_groups + 1;
    c->input[c->n_inputs++] =
        ng_tensor_dense("offsets", NG_I64, 1, &n,
                        (void *)groups->host.offsets); /* read alone */
}

/* ---- SwiGLU: [gate | up] apart, and together again ------------------------ */

static int64_t width_of(const ng_array *numbers)
{
    return numbers->cols * (numbers->carrier == NG_CARRY_FP32 ? 4 : 2);
}

/* Move the left half of the columns of [gate | up] to or from `gate`, the right
 * one `up`. */
static void part(const ng_array *both, void *gate, void *up, bool apart)
{
    const int64_t half = width_of(both) / 2;

    for (int64_t r = 0; r < both->rows; r++)
        for (int side = 0; side < 2; side++) {
            char *whole = (char *)both->data + (2 * r + side) * half;
            char *alone = (char *)(side == 0 ? gate : up) + r * half;

            memcpy(apart ? alone : whole, apart ? whole : alone, (size_t)half);
        }
}

/* Inputs, or outputs, that are halves of an array. */
static void add_halves(building *w, bool output, const char *gate,
                       const char *up, const ng_array *both)
{
    const int64_t half = both->rows * width_of(both) / 2;
    const ng_dtype dtype = both->carrier == NG_CARRY_FP32 ? NG_FP32 : NG_BF16;
    void *left = get(w, half), *right = get(w, half);

    if (w->failed)
        return;
    if (!output)
        part(both, left, right, true);
    add(w, output, gate, "", dtype, both->rows, both->cols / 2, left);
    add(w, output, up, "", dtype, both->rows, both->cols / 2, right);
}

static void swiglu(building *w, const ng_array *y, const ng_array *gate_up,
                   const ng_row_groups *groups)
{
    add_halves(w, false, "gate", "up", gate_up);
    add_groups(w, groups);
    if (y->carrier == NG_CARRY_FP8 || y->carrier == NG_CARRY_MXFP4)
        add(w, true, "values", "", NG_FP32, y->rows, y->cols,
            get(w, y->rows * y->cols * 4));
    add_array(w, true, "y", y);
}

/* ---- the others ---------------------------------------------------------- */

static void gemm(building *w, const ng_array *y, const ng_array *a,
                 const ng_array *b, const ng_row_groups *groups, bool addend)
{
    ng_array d = *y;

    add_array(w, false, "a", a);
    add_array(w, false, "b", b);
    if (addend) {
        add_array(w, false, "c", y);
        d.data = get(w, ng_array_data_bytes(y));
        if (w->failed)
            return;
    }
    add_groups(w, groups);
    add_array(w, true, "d", &d);
}

static void conversion(building *w, const ng_array *y, const ng_array *x,
                       const ng_row_groups *groups)
{
    add_array(w, false, "x", x);
    add_groups(w, groups);
    add_array(w, true, "y", y);
    if (x->carrier == NG_CARRY_FP8 || x->carrier == NG_CARRY_FP8_TILE)
        attribute(w, "pow2", 1);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

ng_status ng_own_call_begin(ng_call *call, ng_own_call_memory *memory,
                            const char *operation, const ng_array *y,
                            const ng_array *a, const ng_array *b,
                            const ng_row_groups *groups, int poison)
{
    building w = {call, memory, poison, false};

    *memory = (ng_own_call_memory){.n = 0};
    *call = (ng_call){.operation = operation};
    call->rules = ng_default_rules;
    call->rules.fp8_scale = NG_FP8_POW2; /* as backend.h says */
    if (strcmp(operation, "swiglu_backward") == 0) {
        add_array(&w, false, "grad_y", a);
        add_halves(&w, false, "gate", "up", b);
        if (!w.failed)
            add_halves(&w, true, "grad_gate", "grad_up", y);
    } else if (begins(operation, "swiglu")) {
        swiglu(&w, y, a, groups);
    } else if (begins(operation, "grouped_gemm")) {
        gemm(&w, y, a, b, groups, strstr(operation, "wgrad") != NULL);
    } else {
        conversion(&w, y, a, groups);
    }
    return w.failed ? NG_NO_MEMORY : NG_OK;
}

void ng_own_call_end(const ng_call *call, ng_own_call_memory *memory,
                     const ng_array *y, bool good)
{
    const ng_tensor *gate = ng_call_output(call, "grad_gate");
    const ng_tensor *up = ng_call_output(call, "grad_up");
    const ng_tensor *d = ng_call_output(call, "d");

    if (good && d != NULL && d->data != y->data)
        memcpy(y->data, d->data, (size_t)ng_array_data_bytes(y));
    if (good && gate != NULL && up != NULL)
        part(y, gate->data, up->data, false);
    while (memory->n > 0)
        free(memory->block[--memory->n]);
}

static bool is_all(const ng_tensor *t, int byte)
{
    const unsigned char *data = t->data;
    const int64_t n =
        t->shape[0] * t->shape[1] * (int64_t)ng_dtype_size(t->dtype);

    for (int64_t i = 0; i < n; i++)
        if (data[i] != byte)
            return false;
    return true;
}

const ng_tensor *ng_own_call_unwritten(const ng_call *call, int poison)
{
    for (int i = 0; i < call->n_outputs; i++)
        if (is_all(&call->output[i], poison))
            return &call->output[i];
    return NULL;
}
