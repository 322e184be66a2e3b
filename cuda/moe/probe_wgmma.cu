/* SPDX-License-Identifier: Apache-2.0
 *
 * One warpgroup a block, one tile at a time: codes to shared memory as the
 * instruction wants them, accumulators to registers, a chain of instructions,
 * accumulators out. Slow and plain; nothing here is timed.
 *
 * Shared memory   A  64 rows x 32 bytes   2 KiB
 *                 B   N rows x 32 bytes   up to 8 KiB
 */
#include "cuda/moe/probe_wgmma.h"

#include <cuda_runtime.h>

#include "cuda/ptx_wgmma_probe.cuh"

namespace
{

enum { THREADS = 128, ROWS = NG_PROBE_ROWS, DEPTH = NG_PROBE_DEPTH };
/* Bytes between core matrices along K and along the rows. */
enum { LEADING = 128, STRIDE = 256 };

/* Byte k of row r. */
__device__ int place(int r, int k)
{
    return r / 8 * STRIDE + k / 16 * LEADING + r % 8 * 16 + k % 16;
}

__device__ void load(uint8_t *to, const uint8_t *from, int rows, int pitch)
{
    for (int i = threadIdx.x; i < rows * DEPTH; i += THREADS)
        to[place(i / DEPTH, i % DEPTH)] = from[i / DEPTH * pitch + i % DEPTH];
}

__device__ void load_registers(uint32_t (&a)[4], const uint8_t *from, int pitch)
{
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x / 32 * 16 + lane / 4;

    for (int i = 0; i < 4; i++) {
        const uint8_t *code =
            from + (row + i % 2 * 8) * pitch + lane % 4 * 4 + i / 2 * 16;

        a[i] = code[0] | code[1] << 8 | code[2] << 16
               | static_cast<uint32_t>(code[3]) << 24;
    }
}

template <int N>
__global__ void __launch_bounds__(THREADS)
    run(uint32_t *d, const uint8_t *a, const uint8_t *b, const uint32_t *c,
        int n_tiles, ng_probe_form form)
{
    __shared__ alignas(128) uint8_t shared_a[ROWS * DEPTH];
    __shared__ alignas(128) uint8_t shared_b[N * DEPTH];
    const int pitch = DEPTH * form.steps, lane = threadIdx.x % 32;
    const int row = threadIdx.x / 32 * 16 + lane / 4, col = lane % 4 * 2;
    float acc[N / 2];
    uint32_t registers[4];

    for (int tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
        const size_t corner = static_cast<size_t>(tile) * ROWS * N;

#pragma unroll
        for (int i = 0; i < N / 2; i++)
            acc[i] = __uint_as_float(c[corner + (row + i / 2 % 2 * 8) * N + col
                                       + i / 4 * 8 + i % 2]);
        for (int s = 0; s < form.steps; s++) {
            const uint8_t *a_s =
                a + (static_cast<size_t>(tile) * ROWS * form.steps + s) * DEPTH;
            const uint8_t *b_s =
                b + (static_cast<size_t>(tile) * N * form.steps + s) * DEPTH;
            const int add = s > 0 || !form.from_zero;

            __syncthreads();
            load(shared_a, a_s, ROWS, pitch);
            load(shared_b, b_s, N, pitch);
            load_registers(registers, a_s, pitch);
            fence_async_shared();
            __syncthreads();
            wgmma_fence();
            if (form.a_in_registers)
                wgmma_e4m3(acc, registers,
                           wgmma_descriptor(shared_b, LEADING, STRIDE), add);
            else
                wgmma_e4m3(acc, wgmma_descriptor(shared_a, LEADING, STRIDE),
                           wgmma_descriptor(shared_b, LEADING, STRIDE), add);
            wgmma_finish();
        }
#pragma unroll
        for (int i = 0; i < N / 2; i++)
            d[corner + (row + i / 2 % 2 * 8) * N + col + i / 4 * 8 + i % 2] =
                __float_as_uint(acc[i]);
    }
}

/* The first error of a sequence of calls. */
struct calls {
    cudaError_t error = cudaSuccess;

    void operator()(cudaError_t result)
    {
        if (error == cudaSuccess)
            error = result;
    }
};

} // namespace

const char *ng_probe_wgmma(uint32_t *d, const uint8_t *a, const uint8_t *b,
                           const uint32_t *c, int n_tiles, ng_probe_form form)
{
    const size_t depth = static_cast<size_t>(form.steps) * DEPTH;
    const size_t codes_a = n_tiles * depth * ROWS;
    const size_t codes_b = n_tiles * depth * form.n;
    const size_t numbers = static_cast<size_t>(n_tiles) * ROWS * form.n * 4;
    void *on_a = nullptr, *on_b = nullptr, *on_c = nullptr, *on_d = nullptr;
    calls check;

    check(cudaMalloc(&on_a, codes_a));
    check(cudaMalloc(&on_b, codes_b));
    check(cudaMalloc(&on_c, numbers));
    check(cudaMalloc(&on_d, numbers));
    check(cudaMemcpy(on_a, a, codes_a, cudaMemcpyHostToDevice));
    check(cudaMemcpy(on_b, b, codes_b, cudaMemcpyHostToDevice));
    check(cudaMemcpy(on_c, c, numbers, cudaMemcpyHostToDevice));
    check(cudaMemset(on_d, 0xA5, numbers));     /* none may be left */
    if (check.error == cudaSuccess) {
        auto *const kernel = form.n == 8     ? run<8>
                             : form.n == 64  ? run<64>
                             : form.n == 128 ? run<128>
                                             : run<256>;

        kernel<<<528, THREADS>>>(
            static_cast<uint32_t *>(on_d), static_cast<uint8_t *>(on_a),
            static_cast<uint8_t *>(on_b), static_cast<uint32_t *>(on_c),
            n_tiles, form);
        check(cudaGetLastError());
    }
    check(cudaMemcpy(d, on_d, numbers, cudaMemcpyDeviceToHost));
    cudaFree(on_a);
    cudaFree(on_b);
    cudaFree(on_c);
    cudaFree(on_d);
    return check.error == cudaSuccess ? nullptr
                                      : cudaGetErrorString(check.error);
}

const char *ng_probe_device(const char **error)
{
    static cudaDeviceProp properties;
    int device = 0;
    calls check;

    check(cudaGetDevice(&device));
    if (check.error == cudaSuccess)
        check(cudaGetDeviceProperties(&properties, device));
    if (check.error != cudaSuccess) {
        *error = cudaGetErrorString(check.error);
        return nullptr;
    }
    if (properties.major != 9) {
        *error = "the GPU is not of compute capability 9.0";
        return nullptr;
    }
    return properties.name;
}
