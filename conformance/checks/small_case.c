/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/small_case.h"

#include <stdlib.h>
#include <string.h>

#include "formats/layout.h"

/* ---- elements in units ---------------------------------------------------- */

/* Elements in a unit, along the last axis, and their bits. */
static int per_unit(ng_dtype dtype)
{
    return dtype == NG_E2M1X2 ? 2 : dtype == NG_UE8M0X4 ? 4 : 1;
}

static int element_bits(ng_dtype dtype)
{
    return 8 * (int)ng_dtype_size(dtype) / per_unit(dtype);
}

/* Get or put element i (row-major) of dense data, `extent` elements a line. */
static uint64_t get(const void *data, ng_dtype dtype, int64_t extent, int64_t i)
{
    const int n = per_unit(dtype), bits = element_bits(dtype);
    const int64_t unit = i / extent * ng_ceil_div(extent, n) + i % extent / n;
    uint64_t word = 0;

    memcpy(&word, (const char *)data + unit * (int64_t)ng_dtype_size(dtype),
           ng_dtype_size(dtype));
    return bits == 64 ? word
                      : word >> bits * (int)(i % extent % n)
                            & ((UINT64_C(1) << bits) - 1);
}

static void put(void *data, ng_dtype dtype, int64_t extent, int64_t i,
                uint64_t element)
{
    const int n = per_unit(dtype), bits = element_bits(dtype);
    const int64_t unit = i / extent * ng_ceil_div(extent, n) + i % extent / n;
    const int shift = bits * (int)(i % extent % n);
    char *at = (char *)data + unit * (int64_t)ng_dtype_size(dtype);
    uint64_t word = 0;

    memcpy(&word, at, ng_dtype_size(dtype));
    if (n > 1)
        element =
            (word & ~(((UINT64_C(1) << bits) - 1) << shift)) | element << shift;
    memcpy(at, &element, ng_dtype_size(dtype));
}

/* ---- sizes ------------------------------------------------------------------ */

static int64_t groups_of(const ng_small *s)
{
    return s->n_groups < 0 ? 1 : s->n_groups;
}

static int64_t rows_of(const ng_small *s, int64_t g)
{
    return s->n_groups < 0 ? s->size[NG_ROWS] : s->group[g];
}

static int64_t extent_of(const ng_small *s, ng_extent axis, int64_t fixed)
{
    int64_t blocks = 0;

    switch (axis) {
    case NG_BY_ROW:
        return s->size[NG_ROWS];
    case NG_BY_ROW_BLOCK:
        for (int64_t g = 0; g < groups_of(s); g++)
            blocks += ng_ceil_div(rows_of(s, g), NG_FP8_BLOCK);
        return blocks;
    case NG_BY_COL:
        return s->size[NG_COLS];
    case NG_BY_COL_32:
        return ng_ceil_div(s->size[NG_COLS], NG_MXFP4_BLOCK);
    case NG_BY_COL_128:
        return ng_ceil_div(s->size[NG_COLS], NG_FP8_BLOCK);
    case NG_BY_LINE:
        return s->size[NG_LINES];
    case NG_BY_GROUP_LINE:
        return groups_of(s) * s->size[NG_LINES];
    case NG_BY_GROUP_LINE_128:
        return groups_of(s) * ng_ceil_div(s->size[NG_LINES], NG_FP8_BLOCK);
    default:
        return fixed;
    }
}

static void set_extents(ng_small_tensor *t, const ng_small *s)
{
    for (int a = 0; a < 2; a++)
        t->extent[a] =
            a < t->like.rank ? extent_of(s, t->axis[a], t->extent[a]) : 1;
}

int64_t ng_small_count(const ng_small_tensor *t)
{
    return t->extent[0] * t->extent[1];
}

static bool is_offsets(const ng_small_tensor *t)
{
    return strcmp(t->like.name, "offsets") == 0;
}

int64_t ng_small_elements(const ng_small *s)
{
    int64_t n = 0;

    for (int i = 0; i < s->n_inputs; i++)
        n += is_offsets(&s->input[i]) ? 0 : ng_small_count(&s->input[i]);
    return n;
}

/* The size that an axis of a template gives away. */
static void learn_size(ng_small *s, ng_extent axis, int64_t extent, bool packed)
{
    switch (axis) {
    case NG_BY_ROW:
        s->size[NG_ROWS] = extent;
        break;
    case NG_BY_COL:
        if (!packed)
            s->size[NG_COLS] = extent;
        break;
    case NG_BY_LINE:
        s->size[NG_LINES] = extent;
        break;
    case NG_BY_GROUP_LINE:
        if (groups_of(s) > 0)
            s->size[NG_LINES] = extent / groups_of(s);
        break;
    default:
        break;
    }
}

