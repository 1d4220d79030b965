// What dcpy_device.h defines for CUDA and HIP, whose compilers differ in few words.
//
// NVRTC is given no header of CUDA's; nvcc brings its own, and hipcc includes HIP's.

#ifndef DCPY_CHIPS_H
#define DCPY_CHIPS_H

#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
#elif defined(DCPY_HIP)
#include <hip/hip_runtime.h>
#include <stdint.h>
#pragma clang force_cuda_host_device begin
#else
#include <stdint.h>
#define inline inline __device__  // NVRTC and clang are told by an option, and by a pragma

static inline bool dcpy_add_overflow(int64_t a, int64_t b, int64_t *sum)
{
    *sum = (int64_t)((uint64_t)a + (uint64_t)b);
    return ((a ^ *sum) & (b ^ *sum)) < 0;
}

static inline bool dcpy_sub_overflow(int64_t a, int64_t b, int64_t *rest)
{
    *rest = (int64_t)((uint64_t)a - (uint64_t)b);
    return ((a ^ b) & (a ^ *rest)) < 0;
}

static inline bool dcpy_mul_overflow(int64_t a, int64_t b, int64_t *product)
{
    *product = (int64_t)((uint64_t)a * (uint64_t)b);
    return __mul64hi(a, b) != *product >> 63;
}

#define __builtin_add_overflow dcpy_add_overflow  // those of nvcc are for the host
#define __builtin_sub_overflow dcpy_sub_overflow
#define __builtin_mul_overflow dcpy_mul_overflow
#endif

#if defined(DCPY_CUDA)
// What g++ and clang have built in, and NVIDIA's compilers have not.
#ifndef __INT64_MAX__
#define __INT32_MAX__ 2147483647
#define __INT64_MAX__ 9223372036854775807ll
#define __SIZE_TYPE__ unsigned long
#endif
#define __builtin_inf() __longlong_as_double(0x7ff0000000000000ll)
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_nan(text) __longlong_as_double(0x7ff8000000000000ll)
#define __builtin_nanf(text) __int_as_float(0x7fc00000)
#define __builtin_memcpy memcpy
#define __builtin_memset memset
#define __builtin_ctzll(x) (__ffsll((long long)(x)) - 1)

#define DCPY_WARP 32
#define DCPY_WARP_BARRIER() __syncwarp()
#define DCPY_FETCH(word, lane) __shfl_sync(0xffffffffu, word, lane)
#define DCPY_FETCH_DOWN(word, lanes) __shfl_down_sync(0xffffffffu, word, lanes)
#define DCPY_FETCH_XOR(word, lanes) __shfl_xor_sync(0xffffffffu, word, lanes)
#define DCPY_KERNELS(...)
// One block must fit a multiprocessor: where that is left open, ptxas spills a few registers for the sake of one more.
#define DCPY_KERNEL(name, threads) extern "C" __global__ __launch_bounds__(threads, 1) void name
#else
#define DCPY_KERNEL(name, threads) extern "C" __global__ __launch_bounds__(threads) void name
#if defined(__AMDGCN_WAVEFRONT_SIZE)  // what later versions have a function for
#define DCPY_WARP ((int32_t)__AMDGCN_WAVEFRONT_SIZE)
#else
#define DCPY_WARP ((int32_t)__builtin_amdgcn_wavefrontsize())
#endif
#define DCPY_WARP_BARRIER() (__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront"), __builtin_amdgcn_wave_barrier())
#define DCPY_FETCH(word, lane) (uint32_t)__shfl((int)(word), lane)
#define DCPY_FETCH_DOWN(word, lanes) (uint32_t)__shfl_down((int)(word), lanes)
#define DCPY_FETCH_XOR(word, lanes) (uint32_t)__shfl_xor((int)(word), lanes)
#define DCPY_KERNELS(...) _Pragma("clang force_cuda_host_device end")
#endif

#define DCPY_SHARED(type, name, count) __shared__ type name[count]
#define DCPY_DYNAMIC(type, name, offset) type *const name = (type *)(dcpy_dynamic + (offset))

#define DCPY_THREAD_X ((int32_t)threadIdx.x)
#define DCPY_THREAD_Y ((int32_t)threadIdx.y)
#define DCPY_THREAD_Z ((int32_t)threadIdx.z)
#define DCPY_THREADS_X ((int32_t)blockDim.x)
#define DCPY_THREADS_Y ((int32_t)blockDim.y)
#define DCPY_THREADS_Z ((int32_t)blockDim.z)
#define DCPY_BLOCK_X ((int64_t)blockIdx.x)
#define DCPY_BLOCK_Y ((int64_t)blockIdx.y)
#define DCPY_BLOCK_Z ((int64_t)blockIdx.z)
#define DCPY_BLOCKS_X ((int64_t)gridDim.x)
#define DCPY_BLOCKS_Y ((int64_t)gridDim.y)
#define DCPY_BLOCKS_Z ((int64_t)gridDim.z)
#define DCPY_BARRIER() __syncthreads()

