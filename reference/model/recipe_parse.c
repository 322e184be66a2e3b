/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a recipe. Lines for all layers are read first, wherever they
 * stand, then those for single layers in their order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "formats/text.h"
#include "reference/model/own_operation.h"
#include "reference/model/recipe.h"

enum { MAX_LINE = 1024, MAX_LAYERS = 4096 };

/* ---- what a site can say ------------------------------------------------- */

enum { FP32 = 1 << NG_CARRY_FP32, BF16 = 1 << NG_CARRY_BF16 };
enum { FP8 = 1 << NG_CARRY_FP8, MXFP4 = 1 << NG_CARRY_MXFP4 };
enum { NONE = 1 << NG_CARRY_NONE, ROWS = FP32 | BF16 | FP8 | MXFP4 };
enum {
    ALL = (1 << NG_N_SITES) - 1,
    GATED = 1 << NG_SITE_FFN | 1 << NG_SITE_SHARED | 1 << NG_SITE_EXPERT,
    EXPERT = 1 << NG_SITE_EXPERT
};

typedef struct field {
    const char *name;
    size_t offset;
    int carriers; /* bits 1 << ng_carrier that it takes */
    int sites;    /* bits 1 << ng_site that have it */
} field;

#define OFFSET(name) offsetof(ng_site_recipe, name)
static const field fields[] = {
    {"multiply", OFFSET(multiply), FP32 | BF16 | FP8, ALL},
    {"multiply_grad", OFFSET(multiply_grad), FP32 | BF16 | FP8, ALL},
    {"store_x", OFFSET(store_x), ROWS, ALL & ~EXPERT},
    {"store_gate_up", OFFSET(store_gate_up), ROWS, GATED},
    {"store_h", OFFSET(store_h), ROWS | NONE, GATED & ~EXPERT},
    {"send_x", OFFSET(send_x), ROWS, EXPERT},
    {"send_y", OFFSET(send_y), ROWS, EXPERT},
    {"send_grad_y", OFFSET(send_grad_y), ROWS, EXPERT},
    {"send_grad_x", OFFSET(send_grad_x), ROWS, EXPERT},
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

/* One number a key, to tell a second time: "name", "source", "residual",
 * "recompute", then the fields and operations of the sites. */
enum { KEY_NAME, KEY_SOURCE, KEY_RESIDUAL, KEY_RECOMPUTE, KEY_SITES };
enum { KEYS_A_SITE = N_FIELDS + 1, N_KEYS = KEY_SITES + 5 * KEYS_A_SITE };
_Static_assert(NG_N_SITES == 5, "N_KEYS counts them");

typedef struct parse {
    ng_recipe *recipe;
    const char *where;
    int line;
    bool given[N_KEYS]; /* for all layers */
    ng_error *error;
} parse;

static ng_status bad(const parse *p, const char *what, const char *value)
{
    return ng_fail(p->error, NG_BAD_FILE, "%s:%d: %s: %s", p->where, p->line,
                   value, what);
}

static ng_status set_text(const parse *p, char *to, size_t size,
                          const char *value)
{
    if (strlen(value) >= size)
        return bad(p, "too long", value);
    strcpy(to, value);
    return NG_OK;
}

/* It is a directory's name in a study. */
static ng_status set_name(const parse *p, const char *value)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

    if (value[0] == '.' || value[strspn(value, letters)] != '\0')
        return bad(p, "not a name of letters, digits, '_', '-' and '.'", value);
    return set_text(p, p->recipe->name, sizeof p->recipe->name, value);
}

/* "SUBJECT:OPERATION" into an operation and its line, or "none". A subject is a
 * path or a name, in printable characters but blanks. */
