/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/code_text.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/rounding_print.h"

enum { KEY_RANDOM = 256, KEY_ALL_MODES };

typedef struct arguments {
    ng_rounding_view view; /* format, rules and random are set here */
    char **values;         /* where they begin in argv */
    int n_values;
    bool mode_given, overflow_given, random_given, all_modes, json;
} arguments;

static const struct argp_option options[] = {
    {"mode", 'm', "M", 0,
     "nearest-even (default), nearest-away, nearest-zero, toward-zero, up, "
     "down, stochastic",
     0},
    {"overflow", 'o', "O", 0, "saturate (default) or ieee", 0},
    {"random", KEY_RANDOM, "R", 0,
     "The 32-bit word r of stochastic rounding: away from zero if and only if "
     "floor(2^32 t) + r >= 2^32, t the place between the neighbours",
     0},
    {"all-modes", KEY_ALL_MODES, NULL, 0,
     "A table of every mode and overflow rule instead", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {0}};

/* Stop unless the format offers the mode and the overflow rule. */
static void check(arguments *a, struct argp_state *state)
{
    const ng_format *format = a->view.format;
    const ng_rules *rules = &a->view.rules;

    if (format == NULL) {
        ng_command_refuse(state, "FORMAT: missing (" NG_FORMAT_NAMES ")");
        return;
    }
    if (a->n_values == 0)
        ng_command_refuse(state, "VALUE: missing");
    if (a->all_modes && (a->mode_given || a->overflow_given))
        ng_command_refuse(
            state, "--all-modes: shows every mode and overflow rule; --mode "
                   "and --overflow choose one");
    if (!ng_rounding_offers_mode(format, rules->rounding))
        ng_command_refuse(state, "--mode: %s rounds nearest-even only",
                          format->name);
    if (!ng_rounding_offers_overflow(format, rules->overflow))
        ng_command_refuse(state, "--overflow: %s only saturates", format->name);
    if (!a->all_modes && (rules->rounding == NG_STOCHASTIC) != a->random_given)
        ng_command_refuse(
            state, a->random_given
                       ? "--random: only --mode stochastic reads it"
                       : "--mode: stochastic needs its word, --random R");
}

static int rule_value(struct argp_state *state, const char *option,
                      ng_rule rule, const char *name)
{
    int value = 0;

    if (!ng_rule_value_find(rule, name, &value))
        ng_command_refuse(
            state,
            "%s: %s: no such value (narrowgauge ops --rules lists "
            "them)",
            option, name);
    return value;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    switch (key) {
    case 'm':
        a->view.rules.rounding =
            rule_value(state, "--mode", NG_RULE_ROUNDING, value);
        a->mode_given = true;
        break;
    case 'o':
        a->view.rules.overflow =
            rule_value(state, "--overflow", NG_RULE_OVERFLOW, value);
        a->overflow_given = true;
        break;
    case KEY_RANDOM:
        a->view.random = (uint32_t)ng_command_number(state, "--random", value,
                                                     0, UINT32_MAX);
        a->random_given = true;
        break;
    case KEY_ALL_MODES:
        a->all_modes = true;
        break;
    case 'j':
        a->json = true;
        break;
    case ARGP_KEY_ARG:
        if (a->view.format != NULL)
            return ARGP_ERR_UNKNOWN; /* the rest, all at once */
        a->view.format = ng_format_find(value);
        if (a->view.format == NULL)
            ng_command_refuse(
                state, "FORMAT: %s: no such format (" NG_FORMAT_NAMES ")",
                value);
        break;
    case ARGP_KEY_ARGS:
        a->values = state->argv + state->next;
        a->n_values = state->argc - state->next;
        break;
    case ARGP_KEY_END:
        check(a, state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "FORMAT VALUE...",
    "Encode values in a scalar format: the exact value, the codes on either "
    "side and their distances, a tie if it is one, the result and why."
    "\vFORMAT is one of " NG_FORMAT_NAMES
    ". A VALUE is taken exactly, as a real "
    "number: a decimal (0.1 is one tenth), a hex float (0x1.8p+1), a fraction "
    "(1/3), inf, nan, or the bits of a format (fp32:3F800001, bf16:3F80).\n\n"
    "Examples:\n"
    "  narrowgauge round e4m3 464 464.1 -1000\n"
    "  narrowgauge round e4m3 1000 --overflow ieee\n"
    "  narrowgauge round e2m1 2.5 --all-modes\n"
    "  narrowgauge round bf16 0.1 --mode stochastic --random 0x80000000",
    NULL,
    NULL,
    NULL};

static bool is_negative_number(const char *text)
{
    return text[0] == '-'
           && (isdigit((unsigned char)text[1]) || text[1] == '.'
               || strncmp(text + 1, "inf", 3) == 0
               || strncmp(text + 1, "nan", 3) == 0);
}

/* A negative number is a value, not a bundle of options: put a blank before it,
 * which the number parser skips. Returns argv anew, in one block with the texts
 * that it changed, or null without memory. */
static char **shield_numbers(int argc, char **argv)
{
    const size_t n_pointers = (size_t)argc + 1;
    size_t size = n_pointers * sizeof(char *);

    for (int i = 0; i < argc; i++)
        size += strlen(argv[i]) + 2;
    char **shielded = malloc(size);
    if (shielded == NULL)
        return NULL;
    char *text = (char *)(shielded + n_pointers);
    for (int i = 0; i < argc; i++) {
        shielded[i] = argv[i];
        if (i > 0 && is_negative_number(argv[i])) {
            shielded[i] = text;
            text += sprintf(text, " %s", argv[i]) + 1;
        }
    }
    shielded[argc] = NULL;
    return shielded;
}

static int round_all(arguments *a, json_t *list)
{
    static ng_real x; /* large; one command, one thread */

    for (int i = 0; i < a->n_values; i++) {
        const char *text = a->values[i] + strspn(a->values[i], " ");
        const char *fault = ng_real_parse(&x, text);

        if (fault != NULL)
            return ng_complain(NG_EXIT_USAGE, "round", "VALUE: \"%.60s\" %s",
                               text, fault);
        ng_rounding_view_fill(&a->view, &x);
        if (list != NULL) {
            json_array_append_new(
                list, a->all_modes ? ng_rounding_modes_json(&a->view, text)
                                   : ng_rounding_json(&a->view, text));
            continue;
        }
        if (i > 0)
            putchar('\n');
        if (a->all_modes)
            ng_rounding_print_modes(&a->view, text, a->random_given);
        else
            ng_rounding_print(&a->view, text);
    }
    return NG_EXIT_OK;
}

int ng_cmd_round(int argc, char **argv)
{
    static arguments a; /* large; one command, one thread */
    char **shielded = shield_numbers(argc, argv);

    if (shielded == NULL)
        return ng_complain(NG_EXIT_ENVIRONMENT, "round", "out of memory");
    a.view.rules = ng_default_rules;
    ng_command_parse(&argp, argc, shielded, &a);
    json_t *list = a.json ? json_array() : NULL;
    int status = round_all(&a, list);
    if (list != NULL && status == NG_EXIT_OK)
        status = ng_print_json(list);
    else
        json_decref(list);
    free(shielded);
    return status;
}
