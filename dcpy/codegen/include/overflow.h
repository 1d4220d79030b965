// Results of Python's integers that 64 bits may not hold, and numbers as bits. C and C++.

// Whether a result of Python's integers fits into 64 bits.
static inline bool dcpy_add_fits(int64_t a, int64_t b) { int64_t sum; return !__builtin_add_overflow(a, b, &sum); }

static inline bool dcpy_sub_fits(int64_t a, int64_t b) { int64_t rest; return !__builtin_sub_overflow(a, b, &rest); }

static inline bool dcpy_mul_fits(int64_t a, int64_t b) { int64_t all; return !__builtin_mul_overflow(a, b, &all); }

static inline bool dcpy_pow_fits(int64_t base, int64_t exponent)
{
    if (exponent <= 0 || (base >= -1 && base <= 1)) return true;
    if (exponent >= 64) return false;
    for (int64_t power = base; --exponent > 0;)
        if (__builtin_mul_overflow(power, base, &power)) return false;
    return true;
}

static inline bool dcpy_lshift_fits(int64_t a, int64_t count)
{
    if (count <= 0 || a == 0) return true;
    return count < 64 && (a << count) >> count == a;
}

// pow(base, exponent, modulus), with the sign of the modulus; exponent >= 0 and modulus != 0 are checked before.
static inline int64_t dcpy_powmod(int64_t base, int64_t exponent, int64_t modulus)
{
    if (modulus == 0 || exponent < 0) return 0;
    const uint64_t m = modulus < 0 ? -(uint64_t)modulus : (uint64_t)modulus;
    const uint64_t size = (base < 0 ? -(uint64_t)base : (uint64_t)base) % m;
    uint64_t factor = base < 0 && size != 0 ? m - size : size, power = 1 % m;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) power = (uint64_t)((unsigned __int128)power * factor % m);
        factor = (uint64_t)((unsigned __int128)factor * factor % m);
    }
    return modulus < 0 && power != 0 ? (int64_t)(power - m) : (int64_t)power;
}

// How many integers Python's range(start, stop, step) has, or the largest number.
static inline int64_t dcpy_range_length(int64_t start, int64_t stop, int64_t step)
{
    if (step == 0 || (step > 0 ? start >= stop : start <= stop)) return 0;
    const uint64_t way = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    const uint64_t length = (way - 1) / (step > 0 ? (uint64_t)step : -(uint64_t)step);
    return length >= (uint64_t)__INT64_MAX__ ? __INT64_MAX__ : (int64_t)(length + 1);
}

// The position of the lowest bit that is set; 64 where none is.
static inline int64_t dcpy_ctz(int64_t x) { return x == 0 ? 64 : __builtin_ctzll(x); }

// The integer with the bits of a float64, and the float64 with those of an integer.
static inline int64_t dcpy_bits(double x)
{
    union { double number; int64_t bits; } both;
    both.number = x;
    return both.bits;
}

static inline double dcpy_of_bits(int64_t x)
{
    union { int64_t bits; double number; } both;
    both.bits = x;
    return both.number;
}
