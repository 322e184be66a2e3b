/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of scalars, a thread an element; see elements.h.
 */
#include "cuda/convert/elements.h"

#include "cuda/convert/encode_element.cuh"
#include "cuda/convert/philox_word.cuh"
#include "cuda/count_events.cuh"
#include "cuda/grid.cuh"
#include "cuda/try.cuh"

enum { THREADS = 256, BLOCKS = 8 * 132 };

template <class CODE>
static __global__ void encode(CODE *y, const float *x, const uint32_t *random,
                              int64_t n, int format, ng_rules rules,
                              ng_events *events, bool inexact_only)
{
    ng_cuda_counts counts = {};

    for (int64_t i = ng_cuda_thread(); i < n; i += ng_cuda_threads()) {
        unsigned bits = 0;

        y[i] = (CODE)ng_cuda_encode_element(
            format, x[i], rules, random != nullptr ? random[i] : 0, bits);
        ng_cuda_count(counts, bits);
    }
    ng_cuda_add_counts(events, counts, inexact_only);
}

template <class CODE>
static __global__ void decode(float *y, const CODE *x, int64_t n, int format,
                              ng_rules rules)
{
    for (int64_t i = ng_cuda_thread(); i < n; i += ng_cuda_threads())
        y[i] = ng_cuda_decode_element(format, x[i], rules);
}

static __global__ void philox(uint32_t *y, const uint64_t *first, int64_t n,
                              ng_random random)
{
    for (int64_t i = ng_cuda_thread(); i < n; i += ng_cuda_threads())
        y[i] = ng_cuda_philox_word(random, *first + (uint64_t)i);
}

static bool is_byte(ng_format_id format)
{
    return format == NG_FORMAT_E2M1 || format == NG_FORMAT_E4M3
           || format == NG_FORMAT_UE8M0;
}

/* An array that is there, of units of that many bytes. */
static bool is_good(const void *data, size_t unit)
{
    return data != nullptr && (uintptr_t)data % unit == 0;
}

/* codes: of the format; others: the other array, of units of `unit` bytes. */
static ng_status check(const void *codes, const void *others, size_t unit,
                       int64_t n, ng_format_id format,
                       const ng_cuda_launch *launch)
{
    if (launch == nullptr || (uintptr_t)launch->events % 8 != 0)
        return NG_BAD_POINTER;
    if (n < 0)
        return NG_BAD_SHAPE;
    if ((unsigned)format >= NG_FORMAT_FP32)
        return NG_BAD_DTYPE;
    return n == 0
                   || (is_good(codes, is_byte(format) ? 1 : 2)
                       && is_good(others, unit))
               ? NG_OK
               : NG_BAD_POINTER;
}

static ng_status check_rules(const ng_rules *rules)
{
    if (rules == nullptr)
        return NG_BAD_POINTER;
    return ng_rules_for_kernels(rules) ? NG_OK : NG_BAD_RULES;
}

extern "C" ng_status ng_cuda_encode(void *y, const float *x,
                                    const uint32_t *random, int64_t n,
                                    ng_format_id format, const ng_rules *rules,
                                    const ng_cuda_launch *launch)
{
    ng_status status = check(y, x, sizeof *x, n, format, launch);

    if (status != NG_OK || n == 0)
        return status;
    if ((status = check_rules(rules)) != NG_OK)
        return status;
    if ((uintptr_t)random % sizeof *random != 0)
        return NG_BAD_POINTER;

    const unsigned blocks = ng_cuda_blocks(n, THREADS, BLOCKS);
    const cudaStream_t stream = (cudaStream_t)launch->stream;

    if (is_byte(format))
        encode<<<blocks, THREADS, 0, stream>>>((uint8_t *)y, x, random, n,
                                               format, *rules, launch->events,
                                               launch->inexact_only);
    else
        encode<<<blocks, THREADS, 0, stream>>>((uint16_t *)y, x, random, n,
                                               format, *rules, launch->events,
                                               launch->inexact_only);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}

extern "C" ng_status ng_cuda_decode(float *y, const void *x, int64_t n,
                                    ng_format_id format, const ng_rules *rules,
                                    const ng_cuda_launch *launch)
{
    ng_status status = check(x, y, sizeof *y, n, format, launch);

    if (status != NG_OK || n == 0)
        return status;
    if ((status = check_rules(rules)) != NG_OK)
        return status;

    const unsigned blocks = ng_cuda_blocks(n, THREADS, BLOCKS);
    const cudaStream_t stream = (cudaStream_t)launch->stream;

    if (is_byte(format))
        decode<<<blocks, THREADS, 0, stream>>>(y, (const uint8_t *)x, n, format,
                                               *rules);
    else
        decode<<<blocks, THREADS, 0, stream>>>(y, (const uint16_t *)x, n,
                                               format, *rules);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}

extern "C" ng_status ng_cuda_philox(uint32_t *y, const uint64_t *first,
                                    int64_t n, const ng_random *random,
                                    const ng_cuda_launch *launch)
{
    if (launch == nullptr)
        return NG_BAD_POINTER;
    if (n < 0)
        return NG_BAD_SHAPE;
    if (n == 0)
        return NG_OK;
    if (!is_good(y, sizeof *y) || !is_good(first, sizeof *first)
        || random == nullptr)
        return NG_BAD_POINTER;
    philox<<<ng_cuda_blocks(n, THREADS, BLOCKS), THREADS, 0,
             (cudaStream_t)launch->stream>>>(y, first, n, *random);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
