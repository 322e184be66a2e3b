/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/files/file_error.h"
#include "reference/optim/optimizer_backend.h"
#include "reference/train/checkpoint.h"
#include "reference/train/checkpoint_files.h"
#include "reference/train/train_parts.h"

/* The checkpoint directory that a path means, to be freed. */
static ng_status find(char **path, const char *given, ng_error *error)
{
    char *manifest = ng_checkpoint_join(given, NG_CHECKPOINT_MANIFEST, "");
    bool is_one;

    if (manifest == NULL)
        return ng_train_no_memory(error);
    is_one = access(manifest, F_OK) == 0;
    *path = NULL;
    free(manifest);
    if (is_one)
        *path = strdup(given);
    else {
        const ng_status status = ng_checkpoint_latest(path, given, error);

        if (status != NG_OK)
            return status;
        if (*path == NULL)
            return ng_file_fail(error, NG_BAD_FILE, given, NULL, "resume",
                                "there is no checkpoint");
    }
    return *path == NULL ? ng_train_no_memory(error) : NG_OK;
}

/* Move the tensors and metadata of a shard behind those of `all`. */
static ng_status append(ng_tensor_file *all, ng_tensor_file *shard,
                        ng_error *error)
{
    const size_t n = all->n_tensors + shard->n_tensors;
    ng_tensor *tensors = realloc(all->tensors, (n + 1) * sizeof *tensors);

    if (tensors == NULL)
        return ng_train_no_memory(error);
    all->tensors = tensors;
    if (shard->n_tensors > 0)
        memcpy(tensors + all->n_tensors, shard->tensors,
               shard->n_tensors * sizeof *tensors);
    all->n_tensors = n;
    free(shard->tensors);
    shard->tensors = NULL;
    shard->n_tensors = 0;
    if (all->n_metadata == 0) {
        all->metadata = shard->metadata;
        all->n_metadata = shard->n_metadata;
        shard->metadata = NULL;
        shard->n_metadata = 0;
    }
    return NG_OK;
}

static ng_status read_parameters(ng_tensor_file *all,
                                 const ng_checkpoint *checkpoint,
                                 ng_error *error)
{
    const json_t *files = json_object_get(checkpoint->manifest, "files");
    ng_status status = NG_OK;

    for (int number = 0; status == NG_OK; number++) {
        char name[NG_CHECKPOINT_MAX_SHARD], file[2 * NG_CHECKPOINT_MAX_SHARD];
        ng_tensor_file shard = {.n_tensors = 0};

        snprintf(name, sizeof name, "parameters-%05d", number);
        snprintf(file, sizeof file, "%s%s", name, NG_CHECKPOINT_SUFFIX);
        if (number > 0 && !ng_checkpoint_names(files, file))
            break;
        status = ng_checkpoint_load(&shard, checkpoint, name, error);
        if (status == NG_OK)
            status = append(all, &shard, error);
        ng_tensor_file_free(&shard);
    }
    return status;
}

/* The model's parameter of a tensor, NAME or NAME::PART; -1: none. The file's
 * order is the model's, so that the search begins at the last one found. */
static int64_t parameter_of(const ng_model *model, int64_t at, const char *name)
{
    const char *end = strstr(name, "::");
    const size_t length = end == NULL ? strlen(name) : (size_t)(end - name);
    const int64_t n = ng_model_n_parameters(model);

    for (int64_t i = 0; i < n; i++) {
        const int64_t p = (at + i) % n;
        const char *own = ng_model_parameter_of(model, p)->name;

        if (strlen(own) == length && memcmp(own, name, length) == 0)
            return p;
    }
    return -1;
}

/* Keep what is this rank's, and what is no one's: the optimizer refuses that.
 */
static void keep_local(ng_tensor_file *all, const ng_model *model)
{
    size_t kept = 0;
    int64_t at = 0;

    for (size_t i = 0; i < all->n_tensors; i++) {
        const int64_t p = parameter_of(model, at, all->tensors[i].name);

        if (p < 0 || ng_model_parameter_of(model, p)->local)
            all->tensors[kept++] = all->tensors[i];
        else
            free(all->tensors[i].data);
        at = p < 0 ? at : p;
    }
    all->n_tensors = kept;
}

