/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/optimizer_loading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "reference/optim/optimizer_file.h"
#include "reference/optim/ref_step_constants.h"

#define FAULT(in, tensor, field, ...)                                 \
    ng_file_fail((in)->error, NG_BAD_FILE, (in)->path, tensor, field, \
                 __VA_ARGS__)

static ng_status get_text(const char **text, const ng_optimizer_loading *in,
                          const char *name)
{
    *text = ng_tensor_file_metadata(in->file, name);
    return *text != NULL ? NG_OK : FAULT(in, NULL, name, "missing");
}

static ng_status expect(const ng_optimizer_loading *in, const char *name,
                        const char *value)
{
    const char *text;
    const ng_status status = get_text(&text, in, name);

    if (status != NG_OK)
        return status;
    return strcmp(text, value) == 0
               ? NG_OK
               : FAULT(in, NULL, name, "\"%.64s\", where this optimizer has %s",
                       text, value);
}

ng_status ng_optimizer_read_count(uint64_t *value,
                                  const ng_optimizer_loading *in,
                                  const char *name)
{
    const char *text;
    const ng_status status = get_text(&text, in, name);

    if (status != NG_OK)
        return status;

    char *end;
    const bool digit = text[0] >= '0' && text[0] <= '9';

    errno = 0;
    const unsigned long long count = strtoull(text, &end, 10);
    if (!digit || *end != '\0' || errno != 0)
        return FAULT(in, NULL, name, "\"%.64s\" is not a count", text);
    *value = count;
    return NG_OK;
}

/* Numbers are written in hexadecimal without a point, which strtod reads alike
 * in every locale. */
static ng_status get_number(double *value, const ng_optimizer_loading *in,
                            const char *name)
{
    const char *text;
    const ng_status status = get_text(&text, in, name);

    if (status != NG_OK)
        return status;

    const char *digits = text[0] == '-' ? text + 1 : text;
    char *end;
    const double number = strtod(text, &end);

    if (strncmp(digits, "0x", 2) != 0 || *end != '\0' || number - number != 0.0)
        return FAULT(in, NULL, name, "\"%.64s\" is not a hexadecimal number",
                     text);
    *value = number;
    return NG_OK;
}

static ng_status get_flag(bool *value, const ng_optimizer_loading *in,
                          const char *name)
{
    const char *text;
    const ng_status status = get_text(&text, in, name);

    if (status != NG_OK)
        return status;
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return FAULT(in, NULL, name, "\"%.64s\" is neither 0 nor 1", text);
    *value = text[0] == '1';
    return NG_OK;
}

static ng_status get_group(const ng_optimizer_loading *in, int64_t number)
{
    ng_group *group = &in->groups[number];
    const ng_optim_options options = {.rules = &in->optimizer->rules};
    double numbers[NG_N_HYPER_NUMBERS] = {0};
    bool flags[NG_N_HYPER_FLAGS] = {0};
    char key[64];
    ng_status status;

    ng_optimizer_group_key(key, sizeof key, number, "steps");
    if ((status = ng_optimizer_read_count(&group->steps, in, key)) != NG_OK)
        return status;
    if (group->steps == UINT64_MAX)
        return FAULT(in, NULL, key, "no step could follow");
    ng_optimizer_group_key(key, sizeof key, number, "momentum_coding");
    status = expect(in, key, ng_state_coding_name(group->settings.momentum));
    if (status != NG_OK)
        return status;
    ng_optimizer_group_key(key, sizeof key, number, "variance_coding");
    status = expect(in, key, ng_state_coding_name(group->settings.variance));
    for (int i = 0; i < NG_N_HYPER_NUMBERS && status == NG_OK; i++) {
        ng_optimizer_group_key(key, sizeof key, number,
                               ng_hyper_number_names[i]);
        status = get_number(&numbers[i], in, key);
    }
    for (int i = 0; i < NG_N_HYPER_FLAGS && status == NG_OK; i++) {
        ng_optimizer_group_key(key, sizeof key, number, ng_hyper_flag_names[i]);
        status = get_flag(&flags[i], in, key);
    }
    if (status != NG_OK)
        return status;
    ng_hyper_pack(&group->settings.hyper, numbers, flags);

    ng_error cause = {{0}};

    if (ng_ref_step_constants(&group->constants, in->optimizer->kind,
                              &group->settings.hyper, group->steps + 1,
                              &options, &cause)
        == NG_OK)
        return NG_OK;

    /* The cause is "FIELD: what is wrong". */
    const size_t length = strcspn(cause.text, ":");

    cause.text[length] = '\0';
    ng_optimizer_group_key(key, sizeof key, number, cause.text);
    return FAULT(in, NULL, key, "%s", cause.text + length + 2);
}

ng_status ng_optimizer_read_metadata(ng_optimizer_loading *in)
{
    static const ng_rule shared[] = {NG_RULE_SPLIT, NG_RULE_COMPAND,
                                     NG_RULE_STEP};
    const ng_optimizer *optimizer = in->optimizer;
    uint64_t n_groups = 0;
    ng_status status = expect(in, "optimizer.version", "1");

    if (status == NG_OK)
        status =
            expect(in, "optimizer.kind", ng_optimizer_name(optimizer->kind));
    for (size_t i = 0; i < sizeof shared / sizeof *shared && status == NG_OK;
         i++)
        status =
            expect(in, ng_rule_name(shared[i]),
                   ng_rule_value_name(
                       shared[i], ng_rules_get(&optimizer->rules, shared[i])));
    if (status == NG_OK)
        status = ng_optimizer_read_count(&in->skipped, in, "optimizer.skipped");
    if (status == NG_OK)
        status = ng_optimizer_read_count(&in->partial, in, "optimizer.partial");
    if (status == NG_OK)
        status = ng_optimizer_read_count(&n_groups, in, "optimizer.groups");
    if (status != NG_OK)
        return status;
    if (n_groups != (uint64_t)optimizer->n_groups)
        return FAULT(in, NULL, "optimizer.groups",
                     "%" PRIu64 ", where this optimizer has %" PRId64, n_groups,
                     optimizer->n_groups);
    for (int64_t i = 0; i < optimizer->n_groups && status == NG_OK; i++)
        status = get_group(in, i);
    return status;
}
