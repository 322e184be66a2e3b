/* SPDX-License-Identifier: Apache-2.0
 *
 * The main job: hold a subject against the specification, operation by
 * operation, variant by variant, stratum by stratum, case by case.
 */
#ifndef NG_CONFORMANCE_CHECKS_VERIFY_H
#define NG_CONFORMANCE_CHECKS_VERIFY_H

#include "conformance/checks/case.h"
#include "conformance/checks/explanation.h"
#include "conformance/checks/judge.h"
#include "conformance/checks/measure.h"
#include "conformance/checks/operation.h"
#include "conformance/subject/host.h"
#include "conformance/subject/subject.h"

enum { NG_MAX_KEPT_FAILURES = 64, NG_MAX_STRATA = 32 };

/* Which case, so that it can be made again. */
typedef struct ng_case_id {
    const ng_operation *operation;
    int64_t variant;            /* its number under the profile */
    const ng_stratum *stratum;
    int64_t index;
    uint64_t seed;
} ng_case_id;

typedef enum ng_failure_kind {
    NG_FAILURE_BITS,            /* an output unit differs */
    NG_FAILURE_BOUND,           /* an output unit lies outside its bound */
    NG_FAILURE_OUTSIDE,         /* a gap or a guard was written */
    NG_FAILURE_STATUS,          /* another status than the specification's */
    NG_FAILURE_EVENTS,          /* right bits, wrong event counts */
    NG_FAILURE_UNSTABLE,        /* two runs differ */
    NG_FAILURE_UNWRITTEN,       /* an output unit holds what it held before */
    NG_FAILURE_SUBJECT          /* the subject, in its process, gave a verdict */
} ng_failure_kind;

typedef struct ng_failure {
    ng_case_id id;
    ng_failure_kind kind;
    char variant[192];          /* as ng_variant_print has it */
    char tensor[NG_MAX_NAME];
    int rank;
    ng_difference difference;
    ng_status want_status, got_status;
    ng_event event;             /* of NG_FAILURE_EVENTS; counts in difference */
    double value, exact, bound; /* of NG_FAILURE_BOUND */
    ng_judgement judged;        /* filled whether the case fails or passes */
    char input[160];            /* the input behind the element, in words */
    char replayed[1024];        /* of a resumed run: the line as it was */
    ng_verdict verdict;         /* of NG_FAILURE_SUBJECT */
    bool not_covered;           /* no failure: beyond the subject's limits */
} ng_failure;

/* Cases of one stratum, or of the variants with one value of an axis. */
typedef struct ng_tally {
    int64_t cases, failed_cases, differences;
    uint64_t inputs, outputs;   /* digests, as in ng_measurement */
} ng_tally;

/* What one operation gave. */
typedef struct ng_operation_result {
    const ng_operation *operation;
    int64_t variants, not_covered;      /* variants run, and left to others */
    int64_t cases, elements;
    int64_t failed_cases, differences;
    int64_t not_covered_cases;          /* beyond the subject's limits */
    int64_t verdicts[NG_N_VERDICTS];    /* failed cases by verdict, and the ones
                                           not asked (no failures) */
    ng_events events;
    ng_judgement judged;
    ng_measurement measured;
    ng_tally stratum[NG_MAX_STRATA];    /* as the operation lists them */
    ng_tally value[NG_MAX_AXES][NG_MAX_AXIS_VALUES];    /* of its axes */
    double seconds;
    int n_failures;                     /* kept, in case order */
    ng_failure failure[NG_MAX_KEPT_FAILURES];
    ng_explanation explanation;         /* of as many of them as possible */
    char diagnosis[512];                /* that in words, or "" */
    char shrunk[1024];                  /* one of them made small, or "" */
    char small_case[128];               /* "shrunk/OP.safetensors", or "" */
} ng_operation_result;

/* Two byte patterns that no run leaves by chance in the same place: what both
 * runs leave as it was has not been written. */
extern const unsigned char ng_poison[2];

/* What the subject once gave for a case. */
typedef struct ng_recorded {
    ng_status status;
    ng_outputs outputs;         /* owned; n is 0 where it gave no answer */
} ng_recorded;