/* A number that JSON may have as a text; NaN for anything else. */
static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static ng_status take_state(ng_train *train, const ng_checkpoint *checkpoint,
                            int64_t *log, ng_error *error)
{
    const json_t *state = checkpoint->state;
    const json_t *size = json_object_get(state, "log");
    const json_t *skipped = json_object_get(state, "skipped");
    const ng_status status = ng_train_check_identity(
        train, json_object_get(state, "identity"), checkpoint->path, error);

    if (status != NG_OK)
        return status;
    if (!json_is_integer(size) || json_integer_value(size) < 0
        || !json_is_integer(skipped) || json_integer_value(skipped) < 0
        || json_integer_value(skipped) > checkpoint->step)
        return ng_file_fail(error, NG_BAD_FILE, checkpoint->path, NULL, "state",
                            "log or skipped is no such number");
    *log = json_integer_value(size);
    train->skipped = json_integer_value(skipped);
    train->evaluation = number_of(json_object_get(state, "evaluation"));
    train->step = checkpoint->step;
    return NG_OK;
}

static ng_status take_routers(const ng_train *train,
                              const ng_checkpoint *checkpoint, ng_error *error)
{
    const int64_t n = ng_model_n_state(train->model);
    ng_tensor_file file = {.n_tensors = 0};
    ng_status status = ng_checkpoint_load(&file, checkpoint, "router", error);

    if (status != NG_OK)
        return status;

    const ng_tensor *bias = ng_tensor_file_find(&file, "router.bias");

    if (bias == NULL || file.n_tensors != 1 || bias->dtype != NG_FP32
        || bias->rank != 1 || bias->shape[0] != n)
        status =
            ng_file_fail(error, NG_BAD_FILE, checkpoint->path, "router.bias",
                         "shape", "is not F32 [%" PRId64 "]", n);
    else if (n > 0)
        status = ng_model_set_state(train->model, bias->data, error);
    ng_tensor_file_free(&file);
    return status;
}

static ng_status take_parameters(const ng_train *train,
                                 const ng_checkpoint *checkpoint,
                                 ng_error *error)
{
    ng_tensor_file all = {.n_tensors = 0};
    ng_status status = read_parameters(&all, checkpoint, error);

    if (status == NG_OK) {
        if (train->options.comm->size > 1)
            keep_local(&all, train->model);
        status = ng_optimizer_from_tensors(train->optimizer, &all,
                                           checkpoint->path, error);
    }
    ng_tensor_file_free(&all);
    return status;
}

ng_status ng_train_resume(ng_train *train, ng_error *error)
{
    ng_checkpoint checkpoint = {.step = 0};
    char *path = NULL;
    int64_t log = 0;
    ng_status status = find(&path, train->options.resume, error);

    if (status == NG_OK)
        status = ng_checkpoint_open(&checkpoint, path, error);
    free(path);
    if (status != NG_OK)
        return status;
    status = take_state(train, &checkpoint, &log, error);
    if (status == NG_OK)
        status = take_parameters(train, &checkpoint, error);
    if (status == NG_OK)
        status = take_routers(train, &checkpoint, error);
    ng_checkpoint_close(&checkpoint);
    if (status == NG_OK && ng_train_writes(train))
        status = ng_train_log_open(&train->log, train->log_path, log, error);
    return status;
}

ng_status ng_train_load_model(ng_train *train, ng_error *error)
{
    const ng_backend *b = train->options.backend;
    ng_status status = NG_OK;

    for (int64_t p = 0;
         p < ng_model_n_parameters(train->model) && status == NG_OK; p++) {
        if (train->number[p] < 0)
            continue;
        status = ng_optimizer_export_there(train->loaded, train->optimizer,
                                           train->number[p], error);
        if (status == NG_OK)
            status = ng_model_load_there(train->model, p, train->loaded, error);
    }
    return status == NG_OK ? b->wait(b->context) : status;
}