static bool is_width(const ng_attribute *a)
{
    return strcmp(a->name, "cols") == 0 || strcmp(a->name, "scales") == 0;
}

/* Units of an axis of so many elements. */
static int64_t units_of(const ng_small_tensor *t, int a)
{
    return a == t->like.rank - 1
               ? ng_ceil_div(t->extent[a], per_unit(t->like.dtype))
               : t->extent[a];
}

static bool has_its_shape(const ng_small_tensor *t, const ng_tensor *tensor)
{
    for (int a = 0; a < tensor->rank; a++)
        if (units_of(t, a) != tensor->shape[a])
            return false;
    return true;
}

static bool learn_groups(ng_small *s, const ng_call *call)
{
    const ng_tensor *offsets = ng_call_input(call, "offsets");

    s->n_groups = -1;
    if (offsets == NULL)
        return true;
    const int64_t *at = offsets->data;

    s->n_groups = offsets->shape[0] - 1;
    s->group = s->n_groups < 0
                   ? NULL
                   : calloc((size_t)s->n_groups + 1, sizeof *s->group);
    if (s->group == NULL || at[0] != 0)
        return false;
    for (int64_t g = 0; g < s->n_groups; g++) {
        s->group[g] = at[g + 1] - at[g];
        if (s->group[g] < 0)
            return false;
    }
    return true;
}

static void learn_tensor(ng_small *s, ng_small_tensor *t, const ng_tensor *from,
                         const char *operation)
{
    t->like = *from;
    t->like.data = NULL;
    ng_small_layout(t->axis, operation, from->name, from->rank);
    for (int a = 0; a < 2 && a < from->rank; a++) {
        t->extent[a] = from->shape[a]; /* where it is fixed */
        if (!is_offsets(t))
            learn_size(s, t->axis[a], from->shape[a],
                       a == from->rank - 1 && per_unit(from->dtype) > 1);
    }
}

void ng_small_read_elements(ng_small_tensor *t, const ng_tensor *from)
{
    for (int64_t k = 0; t->element != NULL && k < ng_small_count(t); k++)
        t->element[k] =
            get(from->data, from->dtype, t->extent[t->like.rank - 1], k);
}

static uint64_t *room_for(const ng_small_tensor *t)
{
    return calloc((size_t)ng_small_count(t) + 1, sizeof *t->element);
}

static bool learn(ng_small *s, const ng_case *c)
{
    const ng_call *call = &c->call;

    if (!learn_groups(s, call))
        return false;
    s->n_inputs = call->n_inputs;
    s->n_outputs = call->n_outputs;
    s->n_attributes = call->n_attributes;
    memcpy(s->attribute, call->attribute, sizeof s->attribute);
    s->random = call->random;
    s->odd_layout = c->odd_layout;
    for (int i = 0; i < call->n_inputs; i++)
        learn_tensor(s, &s->input[i], &call->input[i], call->operation);
    for (int i = 0; i < call->n_outputs; i++)
        learn_tensor(s, &s->output[i], &call->output[i], call->operation);
    for (int i = 0; i < s->n_attributes; i++)
        if (is_width(&s->attribute[i]))
            s->size[NG_COLS] = s->attribute[i].value;
    for (int i = 0; i < s->n_outputs; i++) {
        set_extents(&s->output[i], s);
        if (!has_its_shape(&s->output[i], &call->output[i]))
            return false;
    }
    for (int i = 0; i < s->n_inputs; i++) {
        ng_small_tensor *t = &s->input[i];
        const ng_tensor *from = &call->input[i];

        if (is_offsets(t))
            continue;
        set_extents(t, s);
        if (!has_its_shape(t, from) || (t->element = room_for(t)) == NULL)
            return false;
        ng_small_read_elements(t, from);
    }
    return true;
}

bool ng_small_of(ng_small *s, const ng_case *c)
{
    memset(s, 0, sizeof *s);
    if (!c->failed && learn(s, c))
        return true;
    ng_small_free(s);
    return false;
}

void ng_small_free(ng_small *s)
{
    for (int i = 0; i < s->n_inputs; i++)
        free(s->input[i].element);
    free(s->group);
    memset(s, 0, sizeof *s);
}

