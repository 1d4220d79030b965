// The problems of problems.py in CUDA C, as one writes them: a thread for each element. Memory is taken, filled and read
// through this library, too, so that nothing else is needed. `LAUNCH` may be defined by who compiles it without nvcc.
#include <cuda_runtime.h>
#include <stdint.h>

#ifndef LAUNCH
#define LAUNCH(kernel, n, threads, stream, ...) \
    kernel<<<(unsigned)(((n) + (threads) - 1) / (threads)), threads, 0, stream>>>(__VA_ARGS__)
#endif
#define INDEX ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)

__global__ void copy_k(const double* a, double* c, int64_t n) {
    int64_t i = INDEX;
    if (i < n) c[i] = a[i];
}
__global__ void scale_k(const double* c, double* b, double s, int64_t n) {
    int64_t i = INDEX;
    if (i < n) b[i] = s * c[i];
}
__global__ void add_k(const double* a, const double* b, double* c, int64_t n) {
    int64_t i = INDEX;
    if (i < n) c[i] = a[i] + b[i];
}
__global__ void triad_k(const double* b, const double* c, double* a, double s, int64_t n) {
    int64_t i = INDEX;
    if (i < n) a[i] = b[i] + s * c[i];
}
__global__ void axpy_k(const double* x, double* y, double s, int64_t n) {
    int64_t i = INDEX;
    if (i < n) y[i] = y[i] + s * x[i];
}
__global__ void sine_k(const double* x, double* y, int64_t n) {
    int64_t i = INDEX;
    if (i < n) y[i] = sin(x[i]);
}
__global__ void kuramoto_k(const double* phase, const double* omega, double* rate, double coupling, int64_t n) {
    int64_t i = INDEX;
    if (i >= n) return;
    double mine = phase[i], sum = 0.0;
    for (int64_t j = 0; j < n; ++j) sum += sin(phase[j] - mine);
    rate[i] = omega[i] + coupling / n * sum;
}
__global__ void gather_k(const double* x, const int64_t* where, double* y, int64_t n, int64_t neighbours) {
    int64_t i = INDEX;
    if (i >= n) return;
    double sum = 0.0;
    for (int64_t k = 0; k < neighbours; ++k) sum += x[where[i * neighbours + k]];
    y[i] = sum;
}
__global__ void gups_k(unsigned long long* table, const int64_t* where, const unsigned long long* values, int64_t n) {
    int64_t i = INDEX;
    if (i < n) atomicXor(&table[where[i]], values[i]);
}

extern "C" {
typedef const double* In;
typedef double* Out;

void* take(int64_t bytes) {
    void* place = 0;
    return cudaMalloc(&place, bytes) == cudaSuccess ? place : 0;
}
int release(void* place) { return cudaFree(place); }
int put(void* to, const void* from, int64_t bytes) { return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice); }
int get(void* to, const void* from, int64_t bytes) { return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost); }
int idle(void) { return cudaDeviceSynchronize(); }

int copy(cudaStream_t s, int64_t n, In a, Out c) { LAUNCH(copy_k, n, 256, s, a, c, n); return cudaGetLastError(); }
int scale(cudaStream_t s, int64_t n, In c, Out b, double f) {
    LAUNCH(scale_k, n, 256, s, c, b, f, n);
    return cudaGetLastError();
}
int add(cudaStream_t s, int64_t n, In a, In b, Out c) {
    LAUNCH(add_k, n, 256, s, a, b, c, n);
    return cudaGetLastError();
}
int triad(cudaStream_t s, int64_t n, In b, In c, Out a, double f) {
    LAUNCH(triad_k, n, 256, s, b, c, a, f, n);
    return cudaGetLastError();
}
int axpy(cudaStream_t s, int64_t n, In x, Out y, double f) {
    LAUNCH(axpy_k, n, 256, s, x, y, f, n);
    return cudaGetLastError();
}
int sine(cudaStream_t s, int64_t n, In x, Out y) { LAUNCH(sine_k, n, 256, s, x, y, n); return cudaGetLastError(); }
int kuramoto(cudaStream_t s, int64_t n, In phase, In omega, Out rate, double coupling) {
    LAUNCH(kuramoto_k, n, 64, s, phase, omega, rate, coupling, n);
    return cudaGetLastError();
}
int gather(cudaStream_t s, int64_t n, In x, const int64_t* where, Out y) {
    LAUNCH(gather_k, n, 256, s, x, where, y, n, 16);
    return cudaGetLastError();
}
int gups(cudaStream_t s, int64_t n, unsigned long long* table, const int64_t* where, const unsigned long long* values) {
    LAUNCH(gups_k, n, 256, s, table, where, values, n);
    return cudaGetLastError();
}
}