extern __shared__ __attribute__((aligned(16))) char dcpy_dynamic[];

static inline int32_t dcpy_thread_number()
{
    return DCPY_THREAD_X + DCPY_THREADS_X * (DCPY_THREAD_Y + DCPY_THREADS_Y * DCPY_THREAD_Z);
}

static inline int32_t dcpy_lane() { return dcpy_thread_number() % DCPY_WARP; }

static inline int32_t dcpy_warp_number() { return dcpy_thread_number() / DCPY_WARP; }

// Lanes exchange words of 32 bits: any value of up to 16 bytes is some of them.
#define DCPY_SHUFFLE(name, fetch)                                                          \
    template <class T>                                                                     \
    static inline T name(T value, int32_t where)                                           \
    {                                                                                      \
        static_assert(sizeof(T) <= 16, "a shuffle takes at most 16 bytes");                \
        constexpr int32_t count = ((int32_t)sizeof(T) + 3) / 4;                            \
        uint32_t words[count] = {};                                                        \
        memcpy(words, &value, sizeof(T));                                                  \
        _Pragma("unroll") for (int32_t i = 0; i < count; i++) words[i] = fetch(words[i], where); \
        memcpy(&value, words, sizeof(T));                                                  \
        return value;                                                                      \
    }

DCPY_SHUFFLE(dcpy_shuffle, DCPY_FETCH)
DCPY_SHUFFLE(dcpy_shuffle_down, DCPY_FETCH_DOWN)
DCPY_SHUFFLE(dcpy_shuffle_xor, DCPY_FETCH_XOR)

template <int Bytes>
struct dcpy_word {
    typedef uint32_t type;
};

template <>
struct dcpy_word<8> {
    typedef unsigned long long type;
};

// Any read-modify-write by compare and exchange, on the word around the value. An update that changes nothing (most of
// those of a minimum) writes nothing.
template <class T, class Combine>
static inline T dcpy_atomic(T *place, T value, Combine combine)
{
    static_assert(sizeof(T) <= 8, "no atomic update of more than 8 bytes");
    typedef typename dcpy_word<sizeof(T)>::type Word;
    const uintptr_t address = (uintptr_t)place;
    const int32_t shift = sizeof(T) < 4 ? (int32_t)(address % 4) * 8 : 0;
    const Word mask = sizeof(T) < 4 ? (((Word)1 << 8 * (sizeof(T) % 4)) - 1) << shift : ~(Word)0;
    Word *const word = (Word *)(sizeof(T) < 4 ? address - address % 4 : address);
    Word seen = *(volatile Word *)word;
    for (;;) {
        const Word before = seen, here = (before & mask) >> shift;
        T old;
        memcpy(&old, &here, sizeof(T));
        const T next = combine(old, value);
        Word bits = 0;
        memcpy(&bits, &next, sizeof(T));
        const Word after = (before & ~mask) | (bits << shift);
        if (after == before) return old;
        seen = atomicCAS(word, before, after);
        if (seen == before) return old;
    }
}

// Sums, minima and maxima. What chips have instructions for comes last, and is chosen where the type is exactly that;
// their integers of 64 bits are called long long, which int64_t need not be.
template <class T>
static inline T dcpy_atomic_part(T *place, T value)
{
    return dcpy_atomic(place, value, [](T a, T b) { return T(a + b); });
}

// As NumPy's minimum and maximum: NaN stays.
template <class T>
static inline T dcpy_atomic_min(T *place, T value)
{
    return dcpy_atomic(place, value, [](T a, T b) { return a < b || a != a ? a : b; });
}

template <class T>
static inline T dcpy_atomic_max(T *place, T value)
{
    return dcpy_atomic(place, value, [](T a, T b) { return a > b || a != a ? a : b; });
}

#define DCPY_NATIVE(name, instruction, type, word) \
    static inline type name(type *place, type value) { return (type)instruction((word *)place, (word)value); }
DCPY_NATIVE(dcpy_atomic_min, atomicMin, int32_t, int)
DCPY_NATIVE(dcpy_atomic_min, atomicMin, uint32_t, unsigned int)
DCPY_NATIVE(dcpy_atomic_min, atomicMin, uint64_t, unsigned long long)
DCPY_NATIVE(dcpy_atomic_max, atomicMax, int32_t, int)
DCPY_NATIVE(dcpy_atomic_max, atomicMax, uint32_t, unsigned int)
DCPY_NATIVE(dcpy_atomic_max, atomicMax, uint64_t, unsigned long long)
#if defined(DCPY_CUDA)
DCPY_NATIVE(dcpy_atomic_min, atomicMin, int64_t, long long)
DCPY_NATIVE(dcpy_atomic_max, atomicMax, int64_t, long long)
#endif
DCPY_NATIVE(dcpy_atomic_part, atomicAdd, int32_t, int)
DCPY_NATIVE(dcpy_atomic_part, atomicAdd, uint32_t, unsigned int)
DCPY_NATIVE(dcpy_atomic_part, atomicAdd, int64_t, unsigned long long)
DCPY_NATIVE(dcpy_atomic_part, atomicAdd, uint64_t, unsigned long long)
DCPY_NATIVE(dcpy_atomic_part, atomicAdd, double, double)
#if defined(DCPY_FAST_MATH)
DCPY_NATIVE(dcpy_atomic_part, atomicAdd, float, float)  // the instruction makes denormal numbers zero
#endif

