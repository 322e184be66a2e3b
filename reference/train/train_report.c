/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "formats/files/checksum.h"
#include "formats/version.h"
#include "reference/train/train_parts.h"

ng_status ng_train_report(ng_train *train, json_t *line, ng_error *error)
{
    ng_status status = NG_OK;

    if (line == NULL)
        return ng_train_no_memory(error);
    if (ng_train_writes(train))
        status = ng_train_log_line(&train->log, line, error);
    json_decref(line);
    return status;
}

static json_t *whole(int64_t x)
{
    return json_integer((json_int_t)x);
}

json_t *ng_train_start_line(const ng_train *train)
{
    const ng_train_config *config = train->config;
    char digest[NG_CHECKSUM_TEXT];
    json_t *line;
    ng_optimizer_bytes bytes;
    int64_t parameters = 0;

    for (int64_t p = 0; p < ng_model_n_parameters(train->model); p++)
        parameters += ng_model_parameter_of(train->model, p)->n;
    (void)ng_optimizer_bytes_of(&bytes, train->optimizer);
    ng_checksum_text(digest, train->digest);
    line = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o,"
        " s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o}}",
        "event", "start", "version", ng_version_text(), "recipe",
        train->recipe->name, "backend", train->options.backend->name,
        "optimizer",
        ng_optimizer_name((ng_optimizer_kind)config->optimizer),
        "configuration", digest, "seed",
        whole(config->seed), "steps", whole(config->steps),
        "parameters", whole(parameters), "train_tokens", whole(train->n_train),
        "validation_tokens", whole(train->n_valid), "trigram",
        ng_json_number(train->trigram), "bytes", "parameters",
        whole(bytes.parameters), "weights", whole(bytes.weights), "correction",
        whole(bytes.correction), "momentum", whole(bytes.momentum), "variance",
        whole(bytes.variance), "scales", whole(bytes.scales), "gradients",
        whole(bytes.gradients));
    if (line != NULL
        && ((config->pretrained[0] != '\0'
             && json_object_set_new(line, "pretrained",
                                    json_string(config->pretrained))
                    != 0)
            || json_object_set_new(line, "operations",
                                   ng_train_operations(train->recipe))
                   != 0)) {
        json_decref(line);
        line = NULL;
    }
    return line;
}

/* Tokens by expert, a row a MoE layer. */
static json_t *load_of(const ng_train *train, int64_t layers)
{
    const int64_t *load = ng_model_load_of_experts(train->model);
    json_t *rows = json_array();

    for (int64_t layer = 0; layer < layers; layer++) {
        json_t *row = json_array();

        for (int64_t e = 0; e < train->config->model.experts; e++)
            json_array_append_new(
                row, whole(load[layer * train->config->model.experts + e]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *converted_of(const ng_model_result *r)
{
    json_t *events = json_pack("{s:o, s:o}", "elements", whole(r->converted),
                               "uncounted", whole(r->uncounted));

    for (int event = 0; event < NG_N_EVENTS; event++)
        json_object_set_new(events, ng_event_name((ng_event)event),
                            whole((int64_t)r->events.count[event]));
    return events;
}

json_t *ng_train_step_line(const ng_train *train,
                           const ng_train_step_report *report)
{
    const ng_model_result *r = &report->result;
    const int64_t tokens = r->targets * train->step;

    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o,"
        " s:{s:o, s:o, s:o, s:o, s:o}, s:{s:o, s:o, s:o}, s:o, s:o, s:o}",
        "event", "step", "step", whole(train->step), "loss",
        ng_json_number(r->loss), "mtp_loss", ng_json_number(r->mtp_loss),
        "balance_loss", ng_json_number(r->balance_loss), "norm",
        ng_json_number(report->norm), "lr", ng_json_number(report->lr), "taken",
        report->taken, "skipped", whole(train->skipped), "tokens",
        whole(tokens), "seconds", ng_json_number(report->seconds),
        "tokens_per_second",
        ng_json_number((double)r->targets / report->seconds), "sent",
        "dispatch", whole(r->sent_dispatch), "combine", whole(r->sent_combine),
        "grad_y", whole(r->sent_grad_y), "grad_x", whole(r->sent_grad_x),
        "wire", whole(r->sent_wire), "stored", "moe", whole(r->stored_moe),
        "attention", whole(r->stored_attention), "other",
        whole(r->stored_other), "converted", converted_of(r), "nan_rows",
        whole(r->nan_rows), "load", load_of(train, r->moe_layers));
}