static ng_status set_operation(const parse *p, ng_layer_recipe *layer,
                               ng_site site, const char *value)
{
    const char *colon = strrchr(value, ':');

    for (const char *c = value; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~')
            return bad(p, "not of the form SUBJECT:OPERATION", value);
    layer->operation_line[site] = p->line;
    if (strcmp(value, "none") == 0) {
        layer->operation[site][0] = '\0';
        return NG_OK;
    }
    if (colon == NULL || colon == value || colon[1] == '\0')
        return bad(p, "not of the form SUBJECT:OPERATION", value);
    return set_text(p, layer->operation[site], sizeof layer->operation[site],
                    value);
}

static ng_status set_site(parse *p, ng_layer_recipe *layer, int *key,
                          const char *name, const char *value)
{
    const char *dot = strchr(name, '.');

    for (int site = 0; dot != NULL && site < NG_N_SITES; site++) {
        const char *of_site = ng_site_name((ng_site)site);
        ng_carrier carrier;

        if (strlen(of_site) != (size_t)(dot - name)
            || strncmp(of_site, name, (size_t)(dot - name)) != 0)
            continue;
        *key = KEY_SITES + site * KEYS_A_SITE + N_FIELDS;
        if (strcmp(dot + 1, "operation") == 0)
            return set_operation(p, layer, (ng_site)site, value);
        for (int f = 0; f < N_FIELDS; f++) {
            if (strcmp(fields[f].name, dot + 1) != 0
                || (fields[f].sites >> site & 1) == 0)
                continue;
            if (!ng_carrier_find(value, &carrier)
                || (fields[f].carriers >> carrier & 1) == 0)
                return bad(p, "a format that this key does not take", value);
            *key = KEY_SITES + site * KEYS_A_SITE + f;
            memcpy((char *)&layer->site[site] + fields[f].offset, &carrier,
                   sizeof carrier);
            return NG_OK;
        }
    }
    return bad(p, "no such key", name);
}

static ng_status set_recompute(const parse *p, ng_layer_recipe *layer,
                               const char *value)
{
    for (int i = 0; i < NG_N_RECOMPUTES; i++)
        if (strcmp(ng_recompute_name((ng_recompute)i), value) == 0) {
            layer->recompute = (ng_recompute)i;
            return NG_OK;
        }
    return bad(p, "not none, mla-up, norm-swiglu or full", value);
}

static ng_status set_residual(const parse *p, const char *value)
{
    ng_carrier carrier;

    if (!ng_carrier_find(value, &carrier)
        || (carrier != NG_CARRY_FP32 && carrier != NG_CARRY_BF16))
        return bad(p, "not fp32 or bf16", value);
    p->recipe->residual = carrier;
    return NG_OK;
}

static ng_status set(parse *p, char *name, char *value)
{
    ng_recipe *recipe = p->recipe;
    int key = -1;
    ng_status status;

    if (strcmp(name, "name") == 0) {
        key = KEY_NAME;
        status = set_name(p, value);
    } else if (strcmp(name, "source") == 0) {
        key = KEY_SOURCE;
        status = set_text(p, recipe->source, sizeof recipe->source, value);
    } else if (strcmp(name, "residual") == 0) {
        key = KEY_RESIDUAL;
        status = set_residual(p, value);
    } else if (strcmp(name, "recompute") == 0) {
        key = KEY_RECOMPUTE;
        status = set_recompute(p, &recipe->all, value);
    } else {
        status = set_site(p, &recipe->all, &key, name, value);
    }
    if (status == NG_OK && p->given[key])
        return bad(p, "given twice", name);
    if (status == NG_OK)
        p->given[key] = true;
    return status;
}

/* ---- single layers ------------------------------------------------------- */

/* The override of a layer, made from what holds of all if there is none yet. */
static ng_layer_recipe *override_of(ng_recipe *recipe, int64_t layer)
{
    int64_t at = 0;

    while (at < recipe->n_overrides && recipe->overrides[at].layer < layer)
        at++;
    if (at < recipe->n_overrides && recipe->overrides[at].layer == layer)
        return &recipe->overrides[at].recipe;

    struct ng_recipe_override *more = realloc(
        recipe->overrides, (size_t)(recipe->n_overrides + 1) * sizeof *more);

    if (more == NULL)
        return NULL;
    recipe->overrides = more;
    memmove(more + at + 1, more + at,
            (size_t)(recipe->n_overrides - at) * sizeof *more);
    recipe->n_overrides++;
    more[at].layer = layer;
    more[at].recipe = recipe->all;
    return &more[at].recipe;
}

/* "layer A[-B] KEY VALUE", of which `text` starts at A. */
static ng_status set_layers(parse *p, char *text)
{
    char *end, *name, *value;
    const long first = strtol(text, &end, 10);
    long last = first;
    int key;

    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        last = strtol(end + 1, &end, 10);
    if (end == text || strchr(" \t", *end) == NULL || *end == '\0' || first < 0
        || last < first || last >= MAX_LAYERS)
        return bad(p, "not a layer or a range of layers", text);
    name = end + strspn(end, " \t");
    value = name + strcspn(name, " \t");
    if (*value != '\0')
        *value++ = '\0';
    value += strspn(value, " \t");
    if (*value == '\0')
        return bad(p, "no value", name);
    for (long layer = first; layer <= last; layer++) {
        ng_layer_recipe *recipe = override_of(p->recipe, layer);
        ng_status status;

        if (recipe == NULL)
            return ng_fail(p->error, NG_NO_MEMORY, "%s:%d: out of memory",
                           p->where, p->line);
        status = strcmp(name, "recompute") == 0
                     ? set_recompute(p, recipe, value)
                     : set_site(p, recipe, &key, name, value);
        if (status != NG_OK)
            return status;
    }
    return NG_OK;
}

/* ---- the file ------------------------------------------------------------ */

static char *trim(char *line)
{
    char *end = line + strcspn(line, "#");

    while (end > line && strchr(" \t\r", end[-1]) != NULL)
        end--;
    *end = '\0';
    return line + strspn(line, " \t");
}

/* One line in one of the two passes. */
static ng_status parse_line(parse *p, char *text, bool of_layers)
{
    char *name = trim(text);
    char *value = name + strcspn(name, " \t");
    bool of_layer;

    if (*name == '\0')
        return NG_OK;
    of_layer = strncmp(name, "layer", 5) == 0 && value == name + 5;
    if (of_layer != of_layers)
        return NG_OK;
    if (*value != '\0')
        *value++ = '\0';
    value += strspn(value, " \t");
    if (*value == '\0')
        return bad(p, "no value", name);
    return of_layer ? set_layers(p, value) : set(p, name, value);
}

static ng_status parse_lines(parse *p, const char *text, int64_t n,
                             bool of_layers)
{
    const char *end = text + n;

    for (p->line = 1; text < end; p->line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const size_t length =
            (size_t)((newline != NULL ? newline : end) - text);
        char line[MAX_LINE];
        ng_status status;

        if (length >= sizeof line || memchr(text, '\0', length) != NULL)
            return bad(p, "too long, or not text", "line");
        memcpy(line, text, length);
        line[length] = '\0';
        if (!ng_is_utf8(line))
            return bad(p, "not UTF-8", "line");
        status = parse_line(p, line, of_layers);
        if (status != NG_OK)
            return status;
        text += length + (newline != NULL);
    }
    return NG_OK;
}

/* Every key that has no default must be there. */
static ng_status complete(const parse *p)
{
    static const char *const general[] = {"name", NULL, "residual", NULL};

    for (int key = 0; key < KEY_SITES; key++)
        if (general[key] != NULL && !p->given[key])
            return ng_fail(p->error, NG_BAD_FILE, "%s: %s: missing", p->where,
                           general[key]);
    for (int site = 0; site < NG_N_SITES; site++)
        for (int f = 0; f < N_FIELDS; f++)
            if ((fields[f].sites >> site & 1) != 0
                && (fields[f].carriers & NONE) == 0
                && !p->given[KEY_SITES + site * KEYS_A_SITE + f])
                return ng_fail(p->error, NG_BAD_FILE, "%s: %s.%s: missing",
                               p->where, ng_site_name((ng_site)site),
                               fields[f].name);
    return NG_OK;
}

/* Every operation that is named has to be of use at its site, as the formats
 * are in the end. What a layer has from all layers is theirs to answer for. */
static ng_status check_operations(const parse *p, const ng_layer_recipe *layer,
                                  bool all)
{
    const ng_recipe *recipe = p->recipe;

    for (int site = 0; site < NG_N_SITES; site++) {
        const char *text = layer->operation[site];
        const int line = layer->operation_line[site];
        const char *name = text[0] != '\0' ? strrchr(text, ':') + 1 : NULL;
        const ng_own_place place = {layer, recipe->residual, (ng_site)site,
                                    all};
        char fitting[NG_OWN_MAX_LIST];

        if (name == NULL || (!all && line == recipe->all.operation_line[site])
            || ng_own_operation_fits(ng_own_operation_find(name), &place))
            continue;
        ng_own_operations_that_fit(fitting, &place);
        return ng_fail(p->error, NG_BAD_FILE,
                       "%s:%d: %s.operation: %.64s: no operation that this "
                       "site can use; %s%s",
                       p->where, line, ng_site_name((ng_site)site), name,
                       fitting[0] != '\0' ? "it can use " : "there is none",
                       fitting);
    }
    return NG_OK;
}

/* What arrives is what is kept. */
static void derive(ng_layer_recipe *layer)
{
    ng_site_recipe *expert = &layer->site[NG_SITE_EXPERT];

    expert->store_x = expert->send_x;
}

ng_status ng_recipe_parse(ng_recipe *out, const char *text, int64_t n,
                          const char *name, ng_error *error)
{
    ng_recipe recipe;
    parse p = {.recipe = &recipe, .where = name, .error = error};
    ng_status status;

    memset(&recipe, 0, sizeof recipe);
    status = parse_lines(&p, text, n, false);
    if (status == NG_OK)
        status = complete(&p);
    if (status == NG_OK)
        status = parse_lines(&p, text, n, true);
    if (status != NG_OK) {
        ng_recipe_free(&recipe);
        return status;
    }
    derive(&recipe.all);
    for (int64_t i = 0; i < recipe.n_overrides; i++)
        derive(&recipe.overrides[i].recipe);
    snprintf(recipe.where, sizeof recipe.where, "%s", name);
    status = check_operations(&p, &recipe.all, true);
    for (int64_t i = 0; i < recipe.n_overrides && status == NG_OK; i++)
        status = check_operations(&p, &recipe.overrides[i].recipe, false);
    if (status != NG_OK) {
        ng_recipe_free(&recipe);
        return status;
    }
    *out = recipe;
    return NG_OK;
}
