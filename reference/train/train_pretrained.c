/* SPDX-License-Identifier: Apache-2.0
 *
 * The first weights of a run from others' files.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "reference/model/pretrained.h"
#include "reference/train/train_parts.h"

/* A line that names neither the files nor the map, with the files before it. */
static ng_status where(ng_status status, const ng_train_config *config,
                       ng_error *error)
{
    ng_error cause;

    if (status == NG_OK || error == NULL
        || strncmp(error->text, config->names, strlen(config->names)) == 0)
        return status;
    cause = *error;
    return ng_fail(error, status, "%s: %s", config->pretrained, cause.text);
}

static ng_status take_weights(ng_train *train, const ng_pretrained *pretrained,
                              ng_error *error)
{
    ng_status status = NG_OK;

    for (int64_t p = 0;
         p < ng_model_n_parameters(train->model) && status == NG_OK; p++) {
        if (train->number[p] < 0)
            continue;
        status = where(ng_pretrained_read(train->theta, pretrained,
                                          train->model, p, error),
                       train->config, error);
        if (status == NG_OK)
            status = ng_optimizer_import(train->optimizer, train->number[p],
                                         train->theta, error);
    }
    return status;
}

static ng_status take_routers(ng_train *train, const ng_pretrained *pretrained,
                              ng_error *error)
{
    const size_t n = (size_t)ng_model_n_state(train->model);
    float *state = malloc((n + 1) * sizeof *state);
    ng_status status;

    if (state == NULL)
        return ng_train_no_memory(error);
    status = where(ng_pretrained_state(state, pretrained, train->model, error),
                   train->config, error);
    if (status == NG_OK)
        status = ng_model_set_state(train->model, state, error);
    free(state);
    return status;
}

ng_status ng_train_take_pretrained(ng_train *train, ng_error *error)
{
    const ng_train_config *config = train->config;
    ng_pretrained *pretrained = NULL;
    glob_t found;
    const int result = glob(config->pretrained, GLOB_ERR, NULL, &found);
    ng_status status;

    if (result != 0) {
        globfree(&found);
        return result == GLOB_NOSPACE
                   ? ng_train_no_memory(error)
                   : ng_file_fail(error, NG_BAD_FILE, config->pretrained, NULL,
                                  "pretrained.files",
                                  result == GLOB_ABORTED
                                      ? "a directory cannot be read"
                                      : "there is no such file");
    }
    status = ng_pretrained_open(&pretrained, config->names,
                                (const char *const *)found.gl_pathv,
                                found.gl_pathc, error);
    globfree(&found);
    if (status == NG_OK)
        status = take_weights(train, pretrained, error);
    if (status == NG_OK)
        status = take_routers(train, pretrained, error);
    ng_pretrained_free(pretrained);
    return status;
}
