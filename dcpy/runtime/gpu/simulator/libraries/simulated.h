// Simulated libraries of a vendor's, with CUDA's names: they compute by plain loops what the real ones do, as commands
// of the simulator's queues, and refuse what those refuse, or take badly: places of the host, a workspace that is
// missing or too small, handles without a queue. `dcpy_why` has the words for the last refusal.
//
//     blas.cpp    products        solver.cpp    factorizations        fft.cpp    transforms
//     decompositions.cpp    QR, eigenvalues, singular values
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "services.h"

#define DCPY_SIMULATED extern "C" __attribute__((visibility("default")))

namespace simulated {

enum Status { DONE = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, INTERNAL_ERROR = 14 };

extern const simulator::Services *services;
int refuse(int status, const std::string &why);

// Whether that many bytes are the device's, and all of one piece; refuses otherwise. None, anywhere, are fine.
bool is_place(const char *what, const void *place, int64_t bytes, int &status);

// Elements between the first and the last of a matrix by columns.
inline int64_t extent(int64_t rows, int64_t columns, int64_t ld)
{
    return rows <= 0 || columns <= 0 ? 0 : (columns - 1) * ld + rows;
}

inline int64_t extent(int64_t count, int64_t step) { return count <= 0 ? 0 : (count - 1) * (step < 0 ? -step : step) + 1; }

template <class T>
struct Real {
    using type = T;
};
template <class T>
struct Real<std::complex<T>> {
    using type = T;
};

template <class T>
T conjugate(T x) { return x; }
template <class T>
std::complex<T> conjugate(std::complex<T> x) { return std::conj(x); }

// Without a look at infinities, as the devices do it.
template <class T>
T times(T a, T b) { return a * b; }
template <class T>
std::complex<T> times(std::complex<T> a, std::complex<T> b)
{
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// A matrix by columns, perhaps transposed (1) and conjugated (2).
template <class T>
struct Matrix {
    const T *place;
    int64_t ld;
    int operation;

    T operator()(int64_t i, int64_t j) const
    {
        const T found = operation ? place[j + i * ld] : place[i + j * ld];
        return operation == 2 ? conjugate(found) : found;
    }
};

// What is known of a handle. It belongs to the device of the first queue that it was given.
struct Handle {
    void *stream = nullptr;
    int64_t device = 0;
    void *workspace = nullptr;
    size_t workspace_bytes = 0;
    int pointer_mode = 0, math_mode = 0;
    std::map<std::string, int64_t> asked;  // by function and sizes: the workspace that was said to be needed
};

std::map<void *, Handle> &handles(const char *library);
Handle *handle_of(const char *library, void *handle, int &status);  // one with a queue; null: refused
int set_stream(const char *library, void *handle, void *stream);
int make_handle(const char *library, void **handle);
int drop_handle(const char *library, void *handle);

// Of solvers: what was asked, the answer to it, and whether the workspace is as large as was said then.
inline const char *const SOLVER = "cuSOLVER";
std::string question(const char *function, int64_t m, int64_t n, int64_t ld);
int ask(void *handle, const std::string &what, int64_t elements, int *answer);
void check_room(const Handle &handle, const std::string &what, const void *place, int64_t elements, int64_t size, int &status);

}  // namespace simulated
