// What the text of kernels is written in: a small dialect, defined once for each backend.
//
//     DCPY_KERNEL(name, threads)(parameters) { … }      a kernel for blocks of at most that many threads
//     DCPY_SHARED(type, name, count)                    an array of the block; DCPY_DYNAMIC(type, name, offset): in the
//                                                       dynamic shared memory of the launch
//     DCPY_THREAD_X, DCPY_BLOCK_X                       numbers (Y, Z); DCPY_THREADS_X, DCPY_BLOCKS_X: how many
//     DCPY_WARP                                         threads in a warp; dcpy_lane() counts within one
//     DCPY_BARRIER(), DCPY_WARP_BARRIER()               all threads of the block, of the warp, at the same one
//     dcpy_shuffle(value, lane)                         the value of another lane; dcpy_shuffle_down(value, lanes)
//     dcpy_last_block(ticket)                           whether this is the last block that comes here; with fences
//     dcpy_atomic_add(place, value)                     and min, max, exchange, compare_exchange: the value before
//     dcpy_load128(place), dcpy_store128(place, …)      16 bytes at once, where dcpy_is_aligned128(place)
//     dcpy_fail(errors, {kernel, step, i, j, k}, number, a, b, c, d)
//                                                       the error block gets the check that comes first in this order
//     DCPY_KERNELS(NAME, DCPY_ROW(name, threads, shared), …)      the last line of a unit
//
// A kernel never returns early, and no barrier or shuffle stands where threads of the block (the warp) diverge.

#ifndef DCPY_DEVICE_H
#define DCPY_DEVICE_H

#if defined(DCPY_SIMULATOR)
// ---- The simulator: threads are run one after the other, on one thread of the host -----------------------------

typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __SIZE_TYPE__ size_t;

// The C functions that kernels may call.
#ifndef DCPY_SIMULATOR_ITSELF
extern "C" {
double fabs(double) noexcept; float fabsf(float) noexcept; double copysign(double, double) noexcept;
float copysignf(float, float) noexcept; double nextafter(double, double) noexcept;
float nextafterf(float, float) noexcept; double floor(double) noexcept; float floorf(float) noexcept;
double ceil(double) noexcept; float ceilf(float) noexcept; double rint(double) noexcept; float rintf(float) noexcept;
double trunc(double) noexcept; float truncf(float) noexcept; double sqrt(double) noexcept;
float sqrtf(float) noexcept; double cbrt(double) noexcept; float cbrtf(float) noexcept; double exp(double) noexcept;
float expf(float) noexcept; double exp2(double) noexcept; float exp2f(float) noexcept; double expm1(double) noexcept;
float expm1f(float) noexcept; double log(double) noexcept; float logf(float) noexcept; double log2(double) noexcept;
float log2f(float) noexcept; double log10(double) noexcept; float log10f(float) noexcept;
double log1p(double) noexcept; float log1pf(float) noexcept; double sin(double) noexcept; float sinf(float) noexcept;
double cos(double) noexcept; float cosf(float) noexcept; double tan(double) noexcept; float tanf(float) noexcept;
double asin(double) noexcept; float asinf(float) noexcept; double acos(double) noexcept; float acosf(float) noexcept;
double atan(double) noexcept; float atanf(float) noexcept; double sinh(double) noexcept; float sinhf(float) noexcept;
double cosh(double) noexcept; float coshf(float) noexcept; double tanh(double) noexcept; float tanhf(float) noexcept;
double asinh(double) noexcept; float asinhf(float) noexcept; double acosh(double) noexcept;
float acoshf(float) noexcept; double atanh(double) noexcept; float atanhf(float) noexcept;
double fmod(double, double) noexcept; float fmodf(float, float) noexcept; double atan2(double, double) noexcept;
float atan2f(float, float) noexcept; double hypot(double, double) noexcept; float hypotf(float, float) noexcept;
double pow(double, double) noexcept; float powf(float, float) noexcept; double remainder(double, double) noexcept;
float remainderf(float, float) noexcept; double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept; double erf(double) noexcept; float erff(float) noexcept;
double erfc(double) noexcept; float erfcf(float) noexcept; double tgamma(double) noexcept;
float tgammaf(float) noexcept; double lgamma_r(double, int *) noexcept; float lgammaf_r(float, int *) noexcept;
double frexp(double, int *) noexcept; float frexpf(float, int *) noexcept; double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept; double j0(double) noexcept; float j0f(float) noexcept; double j1(double) noexcept;
float j1f(float) noexcept; double y0(double) noexcept; float y0f(float) noexcept; double y1(double) noexcept;
float y1f(float) noexcept;
}
#endif

