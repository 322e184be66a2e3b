/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_philox.h"

uint32_t ng_ref_philox(uint64_t seed, uint64_t stream, uint64_t index)
{
    const uint64_t block = index / 4;
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32),
                           (uint32_t)stream, (uint32_t)(stream >> 32)};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};

    for (int round = 0; round < 10; round++) {
        /* The multipliers and the Weyl increments are the paper's. */
        const uint64_t a = UINT64_C(0xD2511F53) * counter[0];
        const uint64_t b = UINT64_C(0xCD9E8D57) * counter[2];
        const uint32_t next[4] = {
            (uint32_t)(b >> 32) ^ counter[1] ^ key[0], (uint32_t)b,
            (uint32_t)(a >> 32) ^ counter[3] ^ key[1], (uint32_t)a,
        };

        for (int word = 0; word < 4; word++)
            counter[word] = next[word];
        key[0] += UINT32_C(0x9E3779B9);     /* golden ratio */
        key[1] += UINT32_C(0xBB67AE85);     /* sqrt(3) - 1 */
    }
    return counter[index % 4];
}
