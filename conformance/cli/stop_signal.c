/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/stop_signal.h"

#include <stddef.h>

volatile sig_atomic_t ng_stop;

static void note(int signal)
{
    (void)signal;
    ng_stop = 1;
}

void ng_stop_catch(void)
{
    struct sigaction action = {.sa_handler = note,
                               .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
