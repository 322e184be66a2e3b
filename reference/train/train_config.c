/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/train_config.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "formats/profile.h"
#include "reference/optim/ref_step_constants.h"

_Static_assert(sizeof(ng_attention_kind) == sizeof(int),
               "a choice is written as an int");

static const char *const attentions[] = {"mla", "gqa", NULL};
static const char *const optimizers[] = {"sgd",   "sgdw", "adam",
                                         "adamw", "lion", NULL};
static const char *const states[] = {"fp32", "flash", NULL};

#define AT(member) offsetof(ng_train_config, member)
#define WHOLE(name, member, low, high, meaning)                             \
    {                                                                       \
        name, NG_YAML_WHOLE, AT(member), low, high, NULL, 0, false, meaning \
    }
#define NUMBER(name, member, low, high, meaning)                             \
    {                                                                        \
        name, NG_YAML_NUMBER, AT(member), low, high, NULL, 0, false, meaning \
    }
#define FLAG(name, member, meaning)                                   \
    {                                                                 \
        name, NG_YAML_FLAG, AT(member), 0, 0, NULL, 0, false, meaning \
    }
#define CHOICE(name, member, choices, meaning)                             \
    {                                                                      \
        name, NG_YAML_CHOICE, AT(member), 0, 0, choices, 0, false, meaning \
    }
#define TEXT(name, member, required, meaning)                          \
    {                                                                  \
        name, NG_YAML_TEXT, AT(member), 0, 0, NULL, NG_TRAIN_MAX_TEXT, \
            required, meaning                                          \
    }

/* Largest sizes: bytes of any array of a shard then fit 63 bits, and those of
 * all parameters do by what ng_model_config_check says of them. */
#define WIDE 1048576
#define LONG 1e9

