/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoding a code and encoding the value gives the code back. NaN codes give the
 * canonical NaN, and UE8M0's, which has no sign, its only one.
 */
#include "conformance/checks/proof.h"

#include <math.h>

#include "reference/convert/ref_decode.h"
#include "reference/convert/ref_encode.h"

ng_status ng_prove_identity(ng_proof *proof, const ng_claim *claim,
                            const ng_proof_means *means, ng_error *error)
{
    const ng_format *format = ng_format_find(claim->set[0]);
    const ng_rules rules = {.rounding = NG_NEAREST_EVEN, .overflow = NG_IEEE,
                            .nan = NG_NAN_CANONICAL};

    (void)means, (void)error;
    for (uint32_t code = 0; code >> format->bits == 0; code++) {
        unsigned events = 0;
        const float value = ng_ref_decode(format, code, &rules);
        const uint32_t back = ng_ref_encode(format, value, &rules, 0, &events);
        const uint32_t want = isnan(value) ? (uint32_t)format->nan : code;

        proof->differences += back != want
                              || (!isnan(value)
                                  && (events & 1u << NG_EVENT_INEXACT) != 0);
        proof->inputs++;
    }
    return NG_OK;
}
