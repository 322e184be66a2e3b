/* SPDX-License-Identifier: Apache-2.0
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011; semantics.md 1). A thread
 * that rounds four neighbours takes all four words of one block.
 */
#ifndef NG_CUDA_CONVERT_PHILOX_WORD_CUH
#define NG_CUDA_CONVERT_PHILOX_WORD_CUH

#include <cstdint>

#include "cuda/host_device.cuh"
#include "formats/options.h"

struct ng_cuda_words {
    uint32_t word[4];
};

/* Words 4 * block ... 4 * block + 3 of the stream. */
NG_HOST_DEVICE ng_cuda_words ng_cuda_philox_block(const ng_random &random,
                                                  uint64_t block)
{
    uint32_t c0 = (uint32_t)block, c1 = (uint32_t)(block >> 32);
    uint32_t c2 = (uint32_t)random.stream, c3 = (uint32_t)(random.stream >> 32);
    uint32_t k0 = (uint32_t)random.seed, k1 = (uint32_t)(random.seed >> 32);

    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)c0 * 0xD2511F53u;
        const uint64_t b = (uint64_t)c2 * 0xCD9E8D57u;

        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
}

/* Word `index` of the stream. */
NG_HOST_DEVICE uint32_t ng_cuda_philox_word(const ng_random &random,
                                            uint64_t index)
{
    const ng_cuda_words words = ng_cuda_philox_block(random, index / 4);
    const uint32_t i = (uint32_t)index % 4;

    return i == 0   ? words.word[0]
           : i == 1 ? words.word[1]
           : i == 2 ? words.word[2]
                    : words.word[3];
}

#endif