/* clang-format off */
static const ng_yaml_field fields[] = {
    TEXT("about", about, false, "a remark"),
    TEXT("run", run, true, "directory of checkpoints and log"),
    TEXT("recipe", recipe, false, "bf16, fp8, mxfp4, or a recipe file"),
    WHOLE("seed", seed, 0, 9007199254740992.0, "of weights and samples"),
    WHOLE("steps", steps, 1, LONG, "of the run"),

    WHOLE("model.vocabulary", model.vocabulary, 1, WIDE, "tokens"),
    WHOLE("model.hidden", model.hidden, 1, WIDE, "width of the stream"),
    WHOLE("model.layers", model.layers, 1, 1024, "decoder layers"),
    WHOLE("model.length", model.length, 1, WIDE, "longest sequence"),
    CHOICE("model.attention", model.attention, attentions, "kind"),
    WHOLE("model.heads", model.heads, 1, 4096, "attention heads"),
    WHOLE("model.kv_heads", model.kv_heads, 1, 4096, "GQA"),
    WHOLE("model.head_dim", model.head_dim, 1, 4096, "GQA"),
    WHOLE("model.q_rank", model.q_rank, 0, WIDE, "MLA; 0: none"),
    WHOLE("model.kv_rank", model.kv_rank, 1, WIDE, "MLA"),
    WHOLE("model.nope_dim", model.nope_dim, 0, 4096, "MLA, of a head"),
    WHOLE("model.rope_dim", model.rope_dim, 0, 4096, "MLA, of a head"),
    WHOLE("model.v_dim", model.v_dim, 1, 4096, "MLA, of a head"),
    NUMBER("model.rope_base", model.rope_base, 1, 1e12, "theta of RoPE"),
    WHOLE("model.ffn", model.ffn, 1, WIDE, "width of the dense SwiGLU"),
    WHOLE("model.dense_layers", model.dense_layers, 0, 1024, "first layers"),
    WHOLE("model.experts", model.experts, 0, 65536, "routed; 0: dense"),
    WHOLE("model.shared_experts", model.shared_experts, 0, 1024, ""),
    WHOLE("model.top_k", model.top_k, 1, 1024, "experts of a token"),
    WHOLE("model.expert_ffn", model.expert_ffn, 1, WIDE, "expert width"),
    WHOLE("model.expert_groups", model.expert_groups, 1, 65536, ""),
    WHOLE("model.top_groups", model.top_groups, 1, 65536, ""),
    FLAG("model.softmax_router", model.softmax_router, "else sigmoid"),
    FLAG("model.normalize_weights", model.normalize_weights, "to sum 1"),
    NUMBER("model.route_scale", model.route_scale, 0, 1e6, ""),
    NUMBER("model.bias_speed", model.bias_speed, 0, 1, "a step"),
    NUMBER("model.balance_loss", model.balance_loss, 0, 1, "its factor"),
    WHOLE("model.mtp_depth", model.mtp_depth, 0, 16, "MTP modules"),
    NUMBER("model.mtp_weight", model.mtp_weight, 0, 1, "of their loss"),
    NUMBER("model.norm_eps", model.norm_eps, 0, 1, "RMSNorm"),
    NUMBER("model.init_std", model.init_std, 0, 1, "of first weights"),
    FLAG("model.tie_head", model.tie_head, "head = embedding"),

    TEXT("data.train", train, true, "file of tokens"),
    TEXT("data.validation", validation, false, "another; else a share"),
    CHOICE("data.format", format, ng_tokens_format_names, "of both files"),
    NUMBER("data.validation_share", validation_share, 0, 0.5, "the end"),

    TEXT("pretrained.files", pretrained, false, "first weights; * and ? match"),
    TEXT("pretrained.names", names, false, "map of their names"),

    WHOLE("batch.sequence", sequence, 1, WIDE, "tokens of a sequence"),
    WHOLE("batch.sequences", sequences, 1, 65536, "of a shard"),
    WHOLE("batch.shards", shards, 1, 65536, "of a step"),

    CHOICE("optimizer.kind", optimizer, optimizers, ""),
    NUMBER("optimizer.lr", hyper.lr, 0, 1e6, "peak learning rate"),
    NUMBER("optimizer.beta1", hyper.beta1, 0, 1, ""),
    NUMBER("optimizer.beta2", hyper.beta2, 0, 1, ""),
    NUMBER("optimizer.momentum", hyper.momentum, 0, 1, "SGD, SGDW"),
    NUMBER("optimizer.dampening", hyper.dampening, 0, 1, "SGD, SGDW"),
    FLAG("optimizer.nesterov", hyper.nesterov, "SGD, SGDW"),
    NUMBER("optimizer.eps", hyper.eps, 0, 1, "Adam, AdamW"),
    NUMBER("optimizer.weight_decay", hyper.weight_decay, 0, 1e6, ""),
    FLAG("optimizer.lr_decoupled", hyper.lr_decoupled, "decay"),
    CHOICE("optimizer.states", states, states, "FP32, or 8 bits"),
    TEXT("optimizer.profile", profile, false, "ng, flashoptim, a file"),
    NUMBER("optimizer.clip", clip, 0, 1e30, "of the norm; 0: none"),

    CHOICE("schedule.kind", schedule_kind, ng_schedule_names, ""),
    WHOLE("schedule.warmup", warmup, 0, LONG, "steps"),
    WHOLE("schedule.decay", decay, 0, LONG, "steps (wsd)"),
    NUMBER("schedule.last", last, 0, 1, "share of the peak"),

    WHOLE("evaluation.every", evaluate_every, 0, LONG, "steps; 0: never"),
    WHOLE("evaluation.sequences", evaluate_sequences, 1, LONG, ""),
    WHOLE("checkpoint.every", save_every, 0, LONG, "steps; 0: at the end"),
    WHOLE("checkpoint.keep", save_keep, 0, LONG, "the newest; 0: all"),
    WHOLE("checkpoint.shard_mib", save_shard, 1, WIDE, "of a file"),

    TEXT("sample.prompt", prompt, false, "a text to go on with"),
    WHOLE("sample.every", sample_every, 0, LONG, "steps; 0: never"),
    WHOLE("sample.tokens", sample_tokens, 1, 65536, ""),
    NUMBER("sample.temperature", temperature, 0, 100, "0: the likeliest"),
};
/* clang-format on */

_Static_assert(sizeof fields / sizeof *fields <= NG_TRAIN_MAX_FIELDS,
               "ng_train_config.lines is too short");

const ng_yaml_schema ng_train_schema = {fields, sizeof fields / sizeof *fields};

/* What a file need not say. AdamW as DeepSeek-V3 has it. */
static ng_train_config defaults(void)
{
    ng_train_config config = {.recipe = "bf16",
                              .seed = 1,
                              .steps = 1000,
                              .model = ng_model_config_default(),
                              .validation_share = 0.1,
                              .sequence = 128,
                              .sequences = 4,
                              .shards = 4,
                              .optimizer = NG_ADAMW,
                              .hyper = {.lr = 1e-3,
                                        .beta1 = 0.9,
                                        .beta2 = 0.95,
                                        .momentum = 0.9,
                                        .eps = 1e-8,
                                        .weight_decay = 0.1},
                              .states = NG_TRAIN_FLASH,
                              .profile = "ng",
                              .clip = 1.0,
                              .schedule_kind = NG_SCHEDULE_COSINE,
                              .last = 0.1,
                              .evaluate_every = 100,
                              .evaluate_sequences = 64,
                              .save_every = 100,
                              .save_keep = 2,
                              .save_shard = 1024,
                              .sample_tokens = 200,
                              .temperature = 0.8};

    return config;
}