template <class T>
static inline T dcpy_atomic_sum(T *place, T value, ...) { return dcpy_atomic_part(place, value); }

// A sum of complex numbers is two sums.
template <class T>
static inline auto dcpy_atomic_sum(T *place, T value, int) -> decltype(value.real, T())
{
    return {dcpy_atomic_part(&place->real, value.real), dcpy_atomic_part(&place->imag, value.imag)};
}

template <class T>
static inline T dcpy_atomic_add(T *place, T value) { return dcpy_atomic_sum(place, value, 0); }

template <class T>
static inline T dcpy_atomic_exchange(T *place, T value)
{
    return dcpy_atomic(place, value, [](T, T b) { return b; });
}

template <class T>
static inline T dcpy_atomic_compare_exchange(T *place, T expected, T value)
{
    return dcpy_atomic(place, value, [expected](T a, T b) { return a == expected ? b : a; });
}

// What threads of this block have written is in memory before the ticket says so, and what other blocks have written is
// read from there. The block that is the last one sets the ticket back to 0, for the next launch.
template <class T>
static inline bool dcpy_last_block(T *ticket)
{
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (dcpy_thread_number() == 0) {
        const int64_t blocks = DCPY_BLOCKS_X * DCPY_BLOCKS_Y * DCPY_BLOCKS_Z;
        is_last = (int64_t)dcpy_atomic_add(ticket, T(1)) == blocks - 1;
        if (is_last) *ticket = 0;
    }
    __syncthreads();
    __threadfence();
    return is_last;
}

template <class T>
struct alignas(16) dcpy_vector {
    T at[16 / sizeof(T)];
};

template <class T>
static inline bool dcpy_is_aligned128(const T *place) { return (uintptr_t)place % 16 == 0; }

template <class T>
static inline dcpy_vector<T> dcpy_load128(const T *place) { return *(const dcpy_vector<T> *)place; }

template <class T>
static inline void dcpy_store128(T *place, dcpy_vector<T> value) { *(dcpy_vector<T> *)place = value; }

// Where a check stands in the order of its program: the kernel's number, a step of it, the iteration of a map.
struct dcpy_order {
    int64_t kernel, step, i, j, k;
};

static inline bool dcpy_precedes(const dcpy_order &at, int64_t number, int64_t a, int64_t b, int64_t c, int64_t d,
                                 const volatile int64_t *told)
{
    if (at.step != told[5]) return at.step < told[5];
    if (at.i != told[6]) return at.i < told[6];
    if (at.j != told[7]) return at.j < told[7];
    if (at.k != told[8]) return at.k < told[8];
    if (number != (int32_t)told[0]) return number < (int32_t)told[0];
    if (a != told[1]) return a < told[1];
    if (b != told[2]) return b < told[2];
    if (c != told[3]) return c < told[3];
    return d < told[4];
}

// One thread at a time may change the error block, and does so in an order in which others can read the beginning of it:
// where many threads fail, most of them see that an earlier check is there.
static inline void dcpy_fail(int64_t *errors, dcpy_order at, int64_t number, int64_t a, int64_t b, int64_t c, int64_t d)
{
    volatile int64_t *const told = errors;
    unsigned long long *const lock = (unsigned long long *)(errors + 9);
    for (bool is_told = false; !is_told;) {
        if (told[0] != 0) {
            __threadfence();
            const int64_t step = told[5];
            __threadfence();
            if (told[0] >> 32 != at.kernel || step < at.step || (step == at.step && told[6] < at.i)) break;
        }
        if (atomicCAS(lock, 0ull, 1ull) == 0) {
            __threadfence();
            if (told[0] == 0 || dcpy_precedes(at, number, a, b, c, d, told)) {
                told[1] = a;
                told[2] = b;
                told[3] = c;
                told[4] = d;
                told[6] = at.i;
                told[7] = at.j;
                told[8] = at.k;
                __threadfence();
                told[5] = at.step;
                __threadfence();
                told[0] = at.kernel << 32 | number;
                __threadfence();
            }
            atomicExch(lock, 0ull);
            is_told = true;
        }
    }
}

#endif