enum dcpy_meeting { DCPY_MEET_BLOCK = 0, DCPY_MEET_WARP = 1, DCPY_MEET_SHUFFLE = 2, DCPY_MEETINGS = 3 };
enum dcpy_touch { DCPY_READ = 0, DCPY_WRITE = 1, DCPY_ATOMIC = 2 };

// Where one declaration of shared memory lies in the launch of this number.
struct dcpy_shared_array {
    int64_t launch;
    void *place;
};

// What kernels know of their launch, and what they ask of the simulator. A unit has one, which the simulator fills.
struct dcpy_simulated {
    int32_t thread[3], threads[3], number, warp, last;
    int64_t block[3], blocks[3], launch;
    char *dynamic;
    void (*meet)(int32_t kind, int32_t line);
    void (*exchange)(int32_t line, const void *mine, int32_t bytes, int32_t lane, void *theirs);
    void (*share)(struct dcpy_shared_array *array, int64_t bytes, int64_t alignment, const char *name);
    void (*fail)();                       // the thread has failed: it may leave
    void (*arrived)(int32_t is_last);     // the block has taken a ticket
    void (*misaligned)(const void *place, int32_t line);
    void (*touch)(const void *place, int64_t bytes, int32_t how, const void *code);
};

struct dcpy_kernel_row {
    const char *name;
    void (*entry)(void *const *args);
    int32_t threads, shared, parameters;
    const int32_t *sizes;   // of the parameters, in bytes
    const uint8_t *places;  // which of them are pointers
};

struct dcpy_unit {
    int32_t count;
    const struct dcpy_kernel_row *rows;
    struct dcpy_simulated *state;
    const char *file;
};

#ifndef DCPY_SIMULATOR_ITSELF

static struct dcpy_simulated dcpy_sim;

