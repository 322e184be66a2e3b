/* SPDX-License-Identifier: Apache-2.0
 *
 * The program `prove`: run the exhaustive claims and keep what they gave.
 *
 *   prove --list                       the claims
 *   prove --out reports/proofs.json    run those that the file lacks, one by
 *                                      one; stop at any time and start again
 *   prove --only TEXT ...              only claims whose name holds TEXT
 *   prove --sample N --seed S          N cases of each long one
 *   prove --check reports/proofs.json  is every claim there, whole, and true?
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "conformance/checks/proof.h"
#include "conformance/cli/progress.h"
#include "formats/files/atomic_write.h"
#include "formats/version.h"
#include "reports/proofs_page.h"

static ng_claim claim[NG_MAX_CLAIMS];

static void show_progress(void *context, const char *what, int64_t done,
                          int64_t total)
{
    ng_progress_update(context, what, done, total);
}

/* The entry of a claim in the file, or null. */
static json_t *entry_of(const json_t *proofs, const char *slug)
{
    json_t *entry;
    size_t i;

    json_array_foreach(proofs, i, entry) {
        const char *name = json_string_value(json_object_get(entry, "name"));

        if (name != NULL && strcmp(name, slug) == 0)
            return entry;
    }
    return NULL;
}

/* Write the file, and beside it the page for people. */
static bool write_proofs(const char *path, const json_t *proofs)
{
    ng_atomic_file file = {0};
    ng_error error;
    char page[4096];
    const size_t length = strlen(path);
    const bool suffixed =
        length > 5 && strcmp(path + length - 5, ".json") == 0;

    snprintf(page, sizeof page, "%.*s.md", (int)(length - (suffixed ? 5 : 0)),
             path);

    if (ng_atomic_begin(&file, path, &error) == NG_OK) {
        json_dumpf(proofs, file.stream, JSON_INDENT(1));
        fputc('\n', file.stream);
        if (ng_atomic_commit(&file, &error) == NG_OK
            && ng_proofs_page_write(page, proofs, &error) == NG_OK)
            return true;
    }
    fprintf(stderr, "prove: %s\n", error.text);
    return false;
}

static json_t *new_entry(const ng_claim *c, const ng_proof *proof)
{
    char day[16];
    const time_t now = time(NULL);
    struct tm utc;

    strftime(day, sizeof day, "%Y-%m-%d", gmtime_r(&now, &utc));
    return json_pack("{s:s, s:s, s:I, s:I, s:s, s:f, s:s, s:s}",
                     "name", c->slug, "claim", c->text,
                     "inputs", (json_int_t)proof->inputs,
                     "differences", (json_int_t)proof->differences,
                     "command", c->command, "seconds", proof->seconds,
                     "version", ng_version_text(), "date", day);
}

/* Every claim must be in the file with all its inputs and no difference. */
static int check(const json_t *proofs, int n)
{
    int wrong = 0;

    for (int i = 0; i < n; i++) {
        const json_t *entry = entry_of(proofs, claim[i].slug);
        const int64_t inputs = json_integer_value(json_object_get(entry,
                                                                  "inputs"));
        const char *why =
            entry == NULL ? "missing"
            : inputs == 0 || (claim[i].inputs != 0 && inputs != claim[i].inputs)
                ? "not all inputs were tried"
            : !json_is_integer(json_object_get(entry, "differences"))
                ? "the file does not say how many differences"
            : json_integer_value(json_object_get(entry, "differences")) != 0
                ? "differences"
                : NULL;

        if (why != NULL) {
            printf("%s: %s\n", claim[i].slug, why);
            wrong++;
        }
    }
    printf("%d claims, %d not proved\n", n, wrong);
    return wrong > 0;
}

typedef struct arguments {
    const char *out, *check, *only;
    int64_t sample;
    uint64_t seed;
    bool list;
} arguments;

