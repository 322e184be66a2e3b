/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/pretrained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/input_file.h"
#include "formats/files/safetensors.h"
#include "formats/format.h"
#include "reference/convert/ref_decode.h"
#include "reference/model/model_parts.h"

enum { MAX_BYTES = 256 * 1024, MAX_NAME = 256 };

struct ng_pretrained {
    char *map; /* its text, a zero after it */
    const char *where;
    ng_tensor_file *files;
    size_t n_files;
};

/* ---- the map ------------------------------------------------------------- */

static ng_status read_map(char **out, const char *path, ng_error *error)
{
    ng_input_file file;
    ng_status status = ng_input_open(&file, path, error);
    char *text;

    if (status != NG_OK)
        return status;
    if (file.size > MAX_BYTES) {
        ng_input_close(&file);
        return ng_fail(error, NG_BAD_FILE, "%s: size: over %d bytes", path,
                       MAX_BYTES);
    }
    text = calloc((size_t)file.size + 1, 1);
    if (text == NULL) {
        ng_input_close(&file);
        return ng_fail(error, NG_NO_MEMORY, "%s: out of memory", path);
    }
    status = ng_input_read(text, &file, 0, (size_t)file.size, error);
    if (status == NG_OK && strlen(text) != (size_t)file.size)
        status = ng_fail(error, NG_BAD_FILE, "%s: not text", path);
    ng_input_close(&file);
    if (status == NG_OK)
        *out = text;
    else
        free(text);
    return status;
}

/* The numbers that stand in names. */
typedef struct numbers {
    int64_t layer, expert, block;
} numbers;

/* The next word of a line into word [MAX_NAME], numbers put in; what follows
 * it, or null if there is none (word is empty), or it is too long. */
static const char *next_word(char *word, const char *text, numbers n)
{
    static const char *const names[] = {"{layer}", "{expert}", "{block}"};
    const int64_t values[] = {n.layer, n.expert, n.block};
    size_t length = 0;

    text += strspn(text, " \t\r");
    while (strchr(" \t\r\n#", *text) == NULL) {
        int i = 0;

        while (i < 3 && strncmp(text, names[i], strlen(names[i])) != 0)
            i++;
        if (length + 24 >= MAX_NAME) {
            word[length] = '\0';
            return NULL;
        }
        if (i == 3) {
            word[length++] = *text++;
            continue;
        }
        length +=
            (size_t)snprintf(word + length, 24, "%lld", (long long)values[i]);
        text += strlen(names[i]);
    }
    word[length] = '\0';
    return length > 0 ? text : NULL;
}

