/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/exec_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* Types that not every reader has go as whole numbers, as `vectors` writes
 * them. */
static const char *file_type(ng_dtype dtype, bool *plain)
{
    static const char *const names[NG_N_DTYPES] = {
        [NG_U8] = "U8",    [NG_I8] = "I8",   [NG_U16] = "U16",
        [NG_I16] = "I16",  [NG_U32] = "U32", [NG_I32] = "I32",
        [NG_U64] = "U64",  [NG_I64] = "I64", [NG_FP16] = "F16",
        [NG_FP32] = "F32", [NG_FP64] = "F64"};
    const size_t size = ng_dtype_size(dtype);

    *plain = names[dtype] != NULL;
    return *plain ? names[dtype] : size == 1 ? "U8" : size == 2 ? "U16" : "U32";
}

static void set_text(json_t *metadata, const char *prefix, const char *name,
                     const char *value)
{
    char key[NG_EXEC_MAX_KEY];

    snprintf(key, sizeof key, "%s%s", prefix, name);
    json_object_set_new(metadata, key, json_string(value));
}

static void set_number(json_t *metadata, const char *prefix, const char *name,
                       uint64_t value, bool is_signed)
{
    char text[32];

    if (is_signed)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)value);
    else
        snprintf(text, sizeof text, "%" PRIu64, value);
    set_text(metadata, prefix, name, text);
}

int64_t ng_exec_unit(const ng_tensor *t, int64_t i)
{
    int64_t unit = 0;

    for (int axis = t->rank - 1; axis >= 0; axis--) {
        unit += i % t->shape[axis] * t->stride[axis];
        i /= t->shape[axis];
    }
    return unit;
}

static json_t *shape_json(const ng_tensor *t)
{
    json_t *shape = json_array();

    for (int axis = 0; axis < t->rank; axis++)
        json_array_append_new(shape, json_integer(t->shape[axis]));
    return shape;
}

/* Input i, or after those output i: outputs go along with what they hold. */
static const ng_tensor *tensor_of(const ng_call *call, int i)
{
    return i < call->n_inputs ? &call->input[i]
                              : &call->output[i - call->n_inputs];
}

unsigned char *ng_exec_message(size_t *size, const ng_call *call)
{
    const int n = call != NULL ? call->n_inputs + call->n_outputs : 0;
    json_t *header = json_object(), *metadata = json_object();
    int64_t data = 0, units, bytes;
    unsigned char *message = NULL;
    bool plain;

    set_text(metadata, "", "request", call != NULL ? "call" : "hello");
    set_text(metadata, "", "protocol", "narrowgauge-exec-1");
    if (call != NULL) {
        set_text(metadata, "", "operation", call->operation);
        set_number(metadata, "", "random.seed", call->random.seed, false);
        set_number(metadata, "", "random.stream", call->random.stream, false);
        for (int r = 0; r < NG_N_RULES; r++)
            set_text(metadata, "rule.", ng_rule_name((ng_rule)r),
                     ng_rule_value_name(
                         (ng_rule)r, ng_rules_get(&call->rules, (ng_rule)r)));
        for (int i = 0; i < call->n_attributes; i++)
            set_number(metadata, "attribute.", call->attribute[i].name,
                       (uint64_t)call->attribute[i].value, true);
        for (int i = 0; i < n; i++) {
            const ng_tensor *t = tensor_of(call, i);
            const char *type = file_type(t->dtype, &plain);

            ng_tensor_extent(&units, &bytes, t);
            const int64_t end = data + bytes;

            if (!plain)
                set_text(metadata, "dtype.", t->name, ng_dtype_name(t->dtype));
            json_object_set_new(header, t->name,
                                json_pack("{s:s, s:o, s:[I, I]}", "dtype", type,
                                          "shape", shape_json(t),
                                          "data_offsets", (json_int_t)data,
                                          (json_int_t)end));
            data = end;
        }
    }
    json_object_set_new(header, "__metadata__", metadata);

    char *text = json_dumps(header, JSON_COMPACT);

    json_decref(header);
    if (text != NULL) {
        const uint64_t length = strlen(text);
        const uint64_t whole = 8 + length + (uint64_t)data;
        unsigned char *at;

        *size = 8 + whole;
        message = malloc(*size);
        if (message != NULL) {
            memcpy(message, &whole, 8); /* little-endian machines */
            memcpy(message + 8, &length, 8);
            memcpy(message + 16, text, length);
            at = message + 16 + length;
            for (int i = 0; i < n; i++) {
                const ng_tensor *t = tensor_of(call, i);
                const size_t unit = ng_dtype_size(t->dtype);

                ng_tensor_extent(&units, &bytes, t);
                for (int64_t u = 0; u < units; u++, at += unit)
                    memcpy(at,
                           (const char *)t->data
                               + ng_exec_unit(t, u) * (int64_t)unit,
                           unit);
            }
        }
    }
    free(text);
    return message;
}

const char *ng_exec_text(const ng_tensor_file *file, const char *key,
                         const char *name)
{
    char full[NG_EXEC_MAX_KEY];
    const char *text;

    snprintf(full, sizeof full, "%s%s", key, name);
    text = ng_tensor_file_metadata(file, full);
    return text != NULL ? text : "";
}
