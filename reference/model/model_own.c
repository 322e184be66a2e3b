/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of the user's own, in the place of the backend's operations that a
 * recipe names; and the calls for which there can be one.
 */
#include <string.h>

#include "reference/model/model_parts.h"

/* ---- made with the model ------------------------------------------------- */

/* Where it is named: the layer's line of the recipe, or that of all. */
static ng_status open_one(ng_own *own, const ng_model *m,
                          const ng_layer_recipe *recipe, int64_t layer,
                          ng_site site, ng_error *error)
{
    const ng_own_kernels *kernels = m->backend->own;
    const char *text = recipe->operation[site];
    const char *colon = strrchr(text, ':');
    char subject[NG_RECIPE_MAX_TEXT];
    ng_error why = {{0}};
    ng_status status = NG_NOT_COVERED;

    if (colon == NULL)
        return NG_OK;
    snprintf(subject, sizeof subject, "%.*s", (int)(colon - text), text);
    if (kernels != NULL)
        status = kernels->open(kernels->context, &own->kernel, subject,
                               colon + 1, &why);
    else
        ng_fail(&why, status, "backend %s takes no kernels of a recipe's",
                m->backend->name);
    if (status != NG_OK)
        return ng_fail(error, status, "%.200s:%d: %s.operation %s: %s",
                       m->recipe.where, recipe->operation_line[site],
                       ng_site_name(site), text, why.text);
    own->operation = ng_own_operation_find(colon + 1);
    own->kernels = kernels;
    own->text = text;
    own->site = site;
    own->layer = layer;
    return NG_OK;
}

/* Whether a block has such a site. */
static bool has(const ng_model *m, const ng_layer *layer, ng_site site)
{
    switch (site) {
    case NG_SITE_FFN:
        return !layer->moe;
    case NG_SITE_SHARED:
        return layer->moe && m->config.shared_experts > 0;
    case NG_SITE_EXPERT:
        return layer->moe;
    case NG_SITE_HEAD:
        return layer->index >= m->config.layers;
    default:
        return true;
    }
}

/* A kernel that would never be called is a mistake. What is named for all layers
 * is for those that have the site; for one layer, for that one. */
static ng_status check_use(const ng_model *m, ng_site site, ng_error *error)
{
    const ng_layer_recipe *all = &m->recipe.all, *lost = all;
    bool used = site == NG_SITE_HEAD;

    for (int64_t i = 0; i < m->n_blocks; i++) {
        const ng_layer *layer = &m->layers[i];
        const bool has_it = has(m, layer, site);

        used |= has_it;
        if (!has_it && layer->recipe->operation[site][0] != '\0'
            && layer->recipe->operation_line[site] != all->operation_line[site])
            lost = layer->recipe;
    }
    if (lost == all && (used || all->operation[site][0] == '\0'))
        return NG_OK;
    return ng_fail(error, NG_BAD_VALUE,
                   "%.200s:%d: %s.operation %s: the model has no such site %s",
                   m->recipe.where, lost->operation_line[site],
                   ng_site_name(site), lost->operation[site],
                   lost == all ? "in any layer" : "in this layer");
}

ng_status ng_model_open_own(ng_model *m, ng_error *error)
{
    ng_status status = NG_OK;

    for (int site = 0; site < NG_N_SITES && status == NG_OK; site++)
        status = check_use(m, (ng_site)site, error);
    if (status == NG_OK)
        status =
            open_one(&m->head_own, m, &m->recipe.all, -1, NG_SITE_HEAD, error);
    for (int64_t i = 0; i < m->n_blocks; i++) {
        ng_layer *layer = &m->layers[i];

        for (int site = 0; site < NG_N_SITES && status == NG_OK; site++)
            if (has(m, layer, (ng_site)site))
                status = open_one(&layer->own[site], m, layer->recipe, i,
                                  (ng_site)site, error);
    }
    return status;
}

const ng_own *ng_model_own_of(const ng_model *m, const ng_listed *listed)
{
    return listed->layer >= 0 ? &m->layers[listed->layer].own[listed->site]
                              : &m->head_own;
}

