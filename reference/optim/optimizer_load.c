/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything is checked before anything is taken: first the metadata, then the
 * shapes and types of all tensors, then their values.
 */
#include "reference/optim/optimizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "formats/files/safetensors.h"
#include "reference/optim/optimizer_file.h"
#include "reference/optim/optimizer_loading.h"

#define FAULT(in, tensor, field, ...)                                 \
    ng_file_fail((in)->error, NG_BAD_FILE, (in)->path, tensor, field, \
                 __VA_ARGS__)

/* Find the tensor of an array, of its type and shape. */
static ng_status get_tensor(void **data, const ng_optimizer_loading *in,
                            const ng_optimizer_array *array)
{
    const ng_tensor *tensor = ng_tensor_file_find(in->file, array->name);

    if (tensor == NULL)
        return FAULT(in, array->name, "tensor", "missing");
    if (tensor->dtype != array->dtype)
        return FAULT(in, array->name, "dtype",
                     "%s, where this optimizer has %s",
                     ng_dtype_name(tensor->dtype), ng_dtype_name(array->dtype));
    if (tensor->rank != array->rank)
        return FAULT(in, array->name, "shape",
                     "%d axes, where this optimizer has %d", tensor->rank,
                     array->rank);
    for (int axis = 0; axis < array->rank; axis++)
        if (tensor->shape[axis] != array->shape[axis])
            return FAULT(in, array->name, "shape",
                         "axis %d is %" PRId64 ", where this optimizer has "
                         "%" PRId64,
                         axis, tensor->shape[axis], array->shape[axis]);
    if (tensor->data == NULL && array->bytes > 0)
        return FAULT(in, array->name, "data", "is null");
    *data = tensor->data;
    return NG_OK;
}

static ng_status get_parameter(const ng_optimizer_loading *in,
                               const ng_parameter *p, int64_t *n_tensors)
{
    ng_optimizer_array arrays[NG_OPTIMIZER_MAX_ARRAYS];
    void *data[NG_OPTIMIZER_MAX_ARRAYS] = {0};
    const int n = ng_optimizer_arrays(arrays, in->optimizer, p);
    char key[2 * NG_MAX_NAME];
    uint64_t group = 0;
    ng_status status;

    snprintf(key, sizeof key, "%s::group", p->name);
    if ((status = ng_optimizer_read_count(&group, in, key)) != NG_OK)
        return status;
    if (group != (uint64_t)p->group)
        return FAULT(in, NULL, key,
                     "%" PRIu64 ", where this optimizer has %" PRId64, group,
                     p->group);
    if (in->groups[group].constants.mu != 0.0f && !p->has_momentum) {
        ng_optimizer_group_key(key, sizeof key, p->group, "momentum");
        return FAULT(in, NULL, key,
                     "is not 0, where this optimizer's \"%s\" has no state "
                     "for it",
                     p->name);
    }
    for (int i = 0; i < n && status == NG_OK; i++)
        status = get_tensor(&data[i], in, &arrays[i]);
    *n_tensors += n;
    return status != NG_OK
               ? status
               : ng_optimizer_check_values(in->optimizer, p, arrays, data,
                                           in->path, in->error);
}

/* Whether a tensor is one of the optimizer's. */
static bool is_known(const ng_optimizer *optimizer, const char *name)
{
    ng_optimizer_array arrays[NG_OPTIMIZER_MAX_ARRAYS];

    for (int64_t i = 0; i < optimizer->n_parameters; i++) {
        const int n =
            ng_optimizer_arrays(arrays, optimizer, optimizer->parameters[i]);

        for (int a = 0; a < n; a++)
            if (strcmp(arrays[a].name, name) == 0)
                return true;
    }
    return false;
}

static ng_status check_all(ng_optimizer_loading *in)
{
    const ng_optimizer *optimizer = in->optimizer;
    int64_t n_tensors = 0;
    ng_status status = ng_optimizer_read_metadata(in);

    for (int64_t i = 0; i < optimizer->n_parameters && status == NG_OK; i++)
        status = get_parameter(in, optimizer->parameters[i], &n_tensors);
    if (status != NG_OK || (uint64_t)n_tensors == in->file->n_tensors)
        return status;
    for (size_t i = 0; i < in->file->n_tensors; i++)
        if (!is_known(optimizer, in->file->tensors[i].name))
            return FAULT(in, in->file->tensors[i].name, "tensor",
                         "no parameter of this optimizer has it");
    return FAULT(in, NULL, "tensors", "one is there twice");
}

static ng_status take_all(const ng_optimizer_loading *in)
{
    ng_optimizer *optimizer = in->optimizer;
    ng_status status = NG_OK;

    for (int64_t i = 0; i < optimizer->n_parameters && status == NG_OK; i++) {
        ng_optimizer_array arrays[NG_OPTIMIZER_MAX_ARRAYS];
        const int n =
            ng_optimizer_arrays(arrays, optimizer, optimizer->parameters[i]);

        for (int a = 0; a < n && status == NG_OK; a++) {
            const ng_tensor *tensor =
                ng_tensor_file_find(in->file, arrays[a].name);

            status = ng_optimizer_write(arrays[a].data, optimizer, tensor->data,
                                        arrays[a].bytes);
        }
    }
    if (status != NG_OK)
        return ng_fail(in->error, status, "%s: %s", in->path,
                       ng_status_text(status));
    for (int64_t i = 0; i < optimizer->n_groups; i++)
        optimizer->groups[i] = in->groups[i];
    optimizer->skipped = in->skipped;
    optimizer->partial = in->partial;
    return NG_OK;
}

ng_status ng_optimizer_from_tensors(ng_optimizer *optimizer,
                                    const ng_tensor_file *file,
                                    const char *path, ng_error *error)
{
    ng_optimizer_loading in = {
        .optimizer = optimizer, .file = file, .path = path, .error = error};

    if (optimizer == NULL || file == NULL || path == NULL)
        return ng_fail(error, NG_BAD_POINTER, "optimizer: %s",
                       ng_status_text(NG_BAD_POINTER));
    if (optimizer->releasing)
        return ng_fail(error, NG_BAD_VALUE,
                       "optimizer: a release is under way");
    in.groups = malloc(((size_t)optimizer->n_groups + 1) * sizeof *in.groups);
    if (in.groups == NULL)
        return ng_fail(error, NG_NO_MEMORY, "optimizer: out of memory");
    if (optimizer->n_groups > 0)
        memcpy(in.groups, optimizer->groups,
               (size_t)optimizer->n_groups * sizeof *in.groups);

    ng_status status = check_all(&in);

    if (status == NG_OK)
        status = take_all(&in);
    free(in.groups);
    return status;
}

ng_status ng_optimizer_load(ng_optimizer *optimizer, const char *path,
                            ng_error *error)
{
    ng_tensor_file file = {0};
    ng_status status = ng_safetensors_read(&file, path, error);

    if (status == NG_OK)
        status = ng_optimizer_from_tensors(optimizer, &file, path, error);
    ng_tensor_file_free(&file);
    return status;
}
