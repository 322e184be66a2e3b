/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/small_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/subject/escape.h"
#include "formats/files/safetensors.h"

enum { MAX_TEXT = 256 };

/* More than any case of the suite has. */
enum { MAX_SIZE = 1 << 20, MAX_ELEMENTS = 1 << 26 };

static const char *const size_name[NG_N_SIZES] = {"rows", "cols", "lines"};

/* ---- writing ---------------------------------------------------------------- */

typedef struct writer {
    ng_tensor_file file;
    ng_status status;
} writer;

static void say(writer *w, const char *name, const char *value)
{
    if (w->status == NG_OK)
        w->status = ng_tensor_file_add_metadata(&w->file, name, value);
}

static void say_number(writer *w, const char *prefix, const char *name,
                       uint64_t value, bool is_signed)
{
    char key[MAX_TEXT], text[32];

    snprintf(key, sizeof key, "%s%s", prefix, name);
    if (is_signed)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)value);
    else
        snprintf(text, sizeof text, "%" PRIu64, value);
    say(w, key, text);
}

static void say_case(writer *w, const ng_failure *failure,
                     const ng_variant *variant, const ng_profile *profile)
{
    const ng_case_id *id = &failure->id;
    char text[MAX_TEXT], line[512], key[MAX_TEXT];

    say(w, "format", NG_SMALL_FORMAT);
    say(w, "operation", id->operation->name);
    say(w, "profile", profile->name);
    ng_variant_print(text, sizeof text, variant);
    say(w, "variant", text);
    say(w, "stratum", id->stratum->name);
    say_number(w, "case", "", (uint64_t)id->index, true);
    say_number(w, "seed", "", id->seed, false);
    for (int r = 0; r < NG_N_RULES; r++) {
        snprintf(key, sizeof key, "rule.%s", ng_rule_name((ng_rule)r));
        say(w, key,
            ng_rule_value_name((ng_rule)r,
                               ng_rules_get(&variant->rules, (ng_rule)r)));
    }
    ng_failure_print_fault(line, sizeof line, failure);
    say(w, "failed", line);
}

static void say_small(writer *w, const ng_small *s)
{
    for (int i = 0; i < NG_N_SIZES; i++)
        say_number(w, "size.", size_name[i], (uint64_t)s->size[i], true);
    say(w, "layout", s->odd_layout ? "gaps" : "dense");
    say_number(w, "padding", "", s->padding, false);
    say_number(w, "random.seed", "", s->random.seed, false);
    say_number(w, "random.stream", "", s->random.stream, false);
    for (int i = 0; i < s->n_attributes; i++)
        say_number(w, "attribute.", s->attribute[i].name,
                   (uint64_t)s->attribute[i].value, true);
}

/* A tensor as a dense case has it. */
static void add_tensor(writer *w, const ng_tensor *t)
{
    int64_t units, bytes;
    char key[NG_MAX_NAME + 8];
    void *data;

    if (w->status == NG_OK)
        w->status = ng_tensor_file_add_tensor(&data, &w->file, t->name,
                                              t->dtype, t->rank, t->shape);
    if (w->status != NG_OK)
        return;
    ng_tensor_extent(&units, &bytes, t);
    memcpy(data, t->data, (size_t)bytes);
    /* Readers without these types (NumPy's) get integers. */
    if (t->dtype == NG_BF16 || t->dtype == NG_E2M1X2 || t->dtype == NG_E4M3
        || t->dtype == NG_UE8M0) {
        snprintf(key, sizeof key, "dtype.%s", t->name);
        say(w, key, ng_dtype_name(t->dtype));
    }
}