#define DCPY_UNSEEN __attribute__((no_sanitize("thread")))
#define DCPY_KERNEL(name, threads_) static void name
#define DCPY_SHARED(type, name, count)                                              \
    static struct dcpy_shared_array name##_array;                                   \
    type *const name = (type *)dcpy_share(&name##_array, (count) * (int64_t)sizeof(type), alignof(type), #name)
#define DCPY_DYNAMIC(type, name, offset) type *const name = (type *)(dcpy_dynamic() + (offset))

#define DCPY_THREAD_X dcpy_known(dcpy_sim.thread[0])
#define DCPY_THREAD_Y dcpy_known(dcpy_sim.thread[1])
#define DCPY_THREAD_Z dcpy_known(dcpy_sim.thread[2])
#define DCPY_THREADS_X dcpy_known(dcpy_sim.threads[0])
#define DCPY_THREADS_Y dcpy_known(dcpy_sim.threads[1])
#define DCPY_THREADS_Z dcpy_known(dcpy_sim.threads[2])
#define DCPY_BLOCK_X dcpy_known(dcpy_sim.block[0])
#define DCPY_BLOCK_Y dcpy_known(dcpy_sim.block[1])
#define DCPY_BLOCK_Z dcpy_known(dcpy_sim.block[2])
#define DCPY_BLOCKS_X dcpy_known(dcpy_sim.blocks[0])
#define DCPY_BLOCKS_Y dcpy_known(dcpy_sim.blocks[1])
#define DCPY_BLOCKS_Z dcpy_known(dcpy_sim.blocks[2])
#define DCPY_WARP dcpy_known(dcpy_sim.warp)
#define DCPY_BARRIER() dcpy_meet(DCPY_MEET_BLOCK, __LINE__)
#define DCPY_WARP_BARRIER() dcpy_meet(DCPY_MEET_WARP, __LINE__)

// What the simulator itself tells is no memory access of the kernel: these are compiled without the hooks.
template <class T>
DCPY_UNSEEN static inline T dcpy_known(const T &place) { return place; }

DCPY_UNSEEN static inline void dcpy_meet(int32_t kind, int32_t line) { dcpy_sim.meet(kind, line); }

DCPY_UNSEEN static inline char *dcpy_dynamic() { return dcpy_sim.dynamic; }

// With hooks, every access to memory is told to the simulator.
DCPY_UNSEEN static inline void dcpy_touched(const void *place, int64_t bytes, int32_t how, const void *code)
{
#ifdef DCPY_HOOKS
    if (dcpy_sim.touch) dcpy_sim.touch(place, bytes, how, code);
#else
    (void)place, (void)bytes, (void)how, (void)code;
#endif
}

DCPY_UNSEEN static inline void *dcpy_share(struct dcpy_shared_array *array, int64_t bytes, int64_t alignment,
                                           const char *name)
{
    if (array->launch != dcpy_sim.launch) dcpy_sim.share(array, bytes, alignment, name);
    return array->place;
}

DCPY_UNSEEN static inline int32_t dcpy_thread_number() { return dcpy_sim.number; }

DCPY_UNSEEN static inline int32_t dcpy_lane() { return dcpy_sim.number % dcpy_sim.warp; }

DCPY_UNSEEN static inline int32_t dcpy_warp_number() { return dcpy_sim.number / dcpy_sim.warp; }

template <class T>
DCPY_UNSEEN static inline T dcpy_shuffle(T value, int32_t lane, int32_t line = __builtin_LINE())
{
    static_assert(sizeof(T) <= 16, "a shuffle takes at most 16 bytes");
    T found;
    const int32_t source = ((lane % dcpy_sim.warp) + dcpy_sim.warp) % dcpy_sim.warp;
    dcpy_sim.exchange(line, &value, (int32_t)sizeof(T), source, &found);
    return found;
}

template <class T>
DCPY_UNSEEN static inline T dcpy_shuffle_down(T value, int32_t lanes, int32_t line = __builtin_LINE())
{
    const int32_t mine = dcpy_sim.number % dcpy_sim.warp;
    return dcpy_shuffle(value, mine + lanes < dcpy_sim.warp ? mine + lanes : mine, line);
}

template <class T>
DCPY_UNSEEN static inline T dcpy_shuffle_xor(T value, int32_t lanes, int32_t line = __builtin_LINE())
{
    return dcpy_shuffle(value, (dcpy_sim.number % dcpy_sim.warp) ^ lanes, line);
}

// The block that is the last one sets the ticket back to 0, for the next launch.
template <class T>
DCPY_UNSEEN static inline bool dcpy_last_block(T *ticket, int32_t line = __builtin_LINE())
{
    dcpy_sim.meet(DCPY_MEET_BLOCK, line);
    if (dcpy_sim.number == 0) {
        const int64_t before = (int64_t)*ticket;
        dcpy_sim.last = before == dcpy_sim.blocks[0] * dcpy_sim.blocks[1] * dcpy_sim.blocks[2] - 1;
        *ticket = (T)(dcpy_sim.last ? 0 : before + 1);
        if (dcpy_sim.arrived) dcpy_sim.arrived(dcpy_sim.last);
    }
    dcpy_sim.meet(DCPY_MEET_BLOCK, line);
    return dcpy_sim.last != 0;
}

// One thread of the host runs all threads of the device: what no fiber switch interrupts is atomic.
template <class T, class Combine>
DCPY_UNSEEN static inline T dcpy_atomic(T *place, T value, Combine combine)
{
    dcpy_touched(place, sizeof(T), DCPY_ATOMIC, __builtin_return_address(0));
    const T before = *place;
    *place = combine(before, value);
    return before;
}

template <class T>
static inline T dcpy_atomic_add(T *place, T value)
{
    return dcpy_atomic(place, value, [](T a, T b) DCPY_UNSEEN { return T(a + b); });
}

// As NumPy's minimum and maximum: NaN stays.
template <class T>
static inline T dcpy_atomic_min(T *place, T value)
{
    return dcpy_atomic(place, value, [](T a, T b) DCPY_UNSEEN { return a < b || a != a ? a : b; });
}

template <class T>
static inline T dcpy_atomic_max(T *place, T value)
{
    return dcpy_atomic(place, value, [](T a, T b) DCPY_UNSEEN { return a > b || a != a ? a : b; });
}

template <class T>
static inline T dcpy_atomic_exchange(T *place, T value)
{
    return dcpy_atomic(place, value, [](T, T b) DCPY_UNSEEN { return b; });
}

template <class T>
static inline T dcpy_atomic_compare_exchange(T *place, T expected, T value)
{
    return dcpy_atomic(place, value, [expected](T a, T b) DCPY_UNSEEN { return a == expected ? b : a; });
}

template <class T>
struct alignas(16) dcpy_vector {
    T at[16 / sizeof(T)];
};

template <class T>
DCPY_UNSEEN static inline bool dcpy_is_aligned128(const T *place) { return (__UINTPTR_TYPE__)place % 16 == 0; }

template <class T>
DCPY_UNSEEN static inline dcpy_vector<T> dcpy_load128(const T *place, int32_t line = __builtin_LINE())
{
    if ((__UINTPTR_TYPE__)place % 16 != 0) dcpy_sim.misaligned(place, line);
    dcpy_touched(place, 16, DCPY_READ, __builtin_return_address(0));
    return *(const dcpy_vector<T> *)place;
}

template <class T>
DCPY_UNSEEN static inline void dcpy_store128(T *place, dcpy_vector<T> value, int32_t line = __builtin_LINE())
{
    if ((__UINTPTR_TYPE__)place % 16 != 0) dcpy_sim.misaligned(place, line);
    dcpy_touched(place, 16, DCPY_WRITE, __builtin_return_address(0));
    *(dcpy_vector<T> *)place = value;
}

// Where a check stands in the order of its program: the kernel's number, a step of it, the iteration of a map.
struct dcpy_order {
    int64_t kernel, step, i, j, k;
};

DCPY_UNSEEN static inline void dcpy_fail(int64_t *errors, dcpy_order at, int64_t number, int64_t a, int64_t b, int64_t c,
                                         int64_t d)
{
    const int64_t mine[] = {at.step, at.i, at.j, at.k, at.kernel << 32 | number, a, b, c, d};
    int64_t *const told[] = {errors + 5, errors + 6, errors + 7, errors + 8, errors, errors + 1, errors + 2, errors + 3,
                             errors + 4};
    dcpy_sim.fail();
    int n = 0;
    if (errors[0] != 0) {
        if (errors[0] >> 32 != at.kernel) return;
        while (n < 9 && mine[n] == *told[n]) ++n;
        if (n == 9 || mine[n] > *told[n]) return;
    }
    for (n = 0; n < 9; ++n) *told[n] = mine[n];
}

#ifdef DCPY_HOOKS
// Compiled with -fsanitize=thread, and linked without it: these take the place of the sanitizer's own functions.

#define DCPY_HOOK_RETURNING(type) extern "C" __attribute__((visibility("hidden"), used)) DCPY_UNSEEN type
#define DCPY_HOOK DCPY_HOOK_RETURNING(void)
#define DCPY_HOOK_OF(name, bytes, how) \
    DCPY_HOOK name(void *place) { dcpy_touched(place, bytes, how, __builtin_return_address(0)); }
DCPY_HOOK_OF(__tsan_read1, 1, DCPY_READ)
DCPY_HOOK_OF(__tsan_read2, 2, DCPY_READ)
DCPY_HOOK_OF(__tsan_read4, 4, DCPY_READ)
DCPY_HOOK_OF(__tsan_read8, 8, DCPY_READ)
DCPY_HOOK_OF(__tsan_read16, 16, DCPY_READ)
DCPY_HOOK_OF(__tsan_unaligned_read2, 2, DCPY_READ)
DCPY_HOOK_OF(__tsan_unaligned_read4, 4, DCPY_READ)
DCPY_HOOK_OF(__tsan_unaligned_read8, 8, DCPY_READ)
DCPY_HOOK_OF(__tsan_unaligned_read16, 16, DCPY_READ)
DCPY_HOOK_OF(__tsan_write1, 1, DCPY_WRITE)
DCPY_HOOK_OF(__tsan_write2, 2, DCPY_WRITE)
DCPY_HOOK_OF(__tsan_write4, 4, DCPY_WRITE)
DCPY_HOOK_OF(__tsan_write8, 8, DCPY_WRITE)
DCPY_HOOK_OF(__tsan_write16, 16, DCPY_WRITE)
DCPY_HOOK_OF(__tsan_unaligned_write2, 2, DCPY_WRITE)
DCPY_HOOK_OF(__tsan_unaligned_write4, 4, DCPY_WRITE)
DCPY_HOOK_OF(__tsan_unaligned_write8, 8, DCPY_WRITE)
DCPY_HOOK_OF(__tsan_unaligned_write16, 16, DCPY_WRITE)
DCPY_HOOK __tsan_read_range(void *place, size_t bytes)
{
    dcpy_touched(place, (int64_t)bytes, DCPY_READ, __builtin_return_address(0));
}
DCPY_HOOK __tsan_write_range(void *place, size_t bytes)
{
    dcpy_touched(place, (int64_t)bytes, DCPY_WRITE, __builtin_return_address(0));
}
// clang's pass calls these in place of the functions of C that it finds or makes
DCPY_HOOK_RETURNING(void *) __tsan_memcpy(void *to, const void *from, size_t bytes)
{
    __tsan_read_range((void *)from, bytes);
    __tsan_write_range(to, bytes);
    return __builtin_memcpy(to, from, bytes);
}
DCPY_HOOK_RETURNING(void *) __tsan_memmove(void *to, const void *from, size_t bytes)
{
    __tsan_read_range((void *)from, bytes);
    __tsan_write_range(to, bytes);
    return __builtin_memmove(to, from, bytes);
}
DCPY_HOOK_RETURNING(void *) __tsan_memset(void *to, int value, size_t bytes)
{
    __tsan_write_range(to, bytes);
    return __builtin_memset(to, value, bytes);
}
DCPY_HOOK __tsan_init() {}
DCPY_HOOK __tsan_func_entry(void *) {}
DCPY_HOOK __tsan_func_exit() {}
#endif

template <int... I>
struct dcpy_numbers {};

template <int N, int... I>
struct dcpy_count : dcpy_count<N - 1, N - 1, I...> {};

template <int... I>
struct dcpy_count<0, I...> {
    typedef dcpy_numbers<I...> type;
};

template <class T>
struct dcpy_parameter {
    static constexpr bool is_place = false;
};

template <class T>
struct dcpy_parameter<T *> {
    static constexpr bool is_place = true;
};

// The row of a kernel: its parameters are those of its type.
template <class Kernel, Kernel kernel>
struct dcpy_row;

template <class... T, void (*kernel)(T...)>
struct dcpy_row<void (*)(T...), kernel> {
    static constexpr int32_t sizes[sizeof...(T) + 1] = {(int32_t)sizeof(T)..., 0};
    static constexpr uint8_t places[sizeof...(T) + 1] = {dcpy_parameter<T>::is_place..., 0};

    template <int... I>
    DCPY_UNSEEN static inline void call(void *const *args, dcpy_numbers<I...>)
    {
        (void)args;
        kernel(*(T *)args[I]...);
    }

    DCPY_UNSEEN static void entry(void *const *args) { call(args, typename dcpy_count<sizeof...(T)>::type()); }

    static constexpr dcpy_kernel_row row(const char *name, int32_t threads, int32_t shared)
    {
        return {name, entry, threads, shared, (int32_t)sizeof...(T), sizes, places};
    }
};

#define DCPY_ROW(name, threads, shared) dcpy_row<decltype(&name), &name>::row(#name, threads, shared)
#define DCPY_KERNELS(NAME, ...)                                                     \
    static const struct dcpy_kernel_row NAME##_rows[] = {__VA_ARGS__};              \
    extern "C" const struct dcpy_unit NAME##_kernels;                               \
    extern "C" const struct dcpy_unit NAME##_kernels = {                            \
        (int32_t)(sizeof NAME##_rows / sizeof NAME##_rows[0]), NAME##_rows, &dcpy_sim, __FILE__};

#endif  // DCPY_SIMULATOR_ITSELF

#elif defined(DCPY_CUDA) || defined(DCPY_HIP)
#include "dcpy_chips.h"

#else
#error "define DCPY_SIMULATOR, DCPY_CUDA or DCPY_HIP"
#endif

#endif
