/* SPDX-License-Identifier: Apache-2.0
 *
 * The subcommands of `narrowgauge`. Each is a function in cmd_<name>.c that
 * parses its own options with argp and returns the exit status.
 */
#ifndef NG_CONFORMANCE_CLI_COMMAND_H
#define NG_CONFORMANCE_CLI_COMMAND_H

#include <argp.h>
#include <stdint.h>

/* Exit statuses: a contract that scripts and CI pipelines rely on. */
enum {
    NG_EXIT_OK = 0,
    NG_EXIT_DIFFERENCE = 1,     /* a numeric difference or a regression */
    NG_EXIT_USAGE = 2,          /* bad arguments or unreadable input */
    NG_EXIT_SUBJECT = 3,        /* the subject crashed, hung or refused */
    NG_EXIT_ENVIRONMENT = 4,    /* disk full, out of memory, a lost rank */
    NG_EXIT_CANNOT_RUN = 77     /* what was asked cannot run here */
};

typedef struct ng_command {
    const char *name;
    const char *summary;        /* one line of the overview */
    int (*run)(int argc, char **argv);
} ng_command;

/* The subcommands by number; null past the last. */
const ng_command *ng_command_at(int i);

int ng_cmd_bench(int argc, char **argv);
int ng_cmd_compare(int argc, char **argv);
int ng_cmd_gate(int argc, char **argv);
int ng_cmd_faults(int argc, char **argv);
int ng_cmd_identify(int argc, char **argv);
int ng_cmd_ops(int argc, char **argv);
int ng_cmd_quantize(int argc, char **argv);
int ng_cmd_report(int argc, char **argv);
int ng_cmd_round(int argc, char **argv);
int ng_cmd_show(int argc, char **argv);
int ng_cmd_study(int argc, char **argv);
int ng_cmd_train(int argc, char **argv);
int ng_cmd_vectors(int argc, char **argv);
int ng_cmd_verify(int argc, char **argv);

/* argp_parse with this program's conventions: a usage error prints one line
 * that names the option, and exits with 2. argv[0] is "narrowgauge <command>",
 * or another program's name. */
void ng_command_parse(const struct argp *argp, int argc, char **argv,
                      void *input);

/* For parsers, in place of argp's own two, which would be silent and are
 * poisoned: print the one line, "NAME: ...", and exit with 2. */
void ng_command_refuse(const struct argp_state *state, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

#ifdef __GNUC__
#pragma GCC poison argp_error argp_failure
#endif

/* Parse a whole number within [low, high], or refuse it. */
long long ng_command_number(const struct argp_state *state, const char *option,
                            const char *text, long long low, long long high);

/* Parse --shard I/N with 1 <= I <= N into I - 1 and N, or refuse it. */
void ng_command_shard(int64_t *shard, int64_t *n_shards,
                      const struct argp_state *state, const char *value);

/* Append the value of an option that may be repeated to a list of *n, or refuse
 * it where there are `most`. */
void ng_command_list(const char **list, int *n, int most,
                     const struct argp_state *state, const char *option,
                     const char *value);

/* Refuse an argument that is no option's. */
void ng_command_stray(const struct argp_state *state, const char *value)
    __attribute__((noreturn));

#endif
