/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/files/npy_header.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "formats/files/tensor_file.h"

/* Where two names stand for one type, the first is written. */
static const struct {
    const char *descr;
    ng_dtype dtype;
} table[] = {
    {"|u1", NG_U8},   {"|i1", NG_I8},   {"<u2", NG_U16},  {"<i2", NG_I16},
    {"<u4", NG_U32},  {"<i4", NG_I32},  {"<u8", NG_U64},  {"<i8", NG_I64},
    {"<f2", NG_FP16}, {"<f4", NG_FP32}, {"<f8", NG_FP64},
    {"|b1", NG_U8},   {"<u1", NG_U8},   {"<i1", NG_I8},
};

enum { DESCR, ORDER, SHAPE, N_KEYS };
static const char *const keys[N_KEYS] = {"descr", "fortran_order", "shape"};

typedef struct parser {
    const char *at, *end;       /* what is left of the text */
    const char *path;
    ng_error *error;
} parser;

#define FAULT(p, field, ...)                                                   \
    ng_file_fail((p)->error, NG_BAD_FILE, (p)->path, NULL, field, __VA_ARGS__)

const char *ng_npy_descr(ng_dtype dtype)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].dtype == dtype)
            return table[i].descr;
    return NULL;
}

static void skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n'))
        p->at++;
}

/* Take a word if it comes next, with the space before it. */
static bool take(parser *p, const char *word)
{
    const size_t length = strlen(word);

    skip_space(p);
    if ((size_t)(p->end - p->at) < length
        || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* Take a string literal without escapes, in either kind of quotes, cut at the
 * buffer's size, which no word that means anything reaches. */
static bool take_string(parser *p, char *text, size_t size)
{
    const char quote = take(p, "'") ? '\'' : take(p, "\"") ? '"' : '\0';
    size_t n = 0;

    if (quote == '\0')
        return false;
    for (; p->at < p->end && *p->at != quote; p->at++) {
        if (*p->at == '\\')
            return false;
        if (n + 1 < size)
            text[n++] = *p->at;
    }
    text[n] = '\0';
    return take(p, quote == '"' ? "\"" : "'");
}

static ng_status parse_descr(ng_dtype *dtype, parser *p)
{
    char descr[16];

    if (take(p, "["))
        return FAULT(p, "descr", "a structured type is not read");
    if (!take_string(p, descr, sizeof descr))
        return FAULT(p, "descr", "is not a string");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].descr, descr) == 0) {
            *dtype = table[i].dtype;
            return NG_OK;
        }
    if (descr[0] == '>')
        return FAULT(p, "descr", "'%s' is big-endian, which is not read; "
                     "save x.astype(x.dtype.newbyteorder('<'))", descr);
    if (strchr(descr, 'O') != NULL)
        return FAULT(p, "descr", "'%s' holds Python objects, which are never "
                     "read", descr);
    if (strchr(descr, 'V') != NULL)
        return FAULT(p, "descr", "'%s' is raw bytes that name no type; save "
                     "bfloat16 as x.view(numpy.uint16), FP8 as "
                     "x.view(numpy.uint8), or use safetensors", descr);
    return FAULT(p, "descr", "'%s' is not a type that this program reads",
                 descr);
}

/* A size: digits only, no sign, no leading zero. */
static ng_status parse_size(int64_t *size, int axis, parser *p)
{
    const char *first;
    int64_t n = 0;

    if (take(p, "-"))
        return FAULT(p, "shape", "axis %d is negative", axis);
    for (first = p->at; p->at < p->end; p->at++) {
        const int digit = *p->at - '0';

        if (digit < 0 || digit > 9)
            break;
        if (__builtin_mul_overflow(n, 10, &n)
            || __builtin_add_overflow(n, digit, &n))
            return FAULT(p, "shape", "axis %d is past 2^63 - 1", axis);
    }
    if (p->at == first || (*first == '0' && p->at - first > 1))
        return FAULT(p, "shape", "axis %d is not a whole number", axis);
    *size = n;
    return NG_OK;
}

/* A tuple: (), (n,), (n, n) ... with or without a comma at the end, which a
 * tuple of one must have. */
static ng_status parse_shape(ng_npy_header *header, parser *p)
{
    int rank = 0;
    bool comma = true;

    if (!take(p, "("))
        return FAULT(p, "shape", "is not a tuple");
    while (!take(p, ")")) {
        if (!comma)
            return FAULT(p, "shape", "',' or ')' is missing after axis %d",
                         rank - 1);
        if (rank == NG_MAX_RANK)
            return FAULT(p, "shape", "has more than %d axes", NG_MAX_RANK);
        const ng_status status = parse_size(&header->shape[rank], rank, p);
        if (status != NG_OK)
            return status;
        rank++;
        comma = take(p, ",");
    }
    if (rank == 1 && !comma)
        return FAULT(p, "shape", "is not a tuple");
    header->rank = rank;
    return NG_OK;
}

static ng_status parse_value(ng_npy_header *header, int key, parser *p)
{
    if (key == DESCR)
        return parse_descr(&header->dtype, p);
    if (key == SHAPE)
        return parse_shape(header, p);
    if (take(p, "False"))
        return NG_OK;
    return FAULT(p, "fortran_order", "%s", take(p, "True")
                 ? "True is not read; save numpy.ascontiguousarray(x)"
                 : "is neither True nor False");
}

ng_status ng_npy_parse_header(ng_npy_header *header, const char *text,
                              size_t length, const char *path,
                              ng_error *error)
{
    parser p = {text, text + length, path, error};
    ng_npy_header parsed = {0};
    bool seen[N_KEYS] = {false};
    bool comma = true;

    if (!take(&p, "{"))
        return FAULT(&p, "header", "does not begin with '{'");
    while (!take(&p, "}")) {
        char name[16];
        int key = 0;

        if (!comma)
            return FAULT(&p, "header", "',' or '}' is missing at byte %td",
                         p.at - text);
        if (!take_string(&p, name, sizeof name))
            return FAULT(&p, "header", "a key is missing at byte %td",
                         p.at - text);
        while (key < N_KEYS && strcmp(name, keys[key]) != 0)
            key++;
        if (key == N_KEYS)
            return FAULT(&p, "header", "'%s' is no key of it", name);
        if (seen[key])
            return FAULT(&p, keys[key], "is there twice");
        seen[key] = true;
        if (!take(&p, ":"))
            return FAULT(&p, keys[key], "':' is missing");
        const ng_status status = parse_value(&parsed, key, &p);
        if (status != NG_OK)
            return status;
        comma = take(&p, ",");
    }
    for (int key = 0; key < N_KEYS; key++)
        if (!seen[key])
            return FAULT(&p, keys[key], "is missing");
    skip_space(&p);
    if (p.at != p.end)
        return FAULT(&p, "header", "something follows the '}'");
    if (!ng_tensor_shape_fits(parsed.dtype, parsed.rank, parsed.shape))
        return FAULT(&p, "shape", "is past 2^63 - 1 bytes");
    *header = parsed;
    return NG_OK;
}