typedef struct ng_verify_plan {
    const ng_subject *subject;
    ng_host *host;              /* of a subject in another process, else null */
    int64_t turn;               /* it is asked in the order of turns (host.h);
                                   0: at once */
    ng_recorded *record;        /* not null: keep the first run's outputs there */
    ng_measurement *measure;    /* not null, all zero: measure the first run there */
    const ng_recorded *recorded;        /* not null: compare these; the subject
                                           is not asked */
    const ng_subject *expected; /* oracle for the reference, else reference */
    const ng_subject *oracle;   /* what derives bounds; null: bounded outputs
                                   are not covered */
    const ng_profile *profile;
    const ng_rules *expected_rules;     /* null: the variant's; diagnosis asks
                                           the expected side for others */
    const ng_rules *acts_like;  /* not null: the rules that the subject is known
                                   to follow; diagnosis names the ones of them
                                   that part, and guesses only where none does */
    const ng_hypothesis *hypothesis;    /* not null: what is expected is what a
                                           subject with that mistake gives */
    int level;
    uint64_t seed;
    int64_t shard, n_shards;    /* 0 <= shard < n_shards: every n-th chunk */
    int64_t sample;             /* of a stratum above level 1, at most so many
                                   cases drawn by the seed; 0: all */
    /* Not null: where diagnosis finds what the subject gave, instead of asking it
     * again. Returns false if it cannot be had. */
    bool (*recall)(void *context, ng_recorded *recorded, const ng_case_id *id,
                   const ng_variant *variant);
    void *recall_context;
    int64_t stop_after;         /* failed cases of an operation; 0: never */
    bool unexplained;           /* neither diagnosis nor a smaller case */
    const char *small_cases;    /* folder for failures made small, a file an
                                   operation; null: they are only described */
    const char *stratum;        /* only this one; null: all */
    const char *const *axes;    /* "name=value", n_axes of them: only variants */
    int n_axes;                 /*   whose axis of that name has that value */
    const char *state_path;     /* finished chunks are kept here; may be null */
    /* Called now and then with cases done and in all; may be null. */
    void (*progress)(void *context, const char *operation, int64_t done,
                     int64_t total);
    void *context;
} ng_verify_plan;

/* Run the operations listed (n of them) and fill result[0 .. n - 1].
 * Returns NG_OK whatever the subject did; NG_NO_MEMORY, or NG_BAD_FILE with a
 * line in *error where the state file is unreadable or of another run. */
ng_status ng_verify(ng_operation_result *result, const ng_operation *const *list,
                    int n, const ng_verify_plan *plan, ng_error *error);

/* Whether the plan asks for this variant and the operation has it. */
bool ng_verify_wants(const ng_operation *operation, const ng_variant *variant,
                     const ng_verify_plan *plan);

/* Add the counts and kept failures of part to those of sum. */
void ng_verify_merge(ng_operation_result *sum, const ng_operation_result *part);

/* Count a part, of one stratum and variant, in the tallies of *sum. */
void ng_verify_tally(ng_operation_result *sum, const ng_operation_result *part,
                     const ng_case_id *id, const ng_variant *variant);

/* Run one case. Returns false, *failure filled, if the subject failed it. */
bool ng_verify_case(ng_failure *failure, ng_events *events, int64_t *elements,
                    const ng_case_id *id, const ng_variant *variant,
                    const ng_verify_plan *plan);

/* Run a case that has been made, in place of id's (failure->id is set). */
bool ng_verify_made_case(ng_failure *failure, const ng_case *c,
                         const ng_verify_plan *plan);

/* What ng_verify does in the end, unless the plan says `unexplained`: diagnose
 * the kept failures, and make one of them small. */
ng_status ng_verify_explain(ng_operation_result *result,
                            const ng_verify_plan *plan, ng_error *error);

/* Look for what explains the most of the kept failures, the simplest first: a
 * rule changed to one other value, a hypothesis, a pattern. Set
 * result->explanation and say it in result->diagnosis. */
void ng_diagnose(ng_operation_result *result, const ng_verify_plan *plan);

/* Write the replayable line of a failure; and only what is wrong, without the
 * case: "at=y[3] want=07 got=06". */
void ng_failure_print(char *text, size_t size, const ng_failure *failure);
void ng_failure_print_fault(char *text, size_t size, const ng_failure *failure);

/* Read such a line back. Returns NG_BAD_FILE, a line in *error, on anything
 * that no ng_failure_print wrote. */
ng_status ng_failure_parse(ng_case_id *id, const char *line,
                           const ng_profile *profile, ng_error *error);

#endif