bool ng_small_resized(ng_small *s, const ng_small *from,
                      const int64_t size[NG_N_SIZES], int64_t n_groups,
                      const int64_t *group)
{
    *s = *from;
    for (int i = 0; i < s->n_inputs; i++)
        s->input[i].element = NULL;
    memcpy(s->size, size, sizeof s->size);
    s->n_groups = group == NULL ? -1 : n_groups;
    s->group = NULL;
    if (group != NULL) {
        s->group = calloc((size_t)n_groups + 1, sizeof *s->group);
        if (s->group == NULL)
            goto no_memory;
        memcpy(s->group, group, (size_t)n_groups * sizeof *group);
    }
    for (int i = 0; i < s->n_attributes; i++)
        if (is_width(&s->attribute[i]))
            s->attribute[i].value = s->size[NG_COLS];
    for (int i = 0; i < s->n_outputs; i++)
        set_extents(&s->output[i], s);
    for (int i = 0; i < s->n_inputs; i++) {
        if (is_offsets(&s->input[i]))
            continue;
        set_extents(&s->input[i], s);
        if ((s->input[i].element = room_for(&s->input[i])) == NULL)
            goto no_memory;
    }
    return true;
no_memory:
    ng_small_free(s);
    return false;
}

bool ng_small_copy(ng_small *to, const ng_small *from)
{
    if (!ng_small_resized(to, from, from->size, from->n_groups, from->group))
        return false;
    for (int i = 0; i < to->n_inputs; i++)
        if (to->input[i].element != NULL)
            memcpy(to->input[i].element, from->input[i].element,
                   (size_t)ng_small_count(&to->input[i])
                       * sizeof *to->input[i].element);
    return true;
}

/* ---- cutting ------------------------------------------------------------------ */

/* What is left out: n of one size from `first` on; or of groups, with rows. */
typedef struct cut {
    int64_t first[NG_N_SIZES], n[NG_N_SIZES];
    int64_t first_group, n_groups;
} cut;

/* Where the i-th of what is left was. */
static int64_t was(int64_t first, int64_t n, int64_t i)
{
    return i < first ? i : i + n;
}

static int64_t was_of(const cut *c, ng_size size, int64_t i)
{
    return was(c->first[size], c->n[size], i);
}

/* Number of the block of a row, and the first row of a block. */
static int64_t block_of_row(const ng_small *s, int64_t row)
{
    int64_t first = 0, block = 0;

    for (int64_t g = 0; g < groups_of(s); g++) {
        if (row < first + rows_of(s, g))
            return block + (row - first) / NG_FP8_BLOCK;
        first += rows_of(s, g);
        block += ng_ceil_div(rows_of(s, g), NG_FP8_BLOCK);
    }
    return block - 1;
}

static int64_t row_of_block(const ng_small *s, int64_t block)
{
    int64_t first = 0;

    for (int64_t g = 0; g < groups_of(s); g++) {
        const int64_t n = ng_ceil_div(rows_of(s, g), NG_FP8_BLOCK);

        if (block < n)
            return first + block * NG_FP8_BLOCK;
        block -= n;
        first += rows_of(s, g);
    }
    return first;
}

/* The element of an axis that element i comes from: of a scale, the one over
 * the first of what is now under it. */
static int64_t source(const ng_small *to, const ng_small *from, const cut *c,
                      ng_extent axis, int64_t i)
{
    const int64_t lines = to->size[NG_LINES];
    const int64_t per = ng_ceil_div(lines, NG_FP8_BLOCK);

    switch (axis) {
    case NG_BY_ROW:
        return was_of(c, NG_ROWS, i);
    case NG_BY_ROW_BLOCK:
        return block_of_row(from, was_of(c, NG_ROWS, row_of_block(to, i)));
    case NG_BY_COL:
        return was_of(c, NG_COLS, i);
    case NG_BY_COL_32:
        return was_of(c, NG_COLS, i * NG_MXFP4_BLOCK) / NG_MXFP4_BLOCK;
    case NG_BY_COL_128:
        return was_of(c, NG_COLS, i * NG_FP8_BLOCK) / NG_FP8_BLOCK;
    case NG_BY_LINE:
        return was_of(c, NG_LINES, i);
    case NG_BY_GROUP_LINE:
        return was(c->first_group, c->n_groups, i / lines)
                   * from->size[NG_LINES]
               + was_of(c, NG_LINES, i % lines);
    case NG_BY_GROUP_LINE_128:
        return was(c->first_group, c->n_groups, i / per)
                   * ng_ceil_div(from->size[NG_LINES], NG_FP8_BLOCK)
               + was_of(c, NG_LINES, i % per * NG_FP8_BLOCK) / NG_FP8_BLOCK;
    default:
        return i;
    }
}

static void take(ng_small *to, const ng_small *from, const cut *c)
{
    for (int i = 0; i < to->n_inputs; i++) {
        const ng_small_tensor *t = &to->input[i], *f = &from->input[i];

        if (t->element == NULL)
            continue;
        for (int64_t k = 0; k < ng_small_count(t); k++) {
            const int64_t row = k / t->extent[1], col = k % t->extent[1];

            t->element[k] =
                f->element[source(to, from, c, t->axis[0], row) * f->extent[1]
                           + source(to, from, c, t->axis[1], col)];
        }
    }
}

