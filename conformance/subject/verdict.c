/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/verdict.h"

#include <stdarg.h>
#include <stdio.h>

const char *ng_verdict_name(ng_verdict_kind kind)
{
    static const char *const names[NG_N_VERDICTS] = {
        [NG_VERDICT_NONE] = "none",
        [NG_VERDICT_NOT_LOADED] = "not loaded",
        [NG_VERDICT_NO_ENTRY] = "missing symbol",
        [NG_VERDICT_WRONG_ABI] = "wrong ABI version",
        [NG_VERDICT_BAD_TABLE] = "bad table",
        [NG_VERDICT_CANNOT_RUN] = "cannot run here",
        [NG_VERDICT_CRASHED] = "crashed",
        [NG_VERDICT_HUNG] = "hung",
        [NG_VERDICT_EXITED] = "exited",
        [NG_VERDICT_FAILED] = "failed",
        [NG_VERDICT_REFUSED] = "refused",
        [NG_VERDICT_LACKS] = "lacks the operation",
        [NG_VERDICT_BAD_STATUS] = "bad status",
        [NG_VERDICT_OUTSIDE] = "wrote outside",
        [NG_VERDICT_INPUT] = "wrote to an input",
        [NG_VERDICT_PRINTED] = "printed",
        [NG_VERDICT_GIVEN_UP] = "not asked",
        [NG_VERDICT_ENVIRONMENT] = "environment",
    };

    return names[kind];
}

bool ng_verdict_is_failure(ng_verdict_kind kind)
{
    return kind >= NG_VERDICT_NOT_LOADED && kind <= NG_VERDICT_BAD_STATUS;
}

void ng_verdict_set(ng_verdict *verdict, ng_verdict_kind kind,
                    const char *format, ...)
{
    va_list arguments;

    verdict->kind = kind;
    va_start(arguments, format);
    vsnprintf(verdict->text, sizeof verdict->text, format, arguments);
    va_end(arguments);
}
