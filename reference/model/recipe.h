/* SPDX-License-Identifier: Apache-2.0
 *
 * A recipe says in which format each tensor of the model is stored, sent and
 * multiplied, forward and backward, and what is made again in backward rather
 * than stored. It is data: a text file, a rule a line (configs/recipes/, the
 * three of the project are embedded), "#" starts a comment:
 *
 *     name                 mxfp4        # letters, digits, '_', '-' and '.'
 *     source               arXiv 2603.02731
 *     residual             bf16
 *     attention.multiply   fp8          # linear layers of the attention
 *     expert.send_x        mxfp4        # dispatch, forward
 *     recompute            norm-swiglu
 *     layer 0 ffn.multiply bf16         # an override of one layer
 *     layer 3-5 recompute  full
 *     expert.operation     ./mine.so:quantize_mxfp4  # a kernel of one's own
 *
 * SITE.operation names an operation of a subject (what `narrowgauge verify
 * --subject` takes): wherever the site needs that operation, the subject's
 * kernel does it, and the backend all else; "none" takes it back for a layer.
 * own_operation.h lists what can be named.
 *
 * An unknown key, a value that a key does not take, a key twice, an operation
 * that the site's formats have no use for: errors that name the file and the
 * line.
 */
#ifndef NG_REFERENCE_MODEL_RECIPE_H
#define NG_REFERENCE_MODEL_RECIPE_H

#include <stdint.h>

#include "formats/status.h"
#include "reference/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The places with linear layers. */
typedef enum ng_site {
    NG_SITE_ATTENTION, /* all projections of the attention */
    NG_SITE_FFN,       /* the dense SwiGLU of the first layers */
    NG_SITE_SHARED,    /* the shared expert */
    NG_SITE_EXPERT,    /* the routed experts: grouped GEMMs */
    NG_SITE_HEAD,      /* the output head, and MTP's projection */
    NG_N_SITES
} ng_site;

/* What a site does. NG_CARRY_FP8 as multiply means: activations and gradients
 * in the row form (the col form for the weight gradient), weights in tiles. */
typedef struct ng_site_recipe {
    ng_carrier multiply;      /* forward GEMMs: BF16, FP8, FP32 */
    ng_carrier multiply_grad; /* backward GEMMs: the same choices */
    ng_carrier store_x;       /* input kept for the weight gradient: FP32, BF16,
                                 FP8, MXFP4. What is multiplied is made from
                                 what is stored. */
    ng_carrier store_gate_up; /* SwiGLU's input kept (FFN, SHARED, EXPERT) */
    ng_carrier store_h;       /* SwiGLU's output kept, unless recomputed */
    /* EXPERT only; payloads of the all-to-all */
    ng_carrier send_x;      /* dispatch: what store_x keeps is what arrived */
    ng_carrier send_y;      /* combine */
    ng_carrier send_grad_y; /* backward of combine */
    ng_carrier send_grad_x; /* backward of dispatch */
} ng_site_recipe;

typedef enum ng_recompute {
    NG_RECOMPUTE_NONE,        /* everything that backward reads is stored */
    NG_RECOMPUTE_MLA_UP,      /* outputs of the MLA up-projections are not */
    NG_RECOMPUTE_NORM_SWIGLU, /* nor outputs of norms and of SwiGLU; the MLA
                                 up-projections are stored */
    NG_RECOMPUTE_FULL,        /* a layer keeps its input only */
    NG_N_RECOMPUTES
} ng_recompute;

const char *ng_site_name(ng_site site);            /* "attention" ... */
const char *ng_recompute_name(ng_recompute value); /* "none", "mla-up" ... */

enum { NG_RECIPE_MAX_NAME = 64, NG_RECIPE_MAX_TEXT = 256 };

/* What holds of one layer. */
typedef struct ng_layer_recipe {
    ng_site_recipe site[NG_N_SITES];
    ng_recompute recompute;
    /* A subject's operation that stands in, "SUBJECT:OPERATION", or empty; and
     * the line of the file that says so. The last colon parts them. */
    char operation[NG_N_SITES][NG_RECIPE_MAX_TEXT];
    int operation_line[NG_N_SITES];
} ng_layer_recipe;

typedef struct ng_recipe {
    char name[NG_RECIPE_MAX_NAME];
    char source[NG_RECIPE_MAX_TEXT];
    char where[NG_RECIPE_MAX_TEXT]; /* the file, or the embedded name; cut */
    ng_carrier residual; /* FP32 or BF16: the stream, and its gradient */
    ng_layer_recipe all;
    int64_t n_overrides; /* layers that differ, ascending */
    struct ng_recipe_override {
        int64_t layer;
        ng_layer_recipe recipe;
    } * overrides;
} ng_recipe;

/* What holds of a layer: its override, or recipe->all. */
const ng_layer_recipe *ng_recipe_layer(const ng_recipe *recipe, int64_t layer);

/* The embedded recipe of a name ("bf16", "fp8", "mxfp4"), or else the file of
 * that path. Free it with ng_recipe_free; null is allowed there.
 * Returns NG_OK, NG_BAD_FILE or NG_NO_MEMORY with *out untouched. */
ng_status ng_recipe_open(ng_recipe *out, const char *name_or_path,
                         ng_error *error);
/* The same of a text [n]; `name` is what errors call it. */
ng_status ng_recipe_parse(ng_recipe *out, const char *text, int64_t n,
                          const char *name, ng_error *error);
void ng_recipe_free(ng_recipe *recipe);

/* Call visit for each operation that it names: of all layers (layer -1), then
 * of single ones where they differ; text empty: "none". Stops, and returns
 * false, where visit returns false. */
typedef bool ng_recipe_visit(void *context, int64_t layer, ng_site site,
                             const char *text);
bool ng_recipe_each_operation(const ng_recipe *recipe, ng_recipe_visit *visit,
                              void *context);

/* The embedded recipes: name i, null past the last. */
const char *ng_recipe_embedded(int i);

#ifdef __cplusplus
}
#endif

#endif
