/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_OPTIM_REF_ROOT_H
#define NG_REFERENCE_OPTIM_REF_ROOT_H

#include "reference/exact.h"

/* RN32(sqrt v) of a finite FP32 number v >= 0, in integers; +0 of -0. */
ng_exact ng_ref_root_fp32(ng_exact v);

#endif
