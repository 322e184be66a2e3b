/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "conformance/cli/code_text.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/real_number.h"

enum { KEY_ALL = 256, EXACT_DIGITS = 400 };

typedef struct arguments {
    const ng_format *format;
    char **codes; /* where they begin in argv */
    int n_codes;
    bool all, json;
} arguments;

static const struct argp_option options[] = {
    {"all", KEY_ALL, NULL, 0,
     "Every code of a format of at most 16 bits, as a "
     "table",
     0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    switch (key) {
    case KEY_ALL:
        a->all = true;
        break;
    case 'j':
        a->json = true;
        break;
    case ARGP_KEY_ARG:
        if (a->format != NULL)
            return ARGP_ERR_UNKNOWN; /* the rest, all at once */
        a->format = ng_format_find(value);
        if (a->format == NULL)
            ng_command_refuse(
                state, "FORMAT: %s: no such format (" NG_FORMAT_NAMES ")",
                value);
        break;
    case ARGP_KEY_ARGS:
        a->codes = state->argv + state->next;
        a->n_codes = state->argc - state->next;
        break;
    case ARGP_KEY_END:
        if (a->format == NULL) {
            ng_command_refuse(state, "FORMAT: missing (" NG_FORMAT_NAMES ")");
            break;
        }
        if (!a->all && a->n_codes == 0)
            ng_command_refuse(state, "CODE: missing, or --all");
        if (a->all && a->n_codes > 0)
            ng_command_refuse(state, "--all: takes no codes beside it");
        if (a->all && a->format->bits > 16)
            ng_command_refuse(
                state,
                "--all: %s has 2^%d codes, a table goes up to 2^16; "
                "name the codes instead",
                a->format->name, a->format->bits);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "FORMAT CODE...\nFORMAT --all",
    "Decode codes of a scalar format: their fields, class and exact value, the "
    "neighbours and the unit in the last place (ULP)."
    "\vFORMAT is one of " NG_FORMAT_NAMES
    ". A CODE is hexadecimal (0x7E or 7E) "
    "or binary (0b01111110).\n\n"
    "Examples:\n"
    "  narrowgauge show e4m3 0x7E\n"
    "  narrowgauge show fp32 3F800001 80000000\n"
    "  narrowgauge show e2m1 --all",
    NULL,
    NULL,
    NULL};

static void value_text(char *text, const ng_format *format, uint32_t code)
{
    ng_real value;

    ng_real_from_exact(&value, ng_exact_decode(format, code));
    ng_real_text(text, NG_REAL_TEXT, &value);
}

/* "32 = 2^5", or the power alone where its decimal is long. */
static void ulp_text(char *text, const ng_format *format, uint32_t code)
{
    const int k = ng_code_ulp_log2(format, code);
    ng_real ulp;
    char decimal[64];

    ng_real_from_exact(&ulp, (ng_exact){.significand = 1, .exponent = k});
    if (ng_real_decimal(decimal, sizeof decimal, &ulp, 12))
        snprintf(text, NG_REAL_TEXT, "%s = 2^%d", decimal, k);
    else
        snprintf(text, NG_REAL_TEXT, "2^%d", k);
}

/* How the fields make the value: "= +(1 + 6/8) * 2^(15 - 7)". */
static void print_composition(const ng_format *format, uint32_t code)
{
    const int p = format->fraction_bits;
    const int field = ng_code_exponent(format, code);
    const bool subnormal = field == 0 && format->has_subnormals;
    const char *sign = !format->is_signed                     ? ""
                       : (code & ng_format_sign(format)) != 0 ? "-"
                                                              : "+";

    printf("  = %s", sign);
    if (p > 0)
        printf("(%d + %" PRIu32 "/%" PRIu32 ") * ", !subnormal,
               ng_code_fraction(format, code), UINT32_C(1) << p);
    printf("2^(%d - %d)", subnormal ? 1 : field, format->bias);
}

static void print_neighbour(const char *label, const ng_format *format,
                            uint32_t code, bool above)
{
    char text[NG_CODE_TEXT], value[NG_REAL_TEXT];
    uint32_t next;

    printf("  %-10s ", label);
    if (!ng_code_next(&next, format, code, above)) {
        puts("none");
        return;
    }
    ng_code_print(text, format, next);
    value_text(value, format, next);
    printf("%s  %s\n", text, value);
}

static void print_code(const ng_format *format, uint32_t code)
{
    const char *class = ng_code_class(format, code);
    const bool finite = strcmp(class, "Inf") != 0 && strcmp(class, "NaN") != 0;
    const bool largest = (code & ~ng_format_sign(format)) == format->max_finite;
    char text[NG_CODE_TEXT], fields[NG_CODE_TEXT], value[NG_REAL_TEXT];
    char ulp[NG_REAL_TEXT];

    ng_code_print(text, format, code);
    ng_code_print_fields(fields, format, code);
    value_text(value, format, code);
    printf("%s %s\n", format->name, text);
    printf("  %-10s %s", "fields", fields);
    if (finite)
        print_composition(format, code);
    printf("\n  %-10s %s%s\n", "class", class,
           largest ? ", the largest finite magnitude" : "");
    printf("  %-10s %s\n", "value", value);
    if (strcmp(class, "NaN") == 0)
        return;
    print_neighbour("previous", format, code, false);
    print_neighbour("next", format, code, true);
    if (finite) {
        ulp_text(ulp, format, code);
        printf("  %-10s %s\n", "ULP", ulp);
    }
}

static void print_table(const ng_format *format)
{
    const uint32_t n = UINT32_C(1) << format->bits;
    const int code_width = 2 + (format->bits + 3) / 4;
    char text[NG_CODE_TEXT], fields[NG_CODE_TEXT], value[NG_REAL_TEXT];

    ng_code_print_fields(fields, format, 0);
    const int field_width = (int)strlen(fields);

    printf("%-*s  %-*s  %-9s  %s\n", code_width, "code",
           field_width > 6 ? field_width : 6, "fields", "class", "value");
    for (uint32_t code = 0; code < n; code++) {
        ng_code_print(text, format, code);
        ng_code_print_fields(fields, format, code);
        value_text(value, format, code);
        printf("%-*s  %-*s  %-9s  %s\n", code_width > 4 ? code_width : 4, text,
               field_width > 6 ? field_width : 6, fields,
               ng_code_class(format, code), value);
    }
}

/* The exact decimal of a code, whatever its length. */
static json_t *exact_json(ng_exact exact)
{
    char text[NG_REAL_TEXT];
    ng_real value;

    ng_real_from_exact(&value, exact);
    ng_real_decimal(text, sizeof text, &value, EXACT_DIGITS);
    return json_string(text);
}

static json_t *neighbour_json(const ng_format *format, uint32_t code,
                              bool above)
{
    char text[NG_CODE_TEXT];
    uint32_t next;

    if (!ng_code_next(&next, format, code, above))
        return json_null();
    ng_code_print(text, format, next);
    return json_pack("{s:s, s:o}", "code", text, "value",
                     exact_json(ng_exact_decode(format, next)));
}

static json_t *code_json(const ng_format *format, uint32_t code)
{
    const ng_exact exact = ng_exact_decode(format, code);
    char text[NG_CODE_TEXT];

    ng_code_print(text, format, code);
    return json_pack(
        "{s:s, s:i, s:i, s:I, s:s, s:o, s:o, s:o, s:o}", "code", text, "sign",
        (code & ng_format_sign(format)) != 0, "exponent_field",
        ng_code_exponent(format, code), "fraction_field",
        (json_int_t)ng_code_fraction(format, code), "class",
        ng_code_class(format, code), "value", exact_json(exact), "previous",
        neighbour_json(format, code, false), "next",
        neighbour_json(format, code, true), "ulp",
        exact.kind == NG_EXACT_FINITE ? exact_json((ng_exact){
            .significand = 1, .exponent = ng_code_ulp_log2(format, code)})
                                      : json_null());
}

int ng_cmd_show(int argc, char **argv)
{
    arguments a = {0};

    ng_command_parse(&argp, argc, argv, &a);
    const uint32_t n =
        a.all ? UINT32_C(1) << a.format->bits : (uint32_t)a.n_codes;
    uint32_t *code = calloc(n, sizeof *code);
    if (code == NULL)
        return ng_complain(NG_EXIT_ENVIRONMENT, "show", "out of memory");
    for (uint32_t i = 0; i < n; i++) {
        const char *fault =
            a.all ? NULL : ng_code_parse(&code[i], a.format, a.codes[i]);

        if (a.all)
            code[i] = i;
        if (fault != NULL) {
            free(code);
            return ng_complain(NG_EXIT_USAGE, "show",
                               "CODE: \"%s\" %s (%s: %d "
                               "bits)",
                               a.codes[i], fault, a.format->name,
                               a.format->bits);
        }
    }
    int status = NG_EXIT_OK;
    if (a.json) {
        json_t *list = json_array();

        for (uint32_t i = 0; i < n; i++)
            json_array_append_new(list, code_json(a.format, code[i]));
        status = ng_print_json(
            json_pack("{s:s, s:o}", "format", a.format->name, "codes", list));
    } else if (a.all) {
        print_table(a.format);
    } else {
        for (uint32_t i = 0; i < n; i++) {
            if (i > 0)
                putchar('\n');
            print_code(a.format, code[i]);
        }
    }
    free(code);
    return status;
}
