/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/input_file.h"
#include "reports/gate.h"
#include "formats/text.h"

enum { MAX_BYTES = 256 << 10 };

bool ng_is_day(const char *text)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30,
                                 31, 31, 30, 31, 30, 31};
    int year = 0, month = 0, day = 0;

    for (int i = 0; i < 10; i++)
        if (i == 4 || i == 7 ? text[i] != '-'
                             : !isdigit((unsigned char)text[i]))
            return false;
    if (text[10] != '\0')
        return false;
    for (int i = 0; i < 4; i++)
        year = 10 * year + (text[i] - '0');
    month = 10 * (text[5] - '0') + (text[6] - '0');
    day = 10 * (text[8] - '0') + (text[9] - '0');

    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month >= 1 && month <= 12 && day >= 1
           && day <= days[month - 1] + (month == 2 && leap);
}

typedef struct reader {
    ng_waivers *waivers;
    int line;
    ng_error *error;
} reader;

static ng_status refuse(const reader *r, int line, const char *field,
                        const char *why)
{
    return ng_fail(r->error, NG_BAD_FILE, "%s:%d: %.64s: %s", r->waivers->path,
                   line, field, why);
}

static bool is_kind(const char *text)
{
    const char *kind;

    for (int i = 0; (kind = ng_gate_kind(i)) != NULL; i++)
        if (strcmp(kind, text) == 0)
            return true;
    return false;
}

static bool is_name(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

/* Where the text of a field goes; null for an unknown one. */
static char *place_of(ng_waiver *w, const char *field, size_t *size)
{
    if (strcmp(field, "operation") == 0)
        return *size = sizeof w->operation, w->operation;
    if (strcmp(field, "kind") == 0)
        return *size = sizeof w->kind, w->kind;
    if (strcmp(field, "until") == 0)
        return *size = sizeof w->until, w->until;
    if (strcmp(field, "why") == 0)
        return *size = sizeof w->why, w->why;
    return NULL;
}

/* Whether the last waiver has all it needs. */
static ng_status close_waiver(const reader *r)
{
    const ng_waivers *all = r->waivers;

    if (all->n == 0)
        return NG_OK;

    const ng_waiver *w = &all->waiver[all->n - 1];
    const char *lacks = w->kind[0] == '\0'    ? "kind"
                        : w->until[0] == '\0' ? "until"
                        : w->why[0] == '\0'   ? "why"
                                              : NULL;

    return lacks == NULL ? NG_OK
                         : refuse(r, w->line, lacks, "missing in this waiver");
}

static ng_status take(reader *r, const char *field, const char *value)
{
    ng_waivers *all = r->waivers;
    size_t size = 0;

    if (strcmp(field, "operation") == 0) {
        const ng_status status = close_waiver(r);

        if (status != NG_OK)
            return status;
        if (all->n == NG_MAX_WAIVERS)
            return refuse(r, r->line, field, "more than 256 waivers");
        all->waiver[all->n++] = (ng_waiver){.line = r->line};
    }
    if (all->n == 0)
        return refuse(r, r->line, field,
                      "a waiver begins with the field operation");

    char *place = place_of(&all->waiver[all->n - 1], field, &size);

    if (place == NULL)
        return refuse(r, r->line, field,
                      "unknown field (operation, kind, until, why)");
    if (*value == '\0')
        return refuse(r, r->line, field, "has no value");
    if (*place != '\0')
        return refuse(r, r->line, field, "given twice");
    if (strcmp(field, "until") == 0 && !ng_is_day(value))
        return refuse(r, r->line, field, "not a day, YYYY-MM-DD");
    if (strlen(value) >= size)
        return refuse(r, r->line, field, "too long");
    if (strcmp(field, "operation") == 0 && !is_name(value))
        return refuse(r, r->line, field, "not the name of an operation");
    if (strcmp(field, "kind") == 0 && !is_kind(value))
        return refuse(r, r->line, field,
                      "not new-failure, lost-coverage, changed-bits, "
                      "changed-errors or changed-inputs");
    memcpy(place, value, strlen(value) + 1);
    return NG_OK;
}

/* One line, without its end; it may be changed. */
static ng_status take_line(reader *r, char *line)
{
    size_t length;

    for (const char *c = line; *c != '\0';) {
        unsigned character = 0;
        const int n = ng_utf8_length(&character, c);

        if (n == 0)
            return refuse(r, r->line, "line", "not UTF-8");
        if (character < 0x20 && character != '\t')
            return refuse(r, r->line, "line", "control byte");
        c += n;
    }
    line += strspn(line, " \t");
    if (*line == '\0' || *line == '#')
        return NG_OK;
    for (length = strlen(line); strchr(" \t", line[length - 1]) != NULL;)
        line[--length] = '\0';

    char *value = line + strcspn(line, " \t");

    if (*value != '\0')
        *value++ = '\0';
    return take(r, line, value + strspn(value, " \t"));
}

static ng_status take_text(reader *r, char *text, size_t size)
{
    char *at = text;

    if (memchr(text, '\0', size) != NULL)
        return refuse(r, 1, "file", "not text: a zero byte");
    while (at < text + size) {
        char *end = strchr(at, '\n');

        if (end != NULL)
            *end = '\0';
        r->line++;

        const ng_status status = take_line(r, at);

        if (status != NG_OK)
            return status;
        at = end != NULL ? end + 1 : text + size;
    }
    return close_waiver(r);
}

ng_status ng_waivers_read(ng_waivers *waivers, const char *path,
                          ng_error *error)
{
    reader r = {.waivers = waivers, .error = error};
    ng_input_file file;
    ng_status status = ng_input_open(&file, path, error);
    char *text = NULL;

    waivers->path = path;
    snprintf(waivers->shown, sizeof waivers->shown, "%s", path);
    for (char *c = waivers->shown; *c != '\0'; c++)
        if (*c < 0x20 || *c > 0x7E)
            *c = '?';
    waivers->n = 0;
    if (status != NG_OK)
        return status;
    if (file.size > MAX_BYTES)
        status =
            ng_fail(error, NG_BAD_FILE, "%s: size: more than 256 KiB", path);
    else if ((text = calloc(1, (size_t)file.size + 1)) == NULL)
        status = ng_fail(error, NG_NO_MEMORY, "%s: out of memory", path);
    else
        status = ng_input_read(text, &file, 0, (size_t)file.size, error);
    if (text != NULL && status == NG_OK)
        status = take_text(&r, text, (size_t)file.size);
    ng_input_close(&file);
    free(text);
    return status;
}