ng_status ng_small_write(const char *path, const char *folder,
                         const ng_small *small, const ng_failure *failure,
                         const ng_variant *variant, const ng_profile *profile,
                         ng_error *error)
{
    writer w = {.status = NG_OK};
    ng_small dense = *small; /* shares the elements */
    ng_case c;

    dense.odd_layout = false;
    if (!ng_small_make(&c, &dense, &failure->id, variant))
        w.status = NG_NO_MEMORY;
    say_case(&w, failure, variant, profile);
    say_small(&w, small);
    for (int i = 0; i < c.call.n_inputs; i++)
        add_tensor(&w, &c.call.input[i]);
    ng_case_end(&c);
    if (w.status != NG_OK)
        ng_fail(error, w.status, "%s: %s", path, ng_status_text(w.status));
    else if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        w.status =
            ng_fail(error, NG_BAD_FILE, "%s: %s", folder, strerror(errno));
    else
        w.status = ng_safetensors_write(path, &w.file, error);
    ng_tensor_file_free(&w.file);
    return w.status;
}

/* ---- reading ---------------------------------------------------------------- */

typedef struct reader {
    ng_tensor_file file;
    const char *path;
    ng_error *error;
} reader;

#define REFUSE(r, ...) ng_fail((r)->error, NG_BAD_FILE, __VA_ARGS__)

static const char *text_of(const reader *r, const char *key)
{
    const char *text = ng_tensor_file_metadata(&r->file, key);

    /* It goes into lines: one that is parsed again, one for a terminal. */
    for (const char *c = text; c != NULL && *c != '\0'; c++)
        if (*c <= ' ' || *c > '~')
            return NULL;
    return text == NULL || *text == '\0' ? NULL : text;
}

static ng_status number_of(uint64_t *value, const reader *r, const char *key,
                           bool is_signed)
{
    const char *text = text_of(r, key);
    char *end;

    errno = 0;
    if (text == NULL || strchr("+-0123456789", *text) == NULL
        || (*text == '-' && !is_signed))
        return REFUSE(r, "%s: metadata %s: missing or no number", r->path, key);
    *value = is_signed ? (uint64_t)strtoll(text, &end, 10)
                       : strtoull(text, &end, 10);
    return *end == '\0' && errno == 0
               ? NG_OK
               : REFUSE(r, "%s: metadata %s: no number", r->path, key);
}

static ng_status read_rules(ng_profile *profile, const reader *r)
{
    char key[MAX_TEXT];
    int value;

    for (int i = 0; i < NG_N_RULES; i++) {
        snprintf(key, sizeof key, "rule.%s", ng_rule_name((ng_rule)i));
        const char *text = text_of(r, key);

        if (text == NULL || !ng_rule_value_find((ng_rule)i, text, &value))
            return REFUSE(r, "%s: metadata %s: missing or unknown", r->path,
                          key);
        ng_rules_set(&profile->rules, (ng_rule)i, value);
        profile->pinned[i] = true;
    }
    return NG_OK;
}

/* Which case of the suite it was made from, by way of its FAIL line. */
static ng_status read_id(ng_case_id *id, const ng_profile *profile,
                         const reader *r)
{
    static const char *const keys[] = {"operation", "variant", "stratum",
                                       "case", "seed"};
    const char *text[5];
    char line[1024];
    ng_error why = {""};

    for (int i = 0; i < 5; i++)
        if ((text[i] = text_of(r, keys[i])) == NULL)
            return REFUSE(r, "%s: metadata %s: missing or bad", r->path,
                          keys[i]);
    snprintf(line, sizeof line,
             "FAIL op=%s variant=%s stratum=%s case=%s seed=%s", text[0],
             text[1], text[2], text[3], text[4]);
    return ng_failure_parse(id, line, profile, &why) == NG_OK
               ? NG_OK
               : REFUSE(r, "%s: %s", r->path, why.text);
}

static ng_status read_sizes(int64_t size[NG_N_SIZES], const reader *r)
{
    char key[MAX_TEXT];

    for (int i = 0; i < NG_N_SIZES; i++) {
        uint64_t value = 0;

        snprintf(key, sizeof key, "size.%s", size_name[i]);
        const ng_status status = number_of(&value, r, key, false);

        if (status != NG_OK)
            return status;
        if (value > MAX_SIZE)
            return REFUSE(r, "%s: metadata %s: too large", r->path, key);
        size[i] = (int64_t)value;
    }
    return NG_OK;
}