static bool parse(arguments *a, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--list") == 0) {
            a->list = true;
            continue;
        }
        if (value == NULL)
            return false;
        if (strcmp(argv[i], "--out") == 0)
            a->out = value;
        else if (strcmp(argv[i], "--check") == 0)
            a->check = value;
        else if (strcmp(argv[i], "--only") == 0)
            a->only = value;
        else if (strcmp(argv[i], "--sample") == 0)
            a->sample = atoll(value) > 0 ? atoll(value) : -1;
        else if (strcmp(argv[i], "--seed") == 0)
            a->seed = strtoull(value, NULL, 10);
        else
            return false;
        i++;
    }
    /* A sample proves nothing, and is not written as if it did. */
    return a->sample == 0 || (a->sample > 0 && a->out == NULL);
}

static int run(json_t *proofs, int n, const arguments *a)
{
    int false_claims = 0, named = 0;

    for (int i = 0; i < n; i++) {
        char state[4096 + sizeof claim->slug];
        ng_progress bar;
        ng_proof proof;
        ng_error error;
        ng_proof_means means = {.sample = a->sample, .seed = a->seed,
                                .progress = show_progress, .context = &bar};

        if (a->only != NULL && strstr(claim[i].slug, a->only) == NULL)
            continue;
        named++;
        const json_t *entry = entry_of(proofs, claim[i].slug);

        if (a->out != NULL && entry != NULL) { /* false, it stays false */
            false_claims +=
                json_integer_value(json_object_get(entry, "differences")) != 0;
            continue;
        }
        if (a->out != NULL) {
            snprintf(state, sizeof state, "%.3900s.%.95s.progress", a->out,
                     claim[i].slug);
            means.state_path = state;
        }
        ng_progress_begin(&bar, false, "cases");
        if (ng_prove(&proof, &claim[i], &means, &error) != NG_OK) {
            ng_progress_end(&bar);
            fprintf(stderr, "prove: %s\n", error.text);
            return 4;
        }
        ng_progress_end(&bar);
        printf("%-40s %14" PRId64 " inputs %6" PRId64 " differences %8.1f s\n",
               claim[i].slug, proof.inputs, proof.differences, proof.seconds);
        fflush(stdout);
        false_claims += proof.differences != 0 || proof.inputs == 0;
        if (a->out != NULL) {
            json_array_append_new(proofs, new_entry(&claim[i], &proof));
            if (!write_proofs(a->out, proofs))
                return 4;
            remove(state);
        }
    }
    if (named == 0) {
        fprintf(stderr, "prove: --only: %s: no such claim (prove --list)\n",
                a->only);
        return 2;
    }
    if (a->out != NULL && !write_proofs(a->out, proofs))
        return 4;
    return false_claims > 0;
}

int main(int argc, char **argv)
{
    arguments a = {.seed = 1};
    const int n = ng_claims(claim);
    const char *path;
    json_t *proofs = NULL;
    int status;

    if (!parse(&a, argc, argv)) {
        fprintf(stderr, "Usage: prove [--list | --check FILE] [--out FILE] "
                "[--only TEXT] [--sample N] [--seed S]\n");
        return 2;
    }
    if (a.list) {
        for (int i = 0; i < n; i++)
            printf("%-40s %s\n", claim[i].slug, claim[i].text);
        return 0;
    }
    path = a.check != NULL ? a.check : a.out;
    if (path != NULL)
        proofs = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    /* A file that is there and broken is not begun anew: it took hours. */
    if (path != NULL && !json_is_array(proofs)
        && (a.check != NULL || access(path, F_OK) == 0)) {
        fprintf(stderr, "prove: %s: cannot be read as a JSON array\n", path);
        json_decref(proofs);
        return 2;
    }
    if (proofs == NULL)
        proofs = json_array();
    status = a.check != NULL ? check(proofs, n) : run(proofs, n, &a);
    json_decref(proofs);
    return status;
}
