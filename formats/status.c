/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "formats/text.h"

const char *ng_status_text(ng_status status)
{
    switch (status) {
    case NG_OK:          return "ok";
    case NG_BAD_POINTER: return "a required pointer is null";
    case NG_BAD_SHAPE:   return "bad shape";
    case NG_BAD_DTYPE:   return "bad element type";
    case NG_BAD_LAYOUT:  return "bad layout";
    case NG_BAD_GROUPS:  return "bad group offsets";
    case NG_BAD_RULES:   return "rules that this operation does not offer";
    case NG_BAD_SCALE:   return "a scale that is not a power of two";
    case NG_NO_MEMORY:   return "out of memory";
    case NG_BAD_FILE:    return "bad file";
    case NG_NOT_COVERED: return "not covered";
    case NG_BAD_VALUE:   return "a number that this operation does not take";
    case NG_NO_DEVICE:   return "no GPU that the kernels run on";
    case NG_DEVICE_ERROR: return "an error of the GPU";
    case NG_BAD_SUBJECT: return "a kernel of the user's own failed";
    }
    return "unknown status";
}

ng_status ng_fail(ng_error *error, ng_status status, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        ng_make_plain_text(error->text);
    }
    return status;
}
