/* SPDX-License-Identifier: Apache-2.0
 *
 * A checkpoint holds the whole run whatever the number of ranks: rank 0 gathers
 * what it does not have and writes the same bytes as one process would.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile.h"
#include "reference/optim/optimizer_backend.h"
#include "reference/train/checkpoint.h"
#include "reference/train/train_parts.h"

ng_status ng_train_new_optimizer(ng_optimizer **out, const ng_train *train,
                                 bool all, ng_error *error)
{
    const ng_train_config *config = train->config;
    const bool flash = config->states == NG_TRAIN_FLASH;
    const ng_state_coding coding = flash ? NG_STATE_COMPANDED : NG_STATE_FP32;
    ng_group_settings settings = {.hyper = config->hyper,
                                  .weights = flash ? NG_BF16 : NG_FP32,
                                  .correction_bits = flash ? 8 : 0,
                                  .momentum = coding,
                                  .variance = coding,
                                  .gradients = NG_FP32};
    ng_optimizer *optimizer = NULL;
    ng_profile profile;
    ng_status status = ng_profile_load(&profile, config->profile, error);

    if (status == NG_OK)
        status = ng_optimizer_create(&optimizer,
                                     (ng_optimizer_kind)config->optimizer,
                                     &profile.rules, error);
    if (status == NG_OK && !all)
        status = ng_optimizer_use_backend(optimizer, train->options.backend,
                                          error);
    for (int g = 0; g < NG_TRAIN_N_GROUPS && status == NG_OK; g++) {
        if (g == NG_TRAIN_NOT_DECAYED)
            settings.hyper.weight_decay = 0.0;
        status = ng_optimizer_add_group(NULL, optimizer, &settings, error);
    }
    for (int64_t p = 0;
         p < ng_model_n_parameters(train->model) && status == NG_OK; p++) {
        const ng_model_parameter *of = ng_model_parameter_of(train->model, p);

        if (of->local || all)
            status = ng_optimizer_add_parameter(
                NULL, optimizer,
                of->decay == NG_DECAY ? NG_TRAIN_DECAYED : NG_TRAIN_NOT_DECAYED,
                of->name, of->rank, of->shape, NULL, error);
    }
    if (status == NG_OK)
        *out = optimizer;
    else
        ng_optimizer_free(optimizer);
    return status;
}

/* ---- what the ranks have, at rank 0 ------------------------------------- */

/* Whether tensor `name` is parameter `p`'s: NAME or NAME::PART. */
static bool belongs(const char *name, const ng_model_parameter *p)
{
    const size_t length = strlen(p->name);

    return strncmp(name, p->name, length) == 0
           && (name[length] == '\0' || strncmp(name + length, "::", 2) == 0);
}

/* Call for each tensor of a file, whose parameters are in the model's order,
 * with its parameter. */
typedef void visit(void *context, ng_tensor *tensor,
                   const ng_model_parameter *of);

static void for_each(const ng_train *train, const ng_tensor_file *file,
                     visit *call, void *context)
{
    int64_t p = 0;

    for (size_t i = 0; i < file->n_tensors; i++) {
        while (!belongs(file->tensors[i].name,
                        ng_model_parameter_of(train->model, p)))
            p++;
        call(context, &file->tensors[i],
             ng_model_parameter_of(train->model, p));
    }
}

static int64_t bytes_of(const ng_tensor *tensor)
{
    int64_t units, bytes;

    return ng_tensor_extent(&units, &bytes, tensor) == NG_OK ? bytes : 0;
}

/* How the experts' tensors pass through one buffer: by rank, and in order. */
typedef struct passing {
    int64_t *bytes;  /* [size] of each owner */
    uint8_t **where; /* [size] the next byte of each; null: count alone */
    bool pack;       /* from tensors to the buffer, or back */
    int only;        /* this owner's, or -1: all but 0's and everyone's */
} passing;

static void pass(void *context, ng_tensor *tensor, const ng_model_parameter *of)
{
    passing *p = context;
    const int64_t bytes = bytes_of(tensor);

    if (of->owner <= 0 || (p->only >= 0 && of->owner != p->only))
        return;
    p->bytes[of->owner] += bytes;
    if (p->where == NULL || bytes == 0)
        return;
    if (p->pack)
        memcpy(p->where[of->owner], tensor->data, (size_t)bytes);
    else
        memcpy(tensor->data, p->where[of->owner], (size_t)bytes);
    p->where[of->owner] += bytes;
}

/* What gather works with; all zero bytes but comm at first. */
typedef struct gathering {
    int64_t *from_bytes, *to_bytes; /* [size] */
    uint8_t **where;                /* [size] */
    uint8_t *host;
    void *from, *to; /* the backend's */
} gathering;

