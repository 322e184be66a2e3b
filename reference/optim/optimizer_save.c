/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/optimizer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/files/safetensors.h"
#include "reference/optim/optimizer_file.h"
#include "reference/optim/optimizer_parts.h"
#include "reference/optim/ref_step_constants.h"

static ng_status add_pair(ng_tensor_file *file, const char *name,
                          const char *value)
{
    return ng_tensor_file_add_metadata(file, name, value);
}

static ng_status add_count(ng_tensor_file *file, const char *name,
                           uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, value);
    return add_pair(file, name, text);
}

/* A finite number as a whole significand and an exponent: exact, and without a
 * decimal point, which a locale could change. */
static ng_status add_number(ng_tensor_file *file, const char *name,
                            double value)
{
    char text[64];
    int exponent;
    const double fraction = frexp(fabs(value), &exponent);

    snprintf(text, sizeof text, "%s0x%" PRIx64 "p%d", signbit(value) ? "-" : "",
             (uint64_t)ldexp(fraction, 53), exponent - 53);
    return add_pair(file, name, text);
}

static ng_status add_rule(ng_tensor_file *file, const ng_rules *rules,
                          ng_rule rule)
{
    return add_pair(file, ng_rule_name(rule),
                    ng_rule_value_name(rule, ng_rules_get(rules, rule)));
}

static ng_status add_group(ng_tensor_file *file, const ng_group *group,
                           int64_t number)
{
    const ng_group_settings *s = &group->settings;
    char name[64];
    ng_status status;
    double numbers[NG_N_HYPER_NUMBERS];
    bool flags[NG_N_HYPER_FLAGS];

    ng_hyper_unpack(numbers, flags, &s->hyper);
    ng_optimizer_group_key(name, sizeof name, number, "steps");
    if ((status = add_count(file, name, group->steps)) != NG_OK)
        return status;
    ng_optimizer_group_key(name, sizeof name, number, "momentum_coding");
    if ((status = add_pair(file, name, ng_state_coding_name(s->momentum)))
        != NG_OK)
        return status;
    ng_optimizer_group_key(name, sizeof name, number, "variance_coding");
    if ((status = add_pair(file, name, ng_state_coding_name(s->variance)))
        != NG_OK)
        return status;
    for (int i = 0; i < NG_N_HYPER_NUMBERS; i++) {
        ng_optimizer_group_key(name, sizeof name, number,
                               ng_hyper_number_names[i]);
        if ((status = add_number(file, name, numbers[i])) != NG_OK)
            return status;
    }
    for (int i = 0; i < NG_N_HYPER_FLAGS; i++) {
        ng_optimizer_group_key(name, sizeof name, number,
                               ng_hyper_flag_names[i]);
        if ((status = add_pair(file, name, flags[i] ? "1" : "0")) != NG_OK)
            return status;
    }
    return NG_OK;
}

static ng_status add_parameter(ng_tensor_file *file,
                               const ng_optimizer *optimizer,
                               const ng_parameter *p)
{
    ng_optimizer_array arrays[NG_OPTIMIZER_MAX_ARRAYS];
    const int n = ng_optimizer_arrays(arrays, optimizer, p);
    char name[2 * NG_MAX_NAME];
    ng_status status;

    snprintf(name, sizeof name, "%s::group", p->name);
    if ((status = add_count(file, name, (uint64_t)p->group)) != NG_OK)
        return status;
    for (int i = 0; i < n; i++) {
        const ng_optimizer_array *a = &arrays[i];
        void *data;

        if ((status = ng_tensor_file_add_tensor(&data, file, a->name, a->dtype,
                                                a->rank, a->shape))
            != NG_OK)
            return status;
        if ((status = ng_optimizer_read(data, optimizer, a->data, a->bytes))
            != NG_OK)
            return status;
    }
    return NG_OK;
}

static ng_status add_all(ng_tensor_file *file, const ng_optimizer *optimizer)
{
    const ng_rules *rules = &optimizer->rules;
    ng_status status;

    if ((status = add_pair(file, "optimizer.version", "1")) != NG_OK
        || (status = add_pair(file, "optimizer.kind",
                              ng_optimizer_name(optimizer->kind)))
               != NG_OK
        || (status = add_count(file, "optimizer.groups",
                               (uint64_t)optimizer->n_groups))
               != NG_OK
        || (status = add_count(file, "optimizer.skipped", optimizer->skipped))
               != NG_OK
        || (status = add_count(file, "optimizer.partial", optimizer->partial))
               != NG_OK
        || (status = add_rule(file, rules, NG_RULE_SPLIT)) != NG_OK
        || (status = add_rule(file, rules, NG_RULE_COMPAND)) != NG_OK
        || (status = add_rule(file, rules, NG_RULE_STEP)) != NG_OK)
        return status;
    for (int64_t i = 0; i < optimizer->n_groups && status == NG_OK; i++)
        status = add_group(file, &optimizer->groups[i], i);
    for (int64_t i = 0; i < optimizer->n_parameters && status == NG_OK; i++)
        status = add_parameter(file, optimizer, optimizer->parameters[i]);
    return status;
}

/* The hyper-parameters may have been changed since they were last judged. What
 * a load would refuse is not written: numbers that no step of this kind could
 * use, and others that are not finite, which the optimizer does not even read.
 */
static ng_status check_hyper(const ng_optimizer *optimizer, int64_t number,
                             ng_error *error)
{
    const ng_group *group = &optimizer->groups[number];
    const ng_optim_options options = {.rules = &optimizer->rules};
    double numbers[NG_N_HYPER_NUMBERS];
    bool flags[NG_N_HYPER_FLAGS];
    ng_step_constants constants;
    ng_error cause = {{0}};
    const ng_status status = ng_ref_step_constants(
        &constants, optimizer->kind, &group->settings.hyper, group->steps + 1,
        &options, &cause);

    if (status != NG_OK)
        return ng_fail(error, status, "optimizer: group.%" PRId64 ".%s", number,
                       cause.text);
    ng_hyper_unpack(numbers, flags, &group->settings.hyper);
    for (int i = 0; i < NG_N_HYPER_NUMBERS; i++)
        if (numbers[i] - numbers[i] != 0.0)
            return ng_fail(error, NG_BAD_VALUE,
                           "optimizer: group.%" PRId64 ".%s: is not finite",
                           number, ng_hyper_number_names[i]);
    return NG_OK;
}

ng_status ng_optimizer_to_tensors(ng_tensor_file *file,
                                  const ng_optimizer *optimizer,
                                  ng_error *error)
{
    if (file == NULL || optimizer == NULL)
        return ng_fail(error, NG_BAD_POINTER, "optimizer: %s",
                       ng_status_text(NG_BAD_POINTER));
    if (optimizer->releasing)
        return ng_fail(error, NG_BAD_VALUE,
                       "optimizer: a release is under way");

    ng_status status;

    for (int64_t i = 0; i < optimizer->n_groups; i++)
        if ((status = check_hyper(optimizer, i, error)) != NG_OK)
            return status;
    status = add_all(file, optimizer);
    return status == NG_OK ? NG_OK
                           : ng_fail(error, status, "optimizer: %s",
                                     ng_status_text(status));
}

ng_status ng_optimizer_save(const char *path, const ng_optimizer *optimizer,
                            ng_error *error)
{
    ng_tensor_file file = {0};
    ng_status status = ng_optimizer_to_tensors(&file, optimizer, error);

    if (status == NG_OK)
        status = ng_safetensors_write(path, &file, error);
    ng_tensor_file_free(&file);
    return status;
}