bool ng_small_without(ng_small *to, const ng_small *from, ng_size size,
                      int64_t first, int64_t n)
{
    cut c = {.first_group = 0};
    int64_t left[NG_N_SIZES], *group = NULL, row = 0;

    memset(to, 0, sizeof *to);
    memcpy(left, from->size, sizeof left);
    if (first < 0 || n <= 0 || first + n > left[size])
        return false;
    left[size] -= n;
    c.first[size] = first;
    c.n[size] = n;
    if (from->n_groups >= 0) {
        group = calloc((size_t)from->n_groups + 1, sizeof *group);
        if (group == NULL)
            return false;
    }
    for (int64_t g = 0; g < from->n_groups; row += from->group[g++])
        for (int64_t r = row; r < row + from->group[g]; r++)
            group[g] += size != NG_ROWS || r < first || r >= first + n;

    const bool good = ng_small_resized(to, from, left, from->n_groups, group);

    free(group);
    if (good)
        take(to, from, &c);
    return good;
}

bool ng_small_without_groups(ng_small *to, const ng_small *from, int64_t first,
                             int64_t n)
{
    cut c = {.first_group = first, .n_groups = n};
    const int64_t n_left = from->n_groups - n;
    int64_t left[NG_N_SIZES], *group;

    memset(to, 0, sizeof *to);
    if (first < 0 || n <= 0 || first + n > from->n_groups)
        return false;
    for (int64_t g = 0; g < first + n; g++)
        (g < first ? c.first : c.n)[NG_ROWS] += from->group[g];
    memcpy(left, from->size, sizeof left);
    left[NG_ROWS] -= c.n[NG_ROWS];
    group = calloc((size_t)n_left + 1, sizeof *group);
    for (int64_t g = 0; group != NULL && g < n_left; g++)
        group[g] = from->group[was(first, n, g)];

    const bool good =
        group != NULL && ng_small_resized(to, from, left, n_left, group);

    free(group);
    if (good)
        take(to, from, &c);
    return good;
}

bool ng_small_dense(ng_small *to, const ng_small *from)
{
    const cut nothing = {.first_group = 0};

    memset(to, 0, sizeof *to);
    if (from->n_groups != 1 || from->group[0] != from->size[NG_ROWS]
        || !ng_small_resized(to, from, from->size, -1, NULL))
        return false;
    take(to, from, &nothing);
    return true;
}

/* ---- together again --------------------------------------------------------- */

static void make_offsets(ng_case *c, const ng_small *s)
{
    const int64_t n = s->n_groups + 1;
    int64_t *at = ng_case_input(c, "offsets", NG_I64, 1, &n);

    for (int64_t g = 0; at != NULL && g < s->n_groups; g++)
        at[g + 1] = at[g] + s->group[g];
}

static void make_input(ng_case *c, const ng_small *s, const ng_small_tensor *t)
{
    const int64_t shape[2] = {units_of(t, 0), units_of(t, 1)};
    void *data =
        ng_case_input(c, t->like.name, t->like.dtype, t->like.rank, shape);

    if (data == NULL)
        return;
    memset(data, s->padding,
           (size_t)(shape[0] * (t->like.rank > 1 ? shape[1] : 1))
               * ng_dtype_size(t->like.dtype));
    for (int64_t i = 0; i < ng_small_count(t); i++)
        put(data, t->like.dtype, t->extent[t->like.rank - 1], i, t->element[i]);
}

bool ng_small_make(ng_case *c, const ng_small *s, const ng_case_id *id,
                   const ng_variant *variant)
{
    ng_case_begin(c, id->operation->name, variant, id->stratum->name, id->index,
                  id->seed);
    c->odd_layout = s->odd_layout;
    c->call.random = s->random;
    for (int i = 0; i < s->n_inputs; i++)
        if (!is_offsets(&s->input[i]))
            make_input(c, s, &s->input[i]);
        else if (s->n_groups >= 0)
            make_offsets(c, s);
    for (int i = 0; i < s->n_outputs; i++) {
        const ng_small_tensor *t = &s->output[i];
        const int64_t shape[2] = {units_of(t, 0), units_of(t, 1)};
        const char *dot = strrchr(t->like.name, '.');

        ng_case_output(c, t->like.name, t->like.dtype, t->like.rank, shape,
                       dot != NULL && strcmp(dot, ".scales") == 0);
    }
    for (int i = 0; i < s->n_attributes; i++)
        ng_case_attribute(c, s->attribute[i].name, s->attribute[i].value);
    ng_case_spread(c);
    return !c->failed;
}