/* The sizes of groups, or null where there are none: offsets from 0 up, within
 * the rows. */
static ng_status read_groups(int64_t **group, int64_t *n, int64_t rows,
                             const reader *r)
{
    const ng_tensor *t = ng_tensor_file_find(&r->file, "offsets");
    int64_t last = 0;

    *group = NULL;
    *n = -1;
    if (t == NULL)
        return NG_OK;
    if (t->dtype != NG_I64 || t->rank != 1 || t->shape[0] < 1
        || t->shape[0] > MAX_SIZE)
        return REFUSE(r, "%s: offsets: not a few int64", r->path);
    *n = t->shape[0] - 1;
    *group = calloc((size_t)*n + 1, sizeof **group);
    if (*group == NULL)
        return ng_fail(r->error, NG_NO_MEMORY, "%s: out of memory", r->path);
    for (int64_t g = 0; g <= *n; g++) {
        int64_t at;

        memcpy(&at, (const char *)t->data + 8 * g, 8);
        if (at < last || at > rows || (g == 0 && at != 0)) {
            free(*group);
            *group = NULL;
            return REFUSE(r, "%s: offsets: not from 0 up to at most the rows",
                          r->path);
        }
        if (g > 0)
            (*group)[g - 1] = at - last;
        last = at;
    }
    return NG_OK;
}

static bool has_tensor(const ng_small *s, const char *name)
{
    for (int i = 0; i < s->n_inputs; i++)
        if (strcmp(s->input[i].like.name, name) == 0)
            return true;
    return false;
}

/* Every input that a case of these sizes has, of its type and shape, and no
 * other. */
static ng_status read_tensors(ng_small *s, const ng_case *c, const reader *r)
{
    char name[2 * NG_MAX_NAME];

    for (size_t i = 0; i < r->file.n_tensors; i++)
        if (!has_tensor(s, r->file.tensors[i].name)) {
            ng_escape(name, sizeof name, r->file.tensors[i].name,
                      strlen(r->file.tensors[i].name));
            return REFUSE(r, "%s: %s: no input of %s", r->path, name,
                          c->call.operation);
        }
    for (int i = 0; i < c->call.n_inputs; i++) {
        const ng_tensor *want = &c->call.input[i];
        const ng_tensor *t = ng_tensor_file_find(&r->file, want->name);
        bool same =
            t != NULL && t->dtype == want->dtype && t->rank == want->rank;

        for (int a = 0; same && a < t->rank; a++)
            same = t->shape[a] == want->shape[a];
        if (!same)
            return REFUSE(r, "%s: %s: missing, or of another type or shape",
                          r->path, want->name);
    }
    for (int i = 0; i < s->n_inputs; i++)
        ng_small_read_elements(
            &s->input[i], ng_tensor_file_find(&r->file, s->input[i].like.name));
    return NG_OK;
}

/* Numbers and flags of an optimizer are the file's own; what follows from sizes
 * and variant must be what it is. */
static ng_status read_attributes(ng_small *s, const reader *r)
{
    static const char *const structure[] = {"cols", "scales", "pow2", "kind"};
    char key[MAX_TEXT];

    for (int i = 0; i < s->n_attributes; i++) {
        ng_attribute *a = &s->attribute[i];
        uint64_t value = 0;

        snprintf(key, sizeof key, "attribute.%s", a->name);
        const ng_status status = number_of(&value, r, key, true);

        if (status != NG_OK)
            return status;
        for (size_t k = 0; k < sizeof structure / sizeof *structure; k++)
            if (strcmp(a->name, structure[k]) == 0
                && a->value != (int64_t)value)
                return REFUSE(r,
                              "%s: metadata %s: not that of the sizes and "
                              "the variant",
                              r->path, key);
        a->value = (int64_t)value;
    }
    return NG_OK;
}

