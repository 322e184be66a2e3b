/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/command.h"
#include "conformance/subject/host_child.h"
#include "conformance/subject/host_wire.h"
#include "formats/version.h"
#include "reports/text_escape.h"

static const ng_command commands[] = {
    {"show", "decode codes: fields, value, neighbours, ULP", ng_cmd_show},
    {"round", "encode values: the exact value, both neighbours, the tie",
     ng_cmd_round},
    {"quantize", "run one operation over real tensors, with error statistics",
     ng_cmd_quantize},
    {"ops", "list operations, profiles and rules", ng_cmd_ops},
    {"verify", "hold a subject against the specification, bit for bit",
     ng_cmd_verify},
    {"identify", "say which profile a subject equals, and where others part",
     ng_cmd_identify},
    {"faults", "find and name every planted fault", ng_cmd_faults},
    {"vectors", "write inputs and expected outputs as files", ng_cmd_vectors},
    {"compare", "judge what came back for those inputs", ng_cmd_compare},
    {"gate", "hold a run to what was accepted before: did a number move?",
     ng_cmd_gate},
    {"report", "make the pages of a report again from its JSON",
     ng_cmd_report},
    {"bench", "time operations, verified first", ng_cmd_bench},
    {"train", "train a mixture-of-experts model", ng_cmd_train},
    {"study", "what recipes do to convergence, with seeds", ng_cmd_study},
};

enum { N_COMMANDS = sizeof commands / sizeof *commands };

const ng_command *ng_command_at(int i)
{
    return i >= 0 && i < N_COMMANDS ? &commands[i] : NULL;
}

static void print_overview(FILE *out)
{
    fputs("Usage: narrowgauge COMMAND [OPTION...]\n\n"
          "A reference and a measuring instrument for narrow number formats in "
          "training.\n\n", out);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\n  narrowgauge COMMAND --help   what a command takes, with an example\n"
          "  narrowgauge --version\n\n"
          "Exit status: 0 all right; 1 a numeric difference or a regression; "
          "2 usage or\nunreadable input; 3 the subject crashed, hung or refused; "
          "4 the environment\nfailed; 77 what was asked cannot run here.\n\n"
          "Example: narrowgauge verify\n", out);
}

/* A full disk behind a redirected output must not pass as done. */
static int flushed(int status)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return status;
    perror("narrowgauge: standard output");
    return NG_EXIT_ENVIRONMENT;
}

int main(int argc, char **argv)
{
    char title[64];

    /* Not for people: this program started itself, for a plug-in. */
    if (argc == 3 && strcmp(argv[1], NG_HOST_COMMAND) == 0)
        return ng_host_child(argv[2]);
    if (argc < 2) {
        print_overview(stderr);
        return NG_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0
        || strcmp(argv[1], "-?") == 0 || strcmp(argv[1], "help") == 0) {
        print_overview(stdout);
        return flushed(NG_EXIT_OK);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("narrowgauge %s\n", ng_version_text());
        return flushed(NG_EXIT_OK);
    }
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            /* argp shows argv[0] in its messages. */
            snprintf(title, sizeof title, "narrowgauge %s", commands[i].name);
            argv[1] = title;
            return flushed(commands[i].run(argc - 1, argv + 1));
        }
    fputs("narrowgauge: no such command: ", stderr);
    ng_print_escaped(stderr, NG_TO_TERMINAL, argv[1]);
    fputs(" (narrowgauge --help lists them)\n", stderr);
    return NG_EXIT_USAGE;
}
