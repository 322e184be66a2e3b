/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/host_device.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_TENSORS = 2 * NG_MAX_TENSORS,
    /* What cuMemAlloc aligns to; more than the guard before the data. */
    BOUNDARY = 256,
    LARGEST_ALIGNMENT = 4096
};

/* CUDA's types as its driver's binary interface has them: results and devices
 * are ints, device pointers 64 bits, the rest are handles. */
typedef uint64_t device_pointer;

static struct {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*primary_retain)(void **context, int device);
    int (*primary_release)(int device);
    int (*set_current)(void *context);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_synchronize)(void *stream);
    int (*stream_destroy)(void *stream);
    int (*context_synchronize)(void);
    int (*allocate)(device_pointer *pointer, size_t bytes);
    int (*free)(device_pointer pointer);
    int (*copy_in)(device_pointer to, const void *from, size_t bytes);
    int (*copy_out)(void *to, device_pointer from, size_t bytes);
    int (*error_name)(int error, const char **name);
} cuda;

/* Kept from call to call, as host buffers are. */
typedef struct device_buffer {
    device_pointer memory;
    size_t bytes;
    device_pointer data;
} device_buffer;

static device_buffer buffers[MAX_TENSORS];
static unsigned char *scratch; /* inputs as they came back */
static size_t scratch_bytes;
static void *stream, *context;
static int device;
static bool retained;

/* Whether a call of the driver went well; else say what did not. */
static bool went_well(int result, const char *function, char *text, size_t size)
{
    const char *name = NULL;

    if (result == 0)
        return true;
    if (cuda.error_name(result, &name) == 0 && name != NULL)
        snprintf(text, size, "%s: %s", function, name);
    else
        snprintf(text, size, "%s: CUDA error %d", function, result);
    return false;
}

static bool find_functions(void *handle, char *text, size_t size)
{
    const struct {
        const char *symbol;
        void *function; /* where its address goes */
    } functions[] = {
        {"cuInit", &cuda.init},
        {"cuDeviceGet", &cuda.device_get},
        {"cuDevicePrimaryCtxRetain", &cuda.primary_retain},
        {"cuDevicePrimaryCtxRelease_v2", &cuda.primary_release},
        {"cuCtxSetCurrent", &cuda.set_current},
        {"cuStreamCreate", &cuda.stream_create},
        {"cuStreamSynchronize", &cuda.stream_synchronize},
        {"cuStreamDestroy_v2", &cuda.stream_destroy},
        {"cuCtxSynchronize", &cuda.context_synchronize},
        {"cuMemAlloc_v2", &cuda.allocate},
        {"cuMemFree_v2", &cuda.free},
        {"cuMemcpyHtoD_v2", &cuda.copy_in},
        {"cuMemcpyDtoH_v2", &cuda.copy_out},
        {"cuGetErrorName", &cuda.error_name},
    };

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = dlsym(handle, functions[i].symbol);

        if (symbol == NULL) {
            snprintf(text, size, "the CUDA driver has no %s",
                     functions[i].symbol);
            return false;
        }
        memcpy(functions[i].function, &symbol, sizeof symbol);
    }
    return true;
}

bool ng_host_device_open(char *text, size_t size)
{
    const char *named = getenv("NARROWGAUGE_LIBCUDA");
    void *handle =
        dlopen(named != NULL ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        snprintf(text, size, "no CUDA driver: %s", dlerror());
        return false;
    }
    if (!find_functions(handle, text, size)
        || !went_well(cuda.init(0), "cuInit", text, size)
        || !went_well(cuda.device_get(&device, 0), "cuDeviceGet", text, size)
        || !went_well(cuda.primary_retain(&context, device),
                      "cuDevicePrimaryCtxRetain", text, size))
        return false;
    retained = true;
    return went_well(cuda.set_current(context), "cuCtxSetCurrent", text, size)
           && went_well(cuda.stream_create(&stream, 0), "cuStreamCreate", text,
                        size);
}

void *ng_host_device_stream(void)
{
    return stream;
}

