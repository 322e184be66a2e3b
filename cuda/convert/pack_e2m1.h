/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_CONVERT_PACK_E2M1_H
#define NG_CUDA_CONVERT_PACK_E2M1_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_pack_e2m1 and ng_ref_unpack_e2m1 on the GPU: E2M1 codes, one a byte
 * (E2M1), to two a byte (E2M1X2, the even element low), and back.
 *   y, x     [rows, cols]; not overlapping
 *   options  rules must be valid, none is read; groups
 * No events, no workspace, not built for speed. Returns as launch.h says. */
ng_status ng_cuda_pack_e2m1(const ng_matrix *y, const ng_matrix *x,
                            const ng_options *options,
                            const ng_cuda_launch *launch);
ng_status ng_cuda_unpack_e2m1(const ng_matrix *y, const ng_matrix *x,
                              const ng_options *options,
                              const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
