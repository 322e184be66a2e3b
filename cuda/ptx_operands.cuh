/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of operands of an instruction that takes up to 128 registers of an
 * array: their numbers in the text, and the registers themselves. The macros
 * count in tens: t is what stands before the last digit, nothing for 0 to 9.
 */
#ifndef NG_CUDA_PTX_OPERANDS_CUH
#define NG_CUDA_PTX_OPERANDS_CUH

#define NG_PTX_TEN(t)                                                        \
    "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, " \
    "%" #t "7, %" #t "8, %" #t "9"

/* "%0, ..." for the first n operands. */
#define NG_PTX_LIST_4 "%0, %1, %2, %3"
#define NG_PTX_LIST_30 NG_PTX_TEN() ", " NG_PTX_TEN(1) ", " NG_PTX_TEN(2)
#define NG_PTX_LIST_32 NG_PTX_LIST_30 ", %30, %31"
#define NG_PTX_LIST_60 \
    NG_PTX_LIST_30 ", " NG_PTX_TEN(3) ", " NG_PTX_TEN(4) ", " NG_PTX_TEN(5)
#define NG_PTX_LIST_64 NG_PTX_LIST_60 ", %60, %61, %62, %63"
#define NG_PTX_LIST_90 \
    NG_PTX_LIST_60 ", " NG_PTX_TEN(6) ", " NG_PTX_TEN(7) ", " NG_PTX_TEN(8)
#define NG_PTX_LIST_96 NG_PTX_LIST_90 ", %90, %91, %92, %93, %94, %95"
#define NG_PTX_LIST_128                                                    \
    NG_PTX_LIST_90 ", " NG_PTX_TEN(9) ", " NG_PTX_TEN(10) ", " NG_PTX_TEN( \
        11) ", %120, %121, %122, %123, %124, %125, %126, %127"

#define NG_PTX_FLOATS_TEN(d, t)                                                \
    "+f"(d[t##0]), "+f"(d[t##1]), "+f"(d[t##2]), "+f"(d[t##3]), "+f"(d[t##4]), \
        "+f"(d[t##5]), "+f"(d[t##6]), "+f"(d[t##7]), "+f"(d[t##8]),            \
        "+f"(d[t##9])

/* "+f"(d[0]), ... for the first n of d. */
#define NG_PTX_FLOATS_4(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define NG_PTX_FLOATS_30(d) \
    NG_PTX_FLOATS_TEN(d, ), NG_PTX_FLOATS_TEN(d, 1), NG_PTX_FLOATS_TEN(d, 2)
#define NG_PTX_FLOATS_32(d) NG_PTX_FLOATS_30(d), "+f"(d[30]), "+f"(d[31])
#define NG_PTX_FLOATS_60(d)                                                \
    NG_PTX_FLOATS_30(d), NG_PTX_FLOATS_TEN(d, 3), NG_PTX_FLOATS_TEN(d, 4), \
        NG_PTX_FLOATS_TEN(d, 5)
#define NG_PTX_FLOATS_64(d) \
    NG_PTX_FLOATS_60(d), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define NG_PTX_FLOATS_90(d)                                                \
    NG_PTX_FLOATS_60(d), NG_PTX_FLOATS_TEN(d, 6), NG_PTX_FLOATS_TEN(d, 7), \
        NG_PTX_FLOATS_TEN(d, 8)
#define NG_PTX_FLOATS_96(d)                                                  \
    NG_PTX_FLOATS_90(d), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), \
        "+f"(d[94]), "+f"(d[95])
#define NG_PTX_FLOATS_128(d)                                                \
    NG_PTX_FLOATS_90(d), NG_PTX_FLOATS_TEN(d, 9), NG_PTX_FLOATS_TEN(d, 10), \
        NG_PTX_FLOATS_TEN(d, 11), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), \
        "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

#endif
