/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration of a training run: what a YAML file and --set may say.
 */
#ifndef NG_REFERENCE_TRAIN_TRAIN_CONFIG_H
#define NG_REFERENCE_TRAIN_TRAIN_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/files/yaml_schema.h"
#include "formats/optim.h"
#include "formats/status.h"
#include "reference/model/model.h"
#include "reference/train/schedule.h"
#include "reference/train/tokens.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NG_TRAIN_MAX_TEXT = 1024, NG_TRAIN_MAX_FIELDS = 128 };

/* How weights and states are kept between steps. */
typedef enum ng_train_states {
    NG_TRAIN_FP32, /* FP32 throughout */
    NG_TRAIN_FLASH /* BF16 + 8 bits of correction, 8-bit companded states */
} ng_train_states;

typedef struct ng_train_config {
    char about[NG_TRAIN_MAX_TEXT];
    char run[NG_TRAIN_MAX_TEXT];    /* directory of checkpoints and log */
    char recipe[NG_TRAIN_MAX_TEXT]; /* a built-in one's name, or a file */
    int64_t seed, steps;

    ng_model_config model;

    char train[NG_TRAIN_MAX_TEXT], validation[NG_TRAIN_MAX_TEXT];
    int format; /* ng_tokens_format */
    double validation_share;

    /* First weights: safetensors files (a path or a pattern, as glob has it),
     * and the map of their names (pretrained.h). Both empty: drawn. */
    char pretrained[NG_TRAIN_MAX_TEXT], names[NG_TRAIN_MAX_TEXT];

    int64_t sequence;  /* tokens of a sequence */
    int64_t sequences; /* of a shard */
    int64_t shards;    /* of a step */

    int optimizer; /* ng_optimizer_kind */
    ng_hyper hyper;
    int states;                      /* ng_train_states */
    char profile[NG_TRAIN_MAX_TEXT]; /* rules of split, compand, step */
    double clip;                     /* of the global norm; 0: none */

    int schedule_kind;
    int64_t warmup, decay;
    double last;

    int64_t evaluate_every, evaluate_sequences; /* every 0: never */
    int64_t save_every, save_keep, save_shard;  /* save_shard: MiB of a file */

    char prompt[NG_TRAIN_MAX_TEXT];
    int64_t sample_every, sample_tokens;
    double temperature; /* 0: the likeliest token */

    int lines[NG_TRAIN_MAX_FIELDS]; /* of ng_train_schema; 0: not in the file */
} ng_train_config;

extern const ng_yaml_schema ng_train_schema;

/* Read the file, then take each of n assignments NAME=VALUE, then check that
 * the numbers go together. Returns NG_OK; NG_BAD_FILE, NG_BAD_VALUE or
 * NG_NO_MEMORY with *out undefined and a line that begins with the file and the
 * line of the field, or with the assignment. */
ng_status ng_train_config_read(ng_train_config *out, const char *path,
                               const char *const *assignments, int n,
                               ng_error *error);

/* The numbers alone of it, checked as above. */
ng_status ng_train_config_check(const ng_train_config *config, const char *path,
                                ng_error *error);

ng_schedule ng_train_schedule(const ng_train_config *config);

#ifdef __cplusplus
}
#endif

#endif