static ng_status read_rest(ng_small *s, const reader *r)
{
    const char *layout = text_of(r, "layout");
    uint64_t padding = 0;
    ng_status status = read_attributes(s, r);

    if (layout == NULL
        || (strcmp(layout, "dense") != 0 && strcmp(layout, "gaps") != 0))
        return REFUSE(r, "%s: metadata layout: missing or unknown", r->path);
    s->odd_layout = strcmp(layout, "gaps") == 0;
    if (status == NG_OK)
        status = number_of(&padding, r, "padding", false);
    if (status == NG_OK && padding > 0xFF)
        status = REFUSE(r, "%s: metadata padding: no byte", r->path);
    s->padding = (unsigned char)padding;
    if (status == NG_OK)
        status = number_of(&s->random.seed, r, "random.seed", false);
    if (status == NG_OK)
        status = number_of(&s->random.stream, r, "random.stream", false);
    return status;
}

/* The sizes of the file put into the case that it was made from. */
static ng_status resize(ng_small *s, const ng_small *from, const reader *r)
{
    int64_t size[NG_N_SIZES] = {0}, *group = NULL, n_groups = -1;
    ng_status status = read_sizes(size, r);

    if (status == NG_OK)
        status = read_groups(&group, &n_groups, size[NG_ROWS], r);
    if (status != NG_OK)
        return status;
    if (size[NG_ROWS] * size[NG_COLS] > MAX_ELEMENTS
        || size[NG_LINES] * size[NG_COLS]
               > MAX_ELEMENTS / (n_groups > 0 ? n_groups : 1)
        || size[NG_LINES] * size[NG_ROWS] > MAX_ELEMENTS)
        status = REFUSE(r, "%s: sizes: too large", r->path);
    else if (group != NULL && !has_tensor(from, "offsets"))
        status = REFUSE(r, "%s: offsets: no input of this case", r->path);
    else if (!ng_small_resized(s, from, size, n_groups, group))
        status = ng_fail(r->error, NG_NO_MEMORY, "%s: out of memory", r->path);
    free(group);
    return status;
}

static ng_status read_case(ng_small *small, const ng_case_id *id,
                           const ng_variant *variant, const reader *r)
{
    ng_small from = {.n_inputs = 0};
    ng_case c;
    ng_status status;

    ng_case_begin(&c, id->operation->name, variant, id->stratum->name,
                  id->index, id->seed);
    id->stratum->fill(&c, id->index);
    const bool apart = ng_small_of(&from, &c);

    ng_case_end(&c);
    if (!apart)
        return REFUSE(r, "%s: a case that cannot be small", r->path);
    status = resize(small, &from, r);
    ng_small_free(&from);
    if (status != NG_OK)
        return status;
    small->odd_layout = false;
    status = ng_small_make(&c, small, id, variant) ? NG_OK : NG_NO_MEMORY;
    if (status == NG_OK)
        status = read_tensors(small, &c, r);
    else
        ng_fail(r->error, status, "%s: out of memory", r->path);
    ng_case_end(&c);
    if (status == NG_OK)
        status = read_rest(small, r);
    if (status != NG_OK)
        ng_small_free(small);
    return status;
}

ng_status ng_small_read(ng_small *small, ng_case_id *id, ng_variant *variant,
                        ng_profile *profile, const char *path, ng_error *error)
{
    reader r = {.path = path, .error = error};
    ng_status status = ng_safetensors_read(&r.file, path, error);

    if (status != NG_OK)
        return status;
    const char *format = ng_tensor_file_metadata(&r.file, "format");

    if (format == NULL || strcmp(format, NG_SMALL_FORMAT) != 0)
        status = REFUSE(&r, "%s: no case that verify has written", path);
    if (status == NG_OK)
        status = ng_profile_load(profile, "ng", error);
    if (status == NG_OK)
        status = read_rules(profile, &r);
    if (status == NG_OK)
        status = read_id(id, profile, &r);
    if (status == NG_OK
        && !ng_variant_at(variant, id->operation->axes, id->operation->n_axes,
                          profile, id->variant))
        status = REFUSE(&r, "%s: no such variant", path);
    if (status == NG_OK)
        status = read_case(small, id, variant, &r);
    ng_tensor_file_free(&r.file);
    return status;
}
