// Calls of the vendors' libraries for one program, behind `dcpy_libraries` of codegen/include/dcpy_table.h. The parts:
//
//     calls.h      this: libraries and their functions by name; what belongs to a queue
//     open.cpp     opens libraries, and sends each call to its part
//     blas.cpp     products: cuBLAS, hipBLAS
//     solver.cpp   factorizations and solutions: cuSOLVER, hipSOLVER
//     decompositions.cpp  QR, eigenvalues, singular values: the same libraries
//     fft.cpp      transforms: cuFFT, hipFFT
//
// Both vendors' functions have the same parameters; names and enumerations differ. A handle belongs to a queue, and so
// does the memory that its calls may use beside their operands: no library allocates any behind our back.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "dcpy_table.h"

namespace dcpy {

using Handle = void *;

struct Words {  // what a vendor calls it
    const char *blas, *solver, *fft;
    int operations[3], sides[2], halves[2], diagonals[2];  // as it is, transposed, conjugated; left, right; upper, lower
    int vectors[2];  // of eigenvalues: without, with
    bool is_hip;
};

constexpr Words CUDA = {"cublas", "cusolverDn", "cufft", {0, 1, 2}, {0, 1}, {1, 0}, {0, 1}, {0, 1}, false};
constexpr Words HIP = {"hipblas", "hipsolverDn", "hipfft", {111, 112, 113}, {141, 142}, {121, 122}, {131, 132}, {201, 202}, true};

class Library {
  public:
    bool open(const char *path, std::string &problem);
    void *find(const std::string &name);  // null: it has none of that name
    std::string why();                    // what a simulated library says of its last refusal

  private:
    void *handle_ = nullptr;
    std::map<std::string, void *> found_;
};

// A plan for transforms that all look alike.
struct Plan {
    std::vector<int64_t> key;
    void *number;  // an int in CUDA
    size_t bytes;
};

// What belongs to one queue.
struct OnQueue {
    Handle blas = nullptr, solver = nullptr;
    void *blas_space = nullptr;
    void *space = nullptr;  // for all else; grows
    int64_t space_bytes = 0;
    std::list<Plan> plans;  // the last one that was used comes first
};

struct Calls : dcpy_libraries {
    Words words;
    Library blas, solver, fft;
    int64_t blas_bytes;
    std::map<void *, OnQueue> queues;

    // The queue in use, and what belongs to it.
    int32_t queue(dcpy_device *device, void **stream, OnQueue **found);
    // As many bytes as that, on the device.
    int32_t room(dcpy_device *device, OnQueue &on, int64_t bytes);
    // 0; or what is said of a function that has answered with another status.
    int32_t answer(dcpy_device *device, Library &library, const std::string &function, int status);
    int32_t lacks(dcpy_device *device, const std::string &function);
};

int32_t call_blas(Calls &, dcpy_device *, int32_t function, const int64_t *numbers, const double *factors,
                  void *const *places);
// A handle of the solvers for the queue in use, and what belongs to that.
int32_t solver_of(Calls &, dcpy_device *, OnQueue **);
int32_t call_solver(Calls &, dcpy_device *, int32_t function, const int64_t *numbers, void *const *places);
int32_t call_decomposition(Calls &, dcpy_device *, int32_t function, const int64_t *numbers, void *const *places);
int32_t call_fft(Calls &, dcpy_device *, const int64_t *numbers, void *const *places);
void close_blas(Calls &, OnQueue &);
void close_solver(Calls &, OnQueue &);
void close_fft(Calls &, OnQueue &);

template <class Function>
Function as(void *entry)
{
    return (Function)entry;
}

inline int item_size(int64_t type) { return type == 's' ? 4 : type == 'z' ? 16 : 8; }
inline char upper(int64_t letter) { return char(letter - 'a' + 'A'); }

// A function of the solvers; `stem` and "_bufferSize" is what tells its workspace.
inline std::string solver_name(const Calls &calls, int64_t type, const char *stem)
{
    return std::string(calls.words.solver) + upper(type) + stem;
}

}  // namespace dcpy
