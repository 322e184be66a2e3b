/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/checksum.h"
#include "formats/files/file_error.h"
#include "reference/train/train_parts.h"

/* Fields that change the meaning of a checkpoint, or the order of the samples.
 * The others (lengths, learning rates) may change on the way: then the run is
 * another one from there on, and that is its owner's business. */
static bool is_kept(const char *name)
{
    static const char *const beginnings[] = {"model.",
                                             "batch.",
                                             "seed",
                                             "data.validation_share",
                                             "optimizer.kind",
                                             "optimizer.states",
                                             "optimizer.profile"};

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Whether it is a file, or for people: where ranks have disks of their own such
 * fields may differ; what the files hold is compared itself. */
static bool is_place(const char *name)
{
    static const char *const names[] = {
        "about",           "run",
        "recipe",          "data.train",
        "data.validation", "pretrained.files",
        "pretrained.names"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static json_t *value_of(const ng_train_config *config,
                        const ng_yaml_field *field)
{
    const void *at = (const char *)config + field->offset;

    switch (field->kind) {
    case NG_YAML_WHOLE:
        return json_integer((json_int_t) * (const int64_t *)at);
    case NG_YAML_NUMBER:
        return json_real(*(const double *)at);
    case NG_YAML_FLAG:
        return json_boolean(*(const bool *)at);
    case NG_YAML_CHOICE:
        return json_string(field->choices[*(const int *)at]);
    case NG_YAML_TEXT:
        break;
    }
    return json_string(at);
}

/* What a recipe says of a site, in words; whatever else has its name. What is
 * made again in backward is no part of it: that changes no bit. */
static json_t *site_of(const ng_layer_recipe *recipe, ng_site site)
{
    const ng_site_recipe *s = &recipe->site[site];

    return json_sprintf(
        "multiply %s %s, store %s %s %s, send %s %s %s %s",
        ng_carrier_name(s->multiply), ng_carrier_name(s->multiply_grad),
        ng_carrier_name(s->store_x), ng_carrier_name(s->store_gate_up),
        ng_carrier_name(s->store_h), ng_carrier_name(s->send_x),
        ng_carrier_name(s->send_y), ng_carrier_name(s->send_grad_y),
        ng_carrier_name(s->send_grad_x));
}

/* The kernel of the user's that stands in there. */
static json_t *operation_of(const ng_layer_recipe *recipe, ng_site site)
{
    const char *text = recipe->operation[site];

    return json_string(text[0] != '\0' ? text : "none");
}

/* A fact of a site as it is in all layers, and in those where it differs. */
static bool add_fact(json_t *identity, const ng_recipe *recipe, ng_site site,
                     json_t *(*fact)(const ng_layer_recipe *, ng_site),
                     const char *ending)
{
    json_t *all = fact(&recipe->all, site);
    bool whole = all != NULL;
    char name[64];

    for (int64_t o = 0; o < recipe->n_overrides && whole; o++) {
        json_t *own = fact(&recipe->overrides[o].recipe, site);

        snprintf(name, sizeof name, "recipe.layer %" PRId64 ".%s%s",
                 recipe->overrides[o].layer, ng_site_name(site), ending);
        if (own == NULL || json_equal(own, all))
            whole = own != NULL;
        else
            whole = json_object_set(identity, name, own) == 0;
        json_decref(own);
    }
    snprintf(name, sizeof name, "recipe.%s%s", ng_site_name(site), ending);
    return json_object_set_new(identity, name, all) == 0 && whole;
}

static bool add_recipe(json_t *identity, const ng_recipe *recipe)
{
    bool whole = json_object_set_new(identity, "recipe",
                                     json_string(recipe->name))
                     == 0
                 && json_object_set_new(
                        identity, "recipe.residual",
                        json_string(ng_carrier_name(recipe->residual)))
                        == 0;

    for (int i = 0; i < NG_N_SITES && whole; i++)
        whole = add_fact(identity, recipe, (ng_site)i, site_of, "")
                && add_fact(identity, recipe, (ng_site)i, operation_of,
                            ".operation");
    return whole;
}

static bool list_operation(void *object, int64_t layer, ng_site site,
                           const char *text)
{
    char key[64];

    if (layer < 0)
        snprintf(key, sizeof key, "%s", ng_site_name(site));
    else
        snprintf(key, sizeof key, "layer %" PRId64 " %s", layer,
                 ng_site_name(site));
    return json_object_set_new(object, key,
                               json_string(text[0] != '\0' ? text : "none"))
           == 0;
}

json_t *ng_train_operations(const ng_recipe *recipe)
{
    json_t *object = json_object();

    if (object != NULL
        && ng_recipe_each_operation(recipe, list_operation, object))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *checksum_of(const ng_tokens *tokens)
{
    char digits[NG_CHECKSUM_TEXT];

    ng_checksum_text(digits, tokens->checksum);
    return json_string(digits);
}

/* Of what a checkpoint keeps, or (all) of all that ranks must agree on. */
static json_t *identity_of(const ng_train *train, bool all)
{
    json_t *identity = json_object();
    bool whole = identity != NULL;

    for (int i = 0; i < ng_train_schema.n_fields; i++) {
        const ng_yaml_field *field = &ng_train_schema.fields[i];

        if (all ? !is_place(field->name) : is_kept(field->name))
            whole = json_object_set_new(identity, field->name,
                                        value_of(train->config, field))
                        == 0
                    && whole;
    }
    whole = add_recipe(identity, train->recipe) && whole;
    whole =
        json_object_set_new(identity, "data.train", checksum_of(&train->text))
            == 0
        && whole;
    if (train->other.n > 0)
        whole = json_object_set_new(identity, "data.validation",
                                    checksum_of(&train->other))
                    == 0
                && whole;
    if (whole)
        return identity;
    json_decref(identity);
    return NULL;
}

json_t *ng_train_identity(const ng_train *train)
{
    return identity_of(train, false);
}

ng_status ng_train_digest(uint64_t *digest, const ng_train *train,
                          ng_error *error)
{
    json_t *identity = identity_of(train, true);
    char *text = identity == NULL ? NULL : json_dumps(identity, JSON_COMPACT);

    json_decref(identity);
    if (text == NULL)
        return ng_train_no_memory(error);
    *digest = ng_checksum(text, strlen(text));
    free(text);
    return NG_OK;
}

ng_status ng_train_configuration(char *text, const ng_train_config *config,
                                 const ng_recipe *recipe, ng_error *error)
{
    ng_train train = {.config = config, .recipe = recipe};
    uint64_t digest = 0;
    ng_status status = ng_train_open_texts(&train, error);

    if (status == NG_OK)
        status = ng_train_digest(&digest, &train, error);
    ng_checksum_text(text, digest);
    ng_tokens_close(&train.text);
    ng_tokens_close(&train.other);
    free(train.tokens);
    free(train.targets);
    return status;
}

ng_status ng_train_check_identity(const ng_train *train, const json_t *other,
                                  const char *path, ng_error *error)
{
    json_t *own = ng_train_identity(train);
    ng_status status = NG_OK;
    const char *name;
    json_t *value;

    if (own == NULL)
        return ng_train_no_memory(error);
    json_object_foreach(own, name, value)
    {
        const json_t *theirs = json_object_get(other, name);

        if (status != NG_OK || json_equal(value, theirs))
            continue;

        char *here = json_dumps(value, JSON_ENCODE_ANY);
        char *there =
            theirs == NULL ? NULL : json_dumps(theirs, JSON_ENCODE_ANY);

        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, name,
                              "the checkpoint has %.128s, this run %.128s",
                              there == NULL ? "none" : there,
                              here == NULL ? "?" : here);
        free(here);
        free(there);
    }
    if (status == NG_OK && json_object_size(own) != json_object_size(other))
        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "identity",
                              "has further fields");
    json_decref(own);
    return status;
}
