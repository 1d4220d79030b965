// Arithmetic on sizes, in 128 bits: a number of 64 bits is one that a program may mean, the largest one, too. What 128 bits
// do not hold is their largest number, and so is what is made of it.

static inline __int128_t dcpy_no_size() { return (__int128_t)(~(__uint128_t)0 >> 1); }

static inline __int128_t dcpy_unless_none(__int128_t a, __int128_t b, __int128_t result)
{
    return a == dcpy_no_size() || b == dcpy_no_size() ? dcpy_no_size() : result;
}

static inline __int128_t dcpy_product(__int128_t a, __int128_t b)
{
    __int128_t product;
    return __builtin_mul_overflow(a, b, &product) ? dcpy_no_size() : dcpy_unless_none(a, b, product);
}

static inline __int128_t dcpy_sum(__int128_t a, __int128_t b)
{
    __int128_t sum;
    return __builtin_add_overflow(a, b, &sum) ? dcpy_no_size() : dcpy_unless_none(a, b, sum);
}

static inline __int128_t dcpy_difference(__int128_t a, __int128_t b)
{
    __int128_t rest;
    return __builtin_sub_overflow(a, b, &rest) ? dcpy_no_size() : dcpy_unless_none(a, b, rest);
}

static inline __int128_t dcpy_least(__int128_t a, __int128_t b) { return dcpy_unless_none(a, b, a < b ? a : b); }

static inline __int128_t dcpy_greatest(__int128_t a, __int128_t b) { return a > b ? a : b; }

static inline __int128_t dcpy_quotient(__int128_t a, __int128_t b)
{
    if (b == 0) return dcpy_unless_none(a, b, 0);
    return dcpy_unless_none(a, b, a/b - (a % b != 0 && (a < 0) != (b < 0)));
}

static inline __int128_t dcpy_rest(__int128_t a, __int128_t b)
{
    if (b == 0) return dcpy_unless_none(a, b, 0);
    return dcpy_unless_none(a, b, a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));
}

// A size in 64 bits; where they do not hold it, a number of elements that no memory holds.
static inline int64_t dcpy_counted(__int128_t size)
{
    return size < -__INT64_MAX__ - 1 || size > __INT64_MAX__ ? __INT64_MAX__ : (int64_t)size;
}

// The same number, about which g++ knows nothing.
static inline int64_t dcpy_hidden(int64_t number)
{
#ifndef __clang__
    __asm__("" : "+r"(number));
#endif
    return number;
}
