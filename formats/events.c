/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/events.h"

const char *ng_event_name(ng_event event)
{
    static const char *const name[NG_N_EVENTS] = {
        [NG_EVENT_INEXACT] = "inexact",     [NG_EVENT_TIE] = "tie",
        [NG_EVENT_SUBNORMAL] = "subnormal", [NG_EVENT_FLUSHED] = "flushed",
        [NG_EVENT_SATURATED] = "saturated", [NG_EVENT_INFINITE] = "infinite",
        [NG_EVENT_NAN] = "nan",
    };

    return (unsigned)event < NG_N_EVENTS ? name[event] : "unknown";
}
