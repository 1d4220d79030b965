// The helpers of the dialect C. What ends in _i64 serves all dtypes of integers, in their own words.

static inline bool dcpy_is_set(const bool *element) { return *(const uint8_t *)element != 0; }

static inline int64_t dcpy_max_i64(int64_t a, int64_t b) { return a >= b ? a : b; }

static inline int64_t dcpy_min_i64(int64_t a, int64_t b) { return a <= b ? a : b; }

static inline int64_t dcpy_abs_i64(int64_t a) { return (int64_t)(a < 0 ? -a : a); }

static inline int64_t dcpy_sign_i64(int64_t a) { return (int64_t)((a > 0) - (a < 0)); }

static inline int64_t dcpy_square_i64(int64_t a) { return (int64_t)(a*a); }

// Rounds down; by zero it is 0, as in NumPy. Dividing by -1 apart: the smallest integer has no negative.
static inline int64_t dcpy_floordiv_i64(int64_t a, int64_t b)
{
    if (b == 0) return 0;
    if ((int64_t)-1 < 0 && b == (int64_t)-1) return (int64_t)-a;
    return (int64_t)(a/b - ((a % b != 0) & ((a < 0) != (b < 0))));
}

// Has the sign of the divisor; by zero it is 0.
static inline int64_t dcpy_mod_i64(int64_t a, int64_t b)
{
    if (b == 0 || ((int64_t)-1 < 0 && b == (int64_t)-1)) return 0;
    const int64_t rest = (int64_t)(a % b);
    return (int64_t)(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

// Has the sign of the dividend; by zero it is 0.
static inline int64_t dcpy_fmod_int_i64(int64_t a, int64_t b)
{
    return b == 0 || ((int64_t)-1 < 0 && b == (int64_t)-1) ? 0 : (int64_t)(a % b);
}

static inline int64_t dcpy_pow_int_i64(int64_t base, int64_t exponent)
{
    int64_t power = (int64_t)(exponent & 1 ? base : 1);
    for (exponent = (int64_t)(exponent >> 1); exponent > 0; exponent = (int64_t)(exponent >> 1)) {
        base = (int64_t)(base*base);
        if (exponent & 1) power = (int64_t)(power*base);
    }
    return power;
}

// A whole power known when compiling: by squaring. No factor overflows before the power does.
static inline int64_t dcpy_power_i64(int64_t base, int n)
{
    if (n == 1) return base;
    if (n % 2 == 1) return (int64_t)(dcpy_power_i64(base, n - 1)*base);
    const int64_t root = dcpy_power_i64(base, n/2);
    return (int64_t)(root*root);
}

static inline double dcpy_power_f64(double base, int n)
{
    if (n == 1) return base;
    if (n % 2 == 1) return dcpy_power_f64(base, n - 1)*base;
    const double root = dcpy_power_f64(base, n/2);
    return root*root;
}

static inline float dcpy_power_f32(float base, int n)
{
    if (n == 1) return base;
    if (n % 2 == 1) return dcpy_power_f32(base, n - 1)*base;
    const float root = dcpy_power_f32(base, n/2);
    return root*root;
}

// A power of half an odd whole number known when compiling: pow's, with some roundings more. Like pow, it takes no sign of
// an infinity, or of a zero, for one. From -2.5 on no factor overflows, or loses digits, before the power does.
static inline double dcpy_half_power_f64(double x, int n)
{
    const double base = (x == -__builtin_inf() ? -x : x) + 0.0, root = sqrt(base);
    const double whole = n == 1 || n == -1 ? 1.0 : dcpy_power_f64(base, (n < 0 ? -n : n)/2);
    return n > 0 ? whole*root : 1/whole/root;
}

static inline float dcpy_half_power_f32(float x, int n)
{
    const float base = (x == -__builtin_inff() ? -x : x) + 0.0f, root = sqrtf(base);
    const float whole = n == 1 || n == -1 ? 1.0f : dcpy_power_f32(base, (n < 0 ? -n : n)/2);
    return n > 0 ? whole*root : 1/whole/root;
}

// The inverse of a whole power known when compiling: no factor overflows where what it is an inverse of is not 0 yet, and
// no zero meets an infinity.
static inline double dcpy_inverse_power_f64(double x, int n)
{
    if (n == 1) return 1/x;
    const double inverse = 1/x, root = 1/dcpy_power_f64(x, n/2);
    if (n == 3) return inverse*inverse*inverse;
    return n % 2 == 0 ? root*root : 1/dcpy_power_f64(x, n/2 + 1)/dcpy_power_f64(x, n/2);
}

static inline float dcpy_inverse_power_f32(float x, int n)
{
    if (n == 1) return 1/x;
    const float inverse = 1/x, root = 1/dcpy_power_f32(x, n/2);
    if (n == 3) return inverse*inverse*inverse;
    return n % 2 == 0 ? root*root : 1/dcpy_power_f32(x, n/2 + 1)/dcpy_power_f32(x, n/2);
}

// A shift by the width or more (or by a negative count) leaves nothing of the number but its sign.
static inline int64_t dcpy_lshift_i64(int64_t a, int64_t count)
{
    return (uint64_t)count < 8*sizeof(int64_t) ? (int64_t)(a << count) : 0;
}

static inline int64_t dcpy_rshift_i64(int64_t a, int64_t count)
{
    return (int64_t)(a >> ((uint64_t)count < 8*sizeof(int64_t) ? count : (int64_t)(8*sizeof(int64_t) - 1)));
}

static inline int64_t dcpy_rshift_unsigned_i64(int64_t a, int64_t count)
{
    return (uint64_t)count < 8*sizeof(int64_t) ? (int64_t)(a >> count) : 0;
}

// A float as an integer, as the processor converts it; what has no integer becomes the smallest one.
static inline int64_t dcpy_truncate_to_i64(double x)
{
    const bool fits = x >= -9223372036854775808.0 && x < 9223372036854775808.0;
    return fits ? (int64_t)x : -__INT64_MAX__ - 1;
}

static inline int32_t dcpy_truncate_to_i32(double x)
{
    const bool fits = x > -2147483649.0 && x < 2147483648.0;
    return fits ? (int32_t)x : -__INT32_MAX__ - 1;
}

static inline uint64_t dcpy_truncate_to_u64(double x)
{
    if (x >= 9223372036854775808.0)
        return (uint64_t)dcpy_truncate_to_i64(x - 9223372036854775808.0) ^ 9223372036854775808u;
    return (uint64_t)dcpy_truncate_to_i64(x);
}

static inline uint32_t dcpy_truncate_to_u32(double x) { return (uint32_t)dcpy_truncate_to_i64(x); }

static inline int16_t dcpy_truncate_to_i16(double x) { return (int16_t)dcpy_truncate_to_i32(x); }

static inline int8_t dcpy_truncate_to_i8(double x) { return (int8_t)dcpy_truncate_to_i32(x); }

static inline uint16_t dcpy_truncate_to_u16(double x) { return (uint16_t)dcpy_truncate_to_i32(x); }

static inline uint8_t dcpy_truncate_to_u8(double x) { return (uint8_t)dcpy_truncate_to_i32(x); }

static inline double dcpy_maximum(double a, double b)
{
    const double found = a > b ? a : b;
    return a != a ? a : found;
}

static inline double dcpy_minimum(double a, double b)
{
    const double found = a < b ? a : b;
    return a != a ? a : found;
}

static inline double dcpy_fmax(double a, double b)
{
    const double found = a >= b ? a : b;
    return b != b ? a : found;
}

static inline double dcpy_fmin(double a, double b)
{
    const double found = a <= b ? a : b;
    return b != b ? a : found;
}

static inline double dcpy_fsign(double x) { return x > 0 ? (double)1 : x < 0 ? (double)-1 : x == 0 ? (double)0 : x; }

static inline double dcpy_square(double x) { return x*x; }

static inline double dcpy_heaviside(double x, double at_zero)
{
    return x != x ? x : x == 0 ? at_zero : x < 0 ? (double)0 : (double)1;
}

// Tells the system about the huge pages that lie in some memory; false where it takes no advice.
static inline bool dcpy_advise(void *memory, size_t bytes, int advice)
{
#ifdef __linux__
    const size_t page = (size_t)2 << 20, first = ((size_t)memory + page - 1) & ~(page - 1);
    const size_t last = ((size_t)memory + bytes) & ~(page - 1);
    return first >= last || madvise((void *)first, last - first, advice) == 0;
#else
    return false;
#endif
}

// Cache-line-aligned memory for `count` elements of `size` bytes behind `head` bytes; null where there is none. From
// 4 MiB on it asks for huge pages (MADV_HUGEPAGE), as NumPy does: first touches of small ones cost several passes.
static inline void *dcpy_allocate(int64_t count, size_t size, size_t head)
{
    if (count >> 48) return (void *)0;
    const size_t bytes = (((size_t)count*size + 127) & ~(size_t)63) + head;
    void *const memory = aligned_alloc(64, bytes);
    if (memory != (void *)0 && bytes >= (size_t)4 << 20) dcpy_advise(memory, bytes, 14);
    return memory;
}

// At the end of the scope of a buffer.
static inline void dcpy_free_buffer(void **buffer) { free(*buffer); }

// A buffer gets more room: its first `kept` elements move to memory of another size.
static inline void *dcpy_grow(void **buffer, int64_t kept, int64_t count, size_t size)
{
    void *const moved = dcpy_allocate(count, size, 0);
    if (moved != (void *)0) __builtin_memcpy(moved, *buffer, (size_t)(kept < count ? kept : count)*size);
    free(*buffer);
    return *buffer = moved;
}

// A buffer that outlives the call: each holder takes it out of `slot` and puts it back, so two threads never share one.
// Above 32 MiB the system may have its pages until the next call (MADV_FREE), if it is short of memory.
typedef struct dcpy_kept {
    char **slot;
    char *block;
} dcpy_kept;

static inline dcpy_kept dcpy_take_buffer(char **slot, int64_t count, size_t size)
{
    const size_t bytes = ((size_t)count*size + 127) & ~(size_t)63;
    char *block = __atomic_exchange_n(slot, (char *)0, __ATOMIC_ACQ_REL);
    if (block == (char *)0 || count >> 48 || *(size_t *)block < bytes) {
        free(block);
        block = (char *)dcpy_allocate(count, size, 64);
        if (block != (char *)0) *(size_t *)block = bytes;
    }
    dcpy_kept taken = {slot, block};
    return taken;
}

static inline void dcpy_keep_buffer(dcpy_kept *buffer)
{
    const size_t bytes = buffer->block == (char *)0 ? 0 : *(size_t *)buffer->block;
    const bool keep = bytes != 0 && (bytes <= (size_t)32 << 20 || dcpy_advise(buffer->block + 64, bytes, 8));
    free(keep ? __atomic_exchange_n(buffer->slot, buffer->block, __ATOMIC_ACQ_REL) : buffer->block);
}

// A buffer for whoever called the program; what an earlier iteration made for the same result is freed.
static inline void *dcpy_owned_buffer(void **owner, int64_t count, size_t size)
{
    free(*owner);
    return *owner = dcpy_allocate(count, size, 0);
}

// Leaves a program: the numbers are for the message of the check with this number.
static inline int32_t dcpy_stop(int64_t *error, int32_t number, int64_t a, int64_t b, int64_t c, int64_t d)
{
    error[0] = a;
    error[1] = b;
    error[2] = c;
    error[3] = d;
    return number;
}

// Keeps the failure of the lowest iteration of a parallel map, the first one there. While one thread writes the numbers,
// of which the fifth is the iteration, the others wait.
static inline void dcpy_fail(int32_t *failure, int64_t *error, int64_t iteration, int32_t number, int64_t a, int64_t b,
                             int64_t c, int64_t d)
{
    const int32_t busy = -__INT32_MAX__ - 1;
    int32_t kept = __atomic_load_n(failure, __ATOMIC_ACQUIRE);
    do {
        while (kept == busy) kept = __atomic_load_n(failure, __ATOMIC_ACQUIRE);
        if (kept != 0 && __atomic_load_n(&error[4], __ATOMIC_RELAXED) <= iteration) return;
    } while (!__atomic_compare_exchange_n(failure, &kept, busy, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    if (kept == 0 || iteration < error[4]) {
        __atomic_store_n(&error[4], iteration, __ATOMIC_RELAXED);
        kept = dcpy_stop(error, number, a, b, c, d);
    }
    __atomic_store_n(failure, kept, __ATOMIC_RELEASE);
}

// Keeps the first warning; the others are dropped.
static inline void dcpy_warn(int32_t *warning, int64_t *error, int32_t number, int64_t a, int64_t b, int64_t c, int64_t d)
{
    int32_t none = 0;
    if (__atomic_compare_exchange_n(warning, &none, number, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        dcpy_stop(error, number, a, b, c, d);
}
