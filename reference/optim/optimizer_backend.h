/* SPDX-License-Identifier: Apache-2.0
 *
 * An optimizer whose arrays lie in a backend's memory and whose arithmetic is
 * the backend's: what the training loop has. Without it they are the host's and
 * the reference's. Not installed, as backend.h is not.
 */
#ifndef NG_REFERENCE_OPTIM_OPTIMIZER_BACKEND_H
#define NG_REFERENCE_OPTIM_OPTIMIZER_BACKEND_H

#include "reference/backend.h"
#include "reference/optim/optimizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Let the optimizer work on a backend from here on; it must outlive the
 * optimizer. Weights, states and gradients that ng_optimizer_parameter and
 * ng_optimizer_gradient point at are then the backend's memory; theta of import
 * and export, *scale, and the tensors of save and load stay the host's. The
 * bits are the same: those operations are exact. ng_optimizer_check_lr looks at
 * host memory alone, and is NG_NOT_COVERED.
 *   A failure of the backend in the middle of a step is passed on, and leaves
 * some parameters stepped and others not.
 * Returns NG_OK, NG_BAD_POINTER, NG_NO_MEMORY, or NG_BAD_VALUE (a parameter, or
 * a backend, is there already). */
ng_status ng_optimizer_use_backend(ng_optimizer *optimizer,
                                   const ng_backend *backend, ng_error *error);

/* As ng_optimizer_export, but theta [n] is in the memory of the backend (the
 * host's where there is none). */
ng_status ng_optimizer_export_there(float *theta, const ng_optimizer *optimizer,
                                    int64_t parameter, ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