/* The bytes that this rank gives rank 0, in the backend's memory. */
static ng_status pack(gathering *g, const ng_train *train,
                      const ng_tensor_file *own, ng_error *error)
{
    const ng_backend *backend = train->options.backend;
    const int rank = train->options.comm->rank;
    passing p = {.bytes = g->from_bytes, .pack = true, .only = rank};

    if (rank == 0)
        return NG_OK;
    for_each(train, own, pass, &p);

    const int64_t bytes = g->from_bytes[rank];

    g->from_bytes[rank] = 0;
    g->to_bytes[0] = bytes;
    g->host = malloc((size_t)bytes + 1);
    g->to = backend->alloc(backend->context, bytes);
    if (g->host == NULL || (g->to == NULL && bytes > 0))
        return ng_train_no_memory(error);
    p.bytes = calloc((size_t)train->options.comm->size, sizeof *p.bytes);
    if (p.bytes == NULL)
        return ng_train_no_memory(error);
    p.where = g->where;
    g->where[rank] = g->host;
    for_each(train, own, pass, &p);
    free(p.bytes);
    return backend->upload(backend->context, g->to, g->host, bytes);
}

/* Room for what rank 0 gets, whose sizes the whole optimizer tells. */
static ng_status expect(gathering *g, const ng_train *train,
                        const ng_tensor_file *whole, ng_error *error)
{
    const ng_backend *backend = train->options.backend;
    passing p = {.bytes = g->from_bytes, .only = -1};
    int64_t total = 0;

    for_each(train, whole, pass, &p);
    for (int r = 0; r < train->options.comm->size; r++)
        total += g->from_bytes[r];
    g->host = malloc((size_t)total + 1);
    g->from = backend->alloc(backend->context, total);
    return g->host == NULL || (g->from == NULL && total > 0)
               ? ng_train_no_memory(error)
               : NG_OK;
}

static ng_status unpack(gathering *g, const ng_train *train,
                        const ng_tensor_file *whole, ng_error *error)
{
    const ng_backend *backend = train->options.backend;
    const int size = train->options.comm->size;
    int64_t *bytes = calloc((size_t)size, sizeof *bytes), total = 0;
    passing p = {.bytes = bytes, .where = g->where, .only = -1};

    if (bytes == NULL)
        return ng_train_no_memory(error);
    for (int r = 0; r < size; r++) {
        g->where[r] = g->host + total;
        total += g->from_bytes[r];
    }
    const ng_status status =
        backend->download(backend->context, g->host, g->from, total);

    if (status == NG_OK)
        for_each(train, whole, pass, &p);
    free(bytes);
    return status;
}

/* Fill in the tensors of other ranks' parameters. `whole` is rank 0's; `own`
 * this rank's. */
static ng_status gather(ng_tensor_file *whole, const ng_train *train,
                        const ng_tensor_file *own, ng_error *error)
{
    const ng_backend *backend = train->options.backend;
    const ng_comm *comm = train->options.comm;
    const size_t size = (size_t)comm->size;
    gathering g = {.from_bytes = calloc(size, sizeof(int64_t)),
                   .to_bytes = calloc(size, sizeof(int64_t)),
                   .where = calloc(size, sizeof(uint8_t *))};
    ng_status status =
        g.from_bytes == NULL || g.to_bytes == NULL || g.where == NULL
            ? ng_train_no_memory(error)
            : NG_OK;

    if (status == NG_OK)
        status = pack(&g, train, own, error);
    if (status == NG_OK && comm->rank == 0)
        status = expect(&g, train, whole, error);
    status = ng_train_agree(comm, status, error);
    if (status == NG_OK)
        status = comm->exchange(comm->context, g.from, g.from_bytes, g.to,
                                g.to_bytes, error);
    if (status == NG_OK && comm->rank == 0)
        status = unpack(&g, train, whole, error);
    backend->free(backend->context, g.from);
    backend->free(backend->context, g.to);
    free(g.host);
    free(g.from_bytes);
    free(g.to_bytes);
    free((void *)g.where);
    return status;
}

/* ---- rank 0 ------------------------------------------------------------- */

/* Copy what `own` has into `whole`: tensors by name, and metadata that the
 * optimizer without steps has otherwise. */
static ng_status take_own(ng_tensor_file *whole, const ng_tensor_file *own,
                          ng_error *error)
{
    size_t j = 0;

    for (size_t i = 0; i < whole->n_tensors && j < own->n_tensors; i++)
        if (strcmp(whole->tensors[i].name, own->tensors[j].name) == 0) {
            if (bytes_of(&own->tensors[j]) > 0)
                memcpy(whole->tensors[i].data, own->tensors[j].data,
                       (size_t)bytes_of(&own->tensors[j]));
            j++;
        }
    for (size_t i = 0; i < whole->n_metadata; i++) {
        const char *value =
            ng_tensor_file_metadata(own, whole->metadata[i].name);
        char *copy = value == NULL ? NULL : strdup(value);

        if (value != NULL && copy == NULL)
            return ng_train_no_memory(error);
        if (copy != NULL) {
            free(whole->metadata[i].value);
            whole->metadata[i].value = copy;
        }
    }
    return NG_OK;
}

