/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/optim_functions.h"
#include "conformance/oracle/oracle_compand.h"
#include "conformance/oracle/oracle_expand.h"
#include "conformance/oracle/oracle_merge_weights.h"
#include "conformance/oracle/oracle_split_weights.h"
#include "conformance/oracle/oracle_step.h"
#include "conformance/oracle/oracle_step_constants.h"

const ng_optim_functions ng_oracle_optim_functions = {
    .split_weights = ng_oracle_split_weights,
    .merge_weights = ng_oracle_merge_weights,
    .compand = ng_oracle_compand,
    .expand = ng_oracle_expand,
    .step_constants = ng_oracle_step_constants,
    .step = ng_oracle_step,
};
