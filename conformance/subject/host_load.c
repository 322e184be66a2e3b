/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/host_load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "conformance/subject/host_device.h"
#include "conformance/subject/host_parts.h"

ng_plugin_table ng_host_table;

enum {
    ALL_LIMITS = NG_PLUGIN_DENSE_ONLY | NG_PLUGIN_ROW_MAJOR_ONLY
                 | NG_PLUGIN_NO_GROUPS | NG_PLUGIN_NO_NAN
                 | NG_PLUGIN_NO_INFINITY | NG_PLUGIN_NO_EMPTY
                 | NG_PLUGIN_CHECKS_INPUT,
    MAX_OPERATION_SIZE = 4096
};

/* Copy a text of 1 to size - 1 bytes; "" is no text. */
static bool copy_text(char *to, size_t size, const char *from)
{
    if (from == NULL)
        return false;
    const size_t length = strnlen(from, size);

    if (length == 0 || length == size)
        return false;
    memcpy(to, from, length + 1);
    return true;
}

bool ng_host_take_is_known(const char *take)
{
    char name[NG_HOST_MAX_TAKE], value[NG_HOST_MAX_TAKE];
    const char *equals = strchr(take, '=');
    ng_rule rule;

    if (equals == NULL)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(equals - take), take);

    const bool is_rule = ng_rule_find(name, &rule);

    for (const char *at = equals + 1;; at++) {
        const size_t length = strcspn(at, "|");
        ng_dtype dtype;
        int number;

        snprintf(value, sizeof value, "%.*s", (int)length, at);
        if (is_rule ? !ng_rule_value_find(rule, value, &number)
                    : !ng_dtype_find(value, &dtype)
                          && (length == 0
                              || strspn(value, "-0123456789") != length))
            return false;
        at += length;
        if (*at == '\0')
            return true;
    }
}

static bool is_power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* Read operation i. Returns null, or what is wrong with it. */
static const char *read_operation(ng_host_facts *facts, int i)
{
    const ng_plugin_table *table = &ng_host_table;
    const size_t size = table->operation_size < sizeof(ng_plugin_operation)
                            ? table->operation_size
                            : sizeof(ng_plugin_operation);
    ng_host_operation *to = &facts->operation[i];
    ng_plugin_operation from = {0};

    memcpy(&from,
           (const char *)table->operations + (size_t)i * table->operation_size,
           size);
    if (!copy_text(to->name, sizeof to->name, from.name))
        return "a name that is empty or longer than 63 bytes";
    for (int k = 0; k < i; k++)
        if (strcmp(to->name, facts->operation[k].name) == 0)
            return "a name given twice";
    if (from.memory != NG_PLUGIN_HOST && from.memory != NG_PLUGIN_CUDA)
        return "a memory that this program does not know";
    if ((from.limits & ~(uint32_t)ALL_LIMITS) != 0)
        return "limits that this program does not know";
    if (from.row_multiple < 0 || from.col_multiple < 0
        || from.group_multiple < 0)
        return "a negative multiple";
    if (from.alignment != 0
        && (!is_power_of_two(from.alignment) || from.alignment > 4096))
        return "an alignment that is no power of two up to 4096";
    to->memory = from.memory;
    to->limits = from.limits;
    to->row_multiple = from.row_multiple;
    to->col_multiple = from.col_multiple;
    to->group_multiple = from.group_multiple;
    to->alignment = from.alignment;
    for (to->n_takes = 0; from.takes != NULL && from.takes[to->n_takes] != NULL;
         to->n_takes++)
        if (to->n_takes == NG_HOST_MAX_TAKES)
            return "more than 16 entries of takes";
        else if (!copy_text(to->takes[to->n_takes], NG_HOST_MAX_TAKE,
                            from.takes[to->n_takes])
                 || !ng_host_take_is_known(to->takes[to->n_takes]))
            return "an entry of takes that is no known NAME=VALUE|VALUE";
    return NULL;
}

static int32_t read_table(ng_host_facts *facts, char *text, size_t size)
{
    const ng_plugin_table *table = &ng_host_table;

    if (table->abi == 0 || table->abi > NG_PLUGIN_ABI) {
        snprintf(text, size, "ABI version %u, this program has %u", table->abi,
                 NG_PLUGIN_ABI);
        return NG_LOAD_ABI;
    }
    if (!copy_text(facts->name, sizeof facts->name, table->name)
        || !copy_text(facts->version, sizeof facts->version, table->version)) {
        snprintf(text, size,
                 "a name or version that is empty or longer than 63 "
                 "bytes");
        return NG_LOAD_TABLE;
    }
    if (table->run == NULL || table->operations == NULL
        || table->n_operations == 0
        || table->n_operations > NG_HOST_MAX_OPERATIONS
        || table->operation_size < sizeof(const char *)
        || table->operation_size > MAX_OPERATION_SIZE) {
        snprintf(text, size,
                 "no run, no operations, more than %d, or of a size "
                 "that makes no sense",
                 NG_HOST_MAX_OPERATIONS);
        return NG_LOAD_TABLE;
    }
    for (int i = 0; i < (int)table->n_operations; i++) {
        const char *wrong = read_operation(facts, i);

        if (wrong != NULL) {
            snprintf(text, size, "operation %d: %s", i, wrong);
            return NG_LOAD_TABLE;
        }
    }
    facts->n_operations = (int)table->n_operations;
    return NG_LOADED;
}

/* Find a GPU for the operations that want one. Without it the others can still
 * be asked. */
static int32_t find_device(ng_host_facts *facts, char *text, size_t size)
{
    int n = 0;

    for (int i = 0; i < facts->n_operations; i++)
        n += facts->operation[i].memory == NG_PLUGIN_CUDA;
    facts->has_device = n > 0 && ng_host_device_open(text, size);
    return n < facts->n_operations || facts->has_device ? NG_LOADED
                                                        : NG_LOAD_CANNOT_RUN;
}

int32_t ng_host_load(ng_host_facts *facts, char *text, size_t size,
                     const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    int32_t (*fill)(ng_plugin_table *);

    if (handle == NULL) {
        snprintf(text, size, "%s", dlerror());
        return NG_LOAD_NO_LIBRARY;
    }
    void *symbol = dlsym(handle, "ng_plugin");

    if (symbol == NULL)
        return NG_LOAD_NO_ENTRY;
    memcpy(&fill, &symbol, sizeof fill); /* as POSIX has it */
    ng_host_table =
        (ng_plugin_table){.abi = NG_PLUGIN_ABI, .size = sizeof ng_host_table};

    int32_t status = fill(&ng_host_table);

    if (status == NG_PLUGIN_CANNOT_RUN)
        return NG_LOAD_CANNOT_RUN;
    if (status != NG_PLUGIN_OK) {
        snprintf(text, size, "ng_plugin returned %d", (int)status);
        return NG_LOAD_FAILED;
    }
    status = read_table(facts, text, size);
    return status == NG_LOADED ? find_device(facts, text, size) : status;
}