/* Shards of so many MiB, one tensor at least. The first has the metadata. */
static ng_status add_shards(ng_checkpoint_writer *writer, const ng_train *train,
                            const ng_tensor_file *whole, ng_error *error)
{
    const int64_t most = train->config->save_shard << 20;
    ng_status status = NG_OK;
    size_t first = 0;

    for (int number = 0;
         status == NG_OK && (number == 0 || first < whole->n_tensors);
         number++) {
        char name[NG_CHECKPOINT_MAX_SHARD];
        ng_tensor_file shard = {.tensors = whole->tensors + first};
        int64_t bytes = 0;

        while (first + shard.n_tensors < whole->n_tensors) {
            bytes += bytes_of(&shard.tensors[shard.n_tensors]);
            if (shard.n_tensors > 0 && bytes > most)
                break;
            shard.n_tensors++;
        }
        if (number == 0) {
            shard.metadata = whole->metadata;
            shard.n_metadata = whole->n_metadata;
        }
        snprintf(name, sizeof name, "parameters-%05d", number);
        status = ng_checkpoint_add(writer, name, &shard, error);
        first += shard.n_tensors;
    }
    return status;
}

static ng_status add_routers(ng_checkpoint_writer *writer,
                             const ng_train *train, ng_error *error)
{
    const int64_t n = ng_model_n_state(train->model);
    ng_tensor_file file = {.n_tensors = 0};
    void *data;
    ng_status status =
        ng_tensor_file_add_tensor(&data, &file, "router.bias", NG_FP32, 1, &n);

    if (status != NG_OK)
        return ng_train_no_memory(error);
    if (n > 0)
        ng_model_get_state(data, train->model);
    status = ng_checkpoint_add(writer, "router", &file, error);
    ng_tensor_file_free(&file);
    return status;
}

static ng_status write_all(const ng_train *train, const ng_tensor_file *whole,
                           ng_error *error)
{
    const char *root = train->config->run;
    json_t *identity = ng_train_identity(train);
    json_t *state = json_pack("{s:o, s:I, s:I, s:o}", "identity", identity,
                              "log", (json_int_t)train->log.size, "skipped",
                              (json_int_t)train->skipped, "evaluation",
                              ng_json_number(train->evaluation));
    ng_checkpoint_writer writer = {.step = 0};
    ng_status status = state == NULL ? ng_train_no_memory(error) : NG_OK;

    if (status == NG_OK)
        status = ng_train_log_sync(&train->log, error);
    if (status == NG_OK)
        status = ng_checkpoint_begin(&writer, root, train->step, error);
    if (status == NG_OK) {
        status = add_shards(&writer, train, whole, error);
        if (status == NG_OK)
            status = add_routers(&writer, train, error);
        if (status == NG_OK)
            status = ng_checkpoint_commit(&writer, state, error);
        else
            ng_checkpoint_abandon(&writer);
    }
    if (status == NG_OK)
        status = ng_checkpoint_keep(root, train->step, train->config->save_keep,
                                    error);
    json_decref(state);
    return status;
}

/* Everything at rank 0, as tensors. */
static ng_status collect(ng_tensor_file *whole, const ng_train *train,
                         ng_error *error)
{
    ng_tensor_file own = {.n_tensors = 0};
    ng_optimizer *twin = NULL;
    ng_status status = ng_optimizer_to_tensors(&own, train->optimizer, error);

    if (status == NG_OK && train->options.comm->rank == 0)
        status = ng_train_new_optimizer(&twin, train, true, error);
    if (status == NG_OK && twin != NULL)
        status = ng_optimizer_to_tensors(whole, twin, error);
    ng_optimizer_free(twin);
    if (status == NG_OK && train->options.comm->rank == 0)
        status = take_own(whole, &own, error);
    status = ng_train_agree(train->options.comm, status, error);
    if (status == NG_OK)
        status = gather(whole, train, &own, error);
    ng_tensor_file_free(&own);
    return status;
}

ng_status ng_train_save(ng_train *train, ng_error *error)
{
    const ng_comm *comm = train->options.comm;
    ng_tensor_file whole = {.n_tensors = 0};
    ng_status status =
        comm->size == 1
            ? ng_optimizer_to_tensors(&whole, train->optimizer, error)
            : collect(&whole, train, error);

    if (status == NG_OK && comm->rank == 0)
        status = write_all(train, &whole, error);
    ng_tensor_file_free(&whole);
    return ng_train_agree(comm, status, error);
}
