/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/device.h"

#include <cstdio>
#include <cstring>

#include "cuda/try.cuh"

static thread_local char error_text[512];

ng_status ng_cuda_note(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return NG_OK;
    std::snprintf(error_text, sizeof error_text, "%s (%s): %s",
                  cudaGetErrorName(error), cudaGetErrorString(error), call);
    (void)cudaGetLastError(); /* or the next launch would report it again */
    switch (error) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInitializationError:
        return NG_NO_DEVICE;
    case cudaErrorMemoryAllocation:
        return NG_NO_MEMORY;
    default:
        return NG_DEVICE_ERROR;
    }
}

extern "C" const char *ng_cuda_error_text(void)
{
    return error_text;
}

/* Does nothing; that it can be found says that the kernels run here. */
static __global__ void probe()
{
}

extern "C" ng_status ng_cuda_device_get(ng_cuda_device *device)
{
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    int current, value;

    if (device == nullptr)
        return NG_BAD_POINTER;
    NG_CUDA_TRY(cudaGetDevice(&current));
    NG_CUDA_TRY(cudaGetDeviceProperties(&properties, current));
    NG_CUDA_TRY(cudaFuncGetAttributes(&attributes, probe));
    std::memset(device, 0, sizeof *device);
    std::snprintf(device->name, sizeof device->name, "%s", properties.name);
    device->major = properties.major;
    device->minor = properties.minor;
    device->n_multiprocessors = properties.multiProcessorCount;
    device->l2_bytes = properties.l2CacheSize;
    device->memory_bytes = (int64_t)properties.totalGlobalMem;
    device->shared_bytes = (int64_t)properties.sharedMemPerBlockOptin;
    if (cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, current)
        == cudaSuccess)
        device->clock_khz = value;
    if (cudaDeviceGetAttribute(&value, cudaDevAttrMemoryClockRate, current)
        == cudaSuccess)
        device->memory_clock_khz = value;
    (void)cudaGetLastError(); /* a clock that is not known is no error */
    NG_CUDA_TRY(cudaDriverGetVersion(&device->driver));
    NG_CUDA_TRY(cudaRuntimeGetVersion(&device->runtime));
    return NG_OK;
}

extern "C" ng_status ng_cuda_allocate(void **device, int64_t bytes)
{
    *device = nullptr;
    NG_CUDA_TRY(cudaMalloc(device, (size_t)(bytes > 0 ? bytes : 1)));
    return NG_OK;
}

extern "C" ng_status ng_cuda_free(void *device)
{
    NG_CUDA_TRY(cudaFree(device));
    return NG_OK;
}

extern "C" ng_status ng_cuda_allocate_host(void **host, int64_t bytes)
{
    *host = nullptr;
    NG_CUDA_TRY(cudaMallocHost(host, (size_t)(bytes > 0 ? bytes : 1)));
    return NG_OK;
}

extern "C" ng_status ng_cuda_free_host(void *host)
{
    NG_CUDA_TRY(cudaFreeHost(host));
    return NG_OK;
}

extern "C" ng_status ng_cuda_copy(void *to, const void *from, int64_t bytes,
                                  void *stream)
{
    if (bytes > 0)
        NG_CUDA_TRY(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDefault,
                                    (cudaStream_t)stream));
    return NG_OK;
}

extern "C" ng_status ng_cuda_fill(void *device, int byte, int64_t bytes,
                                  void *stream)
{
    if (bytes > 0)
        NG_CUDA_TRY(
            cudaMemsetAsync(device, byte, (size_t)bytes, (cudaStream_t)stream));
    return NG_OK;
}

extern "C" ng_status ng_cuda_stream_create(void **stream)
{
    NG_CUDA_TRY(cudaStreamCreateWithFlags((cudaStream_t *)stream,
                                          cudaStreamNonBlocking));
    return NG_OK;
}

extern "C" ng_status ng_cuda_stream_destroy(void *stream)
{
    NG_CUDA_TRY(cudaStreamDestroy((cudaStream_t)stream));
    return NG_OK;
}

extern "C" ng_status ng_cuda_synchronize(void *stream)
{
    NG_CUDA_TRY(cudaStreamSynchronize((cudaStream_t)stream));
    return NG_OK;
}

extern "C" ng_status ng_cuda_event_create(void **event)
{
    NG_CUDA_TRY(cudaEventCreate((cudaEvent_t *)event));
    return NG_OK;
}

extern "C" ng_status ng_cuda_event_destroy(void *event)
{
    NG_CUDA_TRY(cudaEventDestroy((cudaEvent_t)event));
    return NG_OK;
}

extern "C" ng_status ng_cuda_event_record(void *event, void *stream)
{
    NG_CUDA_TRY(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream));
    return NG_OK;
}

extern "C" ng_status ng_cuda_event_seconds(double *seconds, void *first,
                                           void *second)
{
    float milliseconds;

    NG_CUDA_TRY(cudaEventSynchronize((cudaEvent_t)second));
    NG_CUDA_TRY(cudaEventElapsedTime(&milliseconds, (cudaEvent_t)first,
                                     (cudaEvent_t)second));
    *seconds = 1e-3 * (double)milliseconds;
    return NG_OK;
}
