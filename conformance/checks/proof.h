/* SPDX-License-Identifier: Apache-2.0
 *
 * Exhaustive claims and what trying every input gave. The program `prove` runs
 * them all and keeps the results in reports/proofs.json.
 */
#ifndef NG_CONFORMANCE_CHECKS_PROOF_H
#define NG_CONFORMANCE_CHECKS_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "conformance/checks/verify.h"

enum { NG_MAX_CLAIMS = 256 };

/* How to go about a proof. */
typedef struct ng_proof_means {
    int64_t sample;             /* of each stratum so many cases; 0: all */
    uint64_t seed;              /* of the sample */
    const char *state_path;     /* for a proof that can be resumed; may be null */
    void (*progress)(void *context, const char *what, int64_t done,
                     int64_t total);
    void *context;
} ng_proof_means;

typedef struct ng_proof {
    int64_t inputs, differences;
    double seconds;
} ng_proof;

typedef struct ng_claim ng_claim;
struct ng_claim {
    char slug[96];              /* a short name without blanks */
    char text[384];             /* the claim, a sentence */
    char command[256];          /* how anyone repeats it */
    int64_t inputs;             /* how many a whole proof tries; 0: unstated */

    /* Either a verify run of one operation with these settings ... */
    const char *operation, *stratum;
    const char *set[4];         /* "name=value", up to a null */

    /* ... or a proof of its own. */
    ng_status (*prove)(ng_proof *proof, const ng_claim *claim,
                       const ng_proof_means *means, ng_error *error);
};

/* Write the claims to claim[0 ..] and return how many. */
int ng_claims(ng_claim claim[NG_MAX_CLAIMS]);
int ng_optim_claims(ng_claim *claim);   /* a part of them */

/* Try every input of a claim. */
ng_status ng_prove(ng_proof *proof, const ng_claim *claim,
                   const ng_proof_means *means, ng_error *error);

/* Proofs of their own; see their files. */
ng_status ng_prove_window(ng_proof *, const ng_claim *, const ng_proof_means *,
                          ng_error *);
ng_status ng_prove_identity(ng_proof *, const ng_claim *,
                            const ng_proof_means *, ng_error *);
ng_status ng_prove_split(ng_proof *, const ng_claim *, const ng_proof_means *,
                         ng_error *);
ng_status ng_prove_split_ties(ng_proof *, const ng_claim *,
                              const ng_proof_means *, ng_error *);
ng_status ng_prove_split_flashoptim(ng_proof *, const ng_claim *,
                                    const ng_proof_means *, ng_error *);
ng_status ng_prove_states(ng_proof *, const ng_claim *, const ng_proof_means *,
                          ng_error *);
ng_status ng_prove_state_scales(ng_proof *, const ng_claim *,
                                const ng_proof_means *, ng_error *);
ng_status ng_prove_state_zero(ng_proof *, const ng_claim *,
                              const ng_proof_means *, ng_error *);

#endif
