/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "formats/files/input_file.h"
#include "reference/model/recipes_table.h"

static const char *const sites[NG_N_SITES] = {
    "attention", "ffn", "shared", "expert", "head",
};

static const char *const recomputes[NG_N_RECOMPUTES] = {
    "none",
    "mla-up",
    "norm-swiglu",
    "full",
};

const char *ng_site_name(ng_site site)
{
    return sites[site];
}

const char *ng_recompute_name(ng_recompute value)
{
    return recomputes[value];
}

const ng_layer_recipe *ng_recipe_layer(const ng_recipe *recipe, int64_t layer)
{
    for (int64_t i = 0; i < recipe->n_overrides; i++)
        if (recipe->overrides[i].layer == layer)
            return &recipe->overrides[i].recipe;
    return &recipe->all;
}

bool ng_recipe_each_operation(const ng_recipe *recipe, ng_recipe_visit *visit,
                              void *context)
{
    for (int site = 0; site < NG_N_SITES; site++)
        if (recipe->all.operation[site][0] != '\0'
            && !visit(context, -1, (ng_site)site, recipe->all.operation[site]))
            return false;
    for (int64_t i = 0; i < recipe->n_overrides; i++)
        for (int site = 0; site < NG_N_SITES; site++) {
            const char *text = recipe->overrides[i].recipe.operation[site];

            if (strcmp(text, recipe->all.operation[site]) != 0
                && !visit(context, recipe->overrides[i].layer, (ng_site)site,
                          text))
                return false;
        }
    return true;
}

const char *ng_recipe_embedded(int i)
{
    return i >= 0 && i < ng_n_recipe_texts ? ng_recipe_texts[i].name : NULL;
}

void ng_recipe_free(ng_recipe *recipe)
{
    if (recipe == NULL)
        return;
    free(recipe->overrides);
    recipe->overrides = NULL;
    recipe->n_overrides = 0;
}

enum { MAX_BYTES = 64 * 1024 };

static ng_status read_file(ng_recipe *out, const char *path, ng_error *error)
{
    ng_input_file file;
    ng_status status = ng_input_open(&file, path, error);
    char *text;

    if (status != NG_OK)
        return status;
    if (file.size > MAX_BYTES) {
        ng_input_close(&file);
        return ng_fail(error, NG_BAD_FILE, "%s: size: over %d bytes", path,
                       MAX_BYTES);
    }
    text = malloc((size_t)file.size + 1);
    status = text == NULL
                 ? ng_fail(error, NG_NO_MEMORY, "%s: out of memory", path)
                 : ng_input_read(text, &file, 0, (size_t)file.size, error);
    if (status == NG_OK)
        status = ng_recipe_parse(out, text, file.size, path, error);
    free(text);
    ng_input_close(&file);
    return status;
}

ng_status ng_recipe_open(ng_recipe *out, const char *name_or_path,
                         ng_error *error)
{
    for (int i = 0; i < ng_n_recipe_texts; i++)
        if (strcmp(ng_recipe_texts[i].name, name_or_path) == 0)
            return ng_recipe_parse(out, ng_recipe_texts[i].text,
                                   (int64_t)ng_recipe_texts[i].size,
                                   name_or_path, error);
    if (strchr(name_or_path, '/') == NULL && strchr(name_or_path, '.') == NULL)
        return ng_fail(error, NG_BAD_FILE,
                       "%s: recipe: no such name (bf16, fp8, mxfp4, or the "
                       "path of a .recipe file)",
                       name_or_path);
    return read_file(out, name_or_path, error);
}
