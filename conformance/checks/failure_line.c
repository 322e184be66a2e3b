/* SPDX-License-Identifier: Apache-2.0
 *
 * The line that a failure prints, and its way back to the case:
 *
 *   FAIL op=encode_e4m3 variant=rounding=up,overflow=ieee stratum=ties case=3
 *   seed=1 at=y[17] want=77 got=76 x=0x1.d06d26p+7(43683693)
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/verify.h"

static int hex_digits(uint64_t want, uint64_t got)
{
    const uint64_t larger = want > got ? want : got;

    return larger > UINT32_MAX ? 16 : larger > 0xFFFF ? 8 : larger > 0xFF ? 4 : 2;
}

/* snprintf at text + used, never past size. Returns the new length. */
#define APPEND(...)                                                            \
    (used += (size_t)snprintf(text + (used < size ? used : size),              \
                              size - (used < size ? used : size), __VA_ARGS__))

void ng_failure_print(char *text, size_t size, const ng_failure *failure)
{
    const ng_case_id *id = &failure->id;
    char fault[1024];

    if (failure->replayed[0] != '\0') {
        snprintf(text, size, "%s", failure->replayed);
        return;
    }
    ng_failure_print_fault(fault, sizeof fault, failure);
    snprintf(text, size,
             "FAIL op=%s variant=%s stratum=%s case=%" PRId64 " seed=%" PRIu64
             " %s",
             id->operation->name, failure->variant, id->stratum->name, id->index,
             id->seed, fault);
}

void ng_failure_print_fault(char *text, size_t size, const ng_failure *failure)
{
    const ng_difference *d = &failure->difference;
    size_t used = 0;

    switch (failure->kind) {
    case NG_FAILURE_STATUS:
        APPEND("status want=\"%s\" got=\"%s\"",
               ng_status_text(failure->want_status),
               ng_status_text(failure->got_status));
        return;
    case NG_FAILURE_SUBJECT:
        APPEND("subject %s", failure->verdict.text);
        return;
    case NG_FAILURE_EVENTS:
        APPEND("events.%s want=%" PRIu64 " got=%" PRIu64,
               ng_event_name(failure->event), d->want, d->got);
        return;
    case NG_FAILURE_OUTSIDE:
        APPEND("outside %s byte=%" PRId64, failure->tensor, d->index[0]);
        break;
    case NG_FAILURE_UNSTABLE:
    case NG_FAILURE_UNWRITTEN:
        APPEND(failure->kind == NG_FAILURE_UNSTABLE ? "unstable "
                                                    : "unwritten ");
        /* fall through */          /* to the element */
    case NG_FAILURE_BOUND:
    case NG_FAILURE_BITS:
        APPEND("at=%s[", failure->tensor);
        for (int axis = 0; axis < failure->rank; axis++)
            APPEND("%s%" PRId64, axis > 0 ? "," : "", d->index[axis]);
        APPEND("]");
        break;
    }
    if (failure->kind == NG_FAILURE_BOUND)
        APPEND(" exact=%.9g bound=%.3g got=%.9g(%0*" PRIx64 ")", failure->exact,
               failure->bound, failure->value, hex_digits(0, d->got), d->got);
    else
        APPEND(" want=%0*" PRIx64 " got=%0*" PRIx64,
               hex_digits(d->want, d->got), d->want,
               hex_digits(d->want, d->got), d->got);
    if (failure->input[0] != '\0')
        APPEND(" %s", failure->input);
    if (d->count > 1)
        APPEND(" (+%" PRId64 " more in this case)", d->count - 1);
}

/* Copy the value of " key=" in line, up to a blank, into out. */
static bool field(char *out, size_t size, const char *line, const char *key)
{
    char pattern[16];
    const char *start;

    snprintf(pattern, sizeof pattern, " %s=", key);
    start = strstr(line, pattern);
    if (start == NULL)
        return false;
    start += strlen(pattern);
    const size_t length = strcspn(start, " \t\n");
    if (length == 0 || length >= size)
        return false;
    memcpy(out, start, length);
    out[length] = '\0';
    return true;
}

static bool number(uint64_t *out, const char *line, const char *key)
{
    char text[24], *end;

    if (!field(text, sizeof text, line, key) || !isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0;
}

ng_status ng_failure_parse(ng_case_id *id, const char *line,
                           const ng_profile *profile, ng_error *error)
{
    char name[64], variant_text[192], stratum[64], text[192];
    ng_variant variant;
    uint64_t index, seed;

    if (!field(name, sizeof name, line, "op")
        || (id->operation = ng_operation_find(name)) == NULL)
        return ng_fail(error, NG_BAD_FILE, "replay: op: missing or unknown");
    if (!field(stratum, sizeof stratum, line, "stratum"))
        return ng_fail(error, NG_BAD_FILE, "replay: stratum: missing");
    id->stratum = id->operation->strata;
    while (id->stratum->name != NULL && strcmp(stratum, id->stratum->name) != 0)
        id->stratum++;
    if (id->stratum->name == NULL)
        return ng_fail(error, NG_BAD_FILE, "replay: stratum: %s has no %s", name,
                       stratum);
    if (!number(&index, line, "case") || index > INT64_MAX
        || !number(&seed, line, "seed"))
        return ng_fail(error, NG_BAD_FILE,
                       "replay: case, seed: missing or no number");
    id->index = (int64_t)index;
    id->seed = seed;
    if (!field(variant_text, sizeof variant_text, line, "variant"))
        return ng_fail(error, NG_BAD_FILE, "replay: variant: missing");
    for (id->variant = 0;
         ng_variant_at(&variant, id->operation->axes, id->operation->n_axes,
                       profile, id->variant);
         id->variant++) {
        ng_variant_print(text, sizeof text, &variant);
        if (strcmp(text, variant_text) == 0) {
            if (id->index >= id->stratum->count(&variant, 2))
                return ng_fail(error, NG_BAD_FILE,
                               "replay: case: past the stratum's last");
            return NG_OK;
        }
    }
    return ng_fail(error, NG_BAD_FILE, "replay: variant: %s is none of %s's",
                   variant_text, name);
}