/* One line for a field whose value does not go with the others'. */
static ng_status refuse(const ng_train_config *config, const char *path,
                        const char *name, ng_error *error, const char *what)
{
    char where[2 * NG_TRAIN_MAX_TEXT];
    const int number = ng_yaml_find(&ng_train_schema, name);
    const int line = number < 0 ? 0 : config->lines[number];

    if (line > 0)
        snprintf(where, sizeof where, "%s:%d", path, line);
    else
        snprintf(where, sizeof where, "%s", path);
    return ng_file_fail(error, NG_BAD_VALUE, where, NULL, name, "%s", what);
}

/* Another's line, "FIELD: what is wrong", as ours: its first word that names a
 * field of the section gives the line of the file, and leaves the text where it
 * begins it. */
static ng_status refuse_in(const ng_train_config *config, const char *path,
                           const char *section, const char *fault,
                           ng_error *error)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    char name[NG_YAML_MAX_NAME];

    for (const char *at = fault; *at != '\0';) {
        const size_t length = strspn(at, word);

        if (length > 0
            && (size_t)snprintf(name, sizeof name, "%s.%.*s", section,
                                (int)length, at)
                   < sizeof name
            && ng_yaml_find(&ng_train_schema, name) >= 0)
            return refuse(config, path, name, error,
                          strncmp(at + length, ": ", 2) == 0 ? at + length + 2
                                                             : fault);
        at += length + (at[length] != '\0');
    }
    return refuse(config, path, section, error, fault);
}

/* What the optimizer's first step would say of its numbers. */
static ng_status check_optimizer(const ng_train_config *config,
                                 const char *path, ng_error *error)
{
    ng_profile profile;
    ng_step_constants constants;
    ng_error fault = {{0}};

    if (ng_profile_load(&profile, config->profile, &fault) != NG_OK)
        return refuse(config, path, "optimizer.profile", error, fault.text);

    const ng_optim_options options = {.rules = &profile.rules};

    return ng_ref_step_constants(&constants,
                                 (ng_optimizer_kind)config->optimizer,
                                 &config->hyper, 1, &options, &fault)
                   == NG_OK
               ? NG_OK
               : refuse_in(config, path, "optimizer", fault.text, error);
}

ng_status ng_train_config_check(const ng_train_config *config, const char *path,
                                ng_error *error)
{
    ng_error fault = {{0}};

    if (ng_model_config_check(&config->model, &fault) != NG_OK)
        return refuse_in(config, path, "model", fault.text, error);
    if (check_optimizer(config, path, error) != NG_OK)
        return NG_BAD_VALUE;
    if (config->sequence > config->model.length)
        return refuse(config, path, "batch.sequence", error,
                      "is longer than model.length");
    if (config->sequence <= config->model.mtp_depth)
        return refuse(config, path, "batch.sequence", error,
                      "is too short for model.mtp_depth");
    if (config->sequences
        > INT64_MAX / 4096 / config->sequence / config->shards)
        return refuse(config, path, "batch.shards", error, "is too large");
    if (config->sequences > ((INT64_C(1) << 28) / config->sequence))
        return refuse(config, path, "batch.sequences", error,
                      "makes shards of more than 2^28 tokens");
    if (config->warmup > config->steps)
        return refuse(config, path, "schedule.warmup", error,
                      "is more than steps");
    if (config->schedule_kind == NG_SCHEDULE_WSD
        && (config->decay < 1
            || config->decay > config->steps - config->warmup))
        return refuse(config, path, "schedule.decay", error,
                      "is not in 1 .. steps - warmup");
    if (config->validation[0] == '\0' && !(config->validation_share > 0.0))
        return refuse(config, path, "data.validation_share", error,
                      "is 0, and there is no data.validation");
    if ((config->pretrained[0] == '\0') != (config->names[0] == '\0'))
        return refuse(config, path,
                      config->names[0] == '\0' ? "pretrained.files"
                                               : "pretrained.names",
                      error, "files and names need each other");
    if (config->run[0] == '\0')
        return refuse(config, path, "run", error, "is empty");
    return NG_OK;
}

ng_status ng_train_config_read(ng_train_config *out, const char *path,
                               const char *const *assignments, int n,
                               ng_error *error)
{
    *out = defaults();
    ng_status status =
        ng_yaml_read(out, out->lines, &ng_train_schema, path, error);

    for (int i = 0; i < n && status == NG_OK; i++)
        status = ng_yaml_set(out, out->lines, &ng_train_schema, assignments[i],
                             error);
    if (status != NG_OK)
        return status;
    out->hyper.lr0 = out->hyper.lr;
    return ng_train_config_check(out, path, error);
}

ng_schedule ng_train_schedule(const ng_train_config *config)
{
    return (ng_schedule){(ng_schedule_kind)config->schedule_kind, config->steps,
                         config->warmup, config->decay, config->last};
}
