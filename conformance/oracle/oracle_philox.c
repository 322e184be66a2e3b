/* SPDX-License-Identifier: Apache-2.0
 *
 * Philox4x32-10 over integers: each round multiplies the even words of the
 * counter by a constant, and the product's quotient and remainder by 2^32 are
 * its high and low words. No machine arithmetic takes part but the exclusive
 * or, which GMP has too.
 */
#include "conformance/oracle/oracle_philox.h"

#include "conformance/oracle/oracle_context.h"

enum { ROUNDS = 10 };

/* Low and high words of 64 bits. */
static void set_words(mpz_t word[2], uint64_t bits)
{
    mpz_set_ui(word[0], (unsigned long)(bits & 0xFFFFFFFF));
    mpz_set_ui(word[1], (unsigned long)(bits >> 32));
}

static void philox_round(ng_oracle_context *c)
{
    mpz_t *const word = c->counter;

    mpz_mul_ui(c->product[0], word[0], 0xD2511F53);
    mpz_mul_ui(c->product[1], word[2], 0xCD9E8D57);
    mpz_fdiv_q_2exp(word[0], c->product[1], 32);
    mpz_xor(word[0], word[0], word[1]);
    mpz_xor(word[0], word[0], c->key[0]);
    mpz_fdiv_q_2exp(word[2], c->product[0], 32);
    mpz_xor(word[2], word[2], word[3]);
    mpz_xor(word[2], word[2], c->key[1]);
    mpz_fdiv_r_2exp(word[1], c->product[1], 32);
    mpz_fdiv_r_2exp(word[3], c->product[0], 32);
}

static void raise_key(mpz_t key, unsigned long weyl)
{
    mpz_add_ui(key, key, weyl);
    mpz_fdiv_r_2exp(key, key, 32);
}

uint32_t ng_oracle_philox(uint64_t seed, uint64_t stream, uint64_t index)
{
    ng_oracle_context *c = ng_oracle_here();
    const uint64_t block = index / 4;

    if (!c->has_words || c->seed != seed || c->stream != stream
        || c->block != block) {
        set_words(c->counter, block);
        set_words(c->counter + 2, stream);
        set_words(c->key, seed);
        for (int i = 0; i < ROUNDS; i++) {
            if (i > 0) {
                raise_key(c->key[0], 0x9E3779B9);
                raise_key(c->key[1], 0xBB67AE85);
            }
            philox_round(c);
        }
        for (int i = 0; i < 4; i++)
            c->word[i] = (uint32_t)mpz_get_ui(c->counter[i]);
        c->seed = seed;
        c->stream = stream;
        c->block = block;
        c->has_words = 1;
    }
    return c->word[index % 4];
}
