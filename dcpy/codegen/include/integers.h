// Integer operations with NumPy's results where C's differ or are undefined. Integers wrap (-fwrapv).

// An element of an array of bool. Any byte but 0 is true, as in NumPy; and g++ makes vectors of bytes, not of bool.
static inline bool dcpy_is_set(const bool &element) { return reinterpret_cast<const uint8_t &>(element) != 0; }

template <class T>
static inline T dcpy_max(T a, T b) { return a >= b ? a : b; }

template <class T>
static inline T dcpy_min(T a, T b) { return a <= b ? a : b; }

template <class T>
static inline T dcpy_abs(T a) { return a < 0 ? T(-a) : a; }

template <class T>
static inline T dcpy_sign(T a) { return T((a > 0) - (a < 0)); }

// Quotient and rest as C rounds them. Where both numbers fit into 32 bits these are divided: x86 needs half the time for
// them. Divisors that are known when compiling become products.
template <class T>
struct dcpy_division {
    T quotient, rest;

    inline dcpy_division(T a, T b)
    {
#if defined(__x86_64__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__) && !defined(__SYNTHESIS__)
        if constexpr (sizeof(T) == 8) {
            if (!__builtin_constant_p(b)) {
                const T minus = T(-1) < 0 ? T(a >> 63) : T(0);  // all bits, or none
                const T by_minus = T(-1) < 0 ? T(b >> 63) : T(0), opposite = minus ^ by_minus;
                const uint64_t x = uint64_t((a ^ minus) - minus), y = uint64_t((b ^ by_minus) - by_minus);
                if ((x | y) >> 32 == 0) {
                    quotient = (T(uint32_t(x)/uint32_t(y)) ^ opposite) - opposite;
                    rest = (T(uint32_t(x) % uint32_t(y)) ^ minus) - minus;
                    return;
                }
            }
        }
#endif
        quotient = T(a / b);
        rest = T(a % b);
    }

    // Whether the rest has another sign than the divisor. Without branches: whether `b` divides is not foreseen.
    inline bool is_below(T b) const { return T(-1) < 0 && (b > 0 ? rest < 0 : rest > 0); }
};

// Rounds down; by zero it is 0, as in NumPy. Dividing by -1 apart: the smallest integer has no negative.
template <class T>
static inline T dcpy_floordiv(T a, T b)
{
    if (b == 0) return 0;
    if (T(-1) < 0 && b == T(-1)) return T(-a);
    const dcpy_division<T> parts(a, b);
    return T(parts.quotient - parts.is_below(b));
}

// Has the sign of the divisor; by zero it is 0.
template <class T>
static inline T dcpy_mod(T a, T b)
{
    if (b == 0 || (T(-1) < 0 && b == T(-1))) return 0;
    const dcpy_division<T> parts(a, b);
    return T(parts.rest + (b & -T(parts.is_below(b))));
}

// Has the sign of the dividend; by zero it is 0.
template <class T>
static inline T dcpy_fmod_int(T a, T b) { return b == 0 || (T(-1) < 0 && b == T(-1)) ? T(0) : T(a % b); }

template <class T>
static inline T dcpy_pow_int(T base, T exponent)
{
    T power = T(exponent & 1 ? base : 1);
    for (exponent = T(exponent >> 1); exponent > 0; exponent = T(exponent >> 1)) {
        base = T(base * base);
        if (exponent & 1) power = T(power * base);
    }
    return power;
}

// A whole power known when compiling, of integers and floats: by squaring. No factor overflows before the power does.
template <int N, class T>
static inline T dcpy_power(T base)
{
    if constexpr (N == 1) return base;
    else if constexpr (N % 2 == 1) return T(dcpy_power<N - 1>(base) * base);
    else {
        const T root = dcpy_power<N/2>(base);
        return T(root * root);
    }
}

// A shift by the width or more (or by a negative count) leaves nothing of the number but its sign.
template <class T>
static inline T dcpy_lshift(T a, T count) { return uint64_t(count) < 8*sizeof(T) ? T(a << count) : T(0); }

template <class T>
static inline T dcpy_rshift(T a, T count) { return T(a >> (uint64_t(count) < 8*sizeof(T) ? count : T(8*sizeof(T) - 1))); }

template <class T>
static inline T dcpy_rshift_unsigned(T a, T count) { return uint64_t(count) < 8*sizeof(T) ? T(a >> count) : T(0); }

static inline uint64_t dcpy_gcd_unsigned(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

template <class T>
static inline uint64_t dcpy_magnitude(T a) { return a < 0 ? -uint64_t(a) : uint64_t(a); }

template <class T>
static inline T dcpy_gcd(T a, T b) { return T(dcpy_gcd_unsigned(dcpy_magnitude(a), dcpy_magnitude(b))); }

template <class T>
static inline T dcpy_lcm(T a, T b)
{
    const uint64_t divisor = dcpy_gcd_unsigned(dcpy_magnitude(a), dcpy_magnitude(b));
    return divisor == 0 ? T(0) : T(dcpy_magnitude(a)/divisor*dcpy_magnitude(b));
}

template <class T>
static inline T dcpy_reciprocal_int(T a) { return a == 0 ? dcpy_truncate<T>(__builtin_inf()) : T(a == 1 || (T(-1) < 0 && a == T(-1)) ? a : 0); }

// A float as an integer of 64 bits: what has none (NaN, too large) becomes the smallest one. So does x86 convert it;
// where its vectors can, too, the question stays, so that loops become vectors.
template <class F>
static inline int64_t dcpy_truncate_to_64(F given)
{
    const double x = given, least = -9223372036854775808.0;
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || !defined(__SSE2__)
    return x >= least && x < -least ? int64_t(x) : -__INT64_MAX__ - 1;
#elif defined(__AVX512DQ__)
    return int64_t(__builtin_fabs(x) < -least ? x : least);
#else
    typedef double dcpy_two __attribute__((vector_size(16)));
    return __builtin_ia32_cvttsd2si64(dcpy_two{x, least});
#endif
}

// A float as an integer, as the processor converts it: in 32 bits for the narrow types.
template <class T, class F>
static inline T dcpy_truncate(F x)
{
    if constexpr (T(-1) > 0 && sizeof(T) == 8) {
        const F half = F(9223372036854775808.0);
        if (x >= half) return T(dcpy_truncate_to_64(x - half)) ^ T(9223372036854775808u);
        return T(dcpy_truncate_to_64(x));
    } else if constexpr (sizeof(T) == 8 || (T(-1) > 0 && sizeof(T) == 4)) {
        return T(dcpy_truncate_to_64(x));
    } else {
        const bool fits = x > F(-2147483649.0) && x < F(2147483648.0);
        return T(fits ? int32_t(x) : -__INT32_MAX__ - 1);
    }
}

// The same where only what is no number has no integer in 32 bits. Loops of it become vectors: with all questions of the
// other one, behind an extremum, g++ makes none.
template <class T, class F>
static inline T dcpy_truncate_number(F x)
{
    if constexpr (sizeof(T) == 8 || (T(-1) > 0 && sizeof(T) == 4)) {
        return T(x == x ? int64_t(x) : -__INT64_MAX__ - 1);
    } else {
        return T(x == x ? int32_t(x) : -__INT32_MAX__ - 1);
    }
}
