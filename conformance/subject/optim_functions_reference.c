/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/optim_functions.h"
#include "reference/optim/ref_compand.h"
#include "reference/optim/ref_expand.h"
#include "reference/optim/ref_merge_weights.h"
#include "reference/optim/ref_split_weights.h"
#include "reference/optim/ref_step.h"
#include "reference/optim/ref_step_constants.h"

const ng_optim_functions ng_reference_optim_functions = {
    .split_weights = ng_ref_split_weights,
    .merge_weights = ng_ref_merge_weights,
    .compand = ng_ref_compand,
    .expand = ng_ref_expand,
    .step_constants = ng_ref_step_constants,
    .step = ng_ref_step,
};
