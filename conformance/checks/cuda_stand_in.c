/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for CUDA's driver, for tests of device memory where there is no
 * GPU: as much of it as conformance/subject/host_device.c calls. "Device
 * memory" is the process's own. CUDA_STAND_IN names what fails; when the
 * context is released, one line of what was allocated and given back is added
 * to the file CUDA_STAND_IN_LOG.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What cuda.h calls these; a device pointer is a number of 64 bits there, which
 * is passed as a pointer is. */
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    ILLEGAL_ADDRESS = 700
};

int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDevicePrimaryCtxRetain(void **current, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(void *current);
int cuCtxSynchronize(void);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuStreamDestroy_v2(void *stream);
int cuMemAlloc_v2(void **pointer, size_t bytes);
int cuMemFree_v2(void *pointer);
int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, const void *from, size_t bytes);
int cuGetErrorName(int error, const char **name);

static int context, the_stream;
static int allocated, freed, streams, copies;

static bool fails(const char *what)
{
    const char *asked = getenv("CUDA_STAND_IN");

    return asked != NULL && strcmp(asked, what) == 0;
}

int cuInit(unsigned flags)
{
    return flags != 0           ? INVALID_VALUE
           : fails("no-device") ? NO_DEVICE
                                : SUCCESS;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = 7;
    return ordinal == 0 ? SUCCESS : INVALID_VALUE;
}

int cuDevicePrimaryCtxRetain(void **current, int device)
{
    *current = &context;
    return device == 7 ? SUCCESS : INVALID_VALUE;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    const char *path = getenv("CUDA_STAND_IN_LOG");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;

    if (file != NULL) {
        fprintf(file, "allocated %d freed %d streams %d\n", allocated, freed,
                streams);
        fclose(file);
    }
    return device == 7 ? SUCCESS : INVALID_VALUE;
}

int cuCtxSetCurrent(void *current)
{
    return current == &context ? SUCCESS : INVALID_VALUE;
}

int cuCtxSynchronize(void)
{
    return SUCCESS;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    streams++;
    *stream = &the_stream;
    return flags == 0 ? SUCCESS : INVALID_VALUE;
}

int cuStreamSynchronize(void *stream)
{
    return stream != &the_stream  ? INVALID_VALUE
           : fails("synchronize") ? ILLEGAL_ADDRESS
                                  : SUCCESS;
}

int cuStreamDestroy_v2(void *stream)
{
    streams--;
    return stream == &the_stream ? SUCCESS : INVALID_VALUE;
}

int cuMemAlloc_v2(void **pointer, size_t bytes)
{
    void *memory =
        fails("allocate") || (fails("allocate-late") && allocated >= 1)
            ? NULL
            : aligned_alloc(256, (bytes + 255) / 256 * 256);

    *pointer = memory;
    allocated += memory != NULL;
    return memory != NULL ? SUCCESS : OUT_OF_MEMORY;
}

int cuMemFree_v2(void *pointer)
{
    free(pointer);
    freed++;
    return pointer != NULL ? SUCCESS : INVALID_VALUE;
}

int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return SUCCESS;
}

int cuMemcpyDtoH_v2(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return fails("copy") && ++copies > 3 ? 12345 : SUCCESS;
}

int cuGetErrorName(int error, const char **name)
{
    *name = error == OUT_OF_MEMORY     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == NO_DEVICE       ? "CUDA_ERROR_NO_DEVICE"
            : error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                       : NULL;
    return *name != NULL ? SUCCESS : INVALID_VALUE;
}
