/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors for the two inner loops of the reference's matrix products, by the
 * extension that gcc and clang share: each lane does what a scalar would, so
 * that lanes change no bit. NG_REF_CLONES compiles a function for AVX2 as well,
 * chosen when the program starts; contraction stays off in both.
 */
#ifndef NG_REFERENCE_MODEL_REF_LANES_H
#define NG_REFERENCE_MODEL_REF_LANES_H

typedef float ng_ref_floats __attribute__((vector_size(32), aligned(4)));
typedef double ng_ref_doubles __attribute__((vector_size(32), aligned(8)));

/* Not with sanitizers: the choice is made before they are ready. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) \
    && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__)     \
    && !defined(__SANITIZE_THREAD__)
#define NG_REF_CLONES \
    __attribute__((noinline, target_clones("avx2", "default")))
#else
#define NG_REF_CLONES
#endif

/* Before a loop whose rounds are independent of each other: gcc -O2 makes
 * vectors of it only if told so. No sum is ever split over lanes. */
#ifdef _OPENMP
#define NG_REF_SIMD _Pragma("omp simd")
#else
#define NG_REF_SIMD
#endif

#endif