/* ---- a call -------------------------------------------------------------- */

static bool is_empty(const ng_array *x)
{
    return x->rows == 0 || x->cols == 0;
}

bool ng_own_does(const ng_own *own, ng_own_call call, const ng_array *y,
                 const ng_array *a)
{
    return own != NULL && own->operation != NULL
           && ng_own_operation_is(own->operation, call, a->carrier, y->carrier)
           && (call != NG_OWN_CONVERT || a->carrier != y->carrier)
           && !is_empty(y) && !is_empty(a);
}

ng_status ng_own_run(const ng_own *own, const ng_array *y, const ng_array *a,
                     const ng_array *b, const ng_row_groups *groups,
                     ng_error *error)
{
    const ng_own_kernels *kernels = own->kernels;
    ng_error why = {{0}};
    char where[32] = "the head";
    const ng_status status =
        kernels->run(kernels->context, own->kernel, y, a, b, groups, &why);

    if (status == NG_OK)
        return NG_OK;
    if (own->layer >= 0)
        snprintf(where, sizeof where, "layer %lld", (long long)own->layer);
    return ng_fail(error, status, "%s, %s.operation %s: %s", where,
                   ng_site_name(own->site), own->text, why.text);
}

const ng_own *ng_enter(ng_pass *p, const ng_layer *layer, ng_site site)
{
    const ng_own *before = p->own;

    p->own = &layer->own[site];
    return before;
}

/* ---- calls of a pass, counted -------------------------------------------- */

/* Nothing is counted twice, nor what no gradient comes of. */
static bool counts(const ng_pass *p)
{
    return p->gradients && !p->again;
}

/* Count what is quantised to y, by the backend or a kernel. Returns where events
 * are counted. */
static ng_events *count(const ng_pass *p, const ng_array *y, bool own)
{
    ng_model_result *counted = &p->model->counted;

    if (!counts(p))
        return NULL;
    if (y->carrier != NG_CARRY_FP32 && y->carrier != NG_CARRY_BF16)
        *(own ? &counted->uncounted : &counted->converted) += y->rows * y->cols;
    return &counted->events;
}

void ng_convert(ng_pass *p, const ng_array *y, const ng_array *x,
                const ng_row_groups *groups)
{
    const bool own = ng_own_does(p->own, NG_OWN_CONVERT, y, x);

    if (p->status != NG_OK)
        return;

    ng_events *events =
        y->carrier == x->carrier ? NULL : count(p, y, own); /* a copy */

    p->status = own ? ng_own_run(p->own, y, x, NULL, groups, p->error)
                    : p->b->convert(p->c, y, x, groups, events);
}

void ng_gate(ng_pass *p, const ng_array *h, const ng_array *gate_up,
             const ng_array *weight, const ng_row_groups *groups)
{
    const bool own =
        weight == NULL && ng_own_does(p->own, NG_OWN_SWIGLU, h, gate_up);

    if (p->status != NG_OK)
        return;

    ng_events *events = count(p, h, own);

    p->status = own ? ng_own_run(p->own, h, gate_up, NULL, groups, p->error)
                    : p->b->swiglu(p->c, h, gate_up, weight, groups, events);
}

void ng_gate_backward(ng_pass *p, const ng_array *grad_gate_up,
                      const ng_array *grad_weight, const ng_array *grad_h,
                      const ng_array *gate_up, const ng_array *weight)
{
    const bool own =
        weight == NULL
        && ng_own_does(p->own, NG_OWN_SWIGLU_BACKWARD, grad_gate_up, grad_h)
        && grad_h->carrier == gate_up->carrier;

    if (own)
        NG_DO(p, ng_own_run(p->own, grad_gate_up, grad_h, gate_up, NULL,
                            p->error));
    else
        NG_DO(p, p->b->swiglu_backward(p->c, grad_gate_up, grad_weight, grad_h,
                                       gate_up, weight));
}