/* What follows the name on its line of the map, or null. */
static const char *find_line(const ng_pretrained *p, const char *name,
                             numbers n)
{
    for (const char *line = p->map; line != NULL;) {
        char word[MAX_NAME];
        const char *rest = next_word(word, line, n);

        if (rest != NULL && strcmp(word, name) == 0)
            return rest;
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return NULL;
}

/* Every line names a parameter of some model of ours, and tensors. (Not of this
 * model: one map serves all sizes.) */
static ng_status check_map(const ng_pretrained *p, ng_error *error)
{
    const numbers any = {0, 0, 0};
    int number = 1;

    for (const char *line = p->map; line != NULL; number++) {
        char name[MAX_NAME], word[MAX_NAME];
        const char *rest = next_word(name, line, any);

        if (rest == NULL && name[0] != '\0')
            return ng_fail(error, NG_BAD_FILE, "%s:%d: %.40s...: too long",
                           p->where, number, name);
        if (rest != NULL && !ng_model_is_name(name))
            return ng_fail(error, NG_BAD_FILE,
                           "%s:%d: %.64s: no parameter has this name", p->where,
                           number, name);
        if (rest != NULL && next_word(word, rest, any) == NULL
            && word[0] == '\0')
            return ng_fail(error, NG_BAD_FILE, "%s:%d: %.64s: no tensor",
                           p->where, number, name);
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return NG_OK;
}

/* ---- the files ----------------------------------------------------------- */

static const ng_tensor *find(const ng_pretrained *p, const char *name)
{
    for (size_t i = 0; i < p->n_files; i++) {
        const ng_tensor *tensor = ng_tensor_file_find(&p->files[i], name);

        if (tensor != NULL)
            return tensor;
    }
    return NULL;
}

static ng_status check_names(const ng_pretrained *p, ng_error *error)
{
    for (size_t i = 0; i < p->n_files; i++)
        for (size_t t = 0; t < p->files[i].n_tensors; t++)
            if (find(p, p->files[i].tensors[t].name) != &p->files[i].tensors[t])
                return ng_fail(error, NG_BAD_FILE,
                               "tensor \"%s\": in two files",
                               p->files[i].tensors[t].name);
    return NG_OK;
}

ng_status ng_pretrained_open(ng_pretrained **out, const char *map,
                             const char *const *files, size_t n_files,
                             ng_error *error)
{
    ng_pretrained *p = calloc(1, sizeof *p);
    ng_status status;

    if (p == NULL)
        return ng_fail(error, NG_NO_MEMORY, "%s: out of memory", map);
    p->where = map;
    p->files = calloc(n_files + 1, sizeof *p->files);
    if (p->files == NULL) {
        ng_pretrained_free(p);
        return ng_fail(error, NG_NO_MEMORY, "%s: out of memory", map);
    }
    status = read_map(&p->map, map, error);
    if (status == NG_OK)
        status = check_map(p, error);
    for (; status == NG_OK && p->n_files < n_files; p->n_files++) {
        status = ng_safetensors_read(&p->files[p->n_files], files[p->n_files],
                                     error);
        if (status != NG_OK)
            break;
    }
    if (status == NG_OK)
        status = check_names(p, error);
    if (status != NG_OK) {
        ng_pretrained_free(p);
        return status;
    }
    *out = p;
    return NG_OK;
}

void ng_pretrained_free(ng_pretrained *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->n_files; i++)
        ng_tensor_file_free(&p->files[i]);
    free(p->files);
    free(p->map);
    free(p);
}

/* ---- tensors ------------------------------------------------------------- */

static ng_status widen(float *out, const ng_tensor *tensor, int64_t n,
                       ng_error *error)
{
    const uint16_t *codes = tensor->data;
    const ng_format *format =
        &ng_formats[tensor->dtype == NG_BF16 ? NG_FORMAT_BF16 : NG_FORMAT_FP16];

    if (tensor->dtype == NG_FP32) {
        if (n > 0)
            memcpy(out, tensor->data, (size_t)n * sizeof *out);
        return NG_OK;
    }
    if (tensor->dtype != NG_BF16 && tensor->dtype != NG_FP16)
        return ng_fail(error, NG_BAD_FILE, "tensor \"%s\": dtype: %s",
                       tensor->name, ng_dtype_name(tensor->dtype));
    for (int64_t i = 0; i < n; i++)
        out[i] = ng_ref_decode(format, codes[i], &ng_default_rules);
    return NG_OK;
}

/* Stack the tensors that `names` lists into rows x cols numbers (rank 1: one
 * row of cols). */
static ng_status stack(float *out, const ng_pretrained *p, const char *names,
                       numbers n, const char *name, int rank, int64_t rows,
                       int64_t cols, ng_error *error)
{
    char word[MAX_NAME];
    int64_t filled = 0;

    while ((names = next_word(word, names, n)) != NULL) {
        const ng_tensor *tensor = find(p, word);
        int64_t height;
        ng_status status;

        if (tensor == NULL)
            return ng_fail(error, NG_BAD_FILE, "%s: no tensor \"%s\"", name,
                           word);
        height = rank == 1 ? 1 : tensor->shape[0];
        if (tensor->rank != rank || tensor->shape[rank - 1] != cols
            || height > rows - filled)
            return ng_fail(error, NG_BAD_FILE,
                           "%s: tensor \"%s\": its shape does not fit %lld x "
                           "%lld",
                           name, word, (long long)rows, (long long)cols);
        status = widen(out + filled * cols, tensor, height * cols, error);
        if (status != NG_OK)
            return status;
        filled += height;
    }
    if (word[0] != '\0')
        return ng_fail(error, NG_BAD_FILE, "%s: tensor \"%.40s...\": too long",
                       name, word);
    if (filled != rows)
        return ng_fail(error, NG_BAD_FILE, "%s: %lld of its %lld rows", name,
                       (long long)filled, (long long)rows);
    return NG_OK;
}

static numbers numbers_of(const ng_model *m, int64_t layer, int64_t expert)
{
    const int64_t layers = m->config.layers;

    return (numbers){layer >= layers ? layer - layers : layer, expert, layer};
}

ng_status ng_pretrained_read(float *theta, const ng_pretrained *p,
                             const ng_model *m, int64_t parameter,
                             ng_error *error)
{
    const ng_slot *slot = &m->slots[parameter];
    const ng_listed *l = &slot->listed;
    const numbers n = numbers_of(m, l->layer, l->expert);
    const char *names = find_line(p, slot->seen.name, n);

    if (names == NULL)
        return ng_fail(error, NG_BAD_FILE, "%s: no line for %s", p->where,
                       slot->seen.name);
    return stack(theta, p, names, n, slot->seen.name, slot->seen.rank, l->rows,
                 l->cols, error);
}

ng_status ng_pretrained_state(float *state, const ng_pretrained *p,
                              const ng_model *m, ng_error *error)
{
    const int64_t experts = m->config.experts;
    ng_status status = NG_OK;

    memset(state, 0, (size_t)ng_model_n_state(m) * sizeof *state);
    for (int64_t l = 0; l < m->n_blocks && status == NG_OK; l++) {
        const numbers n = numbers_of(m, l, -1);
        char name[MAX_NAME];
        const char *names;

        if (!m->layers[l].moe)
            continue;
        snprintf(name, sizeof name, "%s.%lld.router_bias",
                 l >= m->config.layers ? "mtp" : "layers", (long long)n.layer);
        names = find_line(p, name, n);
        if (names != NULL)
            status = stack(state + m->layers[l].moe_index * experts, p, names,
                           n, name, 1, 1, experts, error);
    }
    return status;
}
