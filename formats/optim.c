/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/optim.h"

#include <string.h>

static const char *const names[NG_N_OPTIMIZERS] = {
    [NG_SGD] = "sgd",     [NG_SGDW] = "sgdw", [NG_ADAM] = "adam",
    [NG_ADAMW] = "adamw", [NG_LION] = "lion",
};

const char *ng_optimizer_name(ng_optimizer_kind kind)
{
    return names[kind];
}

bool ng_optimizer_find(const char *name, ng_optimizer_kind *kind)
{
    for (int i = 0; i < NG_N_OPTIMIZERS; i++)
        if (strcmp(name, names[i]) == 0) {
            *kind = (ng_optimizer_kind)i;
            return true;
        }
    return false;
}
