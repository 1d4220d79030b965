// A stand-in for CUDA's: threads of a launch run one after the other, on the memory of the host.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define __global__
struct Index { unsigned x; };
static Index blockIdx, blockDim, threadIdx;
typedef void* cudaStream_t;
enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
static int cudaMalloc(void** place, size_t bytes) { return (*place = malloc(bytes)) ? cudaSuccess : 2; }
static int cudaFree(void* place) { free(place); return 0; }
static int cudaMemcpy(void* to, const void* from, size_t bytes, int) { memcpy(to, from, bytes); return 0; }
static int cudaDeviceSynchronize() { return 0; }
static int cudaGetLastError() { return 0; }
static void atomicXor(unsigned long long* place, unsigned long long value) { *place ^= value; }
#define LAUNCH(kernel, n, threads, stream, ...)                              \
    do {                                                                     \
        (void)stream, blockDim.x = threads;                                  \
        for (blockIdx.x = 0; blockIdx.x * threads < (n); ++blockIdx.x)       \
            for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) kernel(__VA_ARGS__); \
    } while (0)
