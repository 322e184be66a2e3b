/* SPDX-License-Identifier: Apache-2.0
 *
 * Subject "cuda-host": the element and block functions of the kernels, compiled
 * for the host by an ordinary C++ compiler: what a machine without a GPU, or
 * without nvcc, verifies of cuda/.
 */
#include "conformance/subject/subject.h"
#include "cuda/convert/encode_element.cuh"
#include "cuda/convert/philox_word.cuh"

extern "C" {
#include "conformance/subject/conversions.h"
}

namespace
{

uint32_t encode(ng_format_id format, float x, const ng_rules *rules,
                uint32_t random, unsigned *events)
{
    return ng_cuda_encode_element(format, x, *rules, random, *events);
}

float decode(ng_format_id format, uint32_t code, const ng_rules *rules)
{
    return ng_cuda_decode_element(format, code, *rules);
}

uint32_t philox(uint64_t seed, uint64_t stream, uint64_t index)
{
    return ng_cuda_philox_word({seed, stream}, index);
}

constexpr ng_conversions make_conversions()
{
    ng_conversions table = {};

    table.encode = encode;
    table.decode = decode;
    table.philox = philox;
    return table;
}

constexpr ng_conversions conversions = make_conversions();

bool covers(const ng_call *call)
{
    return ng_conversions_cover(&conversions, call);
}

ng_status run(const ng_call *call)
{
    return ng_conversions_run(&conversions, call);
}

} // namespace

extern "C" const ng_subject ng_subject_cuda_host = {
    /* name */ "cuda-host",
    /* description */ "the kernels' element functions on the host",
    /* counts_events */ true,
    /* trusted */ false,
    covers,
    run,
    /* bounds */ nullptr,
    /* open */ nullptr,
};
