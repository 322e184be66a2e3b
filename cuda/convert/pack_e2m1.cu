/* SPDX-License-Identifier: Apache-2.0
 *
 * E2M1 codes to two a byte and back: a warp a row; see row_block.cuh.
 */
#include "cuda/convert/pack_e2m1.h"

#include "cuda/check_views.h"
#include "cuda/convert/row_block.cuh"
#include "cuda/general.cuh"

template <class JOB>
static ng_status run(const ng_matrix *y, ng_dtype y_type, const ng_matrix *x,
                     ng_dtype x_type, const ng_options *options,
                     const ng_cuda_launch *launch)
{
    ng_status status;

    if (y == nullptr || x == nullptr)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_cuda_check_call(options, x->rows, x->cols, launch))
            != NG_OK
        || (status = ng_cuda_check_matrix(y, 1u << y_type)) != NG_OK
        || (status = ng_cuda_check_matrix(x, 1u << x_type)) != NG_OK)
        return status;
    return ng_cuda_run_general(JOB{*y, *x, ng_cuda_options_of(options)},
                               x->cols > 0 ? x->rows : 0, launch);
}

extern "C" ng_status ng_cuda_pack_e2m1(const ng_matrix *y, const ng_matrix *x,
                                       const ng_options *options,
                                       const ng_cuda_launch *launch)
{
    return run<ng_cuda_pack_job>(y, NG_E2M1X2, x, NG_E2M1, options, launch);
}

extern "C" ng_status ng_cuda_unpack_e2m1(const ng_matrix *y, const ng_matrix *x,
                                         const ng_options *options,
                                         const ng_cuda_launch *launch)
{
    return run<ng_cuda_unpack_job>(y, NG_E2M1, x, NG_E2M1X2, options, launch);
}
