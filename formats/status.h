/* SPDX-License-Identifier: Apache-2.0
 *
 * What an array function returns. A status other than NG_OK means that the
 * outputs are untouched. Numeric events are no errors: see formats/events.h.
 */
#ifndef NG_FORMATS_STATUS_H
#define NG_FORMATS_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ng_status {
    NG_OK = 0,
    NG_BAD_POINTER,     /* a required pointer is null */
    NG_BAD_SHAPE,       /* negative, overflowing, or shapes that do not agree */
    NG_BAD_DTYPE,       /* an element type that the operation does not take */
    NG_BAD_LAYOUT,      /* strides, scale layout or form that do not fit */
    NG_BAD_GROUPS,      /* offsets decrease, do not start at 0, or pass the rows */
    NG_BAD_RULES,       /* a rule, or a combination, that the operation lacks */
    NG_BAD_SCALE,       /* a scale that is no power of two where one is declared */
    NG_NO_MEMORY,
    NG_BAD_FILE,        /* a file that cannot be read or written; see ng_error */
    NG_NOT_COVERED,     /* a subject does not offer this call */
    NG_BAD_VALUE,       /* a number that the operation does not take */
    NG_NO_DEVICE,       /* no GPU, or none that the kernels run on */
    NG_DEVICE_ERROR,    /* CUDA reported an error; ng_cuda_error_text() */
    NG_BAD_SUBJECT      /* a kernel of the user's own failed; see ng_error */
} ng_status;

/* A short English phrase for a status, never null. */
const char *ng_status_text(ng_status status);

/* One line about what went wrong, naming the file and the field. */
typedef struct ng_error {
    char text[512];
} ng_error;

/* Write printf-style text into *error (which may be null), cut at its size;
 * control bytes from outside are shown as '?'. Returns status, so that
 * `return ng_fail(error, NG_BAD_FILE, "...")` reads as one step. */
ng_status ng_fail(ng_error *error, ng_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#ifdef __cplusplus
}
#endif

#endif