static bool make_room(device_buffer *buffer, size_t wanted, char *text,
                      size_t size)
{
    size_t bytes = 4096;
    char what[64];

    if (wanted <= buffer->bytes)
        return true;
    while (bytes < wanted)
        bytes *= 2;
    if (buffer->memory != 0
        && !went_well(cuda.free(buffer->memory), "cuMemFree", text, size))
        return false;
    *buffer = (device_buffer){0};
    snprintf(what, sizeof what, "cuMemAlloc of %zu bytes", bytes);
    if (!went_well(cuda.allocate(&buffer->memory, bytes), what, text, size)) {
        buffer->memory = 0;
        return false;
    }
    buffer->bytes = bytes;
    return true;
}

bool ng_host_device_place(void **data, const unsigned char *arena,
                          const ng_wire_call *call, char *text, size_t size)
{
    /* A plug-in may have left another one current. */
    if (!went_well(cuda.set_current(context), "cuCtxSetCurrent", text, size))
        return false;
    for (int i = 0; i < call->n_inputs + call->n_outputs; i++) {
        const ng_wire_tensor *t = &call->tensor[i];
        const size_t unit = ng_dtype_size(t->dtype);
        const size_t step =
            call->alignment > (int64_t)unit ? (size_t)call->alignment : unit;
        const size_t boundary = step > BOUNDARY ? step : BOUNDARY;
        const size_t bytes = (size_t)t->span + 2 * NG_HOST_GUARD;
        device_buffer *b = &buffers[i];

        if (!make_room(b, bytes + 2 * LARGEST_ALIGNMENT + BOUNDARY, text, size))
            return false;
        b->data =
            (b->memory + NG_HOST_GUARD + boundary - 1) / boundary * boundary
            + (call->at_end ? 0 : step);
        if (!went_well(
                cuda.copy_in(b->data - NG_HOST_GUARD, arena + t->offset, bytes),
                "cuMemcpyHtoD", text, size))
            return false;
        memcpy(&data[i], &b->data, sizeof data[i]); /* both have 64 bits */
    }
    return went_well(cuda.context_synchronize(), "cuCtxSynchronize", text,
                     size);
}

/* Whether an input, or a guard of it, is not what it was. */
static bool has_changed(bool *changed, const device_buffer *b,
                        const ng_wire_tensor *t, const unsigned char *arena,
                        char *text, size_t size)
{
    const size_t bytes = (size_t)t->span + 2 * NG_HOST_GUARD;

    if (bytes > scratch_bytes) {
        free(scratch);
        scratch = malloc(bytes);
        scratch_bytes = scratch != NULL ? bytes : 0;
    }
    if (scratch == NULL) {
        snprintf(text, size, "out of memory");
        return false;
    }
    if (!went_well(cuda.copy_out(scratch, b->data - NG_HOST_GUARD, bytes),
                   "cuMemcpyDtoH", text, size))
        return false;
    *changed = memcmp(scratch, arena + t->offset, bytes) != 0;
    return true;
}

bool ng_host_device_collect(int32_t *written, unsigned char *arena,
                            const ng_wire_call *call, char *text, size_t size)
{
    *written = -1;
    if (!went_well(cuda.set_current(context), "cuCtxSetCurrent", text, size)
        || !went_well(cuda.stream_synchronize(stream), "cuStreamSynchronize",
                      text, size))
        return false;
    for (int i = 0; i < call->n_inputs + call->n_outputs; i++) {
        const ng_wire_tensor *t = &call->tensor[i];
        const device_buffer *b = &buffers[i];
        bool changed = false;

        if (i >= call->n_inputs) {
            if (!went_well(cuda.copy_out(arena + t->offset,
                                         b->data - NG_HOST_GUARD,
                                         (size_t)t->span + 2 * NG_HOST_GUARD),
                           "cuMemcpyDtoH", text, size))
                return false;
        } else if (!has_changed(&changed, b, t, arena, text, size)) {
            return false;
        }
        if (changed && *written < 0)
            *written = i;
    }
    return true;
}

void ng_host_device_close(void)
{
    if (retained)
        cuda.set_current(context); /* a plug-in may have left another one */
    for (int i = 0; i < MAX_TENSORS; i++)
        if (buffers[i].memory != 0)
            cuda.free(buffers[i].memory);
    memset(buffers, 0, sizeof buffers);
    free(scratch);
    scratch = NULL;
    scratch_bytes = 0;
    if (stream != NULL)
        cuda.stream_destroy(stream);
    stream = NULL;
    if (retained)
        cuda.primary_release(device);
    retained = false;
}
